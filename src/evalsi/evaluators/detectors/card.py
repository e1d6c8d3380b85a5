"""Payment card numbers: a known issuer range, a length that issuer uses, a right check digit, and a plausible grouping.

Only all four together keep timestamps, order numbers and tables of figures out.
"""

import re
from collections.abc import Iterator

from evalsi.evaluators.detectors.finding import Finding

NEEDED = r"[0-9](?:[ .-]?[0-9]){11}"
"""What a text must hold, as an RE2 expression, for a closer look to make sense."""

# Either one run of digits or groups with one separator throughout: 4-4-4-4 with an optional fifth group, or 4-6-5 and
# 4-6-4. The match is a lookahead so that a number that starts inside a rejected candidate is still tried.
_SHAPE = re.compile(
    r"(?<![0-9A-Za-z_])(?=("
    r"[0-9]{12,19}(?![0-9A-Za-z_])"
    r"|[0-9]{4}([ .-])[0-9]{4}\2[0-9]{4}\2[0-9]{1,4}(?![0-9A-Za-z_])(?:\2[0-9]{1,3}(?![0-9A-Za-z_]))?"
    r"|[0-9]{4}([ .-])[0-9]{6}\3[0-9]{4,5}(?![0-9A-Za-z_])"
    r"))"
)


def _may_begin(lead: str, first: int, last: int) -> bool:
    """Whether a number that begins with the two digits `lead` can lie in the range of prefixes `first` to `last`."""
    return int(str(first)[:2].ljust(2, "0")) <= int(lead) <= int(str(last)[:2].ljust(2, "9"))


# Issuer, first and last prefix, lengths. Source: ISO/IEC 7812 ranges as the schemes publish them.
_ISSUERS: tuple[tuple[str, int, int, tuple[int, ...]], ...] = (
    ("visa", 4, 4, (13, 16, 19)),
    ("mastercard", 51, 55, (16,)),
    ("mastercard", 2221, 2720, (16,)),
    ("amex", 34, 34, (15,)),
    ("amex", 37, 37, (15,)),
    ("discover", 6011, 6011, (16, 17, 18, 19)),
    ("discover", 644, 659, (16, 17, 18, 19)),
    ("unionpay", 62, 62, (16, 17, 18, 19)),
    ("unionpay", 81, 81, (16, 17, 18, 19)),
    ("jcb", 3528, 3589, (16, 17, 18, 19)),
    ("diners", 300, 305, (14, 16, 19)),
    ("diners", 3095, 3095, (14, 16, 19)),
    ("diners", 36, 36, (14, 16, 19)),
    ("diners", 38, 39, (14, 16, 19)),
    ("maestro", 5018, 5020, (12, 13, 14, 15, 16, 17, 18, 19)),
    ("maestro", 5038, 5038, (12, 13, 14, 15, 16, 17, 18, 19)),
    ("maestro", 5893, 5893, (12, 13, 14, 15, 16, 17, 18, 19)),
    ("maestro", 6304, 6304, (12, 13, 14, 15, 16, 17, 18, 19)),
    ("maestro", 6759, 6763, (12, 13, 14, 15, 16, 17, 18, 19)),
    ("mir", 2200, 2204, (16, 17, 18, 19)),
    ("verve", 5060, 5061, (16, 18, 19)),
    ("rupay", 6070, 6085, (16,)),
    ("rupay", 5085, 5089, (16,)),
    ("troy", 9792, 9792, (16,)),
)

_BY_TWO_DIGITS = {
    lead: tuple(issuer for issuer in _ISSUERS if _may_begin(lead, issuer[1], issuer[2]))
    for lead in (f"{number:02}" for number in range(100))
}
_DOUBLED = str.maketrans("0123456789", "0246813579")


def detect_cards(text: str) -> Iterator[Finding]:
    """Card numbers in `text`, left to right, without overlap."""
    free_from = 0
    for match in _SHAPE.finditer(text):
        start = match.start()
        if start < free_from:
            continue
        separator = match[2] or match[3] or ""
        for candidate in _candidates(match[1], separator):
            digits = candidate.replace(separator, "") if separator else candidate
            issuer = issuer_of(digits)
            if issuer and passes_luhn(digits) and not _continues(text, start, start + len(candidate), separator):
                free_from = start + len(candidate)
                yield Finding(type="CARD", start=start, end=free_from, text=candidate, detail=issuer)
                break


def issuer_of(digits: str) -> str:
    """The issuer whose range and length `digits` has, or ""."""
    for name, first, last, lengths in _BY_TWO_DIGITS[digits[:2]]:
        if len(digits) in lengths and first <= int(digits[: len(str(first))]) <= last:
            return name
    return ""


def passes_luhn(digits: str) -> bool:
    """The check digit of ISO/IEC 7812-1, annex B."""
    return (sum(map(int, digits[-1::-2])) + sum(map(int, digits[-2::-2].translate(_DOUBLED)))) % 10 == 0


def _candidates(shape: str, separator: str) -> Iterator[str]:
    yield shape
    if separator and shape.count(separator) == 4:  # the fifth group may be the code on the back
        yield shape.rpartition(separator)[0]


def _continues(text: str, start: int, end: int, separator: str) -> bool:
    """Whether the number is a part of something longer: a decimal fraction, a dashed identifier, a row of groups."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    marks = {".", "-"} if separator in ("", "-", ".") else {"."}
    if before == "0,":
        return True
    if len(before) == 2 and before[1] in marks and before[0].isalnum():
        return True
    if len(after) == 2 and after[0] in marks and after[1].isalnum():
        return True
    return _stands_in_a_table(text, start, end) if separator == " " else False


def _stands_in_a_table(text: str, start: int, end: int) -> bool:
    """Whether four or more groups of digits stand directly beside it, which a card with date and code never has."""
    before = re.search(r"(?:[0-9]{1,6} ){4}\Z", text[max(0, start - 28) : start])
    after = re.match(r"(?: [0-9]{1,6}){4}", text[end : end + 28])
    return bool(before or after) and not _is_another_card(text, start, end)


def _is_another_card(text: str, start: int, end: int) -> bool:
    """Cards may follow each other with a blank between."""
    length = end - start
    neighbours = (text[max(0, start - length - 1) : max(0, start - 1)], text[end + 1 : end + 1 + length])
    return any(
        digits.isdigit() and issuer_of(digits) and passes_luhn(digits)
        for digits in (neighbour.replace(" ", "") for neighbour in neighbours)
    )
