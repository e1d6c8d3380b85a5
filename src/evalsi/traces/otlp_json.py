"""OTLP in JSON: ids in hexadecimal, enums as numbers, 64-bit integers as text or numbers, unknown fields ignored.

Its own module because OTLP's JSON is not protobuf's: ids in base64, which is what a plain protobuf library writes, are
refused span by span with a sentence that says so.
"""

import math
import re
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from evalsi.core.errors import InvalidDataError
from evalsi.core.lone_surrogates import without_surrogates
from evalsi.traces.log_event import (
    MESSAGE_EVENTS,
    MOST_RECORDS,
    DecodedEvents,
    LogEvent,
    is_kept,
    named_event,
    span_of_event,
)
from evalsi.traces.span import DecodedSpans, RejectedSpan, Span, SpanEvent

_TRACE_ID = re.compile(r"[0-9a-f]{32}")
_SPAN_ID = re.compile(r"[0-9a-f]{16}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{11,22}={1,2}")
_KINDS = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_STATUSES = ("UNSET", "OK", "ERROR")
_MAX_VALUE_DEPTH = 40
"""Nesting of one attribute's value; a deeper one is replaced by a sentence."""
_MAX_NS = 2**63 - 1


class _BadSpanError(ValueError):
    """Why a span cannot be taken."""


def decode_otlp_json(body: bytes) -> DecodedSpans:
    """The spans of an `ExportTraceServiceRequest` (or `TracesData`) in OTLP's JSON. Where logs are beside them, as in files,
    what models heard and said by events is among them.

    Raises: InvalidDataError: the body is no JSON object, or its lists are none.
    """
    return spans_of_request(_read(body))


def decode_otlp_logs_json(body: bytes, most: int = MOST_RECORDS) -> DecodedEvents:
    """The events of an `ExportLogsServiceRequest` in OTLP's JSON.

    Args:
        most: Records that are looked at; further ones are left out.

    Raises: as `decode_otlp_json`.
    """
    request = _read(body)
    if not isinstance(request, dict):
        raise InvalidDataError("no OTLP JSON: an object with resourceLogs is expected")
    return _events_of_request(cast("dict[str, Any]", request), most)


def _events_of_request(request: dict[str, Any], most: int) -> DecodedEvents:
    events: list[LogEvent] = []
    left_out = 0
    items = _raw_items(request, "resourceLogs", ("scopeLogs",), "logRecords")
    for number, (_, raw, origin) in enumerate(items):
        event = _log_event(raw, origin) if number < most else None
        if event is not None and is_kept(event):
            events.append(event)
        else:
            left_out += 1
    return DecodedEvents(events=events, left_out=left_out)


def _log_event(raw: Any, origin: "_Origin") -> LogEvent | None:
    """None where a field is not what it must be."""
    if not isinstance(raw, dict):
        return None
    fields = cast("dict[str, Any]", raw)
    attributes = _attributes(fields.get("attributes"))
    said = _value(fields.get("body"), 0)
    try:
        return LogEvent(
            name=named_event(_text(fields.get("eventName")), attributes),
            trace_id=_optional(fields.get("traceId"), "traceId", _TRACE_ID),
            span_id=_optional(fields.get("spanId"), "spanId", _SPAN_ID),
            time_ns=_nanoseconds(fields.get("timeUnixNano"), "timeUnixNano")
            or _nanoseconds(fields.get("observedTimeUnixNano"), "observedTimeUnixNano"),
            attributes={**attributes, **cast("dict[str, Any]", said)} if isinstance(said, dict) else attributes,
            resource=origin.resource,
            scope_name=origin.scope_name,
            scope_version=origin.scope_version,
        )
    except _BadSpanError:
        return None


def _read(body: bytes) -> Any:
    try:
        request = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidDataError(f"no OTLP JSON: {error}") from None
    except RecursionError:
        raise InvalidDataError("no OTLP JSON: nested too deep") from None
    if b"\\ud" in body or b"\\uD" in body:
        request, _ = without_surrogates(request)
    return request


def spans_of_request(request: Any) -> DecodedSpans:
    """As `decode_otlp_json`, of a value that is already read."""
    if not isinstance(request, dict):
        raise InvalidDataError("no OTLP JSON: an object with resourceSpans is expected")
    spans: list[Span] = []
    rejected: list[RejectedSpan] = []
    # Senders before OTLP 0.15 call the scope an instrumentation library.
    scopes = ("scopeSpans", "instrumentationLibrarySpans")
    for place, raw, origin in _raw_items(cast("dict[str, Any]", request), "resourceSpans", scopes, "spans"):
        try:
            spans.append(_span(raw, origin))
        except _BadSpanError as fault:
            name: Any = cast("dict[str, Any]", raw).get("name") if isinstance(raw, dict) else None
            where = f"{place} ({name!r})" if isinstance(name, str) else place
            rejected.append(RejectedSpan(where=where, reason=str(fault)))
    if "resourceLogs" in request:
        said = _events_of_request(cast("dict[str, Any]", request), MOST_RECORDS).events
        spans += [span_of_event(event) for event in said if event.name in MESSAGE_EVENTS]
    return DecodedSpans(spans=spans, rejected=rejected)


class _Origin(msgspec.Struct, frozen=True, gc=False):
    resource: dict[str, Any]
    scope_name: str
    scope_version: str


def _raw_items(
    request: dict[str, Any], groups: str, scopes: tuple[str, ...], items: str
) -> Iterator[tuple[str, Any, _Origin]]:
    for index, group in enumerate(_list(request.get(groups), groups)):
        place = f"{groups}[{index}]"
        fields = _object(group, place)
        resource = _attributes(_object(fields.get("resource"), f"{place}.resource").get("attributes"))
        key = next((each for each in scopes if each in fields), scopes[-1])
        for number, scoped in enumerate(_list(fields.get(key), f"{place}.{key}")):
            inner = f"{place}.{key}[{number}]"
            parts = _object(scoped, inner)
            scope = _object(parts.get("scope", parts.get("instrumentationLibrary")), f"{inner}.scope")
            origin = _Origin(resource, _text(scope.get("name")), _text(scope.get("version")))
            for position, raw in enumerate(_list(parts.get(items), f"{inner}.{items}")):
                yield f"{inner}.{items}[{position}]", raw, origin


def _span(raw: Any, origin: _Origin) -> Span:
    if not isinstance(raw, dict):
        raise _BadSpanError("a span is an object")
    fields = cast("dict[str, Any]", raw)
    status: Any = fields.get("status")
    status = cast("dict[str, Any]", status) if isinstance(status, dict) else {}
    return Span(
        trace_id=_identifier(fields.get("traceId"), "traceId", _TRACE_ID),
        span_id=_identifier(fields.get("spanId"), "spanId", _SPAN_ID),
        parent_span_id=_optional(fields.get("parentSpanId"), "parentSpanId", _SPAN_ID),
        name=_text(fields.get("name")),
        kind=_enum(fields.get("kind"), "SPAN_KIND_", _KINDS),
        start_ns=_nanoseconds(fields.get("startTimeUnixNano"), "startTimeUnixNano"),
        end_ns=_nanoseconds(fields.get("endTimeUnixNano"), "endTimeUnixNano"),
        attributes=_attributes(fields.get("attributes")),
        events=[_event(event) for event in _items(fields.get("events"))],
        status_code=_enum(status.get("code"), "STATUS_CODE_", _STATUSES),
        status_message=_text(status.get("message")),
        resource=origin.resource,
        scope_name=origin.scope_name,
        scope_version=origin.scope_version,
        dropped_attributes=_count(fields.get("droppedAttributesCount")),
    )


def _event(event: dict[str, Any]) -> SpanEvent:
    return SpanEvent(
        name=_text(event.get("name")),
        time_ns=_nanoseconds(event.get("timeUnixNano"), "timeUnixNano"),
        attributes=_attributes(event.get("attributes")),
    )


def _identifier(value: Any, name: str, form: re.Pattern[str]) -> str:
    text = value.lower() if isinstance(value, str) else ""
    if form.fullmatch(text) and text.strip("0"):
        return text
    digits = 32 if form is _TRACE_ID else 16
    if form.fullmatch(text):
        raise _BadSpanError(f"{name} is all zeros")
    if isinstance(value, str) and _BASE64.fullmatch(value):
        raise _BadSpanError(f"{name} {value!r} is base64; OTLP JSON asks for {digits} hexadecimal digits")
    shown = repr(value[:40]) if isinstance(value, str) else type(value).__name__
    raise _BadSpanError(f"{name} is {digits} hexadecimal digits, not {shown}")


def _optional(value: Any, name: str, form: re.Pattern[str]) -> str:
    if value is None or value == "" or (isinstance(value, str) and not value.strip("0")):
        return ""
    return _identifier(value, name, form)


def _nanoseconds(value: Any, name: str) -> int:
    if value is None or value == "":
        return 0
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 20:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_NS:
        return value
    raise _BadSpanError(f"{name} is nanoseconds since 1970, not {str(value)[:40]!r}")


def _enum(value: Any, prefix: str, names: tuple[str, ...]) -> int:
    """The number of an enum; its name is accepted too. What is neither is 0, as an unknown number would be."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value < len(names) else 0
    if isinstance(value, str) and value.removeprefix(prefix) in names:
        return names.index(value.removeprefix(prefix))
    return 0


def _attributes(pairs: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in _items(pairs):
        key = pair.get("key")
        if isinstance(key, str) and key:
            found[key] = _value(pair.get("value"), 0)
    return found


def _value(value: Any, depth: int) -> Any:
    if not isinstance(value, dict):
        return None
    if depth > _MAX_VALUE_DEPTH:
        return f"[nested deeper than {_MAX_VALUE_DEPTH} levels]"
    fields = cast("dict[str, Any]", value)
    for key, given in fields.items():
        match key:
            case "stringValue" | "bytesValue":
                return _text(given)
            case "boolValue":
                return bool(given)
            case "intValue":
                return _integer(given)
            case "doubleValue":
                return _float(given)
            case "arrayValue":
                inner: Any = cast("dict[str, Any]", given).get("values") if isinstance(given, dict) else None
                return [_value(item, depth + 1) for item in cast("list[Any]", inner if isinstance(inner, list) else [])]
            case "kvlistValue":
                pairs: Any = cast("dict[str, Any]", given).get("values") if isinstance(given, dict) else None
                return {_text(pair.get("key")): _value(pair.get("value"), depth + 1) for pair in _items(pairs)}
            case _:
                continue
    return None


def _integer(value: Any) -> Any:
    if isinstance(value, str) and len(value) <= 20:
        try:
            return int(value)
        except ValueError:
            return value
    return value if isinstance(value, int) and not isinstance(value, bool) else _text(value)


def _float(value: Any) -> Any:
    """A finite float; NaN and infinities, which JSON has not, are their names, and what no float can be is its digits."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            return str(value)
        return number if math.isfinite(number) else str(value)
    return _text(value)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _items(value: Any) -> list[dict[str, Any]]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def _list(value: Any, place: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidDataError("no OTLP JSON: a list is expected", where=place)
    return cast("list[Any]", value)


def _object(value: Any, place: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidDataError("no OTLP JSON: an object is expected", where=place)
    return cast("dict[str, Any]", value)
