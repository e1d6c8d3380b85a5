"""Protobuf's well-known messages to and from Python values. Written by hand; the generated wire functions call it.

Numbers in free JSON travel as doubles. A whole number a double cannot hold exactly travels as text, as proto3 JSON
does with 64-bit numbers: identifiers keep every digit. What comes back whole is an `int`.
"""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from evalsi.schema.schema_error import SchemaError

_EXACT = 2**53
# Readers of protobuf refuse messages nested deeper than 100. A JSON list takes two levels of messages and an object
# three; the rest is room for the messages the value sits in.
_ROOM = 80
_LIST_LEVELS = 2
_OBJECT_LEVELS = 3
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def fill_value(value: Any, wire: Any, room: int = _ROOM) -> None:
    """Sets a `google.protobuf.Value`. Raises SchemaError for NaN, infinity, what is no JSON value, and for depth."""
    if value is None:
        wire.null_value = 0
    elif isinstance(value, str):
        wire.string_value = value
    elif isinstance(value, bool):
        wire.bool_value = value
    elif isinstance(value, int):
        if -_EXACT <= value <= _EXACT:
            wire.number_value = value
        else:
            wire.string_value = str(value)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise SchemaError("", "NaN and infinity are no JSON values")
        wire.number_value = value
    elif isinstance(value, dict):
        wire.struct_value.SetInParent()
        fill_object(cast("dict[str, Any]", value), wire.struct_value, room)
    elif isinstance(value, list | tuple):
        if room < _LIST_LEVELS:
            raise SchemaError("", "a JSON value is nested deeper than the binary form can carry")
        wire.list_value.SetInParent()
        values = wire.list_value.values
        for item in cast("Sequence[Any]", value):
            fill_value(item, values.add(), room - _LIST_LEVELS)
    else:
        raise SchemaError("", f"a Python {type(value).__name__} is no JSON value")


def read_value(wire: Any) -> Any:
    """The JSON value of a `google.protobuf.Value`; null when it holds none."""
    kind = wire.WhichOneof("kind")
    if kind == "string_value":
        return wire.string_value
    if kind == "number_value":
        number = wire.number_value
        return int(number) if number.is_integer() and -_EXACT <= number <= _EXACT else number
    if kind == "bool_value":
        return wire.bool_value
    if kind == "struct_value":
        return read_object(wire.struct_value)
    if kind == "list_value":
        return [read_value(item) for item in wire.list_value.values]
    return None


def fill_object(value: dict[str, Any], wire: Any, room: int = _ROOM) -> None:
    """Sets a `google.protobuf.Struct`, as `fill_value` does."""
    if room < _OBJECT_LEVELS:
        raise SchemaError("", "a JSON value is nested deeper than the binary form can carry")
    fields = wire.fields
    for key, item in value.items():
        fill_value(item, fields[key], room - _OBJECT_LEVELS)


def read_object(wire: Any) -> dict[str, Any]:
    return {key: read_value(item) for key, item in wire.fields.items()}


def fill_duration(seconds: float, wire: Any) -> None:
    """Sets a `google.protobuf.Duration` to the nanosecond; both parts carry the sign."""
    whole = math.trunc(seconds)
    nanos = round((seconds - whole) * 1e9)
    carry = math.trunc(nanos / 1_000_000_000)
    wire.seconds = whole + carry
    wire.nanos = nanos - carry * 1_000_000_000


def read_duration(wire: Any) -> float:
    return wire.seconds + wire.nanos / 1e9


def fill_timestamp(moment: datetime, wire: Any) -> None:
    """Sets a `google.protobuf.Timestamp`. A moment without a time zone is taken as UTC."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    since = aware - _EPOCH
    wire.seconds = since.days * 86_400 + since.seconds
    wire.nanos = since.microseconds * 1000


def read_timestamp(wire: Any) -> datetime:
    """The moment in UTC, to the microsecond."""
    return _EPOCH + timedelta(seconds=wire.seconds, microseconds=wire.nanos // 1000)
