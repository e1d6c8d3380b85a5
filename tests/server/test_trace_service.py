"""TraceService on a real store: what was sent is read as it was sent, found, followed, judged and removed."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalsi.access.caller import Caller, everyone
from evalsi.core.clock import SystemClock
from evalsi.core.errors import InvalidSpecError, NotFoundError, UsageError
from evalsi.infra.store.database import StoreOptions
from evalsi.infra.store.failure_store import SqlFailureStore
from evalsi.infra.store.open_stores import open_failure_store
from evalsi.infra.store.trace_sqlite import SqliteTraceStore
from evalsi.ports.failure_store import FailureQuery
from evalsi.ports.trace_store import TracePart, TraceStore, Waiting
from evalsi.schema import (
    CountTracesRequest,
    DeleteTracesRequest,
    ExportTraceRequest,
    Feedback,
    GetSessionRequest,
    GetTraceRequest,
    ListFeedbackRequest,
    ListScoresRequest,
    ListTracesRequest,
    SubmitFeedbackRequest,
    TraceFilter,
    WatchTracesRequest,
)
from evalsi.server.services.trace_service import PIECE_BYTES, TraceService
from evalsi.testing.failure_store_suite import a_failure, an_event
from evalsi.testing.trace_store_suite import NOON, NOON_MS, a_part, complete, found_by, ids, trace_id
from evalsi.traces import Span, decode_otlp_protobuf, default_tracing
from evalsi.traces.otlp_writing import encode_otlp_protobuf
from tests.case_files import CASES, case
from tests.server.running_server import RunningServer, running_server
from tests.traces.otlp_encoding import encode_request

CALLER = everyone()


def part_of_case(identifier: str) -> TracePart:
    """The spans of a shared case as they would be stored."""
    body = encode_request(json.loads((CASES / case(identifier)["input"]["file"]).read_bytes()))
    spans = decode_otlp_protobuf(body).spans
    return a_part(
        trace_id=bytes.fromhex(spans[0].trace_id),
        span_ids=b"".join(bytes.fromhex(span.span_id) for span in spans),
        body=body,
    )


@pytest.fixture
def traces(tmp_path: Path) -> Iterator[TraceStore]:
    with closing(SqliteTraceStore(tmp_path / "traces.db", StoreOptions(synchronous="normal"))) as store:
        yield store


@pytest.fixture
def failures(tmp_path: Path) -> Iterator[SqlFailureStore]:
    with closing(open_failure_store(str(tmp_path / "evalsi.db"))) as store:
        yield store


@pytest.fixture
def service(traces: TraceStore, failures: SqlFailureStore) -> TraceService:
    return TraceService(store=traces, failures=failures, tracing=default_tracing(), clock=SystemClock())


def test_a_trace_is_read_from_its_spans_as_soon_as_they_are_stored(traces: TraceStore, service: TraceService) -> None:
    part = part_of_case("H01")
    name = part.trace_id.hex()
    traces.append("default", [part], now_ms=NOON_MS, waiting=Waiting())
    for asked in (name, name.upper(), name[:9]):
        found = asyncio.run(service.get_trace(GetTraceRequest(trace_id=asked), CALLER))
        assert found.record is not None
        assert found.record.id == name
        assert found.record.output is not None
        assert found.record.output.text == case("H01")["expected"]["output"]
        assert found.record.trajectory is not None
        assert len(found.record.trajectory.steps) == case("H01")["expected"]["spans"]
        assert found.summary is not None
        assert (found.summary.complete, found.policies, found.feedback) == (False, [], [])
    for wrong in ("0" * 32, "zz"):
        with pytest.raises(NotFoundError):
            asyncio.run(service.get_trace(GetTraceRequest(trace_id=wrong), CALLER))
    with pytest.raises(NotFoundError):
        asyncio.run(service.get_trace(GetTraceRequest(trace_id=name, project="other"), CALLER))


def test_lists_show_the_projects_that_the_caller_may_see(traces: TraceStore, service: TraceService) -> None:
    for number, project in ((1, "one"), (2, "two"), (3, "three")):
        traces.append(project, [a_part(number)], now_ms=NOON_MS, waiting=Waiting())
    caller = Caller(principal="key:k", grants={"one": frozenset({"traces.read"}), "two": frozenset({"traces.read"})})

    def seen(who: Caller, project: str = "") -> set[str]:
        answer = asyncio.run(service.list_traces(ListTracesRequest(project=project), who))
        counted = asyncio.run(service.count_traces(CountTracesRequest(project=project), who))
        assert counted.total == len(answer.traces)
        return {trace.project for trace in answer.traces}

    assert seen(CALLER) == {"one", "two", "three"}
    assert seen(caller) == {"one", "two"}
    assert seen(caller, "one") == {"one"}


def test_a_service_may_be_named_in_the_request_or_in_the_filter(traces: TraceStore, service: TraceService) -> None:
    traces.append("default", [a_part(1), a_part(2, service="kiosk")], now_ms=NOON_MS, waiting=Waiting())

    def names(**asked: Any) -> list[str]:
        return [trace.trace_id for trace in asyncio.run(service.list_traces(ListTracesRequest(**asked), CALLER)).traces]

    assert names(service="kiosk") == names(filter=TraceFilter(service="kiosk")) == ids(2)
    with pytest.raises(UsageError):
        names(service="shop", filter=TraceFilter(service="kiosk"))


def test_who_watches_sees_what_becomes_complete_from_then_on(traces: TraceStore, service: TraceService) -> None:
    complete(traces, a_part(1))

    async def watch() -> list[str]:
        seen: list[str] = []
        stream = service.watch_traces(WatchTracesRequest(), CALLER)
        first = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0.3)
        for number in (2, 3):
            await asyncio.to_thread(complete, traces, a_part(number))
        for answer in (await first, await anext(stream)):
            assert answer.trace is not None
            seen.append(answer.trace.trace_id)
        return seen

    assert asyncio.run(asyncio.wait_for(watch(), 20)) == ids(2, 3)


def test_a_session_shows_its_traces_from_the_oldest_with_all_that_was_found(
    traces: TraceStore, service: TraceService
) -> None:
    for number in range(5):
        complete(traces, a_part(number, begun_s=number, session_id="s"), policies=[found_by("p", 0.5)])
    said = Feedback(session_id="s", name="resolved", passed=True)
    asyncio.run(service.submit_feedback(SubmitFeedbackRequest(feedback=[said]), CALLER))
    shown: list[str] = []
    token = ""
    while True:
        asked = GetSessionRequest(session_id="s", page_size=2, page_token=token)
        answer = asyncio.run(service.get_session(asked, CALLER))
        shown += [each.trace.trace_id for each in answer.traces if each.trace is not None]
        assert [policy.policy for each in answer.traces for policy in each.policies] == ["p"] * len(answer.traces)
        assert [each.name for each in answer.feedback] == ["resolved"]
        token = answer.next_page_token
        if not token:
            break
    assert shown == ids(0, 1, 2, 3, 4)
    with pytest.raises(NotFoundError):
        asyncio.run(service.get_session(GetSessionRequest(session_id="other"), CALLER))


def test_scores_are_listed_by_label_and_evaluator(traces: TraceStore, service: TraceService) -> None:
    complete(traces, a_part(1, labels={"env": "prod"}), policies=[found_by("p", 0.5)])
    complete(traces, a_part(2), policies=[found_by("p", 0.7)])
    asked = ListScoresRequest(labels=["env=prod"], evaluator="tone")
    (row,) = asyncio.run(service.list_scores(asked, CALLER)).traces
    assert row.trace is not None
    assert row.trace.trace_id == trace_id(1)
    assert row.policies[0].results[0].scores[0].number == 0.5


def test_what_is_removed_is_named_and_conditions_must_all_hold(traces: TraceStore, service: TraceService) -> None:
    for number in range(4):
        complete(traces, a_part(number, user_id="ann" if number % 2 else "bob", session_id=f"s{number}"))

    def deleted(**asked: Any) -> int:
        return asyncio.run(service.delete_traces(DeleteTracesRequest(**asked), CALLER)).deleted

    with pytest.raises(UsageError):
        deleted()
    assert deleted(trace_ids=ids(0, 1), user_id="ann") == 1
    assert deleted(user_id="ann", session_id="s0") == 0
    assert deleted(trace_ids=["", "zz", trace_id(0)[:8]]) == 0
    assert deleted(before=datetime(2020, 1, 1, tzinfo=UTC)) == 0
    assert deleted(user_id="ann") == 1
    assert deleted(before=datetime(2030, 1, 1, tzinfo=UTC)) == 2


def test_who_is_forgotten_is_forgotten_in_the_inbox_of_failures_too(
    traces: TraceStore, service: TraceService, failures: SqlFailureStore
) -> None:
    for number, user in enumerate(("ann", "ann", "bob"), 1):
        failure = a_failure(number, project="default", user_id=user)
        failures.capture(failure, an_event(failure))
    asyncio.run(service.delete_traces(DeleteTracesRequest(trace_ids=[trace_id(1)]), CALLER))
    asyncio.run(service.delete_traces(DeleteTracesRequest(before=datetime(2030, 1, 1, tzinfo=UTC)), CALLER))
    assert len(failures.find(None, FailureQuery(), size=9).failures) == 3
    asyncio.run(service.delete_traces(DeleteTracesRequest(user_id="ann"), CALLER))
    assert [one.title for one in failures.find(None, FailureQuery(), size=9).failures] == ["title 3"]


def test_feedback_that_is_repeated_is_kept_once(traces: TraceStore, service: TraceService) -> None:
    part = part_of_case("H01")
    name = part.trace_id.hex()
    complete(traces, part)
    said = Feedback(trace_id=name.upper(), name="thumbs", passed=False, comment="wrong")
    for _ in range(3):
        told = asyncio.run(service.submit_feedback(SubmitFeedbackRequest(feedback=[said]), CALLER))
        assert (told.accepted, told.waiting) == (1, 0)
    found = asyncio.run(service.get_trace(GetTraceRequest(trace_id=name), CALLER)).feedback
    assert [(each.passed, each.comment, each.trace_id) for each in found] == [(False, "wrong", name)]
    assert found[0].time is not None
    other = msgspec.structs.replace(said, comment="still wrong")
    asyncio.run(service.submit_feedback(SubmitFeedbackRequest(feedback=[other]), CALLER))
    assert traces.feedback("default", trace_id=name, size=9).total == 2


def test_a_trace_and_a_session_show_the_newest_feedback_and_lead_to_the_rest(
    traces: TraceStore, service: TraceService
) -> None:
    complete(traces, a_part(1, session_id="s"))
    subjects: list[dict[str, Any]] = [{"trace_id": trace_id(1)}, {"session_id": "s"}]
    for about in subjects:
        said = [
            Feedback(id=f"{next(iter(about))}-{number}", passed=True, time=NOON + timedelta(seconds=number), **about)
            for number in range(180)
        ]
        asyncio.run(service.submit_feedback(SubmitFeedbackRequest(feedback=said), CALLER))
        if "trace_id" in about:
            first = asyncio.run(service.get_trace(GetTraceRequest(**about), CALLER))
        else:
            first = asyncio.run(service.get_session(GetSessionRequest(**about), CALLER))
        assert (len(first.feedback), first.feedback_total) == (50, 180)
        shown = [each.id for each in first.feedback]
        token = first.feedback_page_token
        while token:
            asked = ListFeedbackRequest(**about, page_size=60, page_token=token)
            page = asyncio.run(service.list_feedback(asked, CALLER))
            assert page.total == 180
            shown += [each.id for each in page.feedback]
            token = page.next_page_token
        assert shown == [each.id for each in reversed(said)]
    begin = asyncio.run(service.list_feedback(ListFeedbackRequest(trace_id=trace_id(1)[:6]), CALLER))
    assert (len(begin.feedback), begin.total) == (50, 180)
    with pytest.raises(NotFoundError):
        asyncio.run(service.list_feedback(ListFeedbackRequest(trace_id=trace_id(2)), CALLER))
    wrongs: list[dict[str, Any]] = [
        {},
        {"trace_id": trace_id(1), "session_id": "s"},
        {"session_id": "s", "page_token": "x"},
    ]
    for wrong in wrongs:
        with pytest.raises(UsageError):
            asyncio.run(service.list_feedback(ListFeedbackRequest(**wrong), CALLER))


def test_feedback_that_says_nothing_or_is_about_nothing_is_refused_whole(
    traces: TraceStore, service: TraceService
) -> None:
    sound = Feedback(id="sound", session_id="s", passed=True)
    for wrong, field in (
        (Feedback(passed=True), "feedback[1]"),
        (Feedback(session_id="s"), "feedback[1]"),
        (Feedback(session_id="s", passed=True, number=1.0), "feedback[1]"),
        (Feedback(trace_id="12", passed=True), "feedback[1].trace_id"),
        (Feedback(trace_id="g" * 32, passed=True), "feedback[1].trace_id"),
        (Feedback(session_id="s", span_id="ab" * 8, passed=True), "feedback[1].span_id"),
        (Feedback(session_id="s", number=float("nan")), "feedback[1].number"),
        (Feedback(session_id="s", comment="x" * 10_001), "feedback[1].comment"),
        (Feedback(session_id="s", passed=True, project="other"), "feedback[1].project"),
    ):
        with pytest.raises(UsageError) as fault:
            asyncio.run(service.submit_feedback(SubmitFeedbackRequest(feedback=[sound, wrong]), CALLER))
        assert fault.value.where == field
    assert not traces.feedback("default", session_id="s", size=9).total
    with pytest.raises(InvalidSpecError):
        asyncio.run(service.submit_feedback(SubmitFeedbackRequest(feedback=[sound] * 1001), CALLER))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("traces")
    with running_server(folder) as running:
        with closing(SqliteTraceStore(folder / "store" / "traces.db")) as store:
            store.append("default", [part_of_case("H01")], now_ms=NOON_MS, waiting=Waiting())
        yield running


def test_a_server_shows_what_another_process_stored(server: RunningServer) -> None:
    name = part_of_case("H01").trace_id.hex()
    status, found = server.get(f"/v1alpha1/traces/{name}")
    assert status == 200
    assert found["record"]["id"] == name
    status, listed = server.get("/v1alpha1/traces?filter.service=shop")
    assert (status, [trace["traceId"] for trace in listed["traces"]]) == (200, [name])
    status, counted = server.get("/v1alpha1/traces:count")
    assert (status, counted["total"]) == (200, 1)
    status, wrong = server.get("/v1alpha1/traces?filter.scores=nonsense<")
    assert status == 400
    assert "nonsense<" in json.dumps(wrong)
    assert server.get(f"/v1alpha1/traces/{'0' * 32}")[0] == 404


def test_a_server_takes_feedback_once(server: RunningServer) -> None:
    name = part_of_case("H01").trace_id.hex()
    for _ in range(2):
        status, told = server.post("/v1alpha1/feedback", {"feedback": [{"traceId": name, "passed": True}]})
        assert (status, told["accepted"]) == (200, 1)
    _, found = server.get(f"/v1alpha1/traces/{name}")
    assert len(found["feedback"]) == 1
    assert found["summary"]["feedback"] == 1
    for path in (f"/v1alpha1/traces/{name}/feedback", "/v1alpha1/feedback?sessionId=unheard"):
        status, listed = server.get(path)
        assert (status, int(listed.get("total", 0))) == (200, "traces" in path)
        assert [each["traceId"] for each in listed.get("feedback", [])] == [name] * ("traces" in path)
    assert server.post("/v1alpha1/feedback", {"feedback": [{"passed": True}]})[0] == 400


def test_a_trace_of_any_size_is_given_in_pieces_that_every_client_takes(
    service: TraceService, traces: TraceStore
) -> None:
    name = trace_id(1)
    for number in range(3):
        span = Span(
            trace_id=name, span_id=f"{number + 1:016x}", name="ask", attributes={"input.value": "ab" * PIECE_BYTES}
        )
        complete(traces, a_part(1, piece=number, body=encode_otlp_protobuf([span])))

    async def pieces() -> list[bytes]:
        return [each.chunk async for each in service.export_trace(ExportTraceRequest(trace_id=name), CALLER)]

    found = asyncio.run(pieces())
    assert max(map(len, found)) <= PIECE_BYTES
    assert len(decode_otlp_protobuf(b"".join(found)).spans) == 3
