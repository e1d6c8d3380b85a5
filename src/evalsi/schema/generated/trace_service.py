# Generated from proto/evalsi/v1alpha1/trace_service.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""Traces seen in live traffic: found, read, followed, removed; and what was said about them afterwards."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.record import Record
from evalsi.schema.generated.score import EvaluationResult
from evalsi.schema.scalar_types import Int32, Int64, Seconds, Timestamp

__all__ = [
    "CountTracesRequest",
    "CountTracesResponse",
    "DeleteTracesRequest",
    "DeleteTracesResponse",
    "ExportTraceRequest",
    "ExportTraceResponse",
    "Feedback",
    "GetSessionRequest",
    "GetSessionResponse",
    "GetTraceRequest",
    "GetTraceResponse",
    "ListFeedbackRequest",
    "ListFeedbackResponse",
    "ListScoresRequest",
    "ListScoresResponse",
    "ListTracesRequest",
    "ListTracesResponse",
    "PolicyResults",
    "SubmitFeedbackRequest",
    "SubmitFeedbackResponse",
    "TraceFacet",
    "TraceFilter",
    "TraceScores",
    "TraceSummary",
    "WatchTracesRequest",
    "WatchTracesResponse",
]


class TraceSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A trace in a list."""

    trace_id: str = ""
    """OpenTelemetry trace identifier in lower-case hexadecimal."""
    service: str = ""
    """Service that was traced."""
    name: str = ""
    """Name of the root span."""
    start_time: Timestamp | None = None
    """When its first span began."""
    duration: Seconds | None = None
    """From the begin of its first span to the end of its last. In seconds."""
    error: bool = False
    """True when its root failed."""
    steps: Int32 = 0
    """Steps it has."""
    results: Int32 = 0
    """Results that policies gave."""
    project: str = ""
    """Project it belongs to."""
    labels: dict[str, str] = {}
    """Its labels, from attributes "evalsi.label.…" and from the credential that sent it."""
    session_id: str = ""
    """Session it is part of; empty when none was given."""
    user_id: str = ""
    """Person it was done for; empty when none was given."""
    version: str = ""
    """Version of the service; empty when none was given."""
    model: str = ""
    """Model that answered last."""
    input: str = ""
    """Begin of what was asked."""
    output: str = ""
    """Begin of what was answered."""
    input_tokens: Int64 | None = None
    """Tokens read by models; absent when not told."""
    output_tokens: Int64 | None = None
    """Tokens written by models; absent when not told."""
    cost_usd: float | None = None
    """Cost of all calls in US dollars; absent when a price is not known."""
    complete: bool = False
    """True when it is complete; until then it may still grow."""
    revision: Int32 = 0
    """Times it was completed: 1 at first, higher when spans came late."""
    spans: Int32 = 0
    """Spans it has."""
    feedback: float | None = None
    """What people said: the mean of all feedback values from -1 to 1; absent when nobody did."""
    scores: dict[str, float] = {}
    """The newest value of each score, by "evaluator" or "evaluator.output": of the trace as a whole, else the mean over
    its steps.
    """
    failed_spans: Int32 = 0
    """Spans that failed."""


class TraceFilter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A choice of traces. Fields that are not set ask nothing."""

    service: str = ""
    """Service that was traced."""
    text: str = ""
    """Words that must all occur in what was asked or answered."""
    session_id: str = ""
    """Session they are part of."""
    user_id: str = ""
    """Person they were done for."""
    version: str = ""
    """Version of the service."""
    model: str = ""
    """Model that answered last."""
    labels: list[str] = []
    """Labels, each as "key=value"."""
    error: bool | None = None
    """Whether they failed."""
    complete: bool | None = None
    """Whether they are complete."""
    since: Timestamp | None = None
    """Begun at this time or later."""
    until: Timestamp | None = None
    """Begun before this time."""
    min_duration: Seconds | None = None
    """At least this long. In seconds."""
    max_duration: Seconds | None = None
    """At most this long. In seconds."""
    min_cost_usd: float | None = None
    """At least this cost in US dollars."""
    max_cost_usd: float | None = None
    """At most this cost in US dollars."""
    scores: list[str] = []
    """Scores, each as "evaluator<0.5", "evaluator>=0.8" or "evaluator" for any value."""
    policy: str = ""
    """Policy that gave a result."""
    negative_feedback: bool | None = None
    """Only those with feedback below 0 (true) or with other feedback (false)."""
    trace_id_prefix: str = ""
    """Begin of the identifier."""
    failed_step: bool | None = None
    """Whether a step of them failed, be it the whole trace or not."""


class ListTracesRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which traces to list."""

    service: str = ""
    """Service that was traced; empty for all."""
    page_size: Int32 = 0
    """Most traces in one answer; 0 for the default of 50."""
    page_token: str = ""
    """Where to go on, from the answer before."""
    project: str = ""
    """Project; empty for all that the caller may see."""
    filter: TraceFilter | None = None
    """More conditions."""


class ListTracesResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A page of traces."""

    traces: list[TraceSummary] = []
    """The traces."""
    next_page_token: str = ""
    """Where to go on; empty at the end."""


class CountTracesRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which traces to count."""

    project: str = ""
    """Project; empty for all that the caller may see."""
    filter: TraceFilter | None = None
    """Which traces."""


class TraceFacet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """How many traces of a choice have a value."""

    field: str = ""
    """Field: "service", "model", "version", "user_id", "error", or "label.<key>"."""
    counts: dict[str, Int64] = {}
    """Counts by value, of the most frequent values."""


class CountTracesResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """How many there are."""

    total: Int64 = 0
    """Traces in all."""
    facets: list[TraceFacet] = []
    """Counts by field."""
    capped: bool = False
    """True when counting stopped at a limit, so that counts are lower bounds."""


class WatchTracesRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which traces to follow."""

    project: str = ""
    """Project; empty for all that the caller may see."""
    filter: TraceFilter | None = None
    """Which traces."""


class WatchTracesResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One that became complete."""

    trace: TraceSummary | None = None
    """A trace that has become complete, or complete once more."""


class GetTraceRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which trace."""

    trace_id: str = ""
    """OpenTelemetry trace identifier in lower-case hexadecimal, or the begin of one."""
    project: str = ""
    """Project; empty for the default one."""


class PolicyResults(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """What a policy found in a trace."""

    policy: str = ""
    """Name of the policy."""
    results: list[EvaluationResult] = []
    """Its results."""
    revision: Int32 = 0
    """Revision of the trace that was evaluated."""
    time: Timestamp | None = None
    """When it was evaluated."""


class GetTraceResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A trace and all that is known about it."""

    record: Record | None = None
    """The trace as a record."""
    policies: list[PolicyResults] = []
    """What policies found."""
    summary: TraceSummary | None = None
    """As lists show it."""
    feedback: list[Feedback] = []
    """What people and programs said about it, the newest first; at most 50, and ListFeedback gives the rest."""
    feedback_total: Int64 = 0
    """How much was said about it in all."""
    feedback_page_token: str = ""
    """Where ListFeedback goes on after what is here; empty when that is all."""


class ExportTraceRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which trace."""

    trace_id: str = ""
    """OpenTelemetry trace identifier in lower-case hexadecimal, or the begin of one."""
    project: str = ""
    """Project; empty for the default one."""


class ExportTraceResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A piece of a trace as OTLP."""

    chunk: bytes = b""
    """The next bytes, few enough for any client. All of them together are an ExportTraceServiceRequest."""


class GetSessionRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which session."""

    session_id: str = ""
    """Identifier of the session."""
    project: str = ""
    """Project; empty for the default one."""
    page_size: Int32 = 0
    """Most traces in one answer; 0 for the default of 50."""
    page_token: str = ""
    """Where to go on, from the answer before."""


class GetSessionResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A session and all that is known about it."""

    traces: list[TraceScores] = []
    """Its traces, the oldest first."""
    policies: list[PolicyResults] = []
    """What policies found in the session as a whole."""
    feedback: list[Feedback] = []
    """What people and programs said about the session, the newest first; at most 50, and ListFeedback gives the rest.
    """
    next_page_token: str = ""
    """Where to go on; empty at the end."""
    feedback_total: Int64 = 0
    """How much was said about the session in all."""
    feedback_page_token: str = ""
    """Where ListFeedback goes on after what is here; empty when that is all."""


class ListScoresRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which scores to list."""

    project: str = ""
    """Project; empty for all that the caller may see."""
    trace_id: str = ""
    """One trace; empty for all."""
    service: str = ""
    """Service that was traced; empty for all."""
    labels: list[str] = []
    """Labels, each as "key=value"."""
    policy: str = ""
    """Policy; empty for all."""
    evaluator: str = ""
    """Evaluator; empty for all."""
    since: Timestamp | None = None
    """Scored at this time or later."""
    page_size: Int32 = 0
    """Most traces in one answer; 0 for the default of 50."""
    page_token: str = ""
    """Where to go on, from the answer before."""


class TraceScores(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A trace and its scores."""

    trace: TraceSummary | None = None
    """The trace."""
    policies: list[PolicyResults] = []
    """What policies found."""


class ListScoresResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A page of traces with scores."""

    traces: list[TraceScores] = []
    """Traces with scores."""
    next_page_token: str = ""
    """Where to go on; empty at the end."""


class ListFeedbackRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Of which trace or session to list what was said; one of the two."""

    project: str = ""
    """Project; empty for the default one."""
    trace_id: str = ""
    """OpenTelemetry trace identifier in lower-case hexadecimal, or the begin of one."""
    session_id: str = ""
    """Identifier of the session. What was said about single traces of it is not said about it."""
    page_size: Int32 = 0
    """Most in one answer; 0 for the default of 50."""
    page_token: str = ""
    """Where to go on, from the answer before."""


class ListFeedbackResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A page of what was said."""

    feedback: list[Feedback] = []
    """What was said, the newest first."""
    next_page_token: str = ""
    """Where to go on; empty at the end."""
    total: Int64 = 0
    """How much was said in all, on every page."""


class DeleteTracesRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What to remove. Conditions that are given must all hold; at least one is needed."""

    project: str = ""
    """Project; empty for the default one."""
    trace_ids: list[str] = []
    """Traces by identifier."""
    session_id: str = ""
    """All traces of this session."""
    user_id: str = ""
    """All traces of this person."""
    before: Timestamp | None = None
    """All traces begun before this time."""


class DeleteTracesResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What was removed."""

    deleted: Int64 = 0
    """Traces that were removed."""


class Feedback(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What a person or program said about traffic.

    One of `number`, `passed`, `label`: its value; exactly one form is set.
    """

    id: str = ""
    """The sender's own identifier; the same one again replaces what it said. Empty: it is made from the content."""
    project: str = ""
    """Project; empty for the default one."""
    trace_id: str = ""
    """The trace it is about; this, a session or a key is needed."""
    span_id: str = ""
    """The span within the trace."""
    session_id: str = ""
    """The session it is about."""
    key: str = ""
    """The sender's own identifier of the request, as the attribute "evalsi.key" of a span gives it."""
    name: str = ""
    """What was judged, for example "thumbs", "resolved" or "edited"."""
    number: float | None = None
    """A number; from -1 (bad) to 1 (good) where it is to count as good or bad."""
    passed: bool | None = None
    """Good or bad."""
    label: str | None = None
    """One of a set of names."""
    comment: str = ""
    """In the person's words."""
    author: str = ""
    """Who said it, for example a user's identifier."""
    time: Timestamp | None = None
    """When it was said; absent for now."""


class SubmitFeedbackRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What was said."""

    project: str = ""
    """Project; empty for the default one."""
    feedback: list[Feedback] = []
    """What was said."""


class SubmitFeedbackResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What became of it."""

    accepted: Int64 = 0
    """How many were taken, those that had been said before included."""
    waiting: Int64 = 0
    """Of these, how many are about traffic that has not been seen yet. They join it when it arrives."""
