"""Evaluators that hang, crash or eat memory: each costs one record, or at worst its own call, and nobody else anything."""

import json
import os
import signal
import socket
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.server.hostile_plugin import install_hostile_plugin
from tests.server.running_server import EXACT, RunningServer, is_alive, running_server, wait_until

RECORDS = [{"id": word, "output": {"text": word}} for word in ("first", "bad", "last")]


@pytest.fixture(scope="module")
def fragile(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("fragile")
    environment = {"PYTHONPATH": str(install_hostile_plugin(folder))}
    options = ("--record-deadline", "3", "--workers", "2")
    with running_server(folder, options, environment) as running:
        yield running


def grade(server: RunningServer, ref: str) -> tuple[int, dict[str, object]]:
    return server.post("/v1/evaluate", {"records": RECORDS, "evaluators": [{"ref": ref}]})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ref", "kind"),
    [
        ("backtracks", "ERROR_KIND_TIMEOUT"),
        ("crashes", "ERROR_KIND_CRASH"),
        ("exits", "ERROR_KIND_CRASH"),
        ("hoards", "ERROR_KIND_EXCEPTION"),
    ],
)
def test_what_goes_wrong_with_a_record_costs_that_record_alone(fragile: RunningServer, ref: str, kind: str) -> None:
    status, found = grade(fragile, ref)
    assert status == 200, found
    results = found["results"]
    assert isinstance(results, list)
    assert [one["outcome"] for one in results] == ["OUTCOME_SCORED", "OUTCOME_ERROR", "OUTCOME_SCORED"]
    assert results[1]["errorKind"] == kind


@pytest.mark.slow
def test_others_are_served_while_a_worker_hangs(fragile: RunningServer) -> None:
    with ThreadPoolExecutor() as threads:
        hanging = threads.submit(grade, fragile, "backtracks")
        assert wait_until(lambda: fragile.metric("evalsi_workers_busy") == 1)
        served = -1  # the round in which it ends says nothing
        while not hanging.done():
            assert fragile.request("GET", "/healthz")[0] == 200
            assert fragile.post("/v1/evaluate", EXACT)[0] == 200
            served += 1
        assert hanging.result()[0] == 200
    assert served >= 2


@pytest.mark.slow
def test_a_worker_that_hangs_as_a_whole_is_stopped_and_replaced(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(install_hostile_plugin(tmp_path))}
    with running_server(tmp_path, ("--call-deadline", "2", "--workers", "1"), environment) as server:
        before = server.metric("evalsi_worker_restarts_total")
        status, found = grade(server, "stuck-at-setup")
        assert (status, found["error"]) == (504, "call-deadline")
        assert server.metric("evalsi_worker_restarts_total") == before + 1
        assert wait_until(lambda: grade(server, "sleeps")[0] == 200)  # the deadline is that of a start, too


@pytest.mark.slow
def test_killed_workers_are_replaced_and_cost_no_other_call(fragile: RunningServer) -> None:
    stop = threading.Event()

    def hammer() -> list[int]:
        seen: list[int] = []
        while not stop.is_set():
            seen.append(fragile.post("/v1/evaluate", EXACT)[0])
        return seen

    with ThreadPoolExecutor() as threads:
        hammers = [threads.submit(hammer) for _ in range(2)]
        outcomes: set[int] = set()
        for _ in range(6):
            call = threads.submit(grade, fragile, "corpus-bleu")
            for pid in fragile.children():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            outcomes.add(call.result()[0])
        stop.set()
        assert {status for task in hammers for status in task.result()} == {200}
    assert outcomes <= {200, 503}
    assert wait_until(lambda: grade(fragile, "corpus-bleu")[0] == 200)


@pytest.mark.slow
def test_a_call_whose_client_hangs_up_stops_its_work(fragile: RunningServer) -> None:
    body = json.dumps({"records": [{"id": str(n)} for n in range(4000)], "evaluators": [{"ref": "sleeps"}]}).encode()
    with socket.create_connection(("127.0.0.1", fragile.port)) as client:
        client.sendall(
            b"POST /v1/evaluate HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
        )
        assert wait_until(lambda: fragile.metric("evalsi_workers_busy") == 1)
    assert wait_until(lambda: fragile.metric("evalsi_workers_busy") == 0)  # done, it would be busy for minutes
    assert wait_until(lambda: any(line.get("code") == "cancelled" for line in fragile.lines))


@pytest.mark.slow
def test_more_calls_than_may_wait_are_refused_with_when_to_try_again(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(install_hostile_plugin(tmp_path))}
    opened = tmp_path / "opened"
    record = {"id": "1", "output": {"text": str(opened)}}
    body = json.dumps({"records": [record], "evaluators": [{"ref": "waits-for-file"}]})
    with (
        running_server(tmp_path, ("--workers", "1", "--record-deadline", "120"), environment) as server,
        ThreadPoolExecutor(80) as threads,
    ):
        calls = [threads.submit(server.request, "POST", "/v1/evaluate", body) for _ in range(80)]
        try:
            assert wait_until(lambda: sum(call.done() for call in calls) == 15)
        finally:
            opened.touch()
        answers = [call.result() for call in calls]
    refused = [headers for status, headers, _ in answers if status == 503]
    assert {status for status, _, _ in answers} == {200, 503}
    assert len(refused) == 15  # one is at work and 64 wait
    assert all(int(headers["retry-after"]) >= 1 for headers in refused)


@pytest.mark.slow
def test_no_worker_outlives_a_server_that_is_killed(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(install_hostile_plugin(tmp_path))}
    with running_server(tmp_path, (), environment) as server:
        call = json.dumps({"records": RECORDS, "evaluators": [{"ref": "backtracks"}]}).encode()
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(
                b"POST /v1/evaluate HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n%b" % (len(call), call)
            )
            assert wait_until(lambda: server.metric("evalsi_workers_busy") == 1)
            workers = server.children()
            assert wait_until(lambda: any(Path(f"/proc/{pid}/task/{pid}/children").read_text() for pid in workers))
            forks = [
                int(fork) for pid in workers for fork in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            ]
            server.process.kill()
            assert wait_until(lambda: not any(map(is_alive, [*workers, *forks])))


def test_plugins_are_in_the_catalog(fragile: RunningServer) -> None:
    _, found = fragile.get("/v1/evaluators")
    assert "backtracks" in {one["name"] for one in found["evaluators"]}
