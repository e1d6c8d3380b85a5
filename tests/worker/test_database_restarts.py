"""PostgreSQL that goes away and comes back while a run is worked on: the run ends as if nothing had happened."""

import random
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from evalsi.results.graded_run import stored_run
from evalsi.results.trial_tally import trial_of
from evalsi.schema import DatasetSource, EvaluatorRef, RunSpec, Target
from tests.command_line import write_jsonl
from tests.postgres_server import postgres_server
from tests.run.logged_model import logged_model
from tests.worker.served_runs import ServedRuns, submission, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="needs a PostgreSQL of its own")]

TASKS = 4000
RESTARTS = 6


def test_a_run_survives_every_kind_of_restart_of_its_database(tmp_path: Path) -> None:
    rng = random.Random(11)
    (tmp_path / "datasets").mkdir()
    rows = [{"id": f"r{n}", "input": f"question {n}", "reference": str(n % 100)} for n in range(TASKS)]
    write_jsonl(tmp_path / "datasets" / "data.jsonl", rows)
    questions = tmp_path / "questions.log"
    with postgres_server() as postgres, logged_model(questions, latency_s=0.05) as base_url:
        served = ServedRuns(tmp_path, store=postgres.new_database("restarts"))
        spec = RunSpec(
            target=Target(connector="openai-compatible", model="stand-in", base_url=base_url, max_concurrency=16),
            dataset=DatasetSource(path="data.jsonl"),
            evaluators=[EvaluatorRef(ref="exact-match")],
        )
        with closing(served.open()) as stores:
            run_id = stores.queue.submit(submission(spec))
            workers = served.workers(count=2)
            workers.start()
            acknowledged, restarts = 0, 0

            def state() -> str:
                entry = stores.queue.entry(run_id)
                assert entry is not None
                assert entry.state in ("waiting", "claimed", "done"), entry.error
                return entry.state

            try:
                wait_until(lambda: state() == "claimed" and stores.of("default").run(run_id).rows > 0)
                while restarts < RESTARTS and state() != "done":
                    stored = stores.of("default").run(run_id).rows
                    assert stored >= acknowledged, "what was acknowledged is gone"
                    acknowledged = stored
                    # Now and then for longer than the lease lasts.
                    postgres.stop(rng.choice(["fast", "immediate"]))
                    time.sleep(rng.choice([0.1, 1.0, 3.0]))
                    postgres.start()
                    restarts += 1
                    time.sleep(rng.uniform(0.3, 1.0))
                wait_until(lambda: state() == "done", timeout_s=180)
            finally:
                workers.stop()
            assert restarts >= 3, "the run was too quick to be disturbed"
            run = stored_run(stores.of("default"), run_id)
            found = [(record.id, trial_of(record)) for batch in run.read_rows() for record in batch.records]
            assert found == [(f"r{n}", 0) for n in range(TASKS)]
            assert run.summaries[0].n == TASKS
            assert run.summaries[0].mean == pytest.approx(100 / TASKS)
            assert workers.restarts == 0, "a restart of the database is no reason to die"
