r"""A text with what it spells instead of what it says: escapes of JSON, URLs and HTML resolved, invisible letters left out.

Its own module because whoever looks for something in a text must also look here: `kim\u0040example.org` is an address
although it holds no "@". What always holds: every place of the resolved text leads back to where it stands in the original,
so that what is found here can be replaced there.
"""

import re
from typing import NamedTuple

# Any number of backslashes: JSON within JSON doubles them at each layer.
_HIDDEN = re.compile(
    r"\\+u(?P<json>[0-9a-fA-F]{4})"
    r"|\\+x(?P<byte>[0-9a-fA-F]{2})"
    r"|%(?P<url>[2-7][0-9a-fA-F])"
    r"|&#(?P<decimal>[0-9]{1,7});"
    r"|&#[xX](?P<hex>[0-9a-fA-F]{1,6});"
    r"|(?P<invisible>[\u00ad\u200b-\u200d\u2060\ufeff])"
)
_MARKS = ("\\u", "\\x", "%", "&#", "\u00ad", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff")


class ResolvedText(NamedTuple):
    """What a text spells."""

    text: str
    places: list[int]
    """For each character of `text` where it begins in the original, and at the end the original's length."""

    def span_of(self, start: int, end: int) -> tuple[int, int]:
        """Where `text[start:end]` stands in the original."""
        return self.places[start], self.places[end] if end > start else self.places[start]


def resolved(text: str) -> ResolvedText | None:
    """What `text` spells; None when that is what it says."""
    if not any(mark in text for mark in _MARKS):
        return None
    parts: list[str] = []
    places: list[int] = []
    done = 0
    for match in _HIDDEN.finditer(text):
        code = _code(match)
        if code is not None and (not 0 < code < 0x110000 or 0xD800 <= code <= 0xDFFF):
            continue  # half of a pair is no letter
        parts.append(text[done : match.start()])
        places.extend(range(done, match.start()))
        if code is not None:
            parts.append(chr(code))
            places.append(match.start())
        done = match.end()
    if not done:
        return None
    parts.append(text[done:])
    places.extend(range(done, len(text) + 1))
    return ResolvedText("".join(parts), places)


def _code(match: re.Match[str]) -> int | None:
    if match["invisible"]:
        return None
    if match["decimal"]:
        return int(match["decimal"])
    return int(match["json"] or match["byte"] or match["url"] or match["hex"], 16)
