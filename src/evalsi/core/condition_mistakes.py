"""What CEL's parser says of a condition, without what only follows from a mistake before.

Its own module because conditions of records, gates and policies are three languages of one parser, which tells a single
`=` as two mistakes, and neither says to write `==`.
"""

import re
from typing import NamedTuple

LONE_EQUALS = "'=' compares nothing"
EQUAL_HINT = "write == for equal"

_PLACE = re.compile(r"<input>:(\d+):(\d+): ([^\n]*?)(?: \[[A-Z_]+\])?$", re.MULTILINE)
_EXPECTING = re.compile(r",? expecting (\{.*|'.*|[A-Z_]+)$", re.DOTALL)
_LONE_EQUALS = re.compile(r"token recognition error at: '=[^=]*'$")


class ConditionMistake(NamedTuple):
    """One mistake, with its line and column from 1 in the text that was parsed."""

    line: int
    column: int
    message: str


def condition_mistakes(text: str, *, is_more: bool = False) -> list[ConditionMistake]:
    """The mistakes in the parser's words.

    Args:
        is_more: Whether mistakes of the condition were told before these.
    """
    found: list[ConditionMistake] = []
    has_lone_equals = False
    for match in _PLACE.finditer(text):
        message = match[3]
        lone = is_lone_equals(message)
        follows = "*error*" in message and (found or is_more)
        if follows or (has_lone_equals and not lone and "Syntax error" in message):
            continue
        has_lone_equals |= lone
        found.append(ConditionMistake(int(match[1]), int(match[2]), message))
    return found


def told(message: str) -> tuple[str, str | None]:
    """A mistake without the list of what might stand in its place, and what to do, where that is known."""
    if is_lone_equals(message):
        return LONE_EQUALS, EQUAL_HINT
    short = _EXPECTING.sub("", message)
    short = short[:1].lower() + short[1:]
    return short.replace("mismatched input '<EOF>'", "it ends too early"), None


def place_of(text: str, at: int) -> tuple[int, int]:
    """Line and column of a character of a condition, both from 1."""
    before = text[:at]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def is_lone_equals(message: str) -> bool:
    """Whether a mistake is a single `=`, which means nothing in CEL."""
    return bool(_LONE_EQUALS.search(message))
