"""Text of others on a page: escaped, and with nothing in it that hides, reorders or controls.

Its own module because outputs, ids, metadata keys and even evaluator names are attacker-controlled, and this is the
only way any of them reaches the page: `plain` for every expression of a template (see `html_report`), `marked_up`
where text is shown at length.
"""

import re
from typing import Any

from markupsafe import Markup, escape

from evalsi.core.inert import printable

_UNUSUAL = re.compile(r"[^\x20-\x7e\n\t]")
_UNSEEN = re.compile(r"[\u00ad\u034f\u115f\u1160\u180e\u200b\u2060-\u2064\u3164\ufeff\uffa0]")
"""Characters without a shape that no script needs; `printable` leaves them to terminals."""
SHOWN_CHARACTERS = 12_000


def plain(value: Any) -> Any:
    """A value on its way into a template: text made visible, everything else as it is; escaping comes after."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", printable(value))
    return value


def marked_up(text: str) -> Markup:
    """`text` as HTML, each hidden character shown as its code in a box."""
    pieces: list[str] = []
    position = 0
    for found in _UNUSUAL.finditer(text):
        code = _code_of(found[0])
        if code is not None:
            pieces += [str(escape(text[position : found.start()])), f'<span class="hidden">{code}</span>']
            position = found.end()
    pieces.append(str(escape(text[position:])))
    return Markup("".join(pieces))  # noqa: S704 - every piece is escaped, or is a code of ours


def shortened(text: str, most: int = SHOWN_CHARACTERS) -> tuple[str, int]:
    """The beginning of `text` and how many characters were left off."""
    return (text, 0) if len(text) <= most else (text[:most], len(text) - most)


def one_line(text: str, most: int) -> str:
    """The beginning of `text` on one line, for headings and cells."""
    head = " ".join(text[: 4 * most].split())
    return head if len(head) <= most else head[: most - 1].rstrip() + "…"


def _code_of(character: str) -> str | None:
    if _UNSEEN.match(character) or printable(character) != character:
        return f"U+{ord(character):04X}"
    return None
