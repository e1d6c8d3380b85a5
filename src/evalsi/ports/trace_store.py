"""Traces as they are kept: parts as they arrive, a row per trace to find it by, and what was scored.

Where a trace stands: parts are appended by whoever receives them; the trace then has a time at which it counts as complete
(`due_ms`), which every further part moves. Whoever evaluates claims the traces that are due, reads their spans, and
completes them with what lists show of them. A part that comes later makes the trace due once more.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Protocol

import msgspec

from evalsi.schema import Feedback, PolicyResults, TraceFilter, TraceSummary


class TracePart(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Spans of one trace that arrived together, and what is known of them without looking into their attributes."""

    trace_id: bytes
    """16 bytes."""
    span_ids: bytes
    """8 bytes for each span, in the order of the body."""
    body: bytes
    """The spans with their resources and scopes, as an OTLP `ExportTraceServiceRequest` in protobuf."""
    service: str = ""
    name: str = ""
    """Of the root span; empty when it is not among these."""
    start_ns: int = 0
    end_ns: int = 0
    """Begin of the first and end of the last span, in nanoseconds since 1970."""
    failed_spans: int = 0
    root_failed: bool = False
    root_ended: bool = False
    session_id: str = ""
    user_id: str = ""
    labels: Mapping[str, str] = {}


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """How long a trace waits before it counts as complete, in milliseconds."""

    grace_ms: int = 10_000
    """After the last part, once its root has ended."""
    limit_ms: int = 600_000
    """After the first part, whatever it lacks."""
    session_ms: int = 1_800_000
    """After the last trace of a session, before the session counts as ended."""


class Appended(msgspec.Struct, frozen=True, kw_only=True):
    """What was new in what was appended."""

    traces: int
    """Traces that had not been seen."""
    spans: int
    """Spans of parts that had not been stored."""


class DueTrace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A trace that is to be completed now."""

    project: str
    trace_id: str
    revision: int
    """The one it will have: 1 at first, higher when spans came late."""
    parts: int
    """How many there are; one that arrives from now on is not among them."""
    evaluated_spans: bytes
    """Digest of the span ids at its last revision; empty at first and when feedback made the trace due. When it is that of
    now, there is nothing to score: completing it then changes neither its revision nor its results."""
    token: str
    """Proves the claim."""


class DueSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that has been quiet and is to be evaluated now."""

    project: str
    session_id: str
    trace_ids: Sequence[str]
    """The oldest first."""
    revision: int
    """Grows with every trace of it and with every revision of one: the sum of theirs."""
    token: str


class CompletedTrace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a trace turned out to be. Replaces what stood there, scores of lower revisions included.

    What its parts told (service, name, session, user, labels) stands where the summary is silent.
    """

    due: DueTrace
    summary: TraceSummary
    """Everything but `results`, `scores` and `feedback`, which the store knows itself."""
    span_digest: bytes
    """Of its span ids, sorted."""
    text: str = ""
    """What search looks through: question and answer."""
    keys: Sequence[str] = ()
    """What senders call it by (attribute "evalsi.key" of a span), for feedback to join."""
    policies: Sequence[PolicyResults] = ()
    """Results that are there already. Results of policies that take long come by `write_results`."""


class TracePage(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a list. `next_token` is empty after the last part."""

    traces: Sequence[TraceSummary]
    next_token: str


class FeedbackPage(msgspec.Struct, frozen=True, kw_only=True):
    """A part of what was said about a trace or a session, the newest first. `next_token` is empty after the last part."""

    feedback: Sequence[Feedback]
    """What is damaged is left out."""
    total: int
    """Of all parts together."""
    next_token: str


class TraceCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Of a choice of traces: how many, and how many have which value of which field."""

    total: int
    facets: Mapping[str, Mapping[str, int]]
    capped: bool


class ScoreChoice(msgspec.Struct, frozen=True, kw_only=True):
    """Which scores; empty fields ask nothing."""

    trace_id: str = ""
    service: str = ""
    labels: Mapping[str, str] = {}
    policy: str = ""
    evaluator: str = ""
    since_ms: int = 0


class TraceStore(Protocol):
    """The traces of all projects. Methods block; any thread may call; what has returned is durable."""

    def append(self, project: str, parts: Sequence[TracePart], *, now_ms: int, waiting: Waiting) -> Appended:
        """Stores parts, all or none. A part that is there already, byte for byte, changes nothing.

        Raises: StoreError: the disk is full, or the database is not there; nothing was stored.
        """
        ...

    def begin_append(
        self, project: str, parts: Sequence[TracePart], *, now_ms: int, waiting: Waiting
    ) -> "Future[Appended]":
        """The same, begun: returns when the parts are packed, and waits where too much waits to be stored.

        The future is done when they are stored, or fails as `append` does. Who no longer waits for it changes nothing.
        Raises: StoreError: the store is closed.
        """
        ...

    def spans(self, project: str, trace_id: str) -> Sequence[bytes]:
        """The bodies of a trace's parts, in order of arrival; a span that was sent twice may be in two of them. In place of
        one that is damaged comes `traces.stored_spans.DAMAGED_BODY`.

        Raises: NotFoundError: there is no such trace.
        """
        ...

    def spans_of(self, project: str, trace_ids: Sequence[str]) -> Mapping[str, Sequence[bytes]]:
        """As `spans`, of several traces by their ids; a trace that is not there is left out."""
        ...

    def full_id(self, project: str, prefix: str) -> str:
        """The one trace whose id begins so. Raises: NotFoundError: none does, or several do."""
        ...

    def claim(self, *, now_ms: int, limit: int, lease_ms: int) -> Sequence[DueTrace]:
        """Takes traces that are due, those that wait longest first, for `lease_ms`; then they are due again."""
        ...

    def renew(self, due: Sequence[DueTrace], *, now_ms: int, lease_ms: int) -> None:
        """Keeps claims that are still held for another `lease_ms`."""
        ...

    def complete(self, traces: Sequence[CompletedTrace], *, now_ms: int) -> Sequence[str]:
        """Stores what the traces are, in one transaction, and gives the ids of those that were stored.

        A trace whose claim is not held any more is left out. One that got a part after the claim is stored and stays due.
        """
        ...

    def claim_sessions(self, *, now_ms: int, limit: int, lease_ms: int) -> Sequence[DueSession]:
        """Takes sessions that have been quiet for `Waiting.session_ms` and of which no trace waits to be complete."""
        ...

    def renew_sessions(self, sessions: Sequence[DueSession], *, now_ms: int, lease_ms: int) -> None:
        """Keeps claims of sessions that are still held for another `lease_ms`."""
        ...

    def session_traces(self, project: str, session_id: str) -> tuple[Sequence[str], int]:
        """The traces of a session, the oldest first, and its revision as `DueSession` has it."""
        ...

    def find_of_session(self, project: str, session_id: str, *, size: int, token: str = "") -> TracePage:
        """The traces of a session, the oldest begin first."""
        ...

    def complete_session(self, session: DueSession, policies: Sequence[PolicyResults], *, now_ms: int) -> bool:
        """Stores what policies found in a session, and removes what was found in a lower revision of it.

        False: the claim is not held any more, and nothing was stored.
        """
        ...

    def write_session_results(self, project: str, session_id: str, results: PolicyResults, *, now_ms: int) -> bool:
        """Replaces what a policy found in a session, unless the results there have a higher revision.

        False: nothing was stored; the session may be gone.
        """
        ...

    def write_results(self, project: str, trace_id: str, results: PolicyResults, *, now_ms: int) -> bool:
        """Replaces what a policy found in a trace, unless the trace or the results there have a higher revision.

        False: nothing was stored.
        """
        ...

    def find(self, projects: Sequence[str] | None, choice: TraceFilter, *, size: int, token: str = "") -> TracePage:
        """Traces of these projects, or (None) of all, the newest begin first. Raises: UsageError: a condition is none."""
        ...

    def count(self, projects: Sequence[str] | None, choice: TraceFilter) -> TraceCounts:
        """Stops counting at 100,000 traces, at 10,000 for the values they have, and where words choose beside other
        conditions, after 20,000 traces with the words: then they are lower bounds.
        """
        ...

    def completed_since(
        self, projects: Sequence[str] | None, choice: TraceFilter, *, after: int, size: int
    ) -> tuple[Sequence[TraceSummary], int]:
        """Traces completed after that mark, in the order of completion, and the mark to go on from. Mark 0 is now."""
        ...

    def summary(self, project: str, trace_id: str) -> TraceSummary:
        """Raises: NotFoundError."""
        ...

    def results(self, project: str, trace_id: str) -> Sequence[PolicyResults]:
        """What policies found in a trace; empty when nothing was evaluated."""
        ...

    def session_results(self, project: str, session_id: str) -> Sequence[PolicyResults]:
        """What policies found in a session."""
        ...

    def scores(
        self, projects: Sequence[str] | None, choice: ScoreChoice, *, size: int, token: str = ""
    ) -> tuple[Sequence[tuple[TraceSummary, Sequence[PolicyResults]]], str]:
        """Traces that have results of the choice, the newest begin first, with those results; and where to go on."""
        ...

    def add_feedback(self, project: str, feedback: Sequence[Feedback], *, now_ms: int, reconsider: bool) -> int:
        """Keeps what was said, each under its id; how many are about traffic that has not been seen.

        Args:
            reconsider: Whether complete traces that it is about become due once more, with the next revision, so that
                policies that look at feedback see it.
        """
        ...

    def feedback(
        self, project: str, *, trace_id: str = "", session_id: str = "", size: int, token: str = ""
    ) -> FeedbackPage:
        """What was said about a trace (by its id or a key of one of its spans) or about a session, the newest first."""
        ...

    def opinion(self, project: str, trace_id: str, keys: Sequence[str]) -> float | None:
        """The mean of what was said about a trace by its id or by one of these keys, from -1 to 1; None when nothing was that
        is good or bad.
        """
        ...

    def delete(self, project: str, choice: TraceFilter | Sequence[str]) -> int:
        """Removes traces with everything about them; how many there were. Of those that are named, what was said goes also where
        they are not there.
        """
        ...

    def expire(self, project: str, *, before_ms: int, limit: int) -> int:
        """Removes up to `limit` traces whose last part came before that time; how many there were."""
        ...

    def expire_feedback(self, project: str, *, before_ms: int, limit: int) -> int:
        """Removes feedback that came before that time and is about no trace or session that is there; how much there was, about
        `limit` at most.
        """
        ...

    def projects(self) -> Sequence[str]:
        """Those that have traces."""
        ...

    def export(self, project: str, choice: TraceFilter) -> Iterator[tuple[TraceSummary, Sequence[bytes]]]:
        """Every trace of the choice with its bodies, the newest first; memory is flat in their number."""
        ...

    def pending(self) -> int:
        """Traces that are not complete."""
        ...

    def hurry(self, *, most: int, now_ms: int) -> int:
        """Makes traces due that wait to be complete, the oldest, until no more than `most` wait; how many."""
        ...

    def overdue(self, *, since_ms: int, most: int) -> int:
        """Traces that have been due since then and that nobody has completed; counted up to `most`."""
        ...
