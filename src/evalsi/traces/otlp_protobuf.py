"""OTLP in protobuf, read by hand: the dozen fields that mappers need, of five messages.

Written by hand so that a file can be read without a protobuf runtime, which only servers install. Unknown fields are
skipped; a damaged message is refused as a whole, since nothing after the damage can be found.
"""

import base64
import math
import struct
from collections.abc import Iterator
from typing import Any

from evalsi.core.errors import InvalidDataError
from evalsi.traces.span import DecodedSpans, RejectedSpan, Span, SpanEvent

_MAX_VALUE_DEPTH = 40
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_Field = tuple[int, int, Any]
"""Number, wire type, value: an int for a varint, `memoryview` for the others."""


class _DamagedError(ValueError):
    """The bytes are no protobuf message."""


def decode_otlp_protobuf(body: bytes) -> DecodedSpans:
    """The spans of an `ExportTraceServiceRequest` (or `TracesData`) in protobuf.

    Raises: InvalidDataError: the bytes are no such message.
    """
    spans: list[Span] = []
    rejected: list[RejectedSpan] = []
    try:
        for number, kind, group in _fields(memoryview(body)):
            if (number, kind) == (1, _BYTES):
                _read_group(group, spans, rejected)
    except _DamagedError as fault:
        raise InvalidDataError(f"no OTLP in protobuf: {fault}") from None
    return DecodedSpans(spans=spans, rejected=rejected)


def _read_group(group: memoryview, spans: list[Span], rejected: list[RejectedSpan]) -> None:
    resource: dict[str, Any] = {}
    scoped: list[memoryview] = []
    for number, kind, value in _fields(group):
        if (number, kind) == (1, _BYTES):
            resource = _attributes(inner for at, wire, inner in _fields(value) if (at, wire) == (1, _BYTES))
        elif kind == _BYTES and number in (2, 1000):  # 1000: what OTLP before 0.15 called a library
            scoped.append(value)
    for value in scoped:
        name = version = ""
        found: list[memoryview] = []
        for number, kind, inner in _fields(value):
            if (number, kind) == (1, _BYTES):
                texts = {at: _text(text) for at, wire, text in _fields(inner) if wire == _BYTES and at in (1, 2)}
                name, version = texts.get(1, ""), texts.get(2, "")
            elif (number, kind) == (2, _BYTES):
                found.append(inner)
        for inner in found:
            span = _span(inner, resource, name, version)
            if isinstance(span, Span):
                spans.append(span)
            else:
                rejected.append(span)


def _span(data: memoryview, resource: dict[str, Any], scope_name: str, scope_version: str) -> Span | RejectedSpan:
    values: dict[int, Any] = {}
    pairs: list[memoryview] = []
    events: list[SpanEvent] = []
    for number, kind, value in _fields(data):
        if number == 9 and kind == _BYTES:
            pairs.append(value)
        elif number == 11 and kind == _BYTES:
            events.append(_event(value))
        elif (number, kind) in _SPAN_FIELDS:
            values[number] = value
    trace_id, span_id = bytes(values.get(1, b"")), bytes(values.get(2, b""))
    parent = bytes(values.get(4, b""))
    name = _text(values.get(5, memoryview(b"")))
    if len(trace_id) != 16 or not any(trace_id):
        return RejectedSpan(
            where=repr(name), reason=f"the trace id is 16 bytes that are not all 0, not {len(trace_id)}"
        )
    if len(span_id) != 8 or not any(span_id):
        return RejectedSpan(where=repr(name), reason=f"the span id is 8 bytes that are not all 0, not {len(span_id)}")
    if len(parent) not in (0, 8):
        return RejectedSpan(where=repr(name), reason=f"the parent's id is 8 bytes, not {len(parent)}")
    status = {at: value for at, _, value in _fields(values.get(15, memoryview(b"")))}
    message: Any = status.get(2)
    return Span(
        trace_id=trace_id.hex(),
        span_id=span_id.hex(),
        parent_span_id=parent.hex() if any(parent) else "",
        name=name,
        kind=values.get(6, 0),
        start_ns=_fixed64(values.get(7)),
        end_ns=_fixed64(values.get(8)),
        attributes=_attributes(pairs),
        events=events,
        status_code=status[3] if isinstance(status.get(3), int) else 0,
        status_message="" if message is None or isinstance(message, int) else _text(message),
        resource=resource,
        scope_name=scope_name,
        scope_version=scope_version,
        dropped_attributes=values.get(10, 0),
    )


_SPAN_FIELDS = {
    (1, _BYTES),
    (2, _BYTES),
    (4, _BYTES),
    (5, _BYTES),
    (6, _VARINT),
    (7, _FIXED64),
    (8, _FIXED64),
    (10, _VARINT),
    (15, _BYTES),
}


def _event(data: memoryview) -> SpanEvent:
    name, time_ns = "", 0
    pairs: list[memoryview] = []
    for number, kind, value in _fields(data):
        match number, kind:
            case 1, 1:
                time_ns = _fixed64(value)
            case 2, 2:
                name = _text(value)
            case 3, 2:
                pairs.append(value)
            case _:
                pass
    return SpanEvent(name=name, time_ns=time_ns, attributes=_attributes(pairs))


def _attributes(pairs: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs:
        key, value = _pair(pair, 0)
        if key:
            found[key] = value
    return found


def _pair(data: memoryview, depth: int) -> tuple[str, Any]:
    key, value = "", None
    for number, kind, inner in _fields(data):
        if kind == _BYTES and number == 1:
            key = _text(inner)
        elif kind == _BYTES and number == 2:
            value = _value(inner, depth)
    return key, value


def _value(data: memoryview, depth: int) -> Any:
    if depth > _MAX_VALUE_DEPTH:
        return f"[nested deeper than {_MAX_VALUE_DEPTH} levels]"
    for number, kind, value in _fields(data):
        match number, kind:
            case 1, 2:
                return _text(value)
            case 2, 0:
                return bool(value)
            case 3, 0:
                return value - 2**64 if value >= 2**63 else value
            case 4, 1:
                double = struct.unpack("<d", value)[0]
                return double if math.isfinite(double) else str(double)
            case 5, 2:
                return [_value(item, depth + 1) for at, _, item in _fields(value) if at == 1]
            case 6, 2:
                return dict(_pair(item, depth + 1) for at, _, item in _fields(value) if at == 1)
            case 7, 2:
                return base64.b64encode(value).decode()
            case _:
                pass
    return None


def _fixed64(value: memoryview | None) -> int:
    """Nanoseconds; a moment beyond the year 2262 is none."""
    number = int.from_bytes(value, "little") if value is not None else 0
    return number if number < 2**63 else 0


def _text(value: memoryview) -> str:
    """Text; bytes that are no UTF-8 become the replacement mark, since a span is worth more than one bad letter."""
    return str(value, "utf-8", "replace")


def _fields(data: memoryview) -> Iterator[_Field]:
    at, end = 0, len(data)
    while at < end:
        tag = data[at]
        at += 1
        if tag > 127:
            tag, at = _varint(data, at - 1)
        kind = tag & 7
        if kind == _BYTES:
            if at >= end:
                raise _DamagedError("it ends early")
            length = data[at]
            at += 1
            if length > 127:
                length, at = _varint(data, at - 1)
            stop = at + length
            if stop > end:
                raise _DamagedError("it ends early")
            yield tag >> 3, kind, data[at:stop]
            at = stop
        elif kind == _VARINT:
            value, at = _varint(data, at)
            yield tag >> 3, kind, value
        elif kind in (_FIXED64, _FIXED32):
            stop = at + (8 if kind == _FIXED64 else 4)
            if stop > end:
                raise _DamagedError("it ends early")
            yield tag >> 3, kind, data[at:stop]
            at = stop
        else:
            raise _DamagedError(f"field {tag >> 3} has the unknown wire type {kind}")


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    for position in range(at, min(at + 10, len(data))):
        byte = data[position]
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (2**64 - 1), position + 1
        shift += 7
    raise _DamagedError("a number does not end")
