"""Turns plain values from JSON or YAML into schema types, in every spelling that is accepted. Written by hand.

One reader per message, put together from the field table at first use. Slower than msgspec's own decoder and only used
where that one refuses, or where the values are already in memory; in return each error names its path.
"""

import base64
import binascii
import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cache
from typing import Any, NamedTuple, cast

import msgspec

import evalsi.schema as types
from evalsi.schema.field import Field, fields_of
from evalsi.schema.json_text import parse_duration, parse_timestamp
from evalsi.schema.message_check import check_group, check_message, choice_groups, is_only_choice
from evalsi.schema.schema_enum import SchemaEnum
from evalsi.schema.schema_error import (
    DEPTH_LIMIT,
    Path,
    SchemaError,
    nested_too_deep,
    path_text,
    place,
    unknown_field,
    wrong_type,
)

BARE = {"Content": "text", "EvaluatorRef": "ref", "RewardComponent": "ref"}
"""Messages that a text alone stands for, by the field that it fills, in files and requests alike."""

Reader = Callable[[Any, Path], Any]
"""From a plain JSON value and its path to the value of a field."""


class _Slot(NamedTuple):
    name: str
    read: Reader
    scale_ms: bool


@cache
def message_reader(type_name: str) -> Reader:
    """Reader of one message. Made at first use, so that messages may contain themselves."""
    kind: type[msgspec.Struct] = getattr(types, type_name)
    fields = fields_of(type_name)
    slots: dict[str, _Slot] = {}
    for field in fields:
        slot = _Slot(field.name, _field_reader(field), scale_ms=False)
        slots[field.name] = slots[field.json_name] = slot
        if field.measured:
            in_ms = _Slot(field.name, _read_double, scale_ms=True)
            slots[f"{field.name}_ms"] = slots[f"{field.json_name}Ms"] = in_ms
    groups = choice_groups(fields)
    only_choice = is_only_choice(fields)
    values = {field.name for field in fields if field.kind == "value" and field.shape == "optional"}
    bare = BARE.get(type_name)

    def read(value: Any, path: Path) -> Any:
        if isinstance(value, kind):
            check_message(value, at=path)
            return value
        if bare is not None and isinstance(value, str):
            return kind(**{bare: value})
        if not isinstance(value, Mapping):
            raise wrong_type(path, f"an object ({type_name})", value)
        found: dict[str, Any] = {}
        seen: set[str] = set()
        for key, item in cast("Mapping[Any, Any]", value).items():
            slot = slots.get(key)
            if slot is None:
                raise unknown_field(path, key, fields)
            if slot.name in seen:
                here = (path, slot.name)
                raise SchemaError(here, f"{path_text(here)} is given twice, in two spellings")
            seen.add(slot.name)
            if item is None and slot.name not in values:
                continue
            read_item = slot.read(item, (path, key))
            found[slot.name] = read_item / 1000 if slot.scale_ms else read_item
        for group in groups:
            check_group([name for name in group if name in found], group, path, required=only_choice)
        return kind(**found)

    return read


def _field_reader(field: Field) -> Reader:
    one = value_reader(field)
    if field.shape == "list":

        def read_list(value: Any, path: Path) -> list[Any]:
            if not isinstance(value, Sequence) or isinstance(value, str | bytes):
                raise wrong_type(path, "a list", value)
            items = cast("Sequence[Any]", value)
            return [one(item, (path, index)) for index, item in enumerate(items)]

        return read_list
    if field.shape == "map":

        def read_map(value: Any, path: Path) -> dict[str, Any]:
            return {key: one(item, (path, key)) for key, item in _named(value, path)}

        return read_map
    return one


def value_reader(field: Field) -> Reader:
    """Reader of one value of a field: one element of a list, one entry of a map. It raises SchemaError."""
    if field.kind == "enum":
        return _enum_reader(getattr(types, field.type_name))
    if field.kind != "message":
        return _READERS[field.kind]
    name = field.type_name

    def read_message(value: Any, path: Path) -> Any:
        return message_reader(name)(value, path)

    return read_message


def _named(value: Any, path: Path) -> list[tuple[str, Any]]:
    """Entries of an object; refuses keys that are not text, which YAML lets through."""
    if not isinstance(value, Mapping):
        raise wrong_type(path, "an object", value)
    entries = list(cast("Mapping[Any, Any]", value).items())
    for key, _ in entries:
        if not isinstance(key, str):
            raise SchemaError(path, f"{place(path)} has the key {key!r}, which is no text; put it in quotes")
    return entries


def _read_string(value: Any, path: Path) -> str:
    if isinstance(value, str):
        return value
    quotes = "; put it in quotes" if isinstance(value, bool | int | float | date) else ""
    raise wrong_type(path, "text", value, advice=quotes)


def _read_bytes(value: Any, path: Path) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        try:
            padded = value.replace("-", "+").replace("_", "/").rstrip("=")
            return base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True)
        except (binascii.Error, ValueError):
            raise SchemaError(path, f"{place(path)} must be base64 text") from None
    raise wrong_type(path, "base64 text", value)


def _read_bool(value: Any, path: Path) -> bool:
    if isinstance(value, bool):
        return value
    raise wrong_type(path, "true or false", value)


def _integer_reader(bits: int, *, signed: bool = True) -> Reader:
    least, bound = (-(1 << (bits - 1)), 1 << (bits - 1)) if signed else (0, 1 << bits)

    def read_integer(value: Any, path: Path) -> int:
        number: int | None = None
        if isinstance(value, int) and not isinstance(value, bool):
            number = value
        elif (isinstance(value, float) and value.is_integer()) or (
            isinstance(value, str) and len(value) <= 20 and value.removeprefix("-").isdecimal() and value.isascii()
        ):
            number = int(value)
        if number is None:
            raise wrong_type(path, "an integer", value)
        if not least <= number < bound:
            raise SchemaError(path, f"{place(path)} must fit {bits} bits, from {least} to {bound - 1}")
        return number

    return read_integer


def _read_double(value: Any, path: Path) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
        raise SchemaError(path, f"{place(path)} must be a finite number")
    raise wrong_type(path, "a number", value)


def _read_duration(value: Any, path: Path) -> float:
    if isinstance(value, str):
        seconds = parse_duration(value)
        if seconds is not None and math.isfinite(seconds):
            return seconds
        raise SchemaError(path, f'{place(path)} must be a duration such as "1.5s" or "5m", not {value!r}')
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type(path, 'a duration such as "1.5s" or "5m"', value)
    return _read_double(value, path)


def _read_timestamp(value: Any, path: Path) -> datetime:
    moment = parse_timestamp(value) if isinstance(value, str) else value
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        return moment.astimezone(UTC)
    raise wrong_type(path, 'a time with its zone such as "2026-01-31T12:00:00Z"', value)


def _read_value(value: Any, path: Path) -> Any:
    return _json_value(value, path, DEPTH_LIMIT)


def _read_object(value: Any, path: Path) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise wrong_type(path, "an object", value)
    return _json_value(value, path, DEPTH_LIMIT)


def _json_value(value: Any, path: Path, depth: int) -> Any:
    """The value, after making sure that JSON can hold it."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if depth == 0:
        raise nested_too_deep(path)
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        raise SchemaError(path, f"{place(path)} must be a finite number")
    if isinstance(value, Mapping):
        return {key: _json_value(item, (path, key), depth - 1) for key, item in _named(value, path)}
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        return [_json_value(item, (path, index), depth - 1) for index, item in enumerate(items)]
    if isinstance(value, datetime | date):
        raise SchemaError(path, f"{place(path)} reads as a date; put it in quotes")
    raise wrong_type(path, "a JSON value", value)


def _enum_reader(kind: type[SchemaEnum]) -> Reader:
    words = kind.offered_words()

    def read_enum(value: Any, path: Path) -> SchemaEnum:
        if isinstance(value, str):
            try:
                return kind(value)
            except ValueError:
                near = difflib.get_close_matches(value.lower(), words, n=1)
                raise SchemaError(
                    path,
                    f"{place(path)} must be one of {', '.join(words)}, not {value!r}"
                    + "".join(f"; did you mean {n}?" for n in near),
                    nearest="".join(near),
                ) from None
        if isinstance(value, int) and not isinstance(value, bool):
            for member in kind:
                if member.number == value:
                    return member
        raise wrong_type(path, f"one of {', '.join(words)}", value)

    return read_enum


_READERS: dict[str, Reader] = {
    "string": _read_string,
    "bytes": _read_bytes,
    "bool": _read_bool,
    "int32": _integer_reader(32),
    "uint32": _integer_reader(32, signed=False),
    "int64": _integer_reader(64),
    "double": _read_double,
    "value": _read_value,
    "object": _read_object,
    "duration": _read_duration,
    "timestamp": _read_timestamp,
}
