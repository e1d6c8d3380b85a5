"""FailureService: traces are put into the inbox, worked on, decided about, and handed on as records of a dataset.

What always holds: what may change and how is decided in `watch.failure_case`; a change is stored only where the revision
that it was made on still stands.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from evalsi.access.caller import Caller
from evalsi.access.gate import DEFAULT_PROJECT, require, visible_projects
from evalsi.core.clock import Clock
from evalsi.core.errors import ConflictError, InvalidSpecError, NotFoundError
from evalsi.core.ids import new_run_id
from evalsi.core.page_token import read_page_token, write_page_token
from evalsi.ports.failure_store import FailureQuery, FailureStore
from evalsi.ports.trace_store import TraceStore
from evalsi.schema import (
    CaptureFailureRequest,
    CaptureFailureResponse,
    DeleteFailureRequest,
    DeleteFailureResponse,
    ExportFailuresRequest,
    ExportFailuresResponse,
    FailureCase,
    FailureSelection,
    FailureStatus,
    GetFailureRequest,
    GetFailureResponse,
    ListFailureEventsRequest,
    ListFailureEventsResponse,
    ListFailuresRequest,
    ListFailuresResponse,
    Record,
    ReviewFailureRequest,
    ReviewFailureResponse,
    UpdateFailureRequest,
    UpdateFailureResponse,
    json_codec,
)
from evalsi.server.services.run_service import page_size
from evalsi.traces import Tracing
from evalsi.traces.stored_spans import spans_of_bodies
from evalsi.watch.failure_case import (
    FailureChange,
    FailureDecision,
    captured_trace,
    changed_failure,
    check_revision,
    event_of,
    new_failure,
    reviewed_failure,
)

MOST_EXPORTED = 10_000
"""Failures in one answer."""
_EXPORT_PAGE = 500


@dataclass(frozen=True, kw_only=True)
class FailureService:
    """Implements the service of that name."""

    failures: FailureStore
    traces: TraceStore
    tracing: Tracing
    clock: Clock
    service: str = field(default="FailureService", init=False)

    async def capture_failure(self, request: CaptureFailureRequest, caller: Caller) -> CaptureFailureResponse:
        project = request.project or DEFAULT_PROJECT
        require(caller, "traces.read", project)  # the answer holds the trace

        def capture() -> CaptureFailureResponse:
            trace_id = self.traces.full_id(project, request.trace_id)
            spans = spans_of_bodies(self.traces.spans(project, trace_id))
            if not spans:
                raise NotFoundError(f"trace {trace_id} holds no span that can be read")
            trace = captured_trace(spans, self.traces.summary(project, trace_id), self.tracing)
            failure = new_failure(
                trace,
                failure_id=new_run_id(self.clock.now().timestamp()),
                title=request.title,
                reason=request.reason,
                actor=caller.principal,
                now=self.clock.now(),
            )
            stored, existed = self.failures.capture(failure, event_of(None, failure))
            return CaptureFailureResponse(failure=stored, deduplicated=existed)

        return await asyncio.to_thread(capture)

    async def list_failures(self, request: ListFailuresRequest, caller: Caller) -> ListFailuresResponse:
        visible = visible_projects(caller, "failures.read")
        projects: Sequence[str] | None = [request.project] if request.project else None
        if projects is None and visible is not None:
            projects = sorted(visible)
        query = FailureQuery(status=request.status, assignee=request.assignee)
        size = page_size(request.page_size)

        def read() -> ListFailuresResponse:
            page = self.failures.find(projects, query, size=size, token=request.page_token)
            counts = {str(status): amount for status, amount in self.failures.count(projects).items()}
            return ListFailuresResponse(failures=list(page.failures), next_page_token=page.next_token, counts=counts)

        return await asyncio.to_thread(read)

    async def get_failure(self, request: GetFailureRequest, caller: Caller) -> GetFailureResponse:
        del caller
        found = await asyncio.to_thread(self.failures.get, request.project or DEFAULT_PROJECT, request.id)
        return GetFailureResponse(failure=found)

    async def update_failure(self, request: UpdateFailureRequest, caller: Caller) -> UpdateFailureResponse:
        change = FailureChange(
            expected_revision=request.expected_revision,
            actor=caller.principal,
            record=request.record,
            title=request.title,
            reason=request.reason,
            assignee=request.assignee,
            status=request.status,
        )
        after = await asyncio.to_thread(
            self._replaced,
            (request.project, request.id, request.expected_revision),
            lambda before: changed_failure(before, change, self.clock.now()),
        )
        return UpdateFailureResponse(failure=after)

    async def review_failure(self, request: ReviewFailureRequest, caller: Caller) -> ReviewFailureResponse:
        decision = FailureDecision(
            expected_revision=request.expected_revision,
            actor=caller.principal,
            status=request.decision,
            note=request.note,
        )
        after = await asyncio.to_thread(
            self._replaced,
            (request.project, request.id, request.expected_revision),
            lambda before: reviewed_failure(before, decision, self.clock.now()),
        )
        return ReviewFailureResponse(failure=after)

    async def list_failure_events(self, request: ListFailureEventsRequest, caller: Caller) -> ListFailureEventsResponse:
        del caller
        about = (request.project, request.id)
        after = read_page_token(request.page_token, about, int) or 0
        size = page_size(request.page_size)

        def read() -> ListFailureEventsResponse:
            project = request.project or DEFAULT_PROJECT
            found = list(self.failures.events(project, request.id, size=size + 1, after=after))
            token = write_page_token(about, found[size - 1].revision) if len(found) > size else ""
            return ListFailureEventsResponse(events=found[:size], next_page_token=token)

        return await asyncio.to_thread(read)

    async def export_failures(self, request: ExportFailuresRequest, caller: Caller) -> ExportFailuresResponse:
        del caller
        records = await asyncio.to_thread(
            approved_records, self.failures, request.project or DEFAULT_PROJECT, request.selections
        )
        lines = b"".join(json_codec.encode_file(record).rstrip(b"\n") + b"\n" for record in records)
        return ExportFailuresResponse(records=records, jsonl=lines.decode())

    async def delete_failure(self, request: DeleteFailureRequest, caller: Caller) -> DeleteFailureResponse:
        del caller
        project = request.project or DEFAULT_PROJECT

        def remove() -> None:
            check_revision(self.failures.get(project, request.id), request.expected_revision)
            self.failures.delete(project, request.id, expected_revision=request.expected_revision)

        await asyncio.to_thread(remove)
        return DeleteFailureResponse()

    def _replaced(self, named: tuple[str, str, int], change: Callable[[FailureCase], FailureCase]) -> FailureCase:
        """The failure after `change`, stored. `named` is its project, its id and the revision that was looked at."""
        project, failure_id, expected = named
        before = self.failures.get(project or DEFAULT_PROJECT, failure_id)
        after = change(before)
        self.failures.replace(after, event_of(before, after), expected_revision=expected)
        return after


def approved_records(failures: FailureStore, project: str, selections: Sequence[FailureSelection]) -> list[Record]:
    """The records of failures as they were approved.

    Args:
        selections: Which ones, each at the revision it names (0: as it stands); none for all approved ones, the oldest first.
    Raises: NotFoundError. ConflictError: one is not approved, or stands at another revision.
    """
    if selections:
        return [_approved_record(failures.get(project, one.id), one) for one in selections]
    ids: list[str] = []
    token = ""
    while True:
        query = FailureQuery(status=FailureStatus.APPROVED)
        page = failures.find([project], query, size=_EXPORT_PAGE, token=token)
        ids += [failure.id for failure in page.failures]
        token = page.next_token
        if len(ids) > MOST_EXPORTED:
            raise InvalidSpecError(
                f"more than {MOST_EXPORTED:,} failures are approved", where="selections", hint="name those you want"
            )
        if not token:
            return [failures.get(project, failure_id).record or Record() for failure_id in reversed(ids)]


def _approved_record(failure: FailureCase, selection: FailureSelection) -> Record:
    if failure.status is not FailureStatus.APPROVED:
        raise ConflictError(
            f"the failure {failure.id} is {failure.status}, and only approved ones become records",
            hint="approve it first: evalsi failures review",
        )
    if selection.revision and selection.revision != failure.revision:
        raise ConflictError(
            f"the failure {failure.id} was approved at revision {failure.revision}, not {selection.revision}",
            hint="look at it again, then choose that revision",
        )
    return failure.record or Record()
