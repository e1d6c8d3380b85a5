"""A received OTLP request taken apart by trace, without reading what its spans say: the hot path of all that is received.

Its own module because it must be quick: a span is parsed once by protobuf's runtime, which also proves it sound, and its bytes
are kept as they came. What always holds: the same request gives the same parts byte for byte, so that a request sent twice
changes nothing; a span that cannot be taken is counted under its reason and spoils no other.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from evalsi.core.errors import InvalidDataError
from evalsi.ports.trace_store import TracePart
from evalsi.schema import Feedback
from evalsi.schema.otlp_wire import damage, otlp_messages
from evalsi.traces.log_event import EVALUATION_EVENT, LogEvent, feedback_of
from evalsi.traces.otlp_protobuf import attributes_of, text_of_wire, why_rejected
from evalsi.traces.otlp_writing import resource_bytes
from evalsi.traces.span import STATUS_ERROR

PROJECT_ATTRIBUTE = "evalsi.project"
LABEL_PREFIX = "evalsi.label."
CUT = "… [cut: {} bytes]"
"""What a text ends with that was longer than it may be."""
_SESSION_ATTRIBUTES = ("gen_ai.conversation.id", "session.id")
"""Enough to find a trace by until it is complete; then its mapping says what is so."""
_USER_ATTRIBUTES = ("user.id", "enduser.id")
_SHOWN = frozenset({*_SESSION_ATTRIBUTES, *_USER_ATTRIBUTES})
_SMALL_SPAN_BYTES = 8 << 10
"""A span of this size has neither too many attributes nor too long ones, whatever the limits are."""
"""Resources, and scopes in them, of one request. Each takes memory, also one that takes two bytes in the request."""
_MOST_NS = 2**63
_NO_TRACE, _NO_SPAN = bytes(16), bytes(8)


class PartLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much is taken; the rest is rejected or cut."""

    most_spans: int = 65_536
    """Of one request, for one project, those counted that are rejected for something else."""
    most_spans_of_trace: int = 10_000
    """Of one trace, in one request."""
    most_attributes: int = 1_000
    """Of one span; further ones are left out and counted in `dropped_attributes_count`."""
    most_attribute_bytes: int = 1 << 20
    """Of one text; a longer one is cut, and says so at its end."""
    oldest_ns: int = 0
    """Spans that ended before are rejected, in nanoseconds since 1970."""


@dataclass(slots=True)
class Rejections:
    """Spans that were not taken, by reason: "damaged", "invalid_id", "too_old", "trace_full", "request_full"."""

    counts: Counter[str] = field(default_factory=Counter[str])
    example: str = ""
    """Of the first one: what is wrong with it, as a sentence."""

    def add(self, reason: str, example: str, spans: int = 1) -> None:
        self.counts[reason] += spans
        self.example = self.example or example


@dataclass(frozen=True, kw_only=True)
class ResourceParts:
    """What one or more resources of a request sent that name the same project."""

    project: str
    """As the resource says; empty where it names none."""
    parts: list[TracePart]
    judged: list[Feedback] = field(default_factory=list[Feedback])
    """What events in the request say of traffic."""


@dataclass(frozen=True, kw_only=True)
class SplitRequest:
    """A request taken apart."""

    resources: list[ResourceParts]
    rejections: Rejections


def parts_of_request(
    body: bytes,
    limits: PartLimits,
    labels: Mapping[str, str],
    limits_of: Callable[[str], PartLimits] | None = None,
) -> SplitRequest:
    """The parts of an `ExportTraceServiceRequest` in protobuf.

    Args:
        limits: Of the request, and of what names no project.
        limits_of: Those of a project that resources name; None where all have the same.
        labels: Of whoever sent it; they are put among the resources' attributes, and go before what is there.

    Raises: InvalidDataError: the bytes are no such message.
    """
    split = _Split(limits, labels, limits_of)
    try:
        for group in otlp_messages().Request.FromString(body).resource_spans:
            split.add(group)
    except damage():
        raise InvalidDataError("no OTLP in protobuf: the bytes are damaged or end early") from None
    return split.result()


@dataclass(slots=True)
class _Trace:
    """A trace as it gathers."""

    first: "_Origin"
    scope_number: int
    """Of the scope that the last of `spans` stand in."""
    spans: list[bytes] = field(default_factory=list[bytes])
    before: list[tuple[int, list[bytes]]] = field(default_factory=list[tuple[int, list[bytes]]])
    """Scopes that had spans of it before, by number."""
    span_ids: list[bytes] = field(default_factory=list[bytes])
    start_ns: int = _MOST_NS
    end_ns: int = 0
    failed_spans: int = 0
    name: str = ""
    root_failed: bool = False
    root_ended: bool = False
    session_id: str = ""
    user_id: str = ""
    labels: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class _Origin:
    """What spans have in common: a resource and a scope within it."""

    resource_number: int
    resource: bytes
    resource_schema: str
    scope: bytes
    scope_schema: str


class _Split:
    def __init__(
        self, limits: PartLimits, labels: Mapping[str, str], limits_of: Callable[[str], PartLimits] | None
    ) -> None:
        self._most_spans = limits.most_spans
        self._usual = limits
        self._limits = limits
        """Of the project whose spans are taken now."""
        self._limits_of = limits_of
        self._labels = labels
        self._label_bytes = resource_bytes({LABEL_PREFIX + key: value for key, value in labels.items()})
        self._origins: list[_Origin] = []
        self._projects: dict[str, dict[bytes, _Trace]] = {}
        self._judged: dict[str, list[Feedback]] = {}
        self._services: dict[int, tuple[str, dict[str, str]]] = {}
        self._resources = 0
        self._seen = Counter[str]()
        """Spans, by project."""
        self._seen_in_all = 0
        self._opinions = 0
        self._rejections = Rejections()

    def add(self, group: Any) -> None:
        """Takes what one resource sent."""
        self._resources += 1
        said = attributes_of(otlp_messages().Resource.FromString(group.resource).attributes)
        own = {
            key.removeprefix(LABEL_PREFIX): _word(value) for key, value in said.items() if key.startswith(LABEL_PREFIX)
        }
        self._services[self._resources] = (_word(said.get("service.name")), {**own, **self._labels})
        project = _word(said.get(PROJECT_ATTRIBUTE))
        self._projects.setdefault(project, {})
        self._limits = self._limits_of(project) if project and self._limits_of is not None else self._usual
        resource = group.resource + self._label_bytes
        schema = text_of_wire(group.schema_url)
        for scoped in (*group.scope_spans, *group.library_spans):
            origin = _Origin(self._resources, resource, schema, scoped.scope, text_of_wire(scoped.schema_url))
            self._origins.append(origin)
            self._add_spans(scoped.spans, origin, project)

    def _add_spans(self, spans: Any, origin: _Origin, project: str) -> None:
        traces = self._projects[project]
        read = otlp_messages().Span.FromString
        scope_number = len(self._origins) - 1
        most_of_trace, oldest_ns = self._limits.most_spans_of_trace, self._limits.oldest_ns
        room, most = self._room(project)
        for place, raw in enumerate(spans):
            if place >= room:
                self._rejections.add("request_full", f"a request has at most {most:,} spans", len(spans) - place)
                break
            try:
                span = read(raw)
            except damage():
                self._rejections.add("damaged", "a span is damaged or ends early")
                continue
            trace_id, span_id, parent = span.trace_id, span.span_id, span.parent_span_id
            trace = traces.get(trace_id)
            # The common case in one line: a call for each span costs as much as parsing it. A trace that is known has an id.
            if (
                (trace is None and (len(trace_id) != 16 or trace_id == _NO_TRACE))
                or len(span_id) != 8
                or len(parent) not in (0, 8)
                or span_id == _NO_SPAN
            ):
                wrong = why_rejected(trace_id, span_id, parent)
                self._rejections.add("invalid_id", f"{text_of_wire(span.name)[:60]!r}: {wrong}")
                continue
            end_ns, start_ns = span.end_time_unix_nano, span.start_time_unix_nano
            if end_ns < oldest_ns and end_ns:
                self._rejections.add("too_old", f"{text_of_wire(span.name)[:60]!r} ended longer ago than is taken")
                continue
            if trace is None:
                trace = traces[trace_id] = _Trace(origin, scope_number)
            elif len(trace.span_ids) >= most_of_trace:
                self._rejections.add("trace_full", f"a trace has at most {most_of_trace:,} spans")
                continue
            elif trace.scope_number != scope_number:
                trace.before.append((trace.scope_number, trace.spans))
                trace.scope_number, trace.spans = scope_number, []
            trace.spans.append(raw if len(raw) <= _SMALL_SPAN_BYTES else self._cut(span, raw))
            trace.span_ids.append(span_id)
            if span.events:
                self._judge(span, origin, project)
            if 0 < start_ns < trace.start_ns:
                trace.start_ns = start_ns
            if trace.end_ns < end_ns < _MOST_NS:
                trace.end_ns = end_ns
            failed = span.status.code == STATUS_ERROR
            trace.failed_spans += failed
            if not parent or parent in (span_id, _NO_SPAN):
                self._add_root(trace, span, failed=failed)
        seen = max(0, min(len(spans), room))
        self._seen[project] += seen
        self._seen_in_all += seen

    def _room(self, project: str) -> tuple[int, int]:
        """How many more spans of a project are read, and the limit that says so: the project's own, or that of the whole
        request, which is the largest one of a project that it names so far.
        """
        own = self._limits.most_spans
        self._most_spans = max(self._most_spans, own)
        left, left_in_all = own - self._seen[project], self._most_spans - self._seen_in_all
        return (left, own) if left <= left_in_all else (left_in_all, self._most_spans)

    def _add_root(self, trace: _Trace, span: Any, *, failed: bool) -> None:
        trace.name = text_of_wire(span.name)
        trace.root_ended = trace.root_ended or span.end_time_unix_nano > 0
        trace.root_failed = trace.root_failed or failed
        # What lists show before the trace is complete. Reading every attribute of every root took a fifth of all this.
        said = attributes_of(pair for pair in span.attributes if _is_shown(pair.key))
        trace.session_id = trace.session_id or _first(said, _SESSION_ATTRIBUTES)
        trace.user_id = trace.user_id or _first(said, _USER_ATTRIBUTES)
        for key, value in said.items():
            if key.startswith(LABEL_PREFIX):
                trace.labels[key.removeprefix(LABEL_PREFIX)] = _word(value)

    def _judge(self, span: Any, origin: _Origin, project: str) -> None:
        """Notes what events of a span say of its quality. Of one request no more than it may have spans: an event is small."""
        judged = self._judged.setdefault(project, [])
        most = self._limits.most_spans
        for said in self._judged_in(span, origin):
            if len(judged) >= most or self._opinions >= self._most_spans:
                example = f"a request has at most {most:,} events that judge"
                self._rejections.add("request_full", example)
                continue
            self._opinions += 1
            judged.append(said)

    def _judged_in(self, span: Any, origin: _Origin) -> Iterator[Feedback]:
        """What events of a span say of its quality."""
        service, _ = self._services[origin.resource_number]
        for event in span.events:
            if event.name == EVALUATION_EVENT:
                told = LogEvent(
                    name=EVALUATION_EVENT,
                    trace_id=span.trace_id.hex(),
                    span_id=span.span_id.hex(),
                    time_ns=event.time_unix_nano if event.time_unix_nano < _MOST_NS else 0,
                    attributes=attributes_of(event.attributes),
                    resource={"service.name": service},
                )
                found = feedback_of(told)
                if found is not None:
                    yield found

    def _cut(self, span: Any, raw: bytes) -> bytes:
        """A span with its limits kept; as it came where it keeps them."""
        limits = self._limits
        changed = False
        holders = [span, *span.events]
        for holder in holders:
            over = len(holder.attributes) - limits.most_attributes
            if over > 0:
                del holder.attributes[limits.most_attributes :]
                span.dropped_attributes_count += over
                changed = True
            for pair in holder.attributes:
                changed = _cut_value(pair.value, limits.most_attribute_bytes) or changed
        return span.SerializeToString() if changed else raw

    def result(self) -> SplitRequest:
        return SplitRequest(
            resources=[
                ResourceParts(
                    project=project,
                    parts=[self._part(trace_id, trace) for trace_id, trace in traces.items()],
                    judged=self._judged.get(project, []),
                )
                for project, traces in self._projects.items()
                if traces
            ],
            rejections=self._rejections,
        )

    def _part(self, trace_id: bytes, trace: _Trace) -> TracePart:
        service, labels = self._services[trace.first.resource_number]
        return TracePart(
            trace_id=trace_id,
            span_ids=b"".join(trace.span_ids),
            body=self._body(trace),
            service=service,
            name=trace.name,
            start_ns=trace.start_ns if trace.start_ns < _MOST_NS else 0,
            end_ns=trace.end_ns,
            failed_spans=trace.failed_spans,
            root_failed=trace.root_failed,
            root_ended=trace.root_ended,
            session_id=trace.session_id,
            user_id=trace.user_id,
            labels={**trace.labels, **labels} if trace.labels else labels,
        )

    def _body(self, trace: _Trace) -> bytes:
        request = otlp_messages().Request()
        resource_number = -1
        group = None
        for number, spans in (*trace.before, (trace.scope_number, trace.spans)):
            origin = self._origins[number]
            if group is None or origin.resource_number != resource_number:
                group = request.resource_spans.add(resource=origin.resource, schema_url=origin.resource_schema)
                resource_number = origin.resource_number
            scoped = group.scope_spans.add(scope=origin.scope, schema_url=origin.scope_schema)
            scoped.spans.extend(spans)
        return request.SerializeToString()


def _cut_value(value: Any, most_bytes: int) -> bool:
    """Cuts a value that is too long; whether it was. Lists and maps that are too long as a whole are replaced."""
    form = value.WhichOneof("value")
    if form not in ("string_value", "bytes_value", "array_value", "kvlist_value"):
        return False
    given = getattr(value, form)
    if len(given) * 4 <= most_bytes:
        return False
    packed = given.encode() if isinstance(given, str) else given
    if len(packed) <= most_bytes:
        return False
    note = CUT.format(len(packed) - most_bytes)
    if form == "string_value":
        value.string_value = packed[:most_bytes].decode("utf-8", "ignore") + note
    elif form == "bytes_value":
        value.bytes_value = packed[:most_bytes]
    else:
        value.string_value = note
    return True


def _is_shown(name: str | bytes) -> bool:
    name = text_of_wire(name)
    return name in _SHOWN or name.startswith(LABEL_PREFIX)


def _first(said: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((_word(said[name]) for name in names if said.get(name) not in (None, "")), "")


def _word(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
