"""RunService with its real store and real workers: what a client asks for is what it gets back."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from evalsi.access.caller import everyone
from evalsi.core.clock import SystemClock
from evalsi.core.errors import (
    ConflictError,
    EvalsiError,
    InvalidSpecError,
    NotFoundError,
    QuotaError,
    UnimplementedError,
    UsageError,
)
from evalsi.infra.promoted_files import PromotedFiles
from evalsi.infra.store.project_stores import SqlProjectStores
from evalsi.schema import (
    ArchiveRunRequest,
    CancelRunRequest,
    CompareRunsRequest,
    Content,
    CreateRunRequest,
    CreateShadowReplayRequest,
    DatasetSource,
    DatasetVersionContent,
    DatasetVersionRef,
    DeleteRunRequest,
    EvaluationResult,
    EvaluatorRef,
    Gate,
    GetRecordEvidenceRequest,
    GetRunRequest,
    ImportRunRequest,
    InlineRecords,
    ListRunResultsRequest,
    ListRunsRequest,
    Outcome,
    PromoteResultsRequest,
    PublishDatasetVersionRequest,
    Record,
    RescoreRunRequest,
    ResumeRunRequest,
    Run,
    RunSpec,
    RunStatus,
    Score,
    Sink,
    SliceRunsRequest,
    Target,
    WatchRunRequest,
)
from evalsi.server.services.dataset_catalog_service import DatasetCatalogService
from evalsi.server.services.run_service import RunService
from tests.command_line import write_jsonl
from tests.worker.served_runs import ServedRuns, wait_until

CALLER = everyone()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedRuns]:
    """A place with one worker for all tests of this file."""
    served = ServedRuns(tmp_path_factory.mktemp("served"))
    (served.folder / "datasets").mkdir()
    rows = [
        {
            "id": f"r{n}",
            "input": "?",
            "output": f"answer {n % 10}",
            "reference": f"answer {n % 10 if n % 4 else 'x'}",
            "metadata": {"topic": f"t{n % 3}"},
        }
        for n in range(200)
    ]
    write_jsonl(served.folder / "datasets" / "data.jsonl", rows)
    workers = served.workers()
    with closing(served.open()):
        workers.start()
        yield served
        workers.stop()


@pytest.fixture
def stores(served: ServedRuns) -> Iterator[SqlProjectStores]:
    with closing(served.open()) as stores:
        yield stores


@pytest.fixture
def service(served: ServedRuns, stores: SqlProjectStores) -> RunService:
    return RunService(
        stores=stores,
        clock=SystemClock(),
        datasets=served.folder / "datasets",
        add_cases=PromotedFiles(served.folder / "datasets").add,
        has_usual_judge=False,
    )


def spec(**changes: Any) -> RunSpec:
    usual: dict[str, Any] = {
        "dataset": DatasetSource(path="data.jsonl"),
        "evaluators": [EvaluatorRef(ref="exact-match")],
    }
    return RunSpec(**(usual | changes))


def asked(service: RunService, wanted: RunSpec, **changes: Any) -> Run:
    answer = asyncio.run(service.create_run(CreateRunRequest(spec=wanted, **changes), CALLER))
    assert answer.run is not None
    return answer.run


def seen(service: RunService, run_id: str) -> Run:
    run = asyncio.run(service.get_run(GetRunRequest(id=run_id), CALLER)).run
    assert run is not None
    return run


def finished(service: RunService, wanted: RunSpec, **changes: Any) -> Run:
    run_id = asked(service, wanted, **changes).id
    wait_until(lambda: seen(service, run_id).finished_at is not None or bool(seen(service, run_id).error))
    return seen(service, run_id)


def test_a_run_over_a_dataset_names_the_version_that_was_the_latest_when_it_was_asked_for(
    service: RunService, stores: SqlProjectStores
) -> None:
    catalog = DatasetCatalogService(stores=stores)

    def published(*answers: str) -> None:
        records = [
            Record(id=f"r{n}", output=Content(text=text), reference=Content(text="yes"))
            for n, text in enumerate(answers)
        ]
        content = DatasetVersionContent(name="polls", records=records)
        asyncio.run(catalog.publish_dataset_version(PublishDatasetVersionRequest(content=content), CALLER))

    published("yes", "no")
    for word in ("", "latest"):
        wanted = spec(dataset=DatasetSource(catalog=DatasetVersionRef(name="polls", version=word)))
        run = finished(service, wanted)
        assert run.spec is not None
        assert run.spec.dataset == DatasetSource(catalog=DatasetVersionRef(name="polls", version="1"))
        assert run.manifest is not None
        assert run.manifest.dataset is not None
        assert (run.manifest.dataset.source, run.records) == ("polls@1", 2)
    published("yes", "no", "no")
    assert finished(service, run.spec).records == 2
    assert finished(service, wanted).records == 3


def test_a_run_is_asked_for_carried_out_and_read(service: RunService) -> None:
    run = finished(
        service, spec(gates=[Gate(metric="exact-match", min=0.7)]), name="nightly", labels={"branch": "main"}
    )
    assert (run.name, run.status, run.labels) == ("nightly", RunStatus.SUCCEEDED, {"branch": "main"})
    assert run.progress is not None
    assert (run.progress.done, run.progress.total, run.records) == (200, 200, 200)
    assert run.summaries[0].mean == pytest.approx(0.75)
    assert [gate.passed for gate in run.gates] == [True]
    assert run.created_by == "anonymous"
    assert run.started_at is not None
    assert run.evaluation_contract is not None
    assert run.manifest is not None


def test_a_run_whose_gate_is_not_met_failed(service: RunService) -> None:
    run = finished(service, spec(gates=[Gate(metric="exact-match", min=0.99)]), name="gated")
    assert run.status is RunStatus.FAILED
    listed = asyncio.run(service.list_runs(ListRunsRequest(statuses=[RunStatus.FAILED], name="gated"), CALLER)).runs
    assert [each.id for each in listed] == [run.id]
    listed = asyncio.run(service.list_runs(ListRunsRequest(statuses=[RunStatus.SUCCEEDED], name="gated"), CALLER)).runs
    assert listed == []


def test_checking_stores_nothing(service: RunService) -> None:
    run = asked(service, spec(), name="only-checked", validate_only=True)
    assert run.name == "only-checked"
    with pytest.raises(NotFoundError):
        seen(service, run.id)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (spec(evaluators=[]), "spec.evaluators"),
        (spec(evaluators=[EvaluatorRef(ref="exact-macth")]), "exact-match"),
        (spec(evaluators=[EvaluatorRef(ref="correctness")]), "correctness asks a judge and none was named"),
        (spec(evaluators=[EvaluatorRef(ref="./checks.py:f")]), "runs no code"),
        (spec(evaluators=[EvaluatorRef(ref="os:system")]), "runs no code"),
        (spec(target=Target(python="os:system")), "starts no program"),
        (spec(dataset=DatasetSource(path="../secret.jsonl")), "leads out of its folder"),
        (spec(dataset=DatasetSource(path="/etc/passwd")), "is absolute"),
        (spec(dataset=DatasetSource(uri="file:///etc/passwd")), "reads no file:// address"),
        (spec(dataset=DatasetSource(path="data.jsonl", mapping={"input": "topik"})), "did you mean 'topic'"),
        (spec(sinks=[Sink(json="out.jsonl")]), "writes no files"),
        (spec(baseline="./base.json"), "compares with runs alone"),
        (spec(target=Target(connector="recorded", recording="../replies.jsonl")), "leads out of its folder"),
    ],
)
def test_what_a_server_does_not_do_is_refused_before_anything_is_stored(
    service: RunService, wanted: RunSpec, said: str
) -> None:
    before = asyncio.run(service.list_runs(ListRunsRequest(page_size=1000), CALLER)).runs
    with pytest.raises(InvalidSpecError, match=said):
        asked(service, wanted)
    assert len(asyncio.run(service.list_runs(ListRunsRequest(page_size=1000), CALLER)).runs) == len(before)


def test_code_that_was_sent_is_not_even_loaded(served: ServedRuns, service: RunService) -> None:
    trace = served.folder / "was-loaded"
    code = f"from pathlib import Path\nPath({str(trace)!r}).touch()\n\ndef f(record):\n    return 1.0\n"
    (served.folder / "datasets" / "sent.py").write_text(code)
    with pytest.raises(InvalidSpecError, match="runs no code"):
        asked(service, spec(evaluators=[EvaluatorRef(ref="./sent.py:f")]))
    assert not trace.exists()


def test_a_request_sent_again_with_its_key_is_the_same_run(served: ServedRuns, service: RunService) -> None:
    caller = everyone(idempotency_key="k-1")
    request = CreateRunRequest(name="keyed", spec=spec())
    first = asyncio.run(service.create_run(request, caller)).run
    with closing(served.open()) as stores:  # as after a restart
        again = RunService(stores=stores, clock=SystemClock(), datasets=service.datasets, add_cases=service.add_cases)
        second = asyncio.run(again.create_run(request, caller)).run
    assert first is not None
    assert second is not None
    assert first.id == second.id
    with pytest.raises(ConflictError):
        asyncio.run(service.create_run(CreateRunRequest(name="other", spec=spec()), caller))


def test_a_project_that_holds_too_many_runs_gets_no_more(stores: SqlProjectStores, service: RunService) -> None:
    small = RunService(
        stores=stores,
        clock=SystemClock(),
        datasets=service.datasets,
        add_cases=service.add_cases,
        most_stored={"small": 1, "large": 9}.get,
    )
    asked(small, spec(), project="small")
    with pytest.raises(QuotaError, match="holds 1 runs and may hold 1"):
        asked(small, spec(), project="small")
    asked(small, spec(), project="large")


def test_results_come_by_pages_and_filters(service: RunService) -> None:
    run = finished(service, spec(evaluators=[EvaluatorRef(ref="exact-match"), EvaluatorRef(ref="token-f1")]))

    def page(**asked_for: Any) -> Any:
        return asyncio.run(service.list_run_results(ListRunResultsRequest(run_id=run.id, **asked_for), CALLER))

    first = page(page_size=3)
    assert [record.id for record in first.records] == ["r0", "r1", "r2"]
    assert [(each.record_id, each.evaluator) for each in first.results[:2]] == [
        ("r0", "exact-match"),
        ("r0", "token-f1"),
    ]
    assert first.matching_records == 200
    second = page(page_size=3, page_token=first.next_page_token)
    assert [record.id for record in second.records] == ["r3", "r4", "r5"]
    wrong = page(evaluator="exact-match", max_score=0.5, page_size=60)
    assert [record.id for record in wrong.records] == [f"r{n}" for n in range(0, 200, 4)]
    assert wrong.next_page_token == ""
    worst = page(evaluator="token-f1", order_by="score", page_size=51)
    values = [each.scores[0].number for each in worst.results]
    assert values == sorted(values)
    assert values[0] == 0.5
    assert page(search="ANSWER 7", page_size=100).records[0].id == "r7"
    assert page(evaluator="exact-match", outcome=Outcome.ERROR).results == []
    assert page(trial=1).results == []
    with pytest.raises(UsageError, match="not comparable"):
        page(order_by="score")
    with pytest.raises(UsageError):
        page(evaluator="token-f1", page_token=first.next_page_token)


def test_one_record_comes_with_everything_said_about_it(service: RunService) -> None:
    run = finished(service, spec())
    answer = asyncio.run(service.get_record_evidence(GetRecordEvidenceRequest(run_id=run.id, record_id="r8"), CALLER))
    assert answer.evidence is not None
    assert answer.evidence.record is not None
    assert answer.evidence.record.output == Content(text="answer 8")
    assert [(each.evaluator, each.outcome) for each in answer.results] == [("exact-match", Outcome.SCORED)]
    with pytest.raises(NotFoundError, match="no record 'r999'"):
        asyncio.run(service.get_record_evidence(GetRecordEvidenceRequest(run_id=run.id, record_id="r999"), CALLER))


def test_a_watcher_sees_the_run_its_results_and_its_end(service: RunService) -> None:
    run_id = asked(service, spec()).id

    async def watch() -> list[Any]:
        request = WatchRunRequest(id=run_id, include_results=True)
        return [event async for event in service.watch_run(request, CALLER)]

    events = asyncio.run(watch())
    assert events[-1].run.status is RunStatus.SUCCEEDED
    assert len([event for event in events if event.result is not None]) == 200


def test_two_runs_are_compared_and_what_flipped_is_listed(service: RunService) -> None:
    before = finished(service, spec())
    records = [Record(id=f"r{n}", output=Content(text="x"), reference=Content(text="x")) for n in range(200)]
    after = finished(service, spec(dataset=DatasetSource(inline=InlineRecords(records=records))))
    request = CompareRunsRequest(baseline_run_id=before.id, candidate_run_id=after.id)
    answer = asyncio.run(service.compare_runs(request, CALLER))
    assert [(each.metric, each.verdict, each.wins, each.losses) for each in answer.comparisons] == [
        ("exact-match", "improved", 50, 0)
    ]
    flipped = asyncio.run(
        service.list_run_results(
            ListRunResultsRequest(run_id=after.id, flipped_against=before.id, page_size=100), CALLER
        )
    )
    assert [record.id for record in flipped.records] == [f"r{n}" for n in range(0, 200, 4)]


def test_a_metric_is_sliced_by_metadata(service: RunService) -> None:
    run = finished(service, spec())
    request = SliceRunsRequest(run_ids=[run.id], metric="exact-match", by="metadata.topic")
    answer = asyncio.run(service.slice_runs(request, CALLER))
    assert [(row.key, row.n) for row in answer.rows] == [("t0", 67), ("t1", 67), ("t2", 66)]


def test_answers_are_graded_again_as_a_run_of_their_own(service: RunService) -> None:
    run = finished(service, spec(), name="first")
    request = RescoreRunRequest(run_id=run.id, evaluators=[EvaluatorRef(ref="token-f1")])
    again = asyncio.run(service.rescore_run(request, CALLER)).run
    assert again is not None
    wait_until(lambda: seen(service, again.id).finished_at is not None or bool(seen(service, again.id).error))
    rescored = seen(service, again.id)
    assert (rescored.error, rescored.name) == ("", "first-rescored")
    assert [(each.metric, each.n) for each in rescored.summaries] == [("token-f1", 200)]


def test_a_run_made_elsewhere_is_taken_in(service: RunService) -> None:
    request = ImportRunRequest(
        name="elsewhere",
        records=[Record(id=f"r{n}", output=Content(text="x")) for n in range(4)],
        results=[
            EvaluationResult(
                record_id=f"r{n}",
                evaluator="mine",
                outcome=Outcome.SCORED,
                scores=[Score(name="mine", number=float(n % 2))],
            )
            for n in range(4)
        ],
    )
    run = asyncio.run(service.import_run(request, CALLER)).run
    assert run is not None
    assert (run.imported, run.status, run.records) == (True, RunStatus.SUCCEEDED, 4)
    assert [(each.metric, each.n, each.mean) for each in run.summaries] == [("mine", 4, 0.5)]
    page = asyncio.run(service.list_run_results(ListRunResultsRequest(run_id=run.id), CALLER))
    assert len(page.results) == 4


def test_what_went_wrong_becomes_a_dataset(served: ServedRuns, service: RunService) -> None:
    run = finished(service, spec())
    request = PromoteResultsRequest(run_id=run.id, dataset="failures", when="score('exact-match') < 0.5")
    answer = asyncio.run(service.promote_results(request, CALLER))
    assert (answer.promoted, answer.path) == (50, "promoted/default/failures.jsonl")
    assert asyncio.run(service.promote_results(request, CALLER)).promoted == 0
    # Cases are kept without the answers that were wrong.
    assert "has an output" in finished(service, spec(dataset=DatasetSource(path=answer.path))).error
    again = finished(service, spec(dataset=DatasetSource(path=answer.path, mapping={"output": "input"})))
    assert again.records == 50
    with pytest.raises(InvalidSpecError):
        asyncio.run(service.promote_results(PromoteResultsRequest(run_id=run.id, dataset="../up"), CALLER))
    assert served.folder.joinpath("datasets", answer.path).is_file()


@pytest.mark.parametrize(
    "path", ["promoted/billing/own.jsonl", "promoted/*/own.jsonl", "**/own.jsonl", "promoted/billing", "promoted", "."]
)
def test_the_cases_of_a_project_are_read_by_its_runs_alone(service: RunService, path: str) -> None:
    run = finished(service, spec(), project="billing")
    request = PromoteResultsRequest(run_id=run.id, dataset="own")
    asyncio.run(service.promote_results(request, CALLER))
    wanted = spec(dataset=DatasetSource(path=path))
    with pytest.raises(InvalidSpecError, match="where the cases of other projects are"):
        asked(service, wanted)
    recorded = Target(connector="recorded", recording=path)
    with pytest.raises(InvalidSpecError, match="where the cases of other projects are"):
        asked(service, spec(target=recorded))
    if path in ("promoted/billing/own.jsonl", "promoted/billing"):
        # Cases are kept without the answers that were wrong.
        own = spec(dataset=DatasetSource(path=path, mapping={"output": "input"}))
        assert finished(service, own, project="billing").records == 200


def test_a_pattern_does_not_lead_out_of_the_root_through_a_link(served: ServedRuns, service: RunService) -> None:
    outside = served.folder / "outside.jsonl"
    outside.write_text('{"id": "1", "output": "a secret", "reference": "x"}\n')
    (served.folder / "datasets" / "linked").mkdir()
    (served.folder / "datasets" / "linked" / "secret.jsonl").symlink_to(outside)
    with pytest.raises(InvalidSpecError, match="through a symbolic link"):
        asked(service, spec(dataset=DatasetSource(path="linked/*.jsonl")))
    with pytest.raises(InvalidSpecError, match="through a symbolic link"):
        asked(service, spec(dataset=DatasetSource(path="linked")))


def test_a_run_can_be_cancelled_resumed_put_away_and_deleted(service: RunService) -> None:
    run = asked(service, spec(), name="led")
    asyncio.run(service.cancel_run(CancelRunRequest(id=run.id), CALLER))
    wait_until(lambda: seen(service, run.id).status in (RunStatus.CANCELLED, RunStatus.SUCCEEDED))
    if seen(service, run.id).status is RunStatus.CANCELLED:
        asyncio.run(service.resume_run(ResumeRunRequest(id=run.id), CALLER))
        wait_until(lambda: seen(service, run.id).status is RunStatus.SUCCEEDED)
    with pytest.raises(UsageError, match="is finished"):
        asyncio.run(service.resume_run(ResumeRunRequest(id=run.id), CALLER))
    asyncio.run(service.archive_run(ArchiveRunRequest(id=run.id), CALLER))
    listed = asyncio.run(service.list_runs(ListRunsRequest(name="led"), CALLER)).runs
    assert listed == []
    put_away = asyncio.run(service.list_runs(ListRunsRequest(name="led", include_archived=True), CALLER)).runs
    assert [each.id for each in put_away] == [run.id]
    assert put_away[0].archived_at is not None
    asyncio.run(service.delete_run(DeleteRunRequest(id=run.id), CALLER))
    with pytest.raises(NotFoundError):
        seen(service, run.id)


def test_replays_of_traffic_are_refused_with_a_sentence(service: RunService) -> None:
    with pytest.raises(UnimplementedError, match="recorded traffic"):
        asyncio.run(service.create_shadow_replay(CreateShadowReplayRequest(), CALLER))


@pytest.mark.parametrize("method", ["get_run", "cancel_run", "resume_run", "delete_run", "archive_run"])
def test_a_run_that_is_not_there_is_not_found(service: RunService, method: str) -> None:
    kinds: dict[str, Any] = {
        "get_run": GetRunRequest,
        "cancel_run": CancelRunRequest,
        "resume_run": ResumeRunRequest,
        "delete_run": DeleteRunRequest,
        "archive_run": ArchiveRunRequest,
    }
    for run_id in ("none", ""):
        with pytest.raises(EvalsiError) as caught:
            asyncio.run(getattr(service, method)(kinds[method](id=run_id), CALLER))
        assert isinstance(caught.value, NotFoundError)
