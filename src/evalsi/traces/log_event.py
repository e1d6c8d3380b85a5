"""Events that come as log records, as newer instrumentations send what was said and what was judged. Pure.

Its own module because a log record is no span: it belongs to one that may come before it, after it, or not at all. What a
model heard and said is kept as a span of its own below the span that it belongs to, under an id that its content makes, so
that sending it again changes nothing; whoever reads the trace puts it back among that span's events. What was judged is
feedback. Source: OpenTelemetry's semantic conventions for generative AI, "Events".
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from evalsi.core.canonical import canonical_json
from evalsi.schema import Feedback
from evalsi.traces.span import Span, SpanEvent

MESSAGE_EVENTS = frozenset(
    {
        "gen_ai.system.message",
        "gen_ai.user.message",
        "gen_ai.assistant.message",
        "gen_ai.tool.message",
        "gen_ai.choice",
        "gen_ai.client.inference.operation.details",
    }
)
EVALUATION_EVENT = "gen_ai.evaluation.result"
EVENT_OF = "evalsi.event_of"
"""The attribute of a span that is an event: the id of the span that it belongs to."""
OWN_SCORE = "evalsi.score.id"
"""The attribute of events that we send ourselves: they are no opinion of others, and would come round for ever."""
MOST_RECORDS = 65_536
"""Log records of one request that are looked at."""
_KEY = "evalsi.key"
_PASS, _FAIL = frozenset({"pass", "passed"}), frozenset({"fail", "failed"})
_LONGEST_NAME, _LONGEST_COMMENT = 1000, 10_000


class LogEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A log record as it was sent, decoded. Ids are lower-case hexadecimal, empty where it has none."""

    name: str
    trace_id: str = ""
    span_id: str = ""
    time_ns: int = 0
    attributes: dict[str, Any] = {}
    """Its attributes; where its body is an object, also what that holds."""
    resource: Mapping[str, Any] = {}
    scope_name: str = ""
    scope_version: str = ""


class DecodedEvents(msgspec.Struct, frozen=True, kw_only=True):
    """What one OTLP message of logs holds: what may be kept, and how many records may not."""

    events: list[LogEvent]
    left_out: int = 0


def named_event(name: str, attributes: Mapping[str, Any]) -> str:
    """What an event is called: by its own field, or as SDKs had it before there was one."""
    said = attributes.get("event.name")
    return name or (said if isinstance(said, str) else "")


def is_kept(event: LogEvent) -> bool:
    """Whether it is an event that says something about traffic, and what it is about is known."""
    if event.name == EVALUATION_EVENT:
        return OWN_SCORE in event.attributes or feedback_of(event) is not None
    return event.name in MESSAGE_EVENTS and bool(event.trace_id and event.span_id)


def span_of_event(event: LogEvent) -> Span:
    """What a model heard or said, as a span below its own that holds that event alone."""
    said = (event.trace_id, event.span_id, event.name, event.time_ns, event.attributes)
    return Span(
        trace_id=event.trace_id,
        span_id=hashlib.sha256(canonical_json(said)).hexdigest()[:16],
        parent_span_id=event.span_id,
        name=event.name,
        start_ns=event.time_ns,
        end_ns=event.time_ns,
        attributes={EVENT_OF: event.span_id},
        events=[SpanEvent(name=event.name, time_ns=event.time_ns, attributes=event.attributes)],
        resource=event.resource,
        scope_name=event.scope_name,
        scope_version=event.scope_version,
    )


def with_their_events(spans: Sequence[Span]) -> list[Span]:
    """The spans, each once, with the events that came apart from them. Those whose span is not there stay as they are."""
    apart: dict[str, list[Span]] = {}
    for span in spans:
        if EVENT_OF in span.attributes:
            apart.setdefault(str(span.attributes[EVENT_OF]), []).append(span)
    there = {span.span_id for span in spans if EVENT_OF not in span.attributes}
    found: list[Span] = []
    for span in spans:
        if EVENT_OF in span.attributes and str(span.attributes[EVENT_OF]) in there:
            continue
        if span.span_id in apart:
            events = [*span.events, *(event for each in apart[span.span_id] for event in each.events)]
            span = msgspec.structs.replace(span, events=sorted(events, key=lambda event: event.time_ns))  # noqa: PLW2901
        found.append(span)
    return found


def feedback_of(event: LogEvent) -> Feedback | None:
    """What was judged, as feedback; None where it says nothing, or not about what, or is a score of our own.

    `pass` and `fail` are verdicts, another label beside a number is told in the comment.
    """
    said = event.attributes
    if OWN_SCORE in said:
        return None
    session = "" if event.trace_id else _text(said.get("gen_ai.conversation.id") or said.get("session.id"))
    key = _text(said.get(_KEY))
    if not (event.trace_id or session or key) or len(session) > _LONGEST_NAME or len(key) > _LONGEST_NAME:
        return None
    value, label = said.get("gen_ai.evaluation.score.value"), _text(said.get("gen_ai.evaluation.score.label"))
    number = _finite(value)
    passed = True if label.lower() in _PASS else False if label.lower() in _FAIL else None
    if passed is not None:
        number = None
    comment = _text(said.get("gen_ai.evaluation.explanation"))
    if label and number is not None:
        comment = f"{label}: {comment}" if comment else label
    if passed is None and number is None and not (label or comment):
        return None
    uid = _text(said.get("log.record.uid"))
    return Feedback(
        id=f"event-{uid}"[:_LONGEST_NAME] if uid else "",
        trace_id=event.trace_id,
        span_id=event.span_id if event.trace_id else "",
        session_id=session,
        key=key,
        name=_text(said.get("gen_ai.evaluation.name"))[:_LONGEST_NAME],
        number=number,
        passed=passed,
        label=label[:_LONGEST_NAME] if label and passed is None and number is None else None,
        comment=comment[:_LONGEST_COMMENT],
        author=_text(said.get("user.id") or event.resource.get("service.name"))[:_LONGEST_NAME],
        time=datetime.fromtimestamp(event.time_ns / 1e9, UTC) if event.time_ns else None,
    )


def _finite(value: Any) -> float | None:
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:  # a whole number that no float can be
        return None
    return number if math.isfinite(number) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
