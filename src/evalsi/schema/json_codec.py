"""Reads and writes schema types as JSON. Written by hand, and the only place where spellings are known.

Every face reads through `decode` or `convert`, so a body, a spec and a file accept the same things: names in
snake_case or lowerCamelCase, enums by word, full name or number, whole numbers as text, durations as "1.5s" or "5m".
User data (metadata, parameters, keys of maps) is never renamed. An unknown field is an error with its path, but where a
client reads what a server answered (`decode_known`): the server may be newer.

Two forms are written. `encode_camel` writes standard proto3 JSON names with zeros, false and empty lists printed, so no
client meets a missing bound; counts are numbers. `encode_file` writes what people read: snake_case, enums as words,
measured times as `latency_ms`; it leaves out what is empty but prints every number and boolean.

Code that knows its input is ours may skip this module: `msgspec.json.Decoder(Record)` reads snake_case directly, with
durations in seconds, in less than a microsecond.
"""

import re
from functools import cache
from typing import Any, TypeVar, cast

import msgspec

from evalsi.schema import Content
from evalsi.schema.json_reader import message_reader
from evalsi.schema.known_fields import known_fields
from evalsi.schema.message_check import check_message
from evalsi.schema.schema_error import DEPTH_LIMIT, SchemaError

__all__ = [
    "SchemaError",
    "check_content",
    "check_message",
    "convert",
    "decode",
    "decode_known",
    "encode_camel",
    "encode_file",
    "parse_json",
    "to_jsonable",
]

StructT = TypeVar("StructT", bound=msgspec.Struct)

_BYTE_PLACE = re.compile(r"\(byte (\d+)\)")


def decode(data: bytes | str, kind: type[StructT], *, at: str = "") -> StructT:
    """Reads one JSON document as `kind`.

    `at` is put before the paths in errors. Raises SchemaError; malformed JSON is reported with line and column.
    """
    try:
        found: StructT = _decoder(kind).decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass  # another spelling, or an error that the slower reader words better
    else:
        check_message(found, at=at)
        return found
    return convert(parse_json(data), kind, at=at)


def decode_known(data: bytes | str, kind: type[StructT]) -> StructT:
    """As `decode`, without what this version does not know: fields at any depth, and members of enums.

    Raises SchemaError.
    """
    try:
        found: StructT = _decoder(kind).decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return convert(known_fields(parse_json(data), kind.__name__), kind)
    check_message(found)
    return found


def parse_json(data: bytes | str) -> Any:
    """Reads JSON text into plain values. Raises SchemaError with line and column; NaN and Infinity are malformed."""
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise SchemaError("", f"the JSON is nested deeper than {DEPTH_LIMIT} levels") from None
    except UnicodeDecodeError as error:
        raise SchemaError("", f"the JSON is not valid UTF-8 at byte {error.start}") from None
    except msgspec.DecodeError as error:
        raise SchemaError("", f"the JSON is malformed: {_placed(str(error), data)}") from None


def convert(value: Any, kind: type[StructT], *, at: str = "") -> StructT:
    """Turns plain values (from JSON or YAML) into `kind`; Structs among them are taken as they are.

    `at` is put before the paths in errors. Raises SchemaError.
    """
    return cast("StructT", message_reader(kind.__name__)(value, at))


def encode_camel(value: msgspec.Struct) -> bytes:
    """The REST form as JSON text."""
    return msgspec.json.encode(to_jsonable(value, camel=True))


def encode_file(value: msgspec.Struct) -> bytes:
    """The file form as JSON text on one line."""
    return msgspec.json.encode(to_jsonable(value, camel=False))


def to_jsonable(value: msgspec.Struct, *, camel: bool) -> dict[str, Any]:
    """Plain JSON values in the REST form (`camel`) or the file form. User data is passed on, not copied."""
    from evalsi.schema.generated.json_forms import FILE_FORMS, REST_FORMS

    return (REST_FORMS if camel else FILE_FORMS)[type(value).__name__](value)


def check_content(content: Content, *, at: str) -> None:
    """Raises SchemaError unless exactly one form of the content is set."""
    check_message(content, at=at)


@cache
def _decoder(kind: type[msgspec.Struct]) -> "msgspec.json.Decoder[Any]":
    return msgspec.json.Decoder(kind)


def _placed(problem: str, data: bytes | str) -> str:
    """The decoder's words with the byte they name turned into line and column, both from 1."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
    if not raw.strip():
        return "the document is empty"
    words = problem.removeprefix("JSON is malformed: ")
    found = _BYTE_PLACE.search(words)
    if found is None:
        return "it ends too early" if "truncated" in words else words
    before = raw[: int(found[1])]
    line = before.count(b"\n") + 1
    column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
    return f"{words[: found.start()].strip()} at line {line} column {column}"
