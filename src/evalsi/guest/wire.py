"""Messages between a sandbox and its host: frames of plain values over a stream.

Its own module because both ends must agree, and its own form because what a sandbox sends is hostile: a reader makes
nothing but None, int, float, bytes, str and lists of them, checks every length, and never runs anything. Starting JSON
or pickle would also cost a sandbox more than everything else it imports.
"""

import struct

Value = None | int | float | bytes | str | list["Value"]

HEADER = struct.Struct("<I")
LARGEST_FRAME = 1 << 30
_NUMBER = struct.Struct("<q")
_REAL = struct.Struct("<d")
_DEEPEST = 8


class WireError(ValueError):
    """The bytes are no message."""


def frame(value: Value) -> bytes:
    """A whole frame: the length of its body in four bytes, then the body."""
    packed = body(value)
    return HEADER.pack(len(packed)) + packed


def body(value: Value) -> bytes:
    """A value as bytes."""
    parts: list[bytes] = []
    _write(value, parts)
    return b"".join(parts)


def parse(packed: bytes) -> Value:
    """The value that `body` packed. Raises: WireError."""
    value, end = _read(memoryview(packed), 0, 0)
    if end != len(packed):
        raise WireError("bytes after the value")
    return value


def _write(value: Value, parts: list[bytes]) -> None:
    if isinstance(value, list):
        parts.append(b"l" + HEADER.pack(len(value)))
        for each in value:
            _write(each, parts)
    elif isinstance(value, str):
        data = value.encode("utf-8", "surrogateescape")
        parts += (b"s" + HEADER.pack(len(data)), data)
    elif isinstance(value, bytes):
        parts += (b"b" + HEADER.pack(len(value)), value)
    elif isinstance(value, int):
        parts.append(b"i" + _NUMBER.pack(value))
    elif isinstance(value, float):
        parts.append(b"f" + _REAL.pack(value))
    else:
        parts.append(b"n")


def _read(data: memoryview, at: int, depth: int) -> tuple[Value, int]:
    if depth > _DEEPEST:
        raise WireError("nested too deeply")
    try:
        kind = data[at]
        at += 1
        if kind == 0x6E:
            return None, at
        if kind == 0x69:
            return _NUMBER.unpack_from(data, at)[0], at + 8
        if kind == 0x66:
            return _REAL.unpack_from(data, at)[0], at + 8
        (length,) = HEADER.unpack_from(data, at)
    except (IndexError, struct.error) as error:
        raise WireError("cut off") from error
    at += HEADER.size
    if length > len(data) - at:
        raise WireError("a length beyond the end")
    if kind == 0x62:
        return bytes(data[at : at + length]), at + length
    if kind == 0x73:
        return str(data[at : at + length], "utf-8", "surrogateescape"), at + length
    if kind != 0x6C:
        raise WireError("no such kind of value")
    items: list[Value] = []
    for _ in range(length):
        item, at = _read(data, at, depth + 1)
        items.append(item)
    return items, at
