"""What lists, search and feedback need to know of a trace, from its spans and the record they make. Pure.

A module of its own because whoever completes traces, and whoever imports them, must sum them up alike. What nobody told is
left empty or absent; a cost that lacks the price of one call is no cost.
"""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any, cast

from evalsi.core.content import text_of
from evalsi.ports.trace_store import CompletedTrace, DueTrace
from evalsi.schema import PolicyResults, Record, Step, StepType, TraceSummary, Usage
from evalsi.traces import Span
from evalsi.traces.record_of_trace import KEY_ATTRIBUTE
from evalsi.traces.span import STATUS_ERROR
from evalsi.traces.step_of_span import MODEL
from evalsi.traces.trajectory import distinct, root_of

PREVIEW_LETTERS = 300
SEARCHED_LETTERS = 20_000
"""Letters of a question, and of an answer, that search looks through."""
_SESSION = ("session.id", "gen_ai.conversation.id", "langfuse.session.id", "langfuse.trace.session_id", "thread.id")
_USER = ("user.id", "enduser.id", "langfuse.user.id", "langfuse.trace.user_id")
_VERSION = ("service.version", "langfuse.release", "langfuse.trace.release")
_TELLING = frozenset((*_SESSION, *_USER, *_VERSION))
_NO_USAGE = Usage()
_LLM = StepType.LLM  # as a member of its class it is found in ten times as long
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def completed_trace(
    due: DueTrace, spans: Sequence[Span], record: Record, policies: Sequence[PolicyResults] = ()
) -> CompletedTrace:
    """The trace as it is stored when it is complete.

    Args:
        due: The claim.
        spans: All spans of the trace, in any order; one may be there twice.
        record: What `record_of_trace` makes of them.
        policies: What policies found so far.
    """
    return CompletedTrace(
        due=due,
        summary=summary_of_trace(spans, record),
        span_digest=span_digest(spans),
        text=f"{text_of(record.input)[:SEARCHED_LETTERS]}\n{text_of(record.output)[:SEARCHED_LETTERS]}".strip(),
        keys=sorted({str(key) for span in spans if (key := span.attributes.get(KEY_ATTRIBUTE))}),
        policies=policies,
    )


def span_digest(spans: Iterable[Span]) -> bytes:
    """Of the ids of the spans: the same for the same spans in any order and number of copies."""
    return hashlib.sha256("".join(sorted({span.span_id for span in spans})).encode()).digest()


def summary_of_trace(spans: Sequence[Span], record: Record) -> TraceSummary:
    """The trace as lists show it, without what the store knows itself: project, revision, results, scores, feedback."""
    unique = sorted(distinct(spans), key=attrgetter("start_ns", "span_id"))
    steps = record.trajectory.steps if record.trajectory is not None else []
    root_step = root_of(steps)
    root = next((span for span in unique if root_step is not None and span.span_id == root_step.span_id), unique[0])
    telling = _telling((root, *unique))
    usage = record.usage or _NO_USAGE
    return TraceSummary(
        trace_id=record.id,
        service=_text(record.metadata.get("service")),
        name=root.name,
        start_time=_EPOCH + timedelta(microseconds=unique[0].start_ns // 1000),
        duration=_duration_s(unique, root_step) or None,
        error=root.is_error,
        steps=len(steps),
        labels=_labels(record),
        session_id=(record.trajectory.session_id if record.trajectory else "") or _first(telling, _SESSION),
        user_id=_text(record.metadata.get("user_id")) or _first(telling, _USER),
        version=_first(telling, _VERSION),
        model=_model(steps),
        input=text_of(record.input)[:PREVIEW_LETTERS],
        output=text_of(record.output)[:PREVIEW_LETTERS],
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=usage.cost_usd if not usage.unpriced_requests else None,
        spans=len(unique),
        failed_spans=sum([span.status_code == STATUS_ERROR for span in unique]),
    )


def _duration_s(spans: Sequence[Span], root: Step | None) -> float:
    """The root's, which is what whoever asked has waited; of a trace whose root has not ended, what its spans cover.

    A child whose clock is wrong makes no trace longer.
    """
    if root is not None and not root.parent_span_id and root.duration is not None:
        return root.duration
    begun = [span.start_ns for span in spans if span.start_ns]
    return max(max(span.end_ns for span in spans) - min(begun), 0) / 1e9 if begun else 0.0


def _labels(record: Record) -> dict[str, str]:
    told = cast("dict[str, Any]", record.metadata.get("labels") or {})
    return {key: _text(value) for key, value in told.items()}


def _model(steps: Sequence[Step]) -> str:
    """The model that answered last."""
    asked = [step for step in steps if step.type is _LLM and step.attributes.get(MODEL)]
    last = max(asked, key=lambda step: step.end_time or step.start_time or _EPOCH, default=None)
    return _text(last.attributes[MODEL]) if last is not None else ""


def _telling(spans: Sequence[Span]) -> list[Span]:
    """The spans that say whose trace it is, or were sent by what says so; most do not."""
    return [span for span in spans if not (_TELLING.isdisjoint(span.attributes) and _TELLING.isdisjoint(span.resource))]


def _first(spans: Sequence[Span], names: Sequence[str]) -> str:
    """The first of these attributes that one of the spans, or what sent it, has."""
    are_none = frozenset(names).isdisjoint
    for span in spans:
        for name in () if are_none(span.attributes) and are_none(span.resource) else names:
            value = span.attributes.get(name) or span.resource.get(name)
            if value:
                return _text(value)
    return ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
