"""Email addresses that could reach someone: a domain with a top level, which `user@localhost` and file names lack."""

import re
from collections.abc import Iterator

from evalsi.evaluators.detectors.finding import Finding

NEEDED = "@"
"""What a text must hold, as an RE2 expression, for a closer look to make sense."""

# Latin, Greek and Cyrillic letters; scripts written without spaces would swallow the words around an address.
_LETTER = "A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f"
_LOCAL = rf"{_LETTER}0-9._%+'=~"
_ADDRESS = re.compile(
    rf"(?<![{_LOCAL}-])(?P<local>[{_LOCAL}-]{{1,64}}+)@"
    rf"(?P<domain>(?:[{_LETTER}0-9](?:[{_LETTER}0-9-]{{0,62}}+(?<!-))?\.){{1,8}}"
    rf"(?P<top>xn--[A-Za-z0-9-]{{2,59}}|[{_LETTER}]{{2,24}}))"
    rf"(?![{_LETTER}0-9_@]|-[{_LETTER}0-9])"
)

# What may stand before an address without a blank, though RFC 5322 allows it in one: a quote, a query's key.
_OPENING = re.compile(r"['%=~.]*(?:[A-Za-z_]{1,20}=)?'?")

_LOCAL_NETWORKS = frozenset(
    {"localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp", "arpa"}
)
_FILE_SUFFIXES = frozenset(
    "png jpg jpeg gif webp svg ico bmp tiff css js mjs ts tsx jsx json html xml yaml yml toml txt md pdf zip gz tgz whl "
    "exe dll mp3 mp4 wav".split()
)
_URL_USER = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s/@]{0,80}\Z")


def detect_emails(text: str) -> Iterator[Finding]:
    """Email addresses in `text`; punctuation around them stays outside."""
    if "@" not in text:
        return
    for match in _ADDRESS.finditer(text):
        opening = _OPENING.match(match["local"])
        assert opening is not None
        start = match.start() + opening.end()
        local, top = text[start : match.end("local")], match["top"].casefold()
        if not local or local[0] == "." or local[-1] == "." or ".." in local:
            continue
        if top in _LOCAL_NETWORKS or (top in _FILE_SUFFIXES and top not in ("zip", "md")):
            continue
        if _is_url_user(text, match.start(), match.end(), local):
            continue
        yield Finding(type="EMAIL", start=start, end=match.end(), text=text[start : match.end()])


def _is_url_user(text: str, start: int, end: int, local: str) -> bool:
    """`git@host.org:path` and `scheme://user:password@host.org` name a machine, not a mailbox."""
    if local == "git" and text[end : end + 1] == ":":
        return True
    return text[max(0, start - 1) : start] == ":" and bool(_URL_USER.search(text[max(0, start - 110) : start]))
