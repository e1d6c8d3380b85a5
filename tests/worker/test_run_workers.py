"""Runs that a server is asked for: carried out by workers, stopped, continued, given to others when a worker dies."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from evalsi.infra.store.project_stores import SqlProjectStores
from evalsi.results.graded_run import stored_run
from evalsi.schema import DatasetSource, EvaluatorRef, RunSpec
from tests.command_line import write_jsonl
from tests.worker.served_runs import ServedRuns, submission, wait_until

pytestmark = pytest.mark.slow

ENDED = {"done", "failed", "cancelled"}


@pytest.fixture
def served(tmp_path: Path) -> ServedRuns:
    (tmp_path / "datasets").mkdir()
    return ServedRuns(tmp_path)


@pytest.fixture
def stores(served: ServedRuns) -> Iterator[SqlProjectStores]:
    with closing(served.open()) as stores:
        yield stores


def records(served: ServedRuns, count: int) -> RunSpec:
    rows = [{"id": f"r{n}", "input": "?", "output": str(n % 7), "reference": str(n % 5)} for n in range(count)]
    write_jsonl(served.folder / "datasets" / "data.jsonl", rows)
    return RunSpec(dataset=DatasetSource(path="data.jsonl"), evaluators=[EvaluatorRef(ref="exact-match")])


def state_of(stores: SqlProjectStores, run_id: str) -> str:
    entry = stores.queue.entry(run_id)
    assert entry is not None
    return entry.state


def ended(stores: SqlProjectStores, run_id: str) -> str:
    wait_until(lambda: state_of(stores, run_id) in ENDED)
    return state_of(stores, run_id)


def test_a_run_that_was_asked_for_is_carried_out(served: ServedRuns, stores: SqlProjectStores) -> None:
    run_id = stores.queue.submit(submission(records(served, 3000)))
    assert stores.of("default").find(run_id).status == "waiting"
    workers = served.workers()
    workers.start()
    try:
        assert ended(stores, run_id) == "done"
    finally:
        workers.stop()
    run = stores.of("default").find(run_id)
    assert (run.status, run.rows) == ("succeeded", 3000)
    assert stored_run(stores.of("default"), run_id).summaries[0].n == 3000
    assert stores.of("default").manifest(run_id).spec == records(served, 3000)
    assert workers.restarts == 0


def test_a_run_that_cannot_begin_says_why(served: ServedRuns, stores: SqlProjectStores) -> None:
    missing = RunSpec(dataset=DatasetSource(path="none.jsonl"), evaluators=[EvaluatorRef(ref="exact-match")])
    outside = RunSpec(dataset=DatasetSource(path="../evalsi.db"), evaluators=[EvaluatorRef(ref="exact-match")])
    asked = [stores.queue.submit(submission(spec)) for spec in (missing, outside)]
    workers = served.workers()
    workers.start()
    try:
        assert [ended(stores, run_id) for run_id in asked] == ["failed", "failed"]
    finally:
        workers.stop()
    errors = [stores.of("default").find(run_id).error for run_id in asked]
    assert "none.jsonl" in errors[0]
    assert "leads out of its folder" in errors[1]
    assert all(stores.of("default").find(run_id).status == "error" for run_id in asked)


def test_the_run_of_a_worker_that_was_killed_is_finished_by_the_next(
    served: ServedRuns, stores: SqlProjectStores
) -> None:
    run_id = stores.queue.submit(submission(records(served, 60_000)))
    workers = served.workers()
    workers.start()
    try:
        wait_until(lambda: stores.of("default").find(run_id).rows > 0)
        writer = stores.of("default").writer(run_id)
        assert writer is not None
        os.kill(writer.pid, signal.SIGKILL)
        assert ended(stores, run_id) == "done"
    finally:
        workers.stop()
    assert workers.restarts == 1
    assert stores.of("default").find(run_id).rows == 60_000
    rows = [record.id for batch in stored_run(stores.of("default"), run_id).read_rows() for record in batch.records]
    assert rows == [f"r{n}" for n in range(60_000)]


def test_a_run_that_is_cancelled_stops_and_goes_on_when_it_is_resumed(
    served: ServedRuns, stores: SqlProjectStores
) -> None:
    run_id = stores.queue.submit(submission(records(served, 200_000)))
    workers = served.workers()
    workers.start()
    try:
        wait_until(lambda: stores.of("default").find(run_id).rows > 0)
        stores.queue.cancel(run_id)
        assert ended(stores, run_id) == "cancelled"
        stopped_at = stores.of("default").find(run_id).rows
        assert 0 < stopped_at < 200_000
        stores.queue.resume(run_id)
        assert ended(stores, run_id) == "done"
    finally:
        workers.stop()
    assert stores.of("default").find(run_id).rows == 200_000


def test_a_worker_that_is_stopped_puts_its_run_back_in_line(served: ServedRuns, stores: SqlProjectStores) -> None:
    run_id = stores.queue.submit(submission(records(served, 200_000)))
    workers = served.workers()
    workers.start()
    wait_until(lambda: stores.of("default").find(run_id).rows > 0)
    began_s = time.monotonic()
    workers.stop()
    assert time.monotonic() - began_s < 30
    assert state_of(stores, run_id) == "waiting"
    assert workers.alive == 0
