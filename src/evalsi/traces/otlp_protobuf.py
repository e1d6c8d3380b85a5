"""OTLP in protobuf as spans, for files and for what is stored.

What always holds: a request whose frame is damaged, or one of whose spans is, is refused as a whole, since nothing after the
damage can be found; within a span's values a damaged list or map costs that value alone.
"""

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from evalsi.core.errors import InvalidDataError
from evalsi.schema.otlp_wire import damage, otlp_messages
from evalsi.traces.log_event import MOST_RECORDS, DecodedEvents, LogEvent, is_kept, named_event
from evalsi.traces.span import DecodedSpans, RejectedSpan, Span, SpanEvent

_MAX_VALUE_DEPTH = 40
"""Nesting of one attribute's value; a deeper one is replaced by a sentence."""
_MAX_NS = 2**63
"""A moment from here on, beyond the year 2262, is none."""
_NO_TRACE, _NO_SPAN = bytes(16), bytes(8)
DAMAGED_VALUE = "[this value is damaged]"
"""What stands for a list or map that is no protobuf."""
_LONGEST_KNOWN, _MOST_KNOWN = 100, 4096
_KNOWN: dict[bytes, tuple[str, Any]] = {}
"""Short attributes by their bytes. Read and filled by any thread; it holds nothing that bytes do not say."""
_NAME, _VALUE, _TEXT = 10, 18, 10
"""The bytes that an attribute's name, its value, and a text as its value begin with."""
_NEVER = b"\xff"
"""What no value begins with."""


def decode_otlp_protobuf(body: bytes) -> DecodedSpans:
    """The spans of an `ExportTraceServiceRequest` (or `TracesData`) in protobuf.

    Raises: InvalidDataError: the bytes are no such message.
    """
    spans: list[Span] = []
    rejected: list[RejectedSpan] = []
    messages, said = otlp_messages(), _Said()
    try:
        for group in messages.ReadRequest.FromString(body).resource_spans:
            resource = said.attributes(messages.ReadResource.FromString(group.resource).attributes)
            for scoped in (*group.scope_spans, *group.library_spans):
                packed = scoped.scope
                name, version = _known_scope(packed) if len(packed) <= _LONGEST_KNOWN else _scope(packed)
                found = [_span(raw, said, resource, name, version) for raw in scoped.spans]
                bad = [span for span in found if isinstance(span, RejectedSpan)]
                spans += [span for span in found if isinstance(span, Span)] if bad else cast("list[Span]", found)
                rejected += bad
    except damage():
        raise InvalidDataError("no OTLP in protobuf: the bytes are damaged or end early") from None
    return DecodedSpans(spans=spans, rejected=rejected)


def decode_otlp_logs_protobuf(body: bytes, most: int = MOST_RECORDS) -> DecodedEvents:
    """The events of an `ExportLogsServiceRequest` in protobuf.

    Args:
        most: Records that are looked at; further ones are left out.

    Raises: InvalidDataError: the bytes are no such message.
    """
    events: list[LogEvent] = []
    left_out = 0
    messages = otlp_messages()
    try:
        for group in messages.ReadLogsRequest.FromString(body).resource_logs:
            resource = attributes_of(messages.Resource.FromString(group.resource).attributes)
            for scoped in group.scope_logs:
                name, version = _scope(scoped.scope)
                left_out += len(scoped.log_records)
                for raw in scoped.log_records[: max(0, most)]:
                    event = _log_event(messages.LogRecord.FromString(raw), resource, name, version)
                    if is_kept(event):
                        events.append(event)
                        left_out -= 1
                most -= len(scoped.log_records)
    except damage():
        raise InvalidDataError("no OTLP in protobuf: the bytes are damaged or end early") from None
    return DecodedEvents(events=events, left_out=left_out)


def _log_event(raw: Any, resource: Mapping[str, Any], scope_name: str, scope_version: str) -> LogEvent:
    attributes = attributes_of(raw.attributes)
    said = _value(raw.body, 0) if raw.HasField("body") else None
    time_ns = raw.time_unix_nano or raw.observed_time_unix_nano
    trace_id, span_id = raw.trace_id, raw.span_id
    return LogEvent(
        name=named_event(text_of_wire(raw.event_name), attributes),
        trace_id=trace_id.hex() if len(trace_id) == 16 and trace_id != _NO_TRACE else "",
        span_id=span_id.hex() if len(span_id) == 8 and span_id != _NO_SPAN else "",
        time_ns=time_ns if time_ns < _MAX_NS else 0,
        attributes={**attributes, **cast("dict[str, Any]", said)} if isinstance(said, dict) else attributes,
        resource=resource,
        scope_name=scope_name,
        scope_version=scope_version,
    )


def attributes_of(pairs: Iterable[Any]) -> dict[str, Any]:
    """Attributes as JSON values, from protobuf's `KeyValue`s; of a name that comes twice the last one counts."""
    return {key: value for key, value in (_pair(pair, 0) for pair in pairs) if key}


def why_rejected(trace_id: bytes, span_id: bytes, parent_span_id: bytes) -> str:
    """What is wrong with the ids of a span; empty when they are right."""
    if len(trace_id) != 16 or trace_id == _NO_TRACE:
        return f"the trace id is 16 bytes that are not all 0, not {len(trace_id)}"
    if len(span_id) != 8 or span_id == _NO_SPAN:
        return f"the span id is 8 bytes that are not all 0, not {len(span_id)}"
    if parent_span_id and len(parent_span_id) != 8:
        return f"the parent's id is 8 bytes, not {len(parent_span_id)}"
    return ""


def text_of_wire(value: str | bytes) -> str:
    """Text; bytes that are no UTF-8 become the replacement mark, since a span is worth more than one bad letter."""
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def _scope(packed: bytes) -> tuple[str, str]:
    """Name and version."""
    scope = otlp_messages().Scope.FromString(packed)
    return text_of_wire(scope.name), text_of_wire(scope.version)


_known_scope = lru_cache(_MOST_KNOWN)(_scope)


def _span(
    raw: Any, said: "_Said", resource: Mapping[str, Any], scope_name: str, scope_version: str
) -> Span | RejectedSpan:
    trace_id, span_id, parent = raw.trace_id, raw.span_id, raw.parent_span_id
    name = raw.name
    if not isinstance(name, str):
        name = text_of_wire(name)
    reason = why_rejected(trace_id, span_id, parent)
    if reason:
        return RejectedSpan(where=repr(name), reason=reason)
    status = raw.status if raw.HasField("status") else None
    events = raw.events
    start_ns, end_ns = raw.start_time_unix_nano, raw.end_time_unix_nano
    return Span(
        trace_id=trace_id.hex(),
        span_id=span_id.hex(),
        parent_span_id="" if parent == _NO_SPAN else parent.hex(),
        name=name,
        kind=raw.kind,
        start_ns=start_ns if start_ns < _MAX_NS else 0,
        end_ns=end_ns if end_ns < _MAX_NS else 0,
        attributes=said.attributes(raw.attributes),
        events=[_event(each, said) for each in events] if events else [],
        status_code=status.code if status is not None else 0,
        status_message=text_of_wire(status.message) if status is not None else "",
        resource=resource,
        scope_name=scope_name,
        scope_version=scope_version,
        dropped_attributes=raw.dropped_attributes_count,
    )


def _event(raw: Any, said: "_Said") -> SpanEvent:
    return SpanEvent(
        name=text_of_wire(raw.name),
        time_ns=raw.time_unix_nano if raw.time_unix_nano < _MAX_NS else 0,
        attributes=said.attributes(raw.attributes),
    )


class _Said(dict[bytes, tuple[str, Any]]):
    """Attributes of one body by their bytes: the spans of a trace say the same again and again, be it the name of a model or
    all the tools that it may call.
    """

    def attributes(self, packed: Sequence[bytes]) -> dict[str, Any]:
        """Attributes as `attributes_of` gives them, from the bytes of each."""
        # Protobuf's lists are copied in a third of the time in which they are walked through.
        found = dict(map(self.__getitem__, packed[:]))
        found.pop("", None)
        return found

    def __missing__(self, packed: bytes) -> tuple[str, Any]:
        is_short = len(packed) <= _LONGEST_KNOWN
        pair = (_KNOWN.get(packed) or _short_pair(packed)) if is_short else _long_pair(packed)
        if not isinstance(pair[1], list | dict):  # which somebody might change
            self[packed] = pair
        return pair


def _short_pair(packed: bytes) -> tuple[str, Any]:
    """A short attribute, remembered for the next body: an app says few different ones."""
    pair = _pair(otlp_messages().KeyValue.FromString(packed), 0)
    if not isinstance(pair[1], list | dict):
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[packed] = pair
    return pair


def _long_pair(packed: bytes) -> tuple[str, Any]:
    if packed[0] == _NAME and packed[1] < 128:  # a length of one byte
        end = packed[1] + 2
        before = _before_text(len(packed) - end)
        if packed.startswith(before, end):
            try:
                return _name(packed[:end]), packed[end + len(before) :].decode()
            except UnicodeDecodeError:
                pass  # the long way makes the best of it
    return _pair(otlp_messages().KeyValue.FromString(packed), 0)


@lru_cache(_MOST_KNOWN)
def _name(begin: bytes) -> str:
    """The name in the first bytes of an attribute: of the few that there are, each is the same object every time."""
    return text_of_wire(begin[2:])


@lru_cache(_MOST_KNOWN)
def _before_text(size: int) -> bytes:
    """What stands before the text in a value of `size` bytes that is nothing but a text, as most long ones are: such a value
    is read in half the time.
    """
    for length in range(size - 4, max(0, size - 16), -1):
        text = bytes((_TEXT, *_varint(length)))
        before = bytes((_VALUE, *_varint(len(text) + length))) + text
        if len(before) + length == size:
            return before
    return _NEVER


def _varint(number: int) -> bytes:
    low = [number >> shift & 127 for shift in range(0, max(number.bit_length(), 1), 7)]
    return bytes([*(part | 128 for part in low[:-1]), low[-1]])


def _pair(pair: Any, depth: int) -> tuple[str, Any]:
    key, value = pair.key, pair.value
    if value.HasField("string_value"):  # what most are
        text = value.string_value
        return key if isinstance(key, str) else text_of_wire(key), text if isinstance(text, str) else text_of_wire(text)
    return text_of_wire(key), _value(value, depth)


def _value(value: Any, depth: int) -> Any:
    match value.WhichOneof("value"):
        case "string_value":
            return text_of_wire(value.string_value)
        case "int_value":
            return value.int_value
        case "bool_value":
            return value.bool_value
        case "double_value":
            double = value.double_value
            return double if math.isfinite(double) else str(double)
        case "bytes_value":
            return base64.b64encode(value.bytes_value).decode()
        case "array_value" | "kvlist_value" as form:
            return _nested(form, getattr(value, form), depth + 1)
        case _:
            return None


def _nested(form: str, packed: bytes, depth: int) -> Any:
    if depth > _MAX_VALUE_DEPTH:
        return f"[nested deeper than {_MAX_VALUE_DEPTH} levels]"
    messages = otlp_messages()
    try:
        if form == "array_value":
            return [_value(item, depth) for item in messages.ArrayValue.FromString(packed).values]
        return dict(_pair(pair, depth) for pair in messages.KeyValueList.FromString(packed).values)
    except damage():
        return DAMAGED_VALUE
