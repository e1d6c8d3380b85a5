"""US social security numbers: three, two and four digits in ranges that were ever given out."""

import re
from collections.abc import Iterator

from evalsi.evaluators.detectors.finding import Finding

NEEDED = r"[0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{4}"
"""What a text must hold, as an RE2 expression, for a closer look to make sense."""

# Areas 000, 666 and 900 to 999, group 00 and serial 0000 do not exist. Source: SSA, POMS RM 10201.035.
_NUMBER = r"(?!000|666)[0-8][0-9]{2}([ -]?)(?!00)[0-9]{2}%s(?!0000)[0-9]{4}(?![0-9A-Za-z_]|-[0-9])"
_DASHED = re.compile(r"(?<![0-9A-Za-z_-])" + (_NUMBER % "-").replace("([ -]?)", "-"))
_NAMED = re.compile(
    r"(?<![a-z])(?:ssns?|social[ -]security(?:[ -](?:numbers?|no\.?|nr\.?|#))?|itin)(?![a-z])"
    r"[^0-9A-Za-z\n]{0,4}(?:(?:number|no|is|was|are|of|:|=)[^0-9A-Za-z\n]{0,4}){0,3}(?P<number>"
    + (_NUMBER % r"\2")
    + ")",
    re.IGNORECASE,
)


def detect_ssns(text: str) -> Iterator[Finding]:
    """Numbers with dashes anywhere; with blanks or none only after words that name them."""
    for match in _DASHED.finditer(text):
        yield Finding(type="SSN", start=match.start(), end=match.end(), text=match[0])
    for match in _NAMED.finditer(text):
        start, end = match.span("number")
        if "-" not in match["number"]:
            yield Finding(type="SSN", start=start, end=end, text=match["number"])
