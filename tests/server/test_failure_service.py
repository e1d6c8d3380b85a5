"""FailureService on a real store: from a trace to the record of a dataset, and nothing is decided about what changed."""

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalsi.access.caller import Caller, everyone
from evalsi.core.clock import SystemClock
from evalsi.core.errors import ConflictError, ForbiddenError, InvalidSpecError, NotFoundError, UnimplementedError
from evalsi.infra.store.open_stores import open_failure_store
from evalsi.ports.trace_store import TracePart, Waiting
from evalsi.schema import (
    CaptureFailureRequest,
    Content,
    DatasetVersionContent,
    DeleteFailureRequest,
    ExportFailuresRequest,
    FailureCase,
    FailureSelection,
    FailureStatus,
    GetFailureRequest,
    ListFailureEventsRequest,
    ListFailuresRequest,
    PublishDatasetVersionRequest,
    Record,
    ReviewFailureRequest,
    UpdateFailureRequest,
)
from evalsi.server.services.dataset_catalog_service import DatasetCatalogService
from evalsi.server.services.failure_service import FailureService
from evalsi.testing.memory_trace_store import MemoryTraceStore
from evalsi.traces import default_tracing
from tests.traces.otlp_encoding import encode_request
from tests.worker.served_runs import ServedRuns

CALLER = everyone()
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
ROOT, MODEL = "00f067aa0ba902b7", "53995c3f42cd8ad8"


def a_span(span_id: str, name: str, parent: str = "", **attributes: str) -> dict[str, Any]:
    return {
        "traceId": TRACE,
        "spanId": span_id,
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": "1774000000000000000",
        "endTimeUnixNano": "1774000001000000000",
        "attributes": [
            {"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in attributes.items()
        ],
    }


QUESTION = '[{"role":"user","parts":[{"type":"text","content":"Where is order 7?"}]}]'
ANSWER = '[{"role":"assistant","parts":[{"type":"text","content":"It was refunded."}]}]'
AGENT = a_span(ROOT, "invoke_agent support", gen_ai__operation__name="invoke_agent", gen_ai__agent__name="support")
CALL = a_span(
    MODEL,
    "chat small-1",
    ROOT,
    gen_ai__operation__name="chat",
    gen_ai__request__model="small-1",
    gen_ai__input__messages=QUESTION,
    gen_ai__output__messages=ANSWER,
)


def append(traces: MemoryTraceStore, *spans: dict[str, Any]) -> None:
    part = TracePart(
        trace_id=bytes.fromhex(TRACE),
        span_ids=b"".join(bytes.fromhex(span["spanId"]) for span in spans),
        body=encode_request({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}),
        service="shop",
        name="invoke_agent support",
        root_ended=True,
    )
    traces.append("default", [part], now_ms=1, waiting=Waiting())


@pytest.fixture
def traces() -> MemoryTraceStore:
    traces = MemoryTraceStore()
    append(traces, CALL)
    append(traces, AGENT)
    return traces


@pytest.fixture
def service(traces: MemoryTraceStore, tmp_path: Path) -> FailureService:
    failures = open_failure_store(str(tmp_path / "evalsi.db"))
    return FailureService(failures=failures, traces=traces, tracing=default_tracing(), clock=SystemClock())


def captured(service: FailureService, **fields: str) -> FailureCase:
    answer = asyncio.run(service.capture_failure(CaptureFailureRequest(trace_id=TRACE[:8], **fields), CALLER))
    assert answer.failure is not None
    return answer.failure


def update(service: FailureService, failure: FailureCase, **fields: Any) -> FailureCase:
    request = UpdateFailureRequest(id=failure.id, **{"expected_revision": failure.revision, **fields})
    after = asyncio.run(service.update_failure(request, CALLER)).failure
    assert after is not None
    return after


def review(service: FailureService, failure: FailureCase, decision: str, **fields: Any) -> FailureCase:
    request = ReviewFailureRequest(
        id=failure.id, decision=FailureStatus(decision), **{"expected_revision": failure.revision, **fields}
    )
    after = asyncio.run(service.review_failure(request, CALLER)).failure
    assert after is not None
    return after


def actions(service: FailureService, failure: FailureCase) -> list[str]:
    request = ListFailureEventsRequest(id=failure.id)
    return [event.action for event in asyncio.run(service.list_failure_events(request, CALLER)).events]


def test_a_trace_becomes_a_failure_with_what_was_asked_and_answered(service: FailureService) -> None:
    failure = captured(service, reason="nobody asked for a refund")
    assert failure.record is not None
    assert failure.record.input == Content(text="Where is order 7?")
    assert failure.record.output == Content(text="It was refunded.")
    assert failure.source is not None
    assert (failure.source.trace_id, failure.status, failure.revision) == (TRACE, FailureStatus.OPEN, 1)
    assert failure.reason == "nobody asked for a refund"
    assert asyncio.run(service.get_failure(GetFailureRequest(id=failure.id), CALLER)).failure == failure


def test_a_trace_is_captured_once_however_often_its_spans_came(
    service: FailureService, traces: MemoryTraceStore
) -> None:
    first = captured(service, title="first")
    append(traces, AGENT, CALL)  # the sender tried again, with another cut
    again = asyncio.run(service.capture_failure(CaptureFailureRequest(trace_id=TRACE, title="second"), CALLER))
    assert again.deduplicated
    assert again.failure == first
    late = a_span("11f067aa0ba902b7", "late", ROOT)
    append(traces, late)
    grown = asyncio.run(service.capture_failure(CaptureFailureRequest(trace_id=TRACE), CALLER))
    assert not grown.deduplicated


def test_every_change_names_the_revision_it_was_made_on(service: FailureService) -> None:
    failure = captured(service)
    taken = update(service, failure, status=FailureStatus.IN_REVIEW, assignee="ann", title=" a\nline ")
    assert (taken.status, taken.assignee, taken.title, taken.revision) == (
        FailureStatus.IN_REVIEW,
        "ann",
        "a line",
        2,
    )
    with pytest.raises(ConflictError, match="is at revision 2, not 1"):
        review(service, failure, "dismissed")
    with pytest.raises(InvalidSpecError, match="names the revision"):
        update(service, failure, expected_revision=0)
    with pytest.raises(InvalidSpecError, match="decided by a review"):
        update(service, taken, status=FailureStatus.APPROVED)
    with pytest.raises(InvalidSpecError, match="nothing is decided"):
        review(service, taken, "open")
    assert actions(service, failure) == ["captured", "updated"]


def test_what_was_approved_changes_only_by_being_opened_again(service: FailureService) -> None:
    failure = captured(service)
    assert failure.record is not None
    wanted = msgspec.structs.replace(failure.record, reference=Content(text="It is on its way."))
    ready = update(service, failure, record=wanted)
    approved = review(service, ready, "approved", note="worth keeping")
    assert (approved.reviewed_by, approved.review_note) == (CALLER.principal, "worth keeping")
    with pytest.raises(ConflictError, match="what was decided about does not change"):
        update(service, approved, title="another")
    reopened = update(service, approved, title="another", status=FailureStatus.OPEN)
    assert (reopened.status, reopened.reviewed_by, reopened.reviewed_at) == (FailureStatus.OPEN, "", None)
    assert actions(service, failure) == ["captured", "updated", "approved", "reopened"]


def test_a_case_without_a_question_cannot_be_approved(service: FailureService) -> None:
    empty = update(service, captured(service), record=Record(id="x"))
    with pytest.raises(InvalidSpecError, match="has no input"):
        review(service, empty, "approved")
    assert review(service, empty, "dismissed").status is FailureStatus.DISMISSED


def test_only_approved_failures_become_records_at_the_revision_that_was_chosen(service: FailureService) -> None:
    failure = captured(service)

    def exported(*selections: FailureSelection) -> list[str]:
        request = ExportFailuresRequest(selections=list(selections))
        answer = asyncio.run(service.export_failures(request, CALLER))
        assert answer.jsonl.count("\n") == len(answer.records)
        return [record.id for record in answer.records]

    assert exported() == []
    with pytest.raises(ConflictError, match="only approved ones become records"):
        exported(FailureSelection(id=failure.id))
    approved = review(service, failure, "approved")
    assert exported() == exported(FailureSelection(id=failure.id, revision=approved.revision)) == [TRACE]
    with pytest.raises(ConflictError, match="was approved at revision 2, not 1"):
        exported(FailureSelection(id=failure.id, revision=1))
    with pytest.raises(NotFoundError):
        exported(FailureSelection(id="nobody"))


def test_a_dataset_version_takes_in_failures_beside_records(service: FailureService, tmp_path: Path) -> None:
    failure = review(service, captured(service), "approved")
    content = DatasetVersionContent(name="refunds", records=[Record(id="own", input=Content(text="?"))])
    request = PublishDatasetVersionRequest(content=content, failures=[FailureSelection(id=failure.id)])
    with closing(ServedRuns(tmp_path / "runs").open()) as stores:
        catalog = DatasetCatalogService(stores=stores, failures=service.failures)
        stored = asyncio.run(catalog.publish_dataset_version(request, CALLER)).dataset
        assert stored is not None
        assert stored.records == 2
        with pytest.raises(UnimplementedError, match="keeps no failures"):
            asyncio.run(DatasetCatalogService(stores=stores).publish_dataset_version(request, CALLER))
        writer = Caller(principal="key:w", roles={}, grants={"default": frozenset({"datasets.write"})})
        with pytest.raises(ForbiddenError, match=r"failures\.read"):
            asyncio.run(catalog.publish_dataset_version(request, writer))


def test_who_may_not_read_traces_captures_none(service: FailureService) -> None:
    writer = Caller(principal="key:w", roles={}, grants={"default": frozenset({"failures.write"})})
    with pytest.raises(ForbiddenError, match=r"traces\.read"):
        asyncio.run(service.capture_failure(CaptureFailureRequest(trace_id=TRACE), writer))


def test_lists_show_what_the_caller_may_see_with_counts_of_each_status(service: FailureService) -> None:
    failure = captured(service)
    answer = asyncio.run(service.list_failures(ListFailuresRequest(), CALLER))
    assert [one.id for one in answer.failures] == [failure.id]
    assert answer.failures[0].record is None
    assert answer.counts == {"open": 1}
    stranger = Caller(principal="key:s", roles={}, grants={"other": frozenset({"failures.read"})})
    assert asyncio.run(service.list_failures(ListFailuresRequest(), stranger)).failures == []


def test_what_is_deleted_was_looked_at_as_it_stood(service: FailureService) -> None:
    failure = captured(service)
    update(service, failure, assignee="ann")
    with pytest.raises(ConflictError):
        asyncio.run(service.delete_failure(DeleteFailureRequest(id=failure.id, expected_revision=1), CALLER))
    asyncio.run(service.delete_failure(DeleteFailureRequest(id=failure.id, expected_revision=2), CALLER))
    with pytest.raises(NotFoundError):
        asyncio.run(service.get_failure(GetFailureRequest(id=failure.id), CALLER))
