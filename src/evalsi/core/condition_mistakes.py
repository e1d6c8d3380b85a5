"""What CEL's parser says of a condition, without what only follows from a mistake before.

Its own module because conditions of records, gates and policies are three languages of one parser, which tells a single
`=` as two mistakes, and neither says to write `==`.
"""

import re
from typing import NamedTuple

LONE_EQUALS = "'=' compares nothing"
EQUAL_HINT = "write == for equal"

_PLACE = re.compile(r"<input>:(\d+):(\d+): ([^\n]*?)(?: \[[A-Z_]+\])?$", re.MULTILINE)
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


def is_lone_equals(message: str) -> bool:
    """Whether a mistake is a single `=`, which means nothing in CEL."""
    return bool(_LONE_EQUALS.search(message))
