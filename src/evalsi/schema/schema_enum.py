"""The base of every generated enum: one member, its word in files, its number and its name on the wire.

Written by hand. A member is a `str`, so it compares, hashes and prints as the short word files use (`"scored"`), and
msgspec reads the word or the full protobuf name (`"OUTCOME_SCORED"`) in any case.
"""

import enum
from typing import Self

_ALSO = {"RewardOnError": {"MASK": "NONE"}}
"""Other words for members, by enum: what a trainer does with the rollout, for what the rollout then has."""
_NOT_OFFERED = {"RewardOnError": ("ZERO",)}
"""Members that are read and then refused with the reason; no message offers them."""


class SchemaEnum(enum.StrEnum):
    _value_: str
    number: int
    """Number of the member in the schema, stable for ever."""
    proto_name: str
    """Full name of the member in the schema, as standard proto3 JSON writes it."""

    def __new__(cls, word: str, number: int, proto_name: str) -> Self:
        member = str.__new__(cls, word)
        member._value_ = word
        member.number = number
        member.proto_name = proto_name
        return member

    @classmethod
    def of_number(cls, number: int) -> Self:
        """The member with `number`; UNSPECIFIED for a number that only a newer schema knows."""
        members = list(cls)
        return next((member for member in members if member.number == number), members[0])

    @classmethod
    def offered_words(cls) -> list[str]:
        """The words that a message offers to somebody who wrote a wrong one."""
        hidden = _NOT_OFFERED.get(cls.__name__, ())
        also = [word.lower() for word in _ALSO.get(cls.__name__, {})]
        return [member.value for member in cls if member.number and member.name not in hidden] + also

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        folded = value.upper().replace("-", "_")
        folded = _ALSO.get(cls.__name__, {}).get(folded, folded)
        return next((member for member in cls if folded in (member.name, member.proto_name)), None)
