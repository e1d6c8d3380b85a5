"""Many clients at once while workers are killed: calls are answered or told to come back, and nothing is left behind."""

import os
import random
import signal
import threading
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

import evalsi
from evalsi import schema
from evalsi.client.retrying import RetryPlan
from evalsi.core.errors import EvalsiError, OverloadedError
from tests.client.made_records import made_records
from tests.server.running_server import PATIENCE_S, RunningServer, running_server, wait_until
from tests.server.test_operation import resident_kib
from tests.thoroughness import repeats

CLIENTS = 8
HAMMERING_S = repeats(20, 60)
KILLS_EVERY_S = 2.0
WARMING_S = 10.0
CALLS = (
    schema.EvaluateRequest(records=list(made_records(100)), evaluators=[schema.EvaluatorRef(ref="exact-match")]),
    schema.EvaluateRequest(
        records=list(made_records(40)),
        evaluators=[schema.EvaluatorRef(ref="fuzzy-match"), schema.EvaluatorRef(ref="bleu")],
    ),
    # Nobody bounds what a pattern costs, so this one goes to a worker.
    schema.EvaluateRequest(
        records=list(made_records(20)),
        evaluators=[schema.EvaluatorRef(ref="regex-match", params={"pattern": r"(?=answer)\w+ (\d+)"})],
    ),
)


@pytest.mark.slow
def test_eight_clients_hammer_while_workers_are_killed(tmp_path: Path) -> None:
    with running_server(tmp_path, ("--workers", "2")) as server:
        ended = threading.Event()
        answered: list[int] = [0] * CLIENTS
        refused: list[str] = []
        threads = [threading.Thread(target=hammer, args=(server, n, ended, answered, refused)) for n in range(CLIENTS)]
        for thread in threads:
            thread.start()
        begun, early_kib, killed, before = monotonic(), 0, 0, 0

        def is_enough() -> bool:
            return killed >= 3 and min(answered) > 3

        while monotonic() < begun + HAMMERING_S or (not is_enough() and monotonic() < begun + PATIENCE_S):
            sleep(KILLS_EVERY_S)
            # Where a worker takes longer to start than this, killing it each time would leave none to be measured.
            if sum(answered) > before + len(CALLS):
                killed, before = killed + kill_a_worker(server), sum(answered)
            if not early_kib and monotonic() > begun + WARMING_S:
                early_kib = resident_kib(server)
        ended.set()
        for thread in threads:
            thread.join(PATIENCE_S)
        assert not any(thread.is_alive() for thread in threads)
        assert refused == []
        assert is_enough(), (killed, answered)
        assert resident_kib(server) < early_kib + (60 << 10)
        assert wait_until(lambda: server.metric("evalsi_calls_in_flight") == 0)
        assert wait_until(lambda: server.metric("evalsi_workers_busy") == 0)
        assert server.get("/readyz") == (200, {"ready": True})
        assert not [line for line in server.lines if line["event"] in ("crash", "no JSON")]


def hammer(server: RunningServer, number: int, ended: threading.Event, answered: list[int], refused: list[str]) -> None:
    """Calls again and again. A worker that is killed may cost its call, as a crash of the evaluator; nothing else may fail."""
    retries = RetryPlan(attempts=10, first_wait_s=0.05, longest_wait_s=1.0)
    with evalsi.Client(f"http://{server.address}", retries=retries, timeout_s=30) as client:
        while not ended.is_set():
            request = CALLS[(answered[number] + number) % len(CALLS)]
            try:
                answer = client.evaluate(request)
            except OverloadedError:
                continue  # it said when to come back, ten times
            except EvalsiError as error:
                refused.append(f"{type(error).__name__}: {error}")
                return
            assert len(answer.results) == len(request.records) * len(request.evaluators)
            answered[number] += 1


def kill_a_worker(server: RunningServer) -> int:
    """Kills a grading worker, if there is one just now; how many were killed."""
    workers: list[Any] = [pid for pid in server.children() if b"grading" in command_of(pid)]
    if not workers:
        return 0
    try:
        os.kill(random.choice(workers), signal.SIGKILL)
    except ProcessLookupError:
        return 0
    return 1


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""
