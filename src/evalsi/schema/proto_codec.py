"""Reads and writes schema types in protobuf's binary form. Written by hand; needs the `server` extra.

The only door to `evalsi.schema.wire`. The compiled schema lives in a pool of its own (`pool()`), which also serves
reflection; protobuf is imported when the first of these functions is called.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from evalsi.schema.schema_error import SchemaError

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message import Message as WireMessage

StructT = TypeVar("StructT", bound=msgspec.Struct)


def encode(value: msgspec.Struct) -> bytes:
    """The binary form. Raises SchemaError for a value the wire cannot carry."""
    from google.protobuf.message import EncodeError

    try:
        return to_wire(value).SerializeToString()
    except (EncodeError, ValueError) as error:
        raise _unfit(value, error) from None


def decode(data: bytes, kind: type[StructT]) -> StructT:
    """Reads the binary form of `kind`; fields only a newer schema knows are left out. Raises SchemaError."""
    from google.protobuf.message import DecodeError

    try:
        wire = message_class(kind).FromString(data)
    except DecodeError:
        raise SchemaError("", f"these bytes are no {kind.__name__}") from None
    return from_wire(wire, kind)


def to_wire(value: msgspec.Struct) -> "WireMessage":
    """Protobuf's object for a Struct. Raises SchemaError for a value the wire cannot carry."""
    from evalsi.schema.wire.to_wire import FILLS

    wire = message_class(type(value))()
    try:
        FILLS[type(value).__name__](value, wire)
    except (UnicodeEncodeError, ValueError, TypeError) as error:
        raise _unfit(value, error) from None
    return wire


def from_wire(wire: "WireMessage", kind: type[StructT]) -> StructT:
    """The Struct for protobuf's object. Alternatives and depth are checked by `check_message`, not here.

    Raises SchemaError for a time outside of the years 1 to 9999.
    """
    from evalsi.schema.wire.from_wire import READS

    try:
        return READS[kind.__name__](wire)
    except OverflowError:
        raise SchemaError("", f"a time in this {kind.__name__} lies outside of the years 1 to 9999") from None


@cache
def message_class(kind: type[msgspec.Struct]) -> "type[WireMessage]":
    """Protobuf's class for a Struct type."""
    from google.protobuf.message_factory import GetMessageClass

    from evalsi.schema.wire.to_wire import FULL_NAMES

    return GetMessageClass(pool().FindMessageTypeByName(FULL_NAMES[kind.__name__]))


@cache
def pool() -> "DescriptorPool":
    """The compiled schema with everything it imports."""
    from google.protobuf.descriptor_pool import DescriptorPool

    found = DescriptorPool()
    for file in compiled_files():
        found.Add(file)
    return found


def compiled_files() -> "Sequence[FileDescriptorProto]":
    """The compiled schema, each file after those it imports, for a pool of somebody else."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    image = (Path(__file__).parent / "wire" / "schema.binpb").read_bytes()
    return FileDescriptorSet.FromString(image).file


def _unfit(value: msgspec.Struct, error: Exception) -> SchemaError:
    if isinstance(error, SchemaError):
        return error
    name = type(value).__name__
    if isinstance(error, UnicodeEncodeError):
        return SchemaError(
            "", f"a text in this {name} holds half of a surrogate pair, which the binary form cannot carry"
        )
    return SchemaError("", f"the binary form cannot carry this {name}: {error}")
