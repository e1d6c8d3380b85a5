"""The inbox of failures and one of them: what went wrong, who looks at it, the case it is to become, and the decision.

Its own module because its forms change what people decided about. What always holds: a form carries the revision that was
looked at, so that a change in between is a conflict and no loss.
"""

import asyncio

import msgspec

from evalsi.core.content import text_of
from evalsi.core.errors import EvalsiError
from evalsi.report.case_view import case_view
from evalsi.report.worst_cases import Case
from evalsi.results.stored_rows import encode_records
from evalsi.schema import (
    Content,
    DatasetVersionContent,
    DeleteFailureRequest,
    DeleteFailureResponse,
    FailureCase,
    FailureSelection,
    FailureStatus,
    GetFailureRequest,
    GetFailureResponse,
    ListFailureEventsRequest,
    ListFailureEventsResponse,
    ListFailuresRequest,
    ListFailuresResponse,
    PublishDatasetVersionRequest,
    PublishDatasetVersionResponse,
    Record,
    ReviewFailureRequest,
    ReviewFailureResponse,
    TraceSummary,
    UpdateFailureRequest,
    UpdateFailureResponse,
)
from evalsi.server.pages.project_choice import visible_names
from evalsi.server.pages.trace_conversation import conversation_of_steps
from evalsi.server.pages.trace_filter import own_project, within
from evalsi.server.pages.trace_page import LINES, shown_line
from evalsi.server.pages.visit import Moved, Page, Query, Visit, as_typed

ROWS = 40
EVENTS = 100
STATUSES = {
    "open": FailureStatus.OPEN,
    "in-review": FailureStatus.IN_REVIEW,
    "approved": FailureStatus.APPROVED,
    "dismissed": FailureStatus.DISMISSED,
}
"""How the address names them."""


async def failures_page(visit: Visit) -> Page:
    query = visit.query
    found = await visit.call("FailureService.ListFailures", _list_request(query), ListFailuresResponse)
    word = query.get("status")
    return Page(
        template="failures.html.jinja",
        values={
            "failures": found.failures,
            "tabs": [(name, found.counts.get(status, 0), name == word) for name, status in STATUSES.items()],
            "total": sum(found.counts.values()),
            "addresses": [f"/ui/failures/{one.id}{_of(one, query)}" for one in found.failures],
            "projects": await visible_names(visit),
            "shows_projects": len({one.project for one in found.failures}) > 1,
            "is_filtered": any(query.get(name) for name in ("status", "assignee", "project")),
            "next_token": found.next_page_token,
            "within": within,
            "publishes": visit.serves("DatasetCatalogService"),
            "cli": ["evalsi failures list", "evalsi failures export --dataset NAME"],
        },
    )


async def failure_page(visit: Visit, failure_id: str, problem: str = "") -> Page:
    """One failure. `problem` is why a change of it was refused."""
    query = visit.query
    project = query.get("of")
    wanted = GetFailureRequest(project=project, id=failure_id)
    told = ListFailureEventsRequest(project=project, id=failure_id, page_size=EVENTS, page_token=query.get("events"))
    found, events = await asyncio.gather(
        visit.call("FailureService.GetFailure", wanted, GetFailureResponse),
        visit.call("FailureService.ListFailureEvents", told, ListFailureEventsResponse),
    )
    failure = found.failure or FailureCase(id=failure_id)
    record = failure.record or Record()
    lines = conversation_of_steps(record.trajectory) if record.trajectory is not None else []
    before, after = await _neighbours(visit, failure)
    return Page(
        template="failure.html.jinja",
        values={
            "failure": failure,
            "source": failure.source or TraceSummary(),
            "status": _word(failure.status),
            "record": record,
            "reference": text_of(record.reference),
            "asked": text_of(record.input),
            "asks_in_text": _asks_in_text(record),
            "case": case_view(Case(row=0, line=encode_records([record]), verdicts=[]), {}, metric="", anchor="case"),
            "conversation": [shown_line(line, {}) for line in lines[:LINES]],
            "lines_left": max(0, len(lines) - LINES),
            "step_address": _step_address(failure),
            "events": list(reversed(events.events)),
            "later_events": query.but(events=events.next_page_token) if events.next_page_token else "",
            "problem": problem,
            "neighbours": (before, after),
            "back": query.but(of=None, events=None),
            "address": f"/ui/failures/{failure.id}{_of(failure, query)}",
            "form_query": query.but(events=None),
            "decided": failure.status in (FailureStatus.APPROVED, FailureStatus.DISMISSED),
            "within": within,
            "cli": [f"evalsi failures show {failure.id}"],
        },
        status=409 if problem else 200,
    )


def _asks_in_text(record: Record) -> bool:
    """Whether what was asked can be written in a field: a text, or nothing yet; not a conversation."""
    return record.input is None or record.input.text is not None


async def update_failure(visit: Visit, failure_id: str) -> Page | Moved:
    """Takes the form that changes a failure."""
    form = visit.form
    project = visit.query.get("of")
    wanted = GetFailureRequest(project=project, id=failure_id)
    failure = (await visit.call("FailureService.GetFailure", wanted, GetFailureResponse)).failure or FailureCase()
    record = failure.record or Record()
    texts = {"reference": form.get("reference")}
    if _asks_in_text(record):
        texts["input"] = form.get("input")
    texts = {name: said for name, said in texts.items() if said and said != as_typed(text_of(getattr(record, name)))}
    status = STATUSES.get(form.get("status"), FailureStatus.UNSPECIFIED)
    request = UpdateFailureRequest(
        project=project,
        id=failure_id,
        expected_revision=form.whole("revision"),
        record=msgspec.structs.replace(record, **{name: Content(text=said) for name, said in texts.items()})
        if texts
        else None,
        title=form.get("title") if form.get("title") != as_typed(failure.title) else "",
        reason=form.get("reason") if form.get("reason") != as_typed(failure.reason) else "",
        assignee=form.get("assignee"),
        status=status,
    )
    return await _changed(visit, failure_id, "FailureService.UpdateFailure", request, UpdateFailureResponse)


async def review_failure(visit: Visit, failure_id: str) -> Page | Moved:
    """Takes a decision, and goes on to the next failure that waits for one."""
    form = visit.form
    request = ReviewFailureRequest(
        project=visit.query.get("of"),
        id=failure_id,
        expected_revision=form.whole("revision"),
        decision=STATUSES.get(form.get("decision"), FailureStatus.UNSPECIFIED),
        note=form.get("note"),
    )
    return await _changed(visit, failure_id, "FailureService.ReviewFailure", request, ReviewFailureResponse)


async def delete_failure(visit: Visit, failure_id: str) -> Page | Moved:
    """Takes a failure away for good, and goes back to the list."""
    request = DeleteFailureRequest(
        project=visit.query.get("of"), id=failure_id, expected_revision=visit.form.whole("revision")
    )
    try:
        await visit.call("FailureService.DeleteFailure", request, DeleteFailureResponse)
    except EvalsiError as error:
        return await failure_page(visit, failure_id, str(error))
    return Moved(to=f"/ui/failures?{visit.query.but(of=None)}")


async def publish_failures(visit: Visit) -> Moved:
    """Stores the chosen failures, else all approved ones of the project, as a version of a dataset, and goes there."""
    form = visit.form
    project = form.get("project")
    chosen = [text.partition("@") for text in form.all("failure")]
    selections = [FailureSelection(id=failure_id, revision=int(revision or 0)) for failure_id, _, revision in chosen]
    content = DatasetVersionContent(project=project, name=form.get("dataset"))
    request = PublishDatasetVersionRequest(content=content, failures=selections)
    answer = await visit.call("DatasetCatalogService.PublishDatasetVersion", request, PublishDatasetVersionResponse)
    assert answer.reference is not None
    named = answer.reference
    return Moved(to=f"/ui/datasets/{named.name}/{named.version}?{Query('').but(project=named.project)}")


async def _changed(
    visit: Visit, failure_id: str, method: str, request: msgspec.Struct, kind: type[msgspec.Struct]
) -> Page | Moved:
    """Makes a change and shows the failure again, with the reason where it was refused."""
    try:
        await visit.call(method, request, kind)
    except EvalsiError as error:
        return await failure_page(visit, failure_id, str(error))
    query = visit.query.but()
    return Moved(to=f"/ui/failures/{failure_id}" + (f"?{query}" if query else ""))


async def _neighbours(visit: Visit, failure: FailureCase) -> tuple[str, str]:
    """The addresses of the failures before and after this one in the list; "" where there is none."""
    found = await visit.call("FailureService.ListFailures", _list_request(visit.query), ListFailuresResponse)
    # One that was just decided is not in its list any more: the next is the first that is older.
    after = next((one for one in found.failures if one.id < failure.id), None)
    before = next((one for one in reversed(found.failures) if one.id > failure.id), None)

    def address(one: FailureCase | None) -> str:
        return "" if one is None else f"/ui/failures/{one.id}{_of(one, visit.query)}"

    return address(before), address(after)


def _list_request(query: Query) -> ListFailuresRequest:
    return ListFailuresRequest(
        project=query.get("project"),
        status=STATUSES.get(query.get("status"), FailureStatus.UNSPECIFIED),
        assignee=query.get("assignee"),
        page_size=ROWS,
        page_token=query.get("page_token"),
    )


def _of(failure: FailureCase, query: Query) -> str:
    """The query of a failure's page, which knows the list that it was opened from."""
    kept = query.but(of=own_project(failure.project), events=None)
    return f"?{kept}" if kept else ""


def _step_address(failure: FailureCase) -> str:
    """The address of a step in the timeline of the trace, without the step at its end."""
    trace_id = failure.source.trace_id if failure.source is not None else ""
    kept = Query("").but(of=own_project(failure.project), view="timeline")
    return f"/ui/traces/{trace_id}?{kept}&step="


def _word(status: FailureStatus) -> str:
    return next((word for word, known in STATUSES.items() if known is status), "")
