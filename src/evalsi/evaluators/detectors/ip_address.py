"""IPv4 and IPv6 addresses that point at a machine somewhere.

Four-part version numbers, section numbers, clock times, C++ scopes and MAC addresses look alike and are left out; so are
loopback, unspecified and broadcast addresses and netmasks, which say nothing about anybody.
"""

import ipaddress
import re
from collections.abc import Iterator

from evalsi.evaluators.detectors.finding import Finding
from evalsi.evaluators.detectors.surroundings import words_before

NEEDED = r"[0-9]\.[0-9]{1,3}\.[0-9]|:[0-9A-Fa-f.]*:"
"""What a text must hold, as an RE2 expression, for a closer look to make sense."""

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_V4 = re.compile(rf"(?<![0-9A-Za-z_.])(?:{_OCTET}\.){{3}}{_OCTET}(?![0-9A-Za-z_]|[.][0-9A-Za-z]|-[0-9A-Za-z])")
# The lookahead admits only blocks that machines use, so that `a::b` in source code does not count. Source: RFC 4291.
_V6 = re.compile(
    r"(?<![0-9A-Za-z_:.])(?=[23][0-9A-Fa-f]{3}:|[fF][cCdD][0-9A-Fa-f]{2}:|[fF][eE][89abAB][0-9A-Fa-f]:"
    r"|[fF]{2}[0-9A-Fa-f]{2}:|::[fF]{4}:)[0-9A-Fa-f:][0-9A-Fa-f:.]{1,44}(?![0-9A-Za-z_:])"
)

_NO_ADDRESS_WORDS = frozenset(
    "version versions ver v release releases build revision rev patch firmware driver upgraded upgrade downgraded "
    "versión versão versione wersja wersji versie sürüm sürümü версия версии версию версией バージョン 版本 버전 الإصدار "
    "संस्करण section sections sec chapter clause paragraph para appendix step kapitel abschnitt ziffer article § §§ "
    "oid".split()
)
_WORDS_BETWEEN = frozenset({"to", "is", "of", "no", "number", "from", "was", "v"})
_WRITTEN_WITHOUT_BLANKS = ("版本", "バージョン", "버전")
_PACKAGE = re.compile(r"(?:[=~<>!]=\s?|[A-Za-z_]/|[A-Za-z0-9_]-)\Z")
"""`lib==1.2.3.4`, the product token `Browser/1.2.3.4`, the file `lib-1.2.3.4`."""


def detect_ip_addresses(text: str) -> Iterator[Finding]:
    """IP addresses in `text`, without port, prefix length or zone."""
    yield from _detect_v4(text)
    yield from _detect_v6(text)


def _detect_v4(text: str) -> Iterator[Finding]:
    for match in _V4.finditer(text):
        start, end = match.span()
        first = match[0].partition(".")[0]
        if first in ("0", "127", "255") or _is_version(text, start):
            continue
        yield Finding(type="IP", start=start, end=end, text=match[0], detail="ipv4")


def _detect_v6(text: str) -> Iterator[Finding]:
    if "::" not in text and text.count(":") < 6:
        return
    for match in _V6.finditer(text):
        written = match[0].rstrip(".")
        if written.endswith(":") and not written.endswith("::"):
            written = written[:-1]
        if written.count(":") < 2:
            continue
        try:
            ipaddress.IPv6Address(written)
        except ValueError:
            continue
        end = match.start() + len(written)
        yield Finding(type="IP", start=match.start(), end=end, text=written, detail="ipv6")


def _is_version(text: str, start: int) -> bool:
    if _PACKAGE.search(text[max(0, start - 3) : start]):
        return True
    words = words_before(text, start, reach=32)
    while len(words) > 1 and words[0] in _WORDS_BETWEEN:
        del words[0]
    return bool(words) and (words[0] in _NO_ADDRESS_WORDS or words[0].endswith(_WRITTEN_WITHOUT_BLANKS))
