"""The order in which a person looks for names: t2 before t10. One place, so that every list of names agrees."""

import re

_DIGITS = re.compile(r"([0-9]{1,18})")


def natural_order(label: str) -> list[tuple[int, int, str]]:
    """A sort key: runs of digits by value, everything else by letters, without regard to case."""
    parts = _DIGITS.split(label.casefold())
    return [(0, int(part), "") if part.isdecimal() and part.isascii() else (1, 0, part) for part in parts if part]
