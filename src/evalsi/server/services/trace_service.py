"""TraceService: live traffic is found, read, followed, removed, and what people say about it is taken.

What always holds: nothing here blocks the event loop, since every look at the store happens in a thread.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from evalsi.access.caller import Caller
from evalsi.access.gate import DEFAULT_PROJECT, visible_projects
from evalsi.core.clock import Clock, microseconds
from evalsi.core.errors import NotFoundError, UsageError
from evalsi.ports.failure_store import FailureStore
from evalsi.ports.trace_store import ScoreChoice, TraceStore
from evalsi.schema import (
    CountTracesRequest,
    CountTracesResponse,
    DeleteTracesRequest,
    DeleteTracesResponse,
    ExportTraceRequest,
    ExportTraceResponse,
    GetSessionRequest,
    GetSessionResponse,
    GetTraceRequest,
    GetTraceResponse,
    ListFeedbackRequest,
    ListFeedbackResponse,
    ListScoresRequest,
    ListScoresResponse,
    ListTracesRequest,
    ListTracesResponse,
    SubmitFeedbackRequest,
    SubmitFeedbackResponse,
    TraceFacet,
    TraceFilter,
    TraceScores,
    WatchTracesRequest,
    WatchTracesResponse,
)
from evalsi.server.services.run_service import page_size
from evalsi.traces import Tracing
from evalsi.traces.trace_choice import label_condition
from evalsi.watch.feedback import accepted_feedback
from evalsi.watch.reading_traces import FEEDBACK_SHOWN, Forget, delete_traces, list_feedback, read_trace, sound_bodies

WATCH_INTERVAL_S = 0.5
PIECE_BYTES = 1 << 18
"""Of an export in one message: clients of gRPC take none above 4 MiB where nobody told them to."""
_AT_ONCE = 500


@dataclass(frozen=True, kw_only=True)
class TraceService:
    """Implements the service of that name.

    Args:
        failures: Where copies of traces are, which go when somebody is to be forgotten.
        tracing: How spans are read.
        forget: Lets policies forget what they found in traces that are removed.
        forget_cases: Removes the cases that policies made of traces that are to be forgotten.
        reconsiders: Whether policies of a project look at feedback, so that traces are evaluated again when it comes.
    """

    store: TraceStore
    failures: FailureStore
    tracing: Tracing
    clock: Clock
    reconsiders: Callable[[str], bool] = lambda _project: False
    forget: Forget = lambda _project, _subjects: None
    forget_cases: Forget = lambda _project, _traces: None
    service: str = field(default="TraceService", init=False)

    async def list_traces(self, request: ListTracesRequest, caller: Caller) -> ListTracesResponse:
        choice = request.filter or TraceFilter()
        if request.service:
            if choice.service not in ("", request.service):
                raise UsageError(
                    "two services are asked for", where="service", hint="give one of service, filter.service"
                )
            choice = msgspec.structs.replace(choice, service=request.service)
        projects = _projects(request.project, caller)
        size = page_size(request.page_size)
        page = await asyncio.to_thread(self.store.find, projects, choice, size=size, token=request.page_token)
        return ListTracesResponse(traces=list(page.traces), next_page_token=page.next_token)

    async def count_traces(self, request: CountTracesRequest, caller: Caller) -> CountTracesResponse:
        projects = _projects(request.project, caller)
        counts = await asyncio.to_thread(self.store.count, projects, request.filter or TraceFilter())
        facets = [TraceFacet(field=name, counts=dict(values)) for name, values in sorted(counts.facets.items())]
        return CountTracesResponse(total=counts.total, facets=facets, capped=counts.capped)

    async def watch_traces(self, request: WatchTracesRequest, caller: Caller) -> AsyncIterator[WatchTracesResponse]:
        projects = _projects(request.project, caller)
        choice = request.filter or TraceFilter()
        mark = 0
        while True:
            found, mark = await asyncio.to_thread(
                self.store.completed_since, projects, choice, after=mark, size=_AT_ONCE
            )
            for trace in found:
                yield WatchTracesResponse(trace=trace)
            if len(found) < _AT_ONCE:
                await asyncio.sleep(WATCH_INTERVAL_S)

    async def get_trace(self, request: GetTraceRequest, caller: Caller) -> GetTraceResponse:
        del caller
        project = request.project or DEFAULT_PROJECT
        return await asyncio.to_thread(read_trace, self.store, self.tracing, project, request.trace_id)

    async def export_trace(self, request: ExportTraceRequest, caller: Caller) -> AsyncIterator[ExportTraceResponse]:
        del caller
        bodies = await asyncio.to_thread(sound_bodies, self.store, request.project or DEFAULT_PROJECT, request.trace_id)
        for body in bodies:
            for at in range(0, len(body), PIECE_BYTES):
                yield ExportTraceResponse(chunk=body[at : at + PIECE_BYTES])

    async def get_session(self, request: GetSessionRequest, caller: Caller) -> GetSessionResponse:
        del caller
        return await asyncio.to_thread(self._session, request, request.project or DEFAULT_PROJECT)

    async def list_scores(self, request: ListScoresRequest, caller: Caller) -> ListScoresResponse:
        choice = ScoreChoice(
            trace_id=request.trace_id.lower(),
            service=request.service,
            labels=dict(label_condition(text) for text in request.labels),
            policy=request.policy,
            evaluator=request.evaluator,
            since_ms=microseconds(request.since) // 1000 if request.since is not None else 0,
        )
        projects = _projects(request.project, caller)
        size = page_size(request.page_size)
        found, token = await asyncio.to_thread(self.store.scores, projects, choice, size=size, token=request.page_token)
        traces = [TraceScores(trace=trace, policies=list(policies)) for trace, policies in found]
        return ListScoresResponse(traces=traces, next_page_token=token)

    async def list_feedback(self, request: ListFeedbackRequest, caller: Caller) -> ListFeedbackResponse:
        del caller
        page = await asyncio.to_thread(
            list_feedback,
            self.store,
            request.project or DEFAULT_PROJECT,
            trace_id=request.trace_id,
            session_id=request.session_id,
            size=page_size(request.page_size),
            token=request.page_token,
        )
        return ListFeedbackResponse(feedback=list(page.feedback), next_page_token=page.next_token, total=page.total)

    async def delete_traces(self, request: DeleteTracesRequest, caller: Caller) -> DeleteTracesResponse:
        del caller
        project = request.project or DEFAULT_PROJECT
        deleted = await asyncio.to_thread(
            delete_traces, self.store, self.failures, project, request, self.forget, self.forget_cases
        )
        return DeleteTracesResponse(deleted=deleted)

    async def submit_feedback(self, request: SubmitFeedbackRequest, caller: Caller) -> SubmitFeedbackResponse:
        del caller
        now = self.clock.now()
        said = accepted_feedback(request.feedback, now)
        project = request.project or DEFAULT_PROJECT
        for place, each in enumerate(said):
            if each.project not in ("", project):
                raise UsageError(
                    f"the request is about the project {project!r}, this about {each.project!r}",
                    where=f"feedback[{place}].project",
                    hint="send one request for each project",
                )

        def add() -> int:
            return self.store.add_feedback(
                project, said, now_ms=microseconds(now) // 1000, reconsider=self.reconsiders(project)
            )

        return SubmitFeedbackResponse(accepted=len(said), waiting=await asyncio.to_thread(add))

    def _session(self, request: GetSessionRequest, project: str) -> GetSessionResponse:
        page = self.store.find_of_session(
            project, request.session_id, size=page_size(request.page_size), token=request.page_token
        )
        policies = list(self.store.session_results(project, request.session_id))
        said = self.store.feedback(project, session_id=request.session_id, size=FEEDBACK_SHOWN)
        if not (page.traces or policies or said.total or request.page_token):
            raise NotFoundError(f"no session {request.session_id!r} in the project {project!r}")
        return GetSessionResponse(
            traces=[
                TraceScores(trace=trace, policies=list(self.store.results(project, trace.trace_id)))
                for trace in page.traces
            ],
            policies=policies,
            feedback=list(said.feedback),
            feedback_total=said.total,
            feedback_page_token=said.next_token,
            next_page_token=page.next_token,
        )


def _projects(project: str, caller: Caller) -> Sequence[str] | None:
    """The projects that are looked into; None for all."""
    if project:
        return [project]
    visible = visible_projects(caller, "traces.read")
    return None if visible is None else sorted(visible)
