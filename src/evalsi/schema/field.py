"""What the JSON codec has to know about one field. Written by hand over a generated table."""

from functools import cache
from typing import Any, Literal, NamedTuple, cast

from evalsi.schema.generated.field_tables import FIELDS

Kind = Literal[
    "string",
    "bytes",
    "bool",
    "int32",
    "uint32",
    "int64",
    "double",
    "enum",
    "message",
    "value",
    "object",
    "duration",
    "timestamp",
]
"""What a field holds: a scalar, an enum, a message, or one of protobuf's well-known messages by its Python meaning."""

Shape = Literal["plain", "optional", "list", "map"]
"""How often: once with a zero that means absent, once or absent, in order, or by name."""

MESSAGE_NAMES = tuple(FIELDS)
"""Names of all messages."""


class Field(NamedTuple):
    name: str
    """Name in Python and in files: snake_case."""
    json_name: str
    """Name in REST bodies: lowerCamelCase."""
    kind: Kind
    shape: Shape
    type_name: str
    """Name of the message or enum; empty for other kinds."""
    oneof: str
    """Name of the group of which at most one field is set; empty outside of one."""
    measured: bool
    """True for a time that was measured; files write it in milliseconds under its name with `_ms`."""


@cache
def fields_of(message_name: str) -> tuple[Field, ...]:
    """Fields of a message in the order of the source."""
    return tuple(Field(*cast("Any", entry)) for entry in FIELDS[message_name])
