"""OTLP JSON encoded as protobuf, by the field numbers of OpenTelemetry's own messages. A small writer for tests."""

import struct
from typing import Any


def encode_request(request: dict[str, Any]) -> bytes:
    """An `ExportTraceServiceRequest` in protobuf."""
    return b"".join(_field(1, _group(group)) for group in request.get("resourceSpans", []))


def _group(group: dict[str, Any]) -> bytes:
    resource = b"".join(_field(1, _pair(pair)) for pair in group.get("resource", {}).get("attributes", []))
    return _field(1, resource) + b"".join(_field(2, _scoped(scoped)) for scoped in group.get("scopeSpans", []))


def _scoped(scoped: dict[str, Any]) -> bytes:
    scope = scoped.get("scope", {})
    head = _field(1, _text(1, scope.get("name")) + _text(2, scope.get("version")))
    return head + b"".join(_field(2, _span(span)) for span in scoped.get("spans", []))


def _span(span: dict[str, Any]) -> bytes:
    parts = [_field(1, bytes.fromhex(span["traceId"])), _field(2, bytes.fromhex(span["spanId"]))]
    if span.get("parentSpanId"):
        parts.append(_field(4, bytes.fromhex(span["parentSpanId"])))
    parts += [_text(5, span.get("name")), _number(6, int(span.get("kind", 0)))]
    parts += [_fixed(7, int(span.get("startTimeUnixNano", 0))), _fixed(8, int(span.get("endTimeUnixNano", 0)))]
    parts += [_field(9, _pair(pair)) for pair in span.get("attributes", [])]
    for event in span.get("events", []):
        pairs = b"".join(_field(3, _pair(pair)) for pair in event.get("attributes", []))
        parts.append(_field(11, _fixed(1, int(event.get("timeUnixNano", 0))) + _text(2, event.get("name")) + pairs))
    status = span.get("status", {})
    parts.append(_field(15, _text(2, status.get("message")) + _number(3, int(status.get("code", 0)))))
    parts.append(_number(16, int(span.get("flags", 0))))  # a field that the reader does not know
    return b"".join(parts)


def _pair(pair: dict[str, Any]) -> bytes:
    return _text(1, pair["key"]) + _field(2, _value(pair.get("value", {})))


def _value(value: dict[str, Any]) -> bytes:
    match next(iter(value.items()), None):
        case ("stringValue", given):
            return _field(1, given.encode())
        case ("boolValue", given):
            return _varint(2 << 3) + _varint(int(given))
        case ("intValue", given):
            return _varint(3 << 3) + _varint(int(given) % 2**64)
        case ("doubleValue", given):
            return _varint(4 << 3 | 1) + struct.pack("<d", float(given))
        case ("arrayValue", given):
            return _field(5, b"".join(_field(1, _value(item)) for item in given.get("values", [])))
        case ("kvlistValue", given):
            return _field(6, b"".join(_field(1, _pair(item)) for item in given.get("values", [])))
        case _:
            return b""


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _text(number: int, text: str | None) -> bytes:
    return _field(number, text.encode()) if text else b""


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value) if value else b""


def _fixed(number: int, value: int) -> bytes:
    return _varint(number << 3 | 1) + value.to_bytes(8, "little")


def _varint(value: int) -> bytes:
    parts: list[int] = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])
