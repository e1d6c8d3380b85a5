"""The traces in a store, as commands find them. Implements `traces.TraceLibrary`.

What is imported is completed at once, so that it can be searched without a server; traces that a server receives
meanwhile are left to it, whose policies are to see them.
"""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evalsi.core.clock import Clock, microseconds
from evalsi.core.errors import NotFoundError
from evalsi.core.listed_in_pages import listed_in_pages
from evalsi.ports.failure_store import FailureStore
from evalsi.ports.policy_store import PolicyStore
from evalsi.ports.trace_store import TraceStore, Waiting
from evalsi.schema import DeleteTracesRequest, Feedback, GetTraceResponse, TraceFilter, TraceSummary
from evalsi.traces import Span, Tracing, by_trace
from evalsi.traces.otlp_writing import encode_otlp_protobuf
from evalsi.traces.record_of_trace import record_of_trace
from evalsi.traces.stored_spans import spans_of_bodies
from evalsi.traces.trace_parts import PartLimits, parts_of_request
from evalsi.watch.reading_traces import delete_traces, full_trace_id, list_feedback, read_trace
from evalsi.watch.summary_of_trace import completed_trace

_AT_ONCE = 200
_LEASE_MS = 2000
_AT_ONCE_SPANS = 5000


class CopiesOfTraces(NamedTuple):
    """Who else keeps something of a trace."""

    failures: FailureStore
    policies: PolicyStore


class StoredTraces:
    """The traces of one project in a store.

    Args:
        copies: Where parts of the traces are that go with them.
    """

    def __init__(self, store: TraceStore, copies: CopiesOfTraces, tracing: Tracing, clock: Clock, project: str) -> None:
        self._store = store
        self._copies = copies
        self._tracing = tracing
        self._clock = clock
        self._project = project

    def traces(self, choice: TraceFilter, *, limit: int | None = None) -> Iterator[TraceSummary]:
        def page(size: int, token: str) -> tuple[Sequence[TraceSummary], str]:
            found = self._store.find([self._project], choice, size=size, token=token)
            return found.traces, found.next_token

        return listed_in_pages(page, at_once=_AT_ONCE, limit=limit)

    def get(self, trace_id: str, *, project: str = "") -> GetTraceResponse:
        return read_trace(self._store, self._tracing, project or self._project, trace_id)

    def feedback(self, *, trace_id: str = "", session_id: str = "", limit: int | None = None) -> Iterator[Feedback]:
        def page(size: int, token: str) -> tuple[Sequence[Feedback], str]:
            found = list_feedback(
                self._store, self._project, trace_id=trace_id, session_id=session_id, size=size, token=token
            )
            return found.feedback, found.next_token

        return listed_in_pages(page, at_once=_AT_ONCE, limit=limit)

    def spans(self, trace_id: str, *, project: str = "") -> Sequence[Span]:
        project = project or self._project
        found = spans_of_bodies(self._store.spans(project, full_trace_id(self._store, project, trace_id)))
        if not found:
            raise NotFoundError(f"there is no trace {trace_id!r}", hint="'evalsi traces list' lists them")
        return found

    def follow(self, choice: TraceFilter, *, interval_s: float) -> Iterator[TraceSummary]:
        mark = 0
        while True:
            found, mark = self._store.completed_since([self._project], choice, after=mark, size=_AT_ONCE)
            yield from found
            if len(found) < _AT_ONCE:
                time.sleep(interval_s)

    def delete(self, request: DeleteTracesRequest) -> int:
        return delete_traces(self._store, self._copies.failures, self._project, request, self._copies.policies.forget)

    def take(self, spans: Sequence[Span]) -> int:
        accepted = 0
        limits = PartLimits(most_spans=len(spans), most_spans_of_trace=len(spans))
        waiting = Waiting(grace_ms=0, limit_ms=0)
        gathered: list[Span] = []
        traces = list(by_trace(spans).values())
        for place, trace in enumerate(traces):
            gathered += trace
            if len(gathered) < _AT_ONCE_SPANS and place + 1 < len(traces):
                continue
            split = parts_of_request(encode_otlp_protobuf(gathered), limits, {})
            parts = [part for resource in split.resources for part in resource.parts]
            self._store.append(self._project, parts, now_ms=self._now_ms(), waiting=waiting)
            accepted += sum(len(part.span_ids) // 8 for part in parts)
            self._complete({part.trace_id.hex() for part in parts})
            gathered = []
        return accepted

    def _complete(self, names: set[str]) -> None:
        """Completes these traces. Others that are due are claimed with them and let go by themselves soon after."""
        left = set(names)
        while left:
            due = self._store.claim(now_ms=self._now_ms(), limit=_AT_ONCE, lease_ms=_LEASE_MS)
            own = [each for each in due if each.project == self._project and each.trace_id in left]
            if not due:
                return
            done = [
                completed_trace(each, spans, record_of_trace(spans, self._tracing))
                for each in own
                if (spans := spans_of_bodies(self._store.spans(each.project, each.trace_id)))
            ]
            self._store.complete(done, now_ms=self._now_ms())
            left -= {each.trace_id for each in own}

    def _now_ms(self) -> int:
        return microseconds(self._clock.now()) // 1000
