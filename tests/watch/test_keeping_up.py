"""A second worker is started while one does not keep up. Real processes, SQLite."""

import subprocess
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from evalsi.infra.run_workers import RunWorkers
from evalsi.infra.store.open_stores import open_failure_store
from evalsi.settings import Settings
from evalsi.settings.server import ServerSettings
from evalsi.wiring.trace_serving import BEHIND_MS, MANY, TraceParts
from evalsi.wiring.watching import order_of_watch
from tests.server.running_server import wait_until
from tests.watch.live_traffic import spans_of, traffic_in


def test_many_traces_that_have_been_due_for_long_are_too_many_for_one(tmp_path: Path) -> None:
    failures = open_failure_store(str(tmp_path / "evalsi.db"))
    with traffic_in(tmp_path) as traffic, closing(failures):
        parts = TraceParts(store=traffic.traces, failures=failures, clock=traffic.clock)
        traffic.arrive(*(spans_of(number, tools=()) for number in range(MANY - 1)))
        long_after_ms = traffic.tools.now_ms + BEHIND_MS
        assert not parts.is_behind(long_after_ms)
        traffic.arrive(spans_of(MANY, tools=()))
        assert not parts.is_behind(traffic.tools.now_ms)
        assert parts.is_behind(long_after_ms + BEHIND_MS)


@pytest.mark.slow
def test_a_further_worker_is_there_while_it_is_wanted(tmp_path: Path) -> None:
    order = order_of_watch(ServerSettings(), Settings.from_environment())
    order = msgspec.structs.replace(
        order, runs=msgspec.structs.replace(order.runs, store=str(tmp_path / "evalsi.db"), cache=str(tmp_path))
    )
    wanted = [1]
    workers = RunWorkers(
        order=msgspec.json.encode(order), count=2, kind="watch", demand=lambda: wanted[0], log=subprocess.DEVNULL
    )
    workers.start()
    try:
        assert wait_until(lambda: workers.alive == 1, 30)
        wanted[0] = 2
        assert wait_until(lambda: workers.alive == 2, 30)
        assert workers.restarts == 0
    finally:
        workers.stop(timeout_s=1.0)
