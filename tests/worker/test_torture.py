"""Servers and workers that are killed at random while runs are under way: nothing acknowledged is lost, nothing doubled."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import msgspec
import pytest

from evalsi.engine.columns import EvaluatorColumns
from evalsi.infra.store.project_stores import SqlProjectStores
from evalsi.results.graded_run import stored_run
from evalsi.results.trial_tally import trial_of
from evalsi.schema import DatasetSource, EvaluatorRef, RunSpec, Target
from tests.command_line import environment, write_jsonl
from tests.postgres_server import postgres_server
from tests.run.logged_model import logged_model
from tests.thoroughness import repeats
from tests.worker.served_runs import ServedRuns, submission, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="workers die with a server on Linux"),
]

KILLS = repeats(8, 50)
TASKS = repeats(3_000, 10_000)
SERVER = """
import sys, time
from evalsi.infra.run_workers import RunWorkers
RunWorkers(order=sys.argv[1].encode(), count=2).start()
print("ready", flush=True)
time.sleep(3600)
"""


class Server:
    """A process that has run workers, as a server has, and can be killed."""

    def __init__(self, served: ServedRuns) -> None:
        order = msgspec.json.encode(served.order).decode()
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, order],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture(params=["sqlite", "postgres"])
def served(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[ServedRuns]:
    (tmp_path / "datasets").mkdir()
    if request.param == "sqlite":
        yield ServedRuns(tmp_path)
        return
    with postgres_server() as server:
        yield ServedRuns(tmp_path, store=server.new_database("torture"))


def rows_of_run(stores: SqlProjectStores, run_id: str) -> tuple[list[tuple[str, int]], list[list[EvaluatorColumns]]]:
    rows: list[tuple[str, int]] = []
    columns: list[list[EvaluatorColumns]] = []
    for batch in stored_run(stores.of("default"), run_id).read_rows():
        rows += [(record.id, trial_of(record)) for record in batch.records]
        columns.append(batch.columns)
    return rows, columns


def is_done(stores: SqlProjectStores, run_id: str) -> bool:
    entry = stores.queue.entry(run_id)
    assert entry is not None
    assert entry.state in ("waiting", "claimed", "done"), entry.error
    return entry.state == "done"


def test_runs_end_as_if_nothing_had_happened_however_often_the_server_is_killed(
    served: ServedRuns, tmp_path: Path
) -> None:
    rng, most = random.Random(5), KILLS
    records = [{"id": f"r{n}", "input": f"question {n}", "reference": f"question {n % 100}"} for n in range(TASKS)]
    write_jsonl(tmp_path / "datasets" / "data.jsonl", records)
    kills, acknowledged = 0, 0
    with logged_model(tmp_path / "questions.log", latency_s=0.0) as base_url, closing(served.open()) as stores:
        spec = RunSpec(
            target=Target(connector="openai-compatible", model="stand-in", base_url=base_url, max_concurrency=32),
            dataset=DatasetSource(path="data.jsonl"),
            evaluators=[EvaluatorRef(ref="exact-match"), EvaluatorRef(ref="token-f1")],
        )
        asked = [stores.queue.submit(submission(spec)) for _ in range(2)]
        seen: dict[str, int] = dict.fromkeys(asked, 0)
        server = Server(served)
        try:
            while not all(is_done(stores, run_id) for run_id in asked):
                time.sleep(rng.uniform(0.3, 1.5))
                for run_id in asked:
                    stored = stores.of("default").run(run_id).rows
                    assert stored >= seen[run_id], "what was acknowledged is gone"
                    seen[run_id] = stored
                if kills < most:
                    writer = stores.of("default").writer(asked[0]) if rng.random() < 0.5 else None
                    if writer is not None:
                        with suppress(ProcessLookupError):
                            os.kill(writer.pid, signal.SIGKILL)
                    else:
                        server.kill()
                        server = Server(served)
                    kills += 1
                    if kills < most and all(is_done(stores, run_id) for run_id in asked):
                        asked.append(stores.queue.submit(submission(spec)))
                        seen[asked[-1]] = 0
        finally:
            server.kill()
        assert kills == most
        quiet = stores.queue.submit(submission(spec))
        workers = served.workers()
        workers.start()
        wait_until(lambda: is_done(stores, quiet), timeout_s=300)
        workers.stop()
        expected_rows, _ = rows_of_run(stores, quiet)
        expected = stored_run(stores.of("default"), quiet).summaries
        for run_id in asked:
            rows, _ = rows_of_run(stores, run_id)
            assert rows == expected_rows
            assert max(Counter(rows).values()) == 1
            assert stored_run(stores.of("default"), run_id).summaries == expected
            acknowledged += len(rows)
        assert acknowledged == TASKS * len(asked)
        # No worker outlived its server.
        wait_until(lambda: stores.queue.depth() == {}, timeout_s=5)
