"""Spans as OTLP in protobuf: what was read as JSON, imported or redacted is kept in the form in which most is sent.

What always holds: reading what was written gives the same spans.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from evalsi.schema.otlp_wire import otlp_messages
from evalsi.traces.span import Span

_LEAST_INT, _MOST_INT = -(2**63), 2**63 - 1


def encode_otlp_protobuf(spans: Iterable[Span]) -> bytes:
    """An `ExportTraceServiceRequest`. Neighbours of one resource and scope stand together."""
    messages = otlp_messages()
    request = messages.Request()
    last: Span | None = None
    group = scoped = None
    for span in spans:
        if last is None or group is None or (last.resource is not span.resource and last.resource != span.resource):
            group = request.resource_spans.add(resource=resource_bytes(span.resource))
            scoped = None
        scope = (span.scope_name, span.scope_version)
        if scoped is None or last is None or scope != (last.scope_name, last.scope_version):
            scoped = group.scope_spans.add(
                scope=messages.Scope(name=span.scope_name, version=span.scope_version).SerializeToString()
            )
        scoped.spans.append(_span_bytes(span))
        last = span
    return request.SerializeToString()


def resource_bytes(attributes: Mapping[str, Any]) -> bytes:
    """A `Resource`. Two of them, one behind the other, are one with the attributes of both."""
    resource = otlp_messages().Resource()
    write_pairs(resource.attributes, attributes)
    return resource.SerializeToString()


def _span_bytes(span: Span) -> bytes:
    written = otlp_messages().Span(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=bytes.fromhex(span.parent_span_id),
        name=span.name,
        kind=span.kind,
        start_time_unix_nano=span.start_ns,
        end_time_unix_nano=span.end_ns,
        dropped_attributes_count=span.dropped_attributes,
    )
    write_pairs(written.attributes, span.attributes)
    for event in span.events:
        made = written.events.add(name=event.name, time_unix_nano=event.time_ns)
        write_pairs(made.attributes, event.attributes)
    if span.status_code:
        written.status.code = span.status_code
    if span.status_message:
        written.status.message = span.status_message
    return written.SerializeToString()


def write_pairs(pairs: Any, attributes: Mapping[str, Any]) -> None:
    """Adds attributes to the list of some message."""
    for key, value in attributes.items():
        _write(pairs.add(key=key).value, value)


def _write(written: Any, value: Any) -> None:
    match value:
        case str():
            written.string_value = value
        case bool():
            written.bool_value = value
        case int():
            if _LEAST_INT <= value <= _MOST_INT:
                written.int_value = value
            else:
                written.string_value = str(value)
        case float():
            written.double_value = value
        case list():
            array = otlp_messages().ArrayValue()
            for item in cast("list[Any]", value):
                _write(array.values.add(), item)
            written.array_value = array.SerializeToString()
        case dict():
            pairs = otlp_messages().KeyValueList()
            write_pairs(pairs.values, cast("dict[str, Any]", value))
            written.kvlist_value = pairs.SerializeToString()
        case _:
            """A name without a value."""
