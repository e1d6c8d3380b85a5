"""Clients that ask for much and read nothing: the server holds little for them, and serves others as before."""

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalsi.schema import FetchDatasetVersionRequest
from evalsi.schema.proto_codec import encode
from tests.command_line import write_jsonl
from tests.server.running_server import RunningServer, running_server, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]

ROWS = 50_000
CLIENTS = 8
MOST_GROWTH_BYTES = 96 << 20
"""Of 8 answers of some 20 MB each."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("slow")
    with running_server(folder) as server:
        rows = [{"id": f"r{n}", "input": os.urandom(200).hex(), "output": "a", "reference": "a"} for n in range(ROWS)]
        body = write_jsonl(folder / "rows.jsonl", rows).read_bytes()
        assert len(body) > 20 << 20
        assert server.request("POST", "/v1/datasets/cases/upload", body)[0] == 201
        spec = {"dataset": {"catalog": {"name": "cases"}}, "evaluators": [{"ref": "exact-match"}]}
        status, answer = server.post("/v1/runs", {"name": "large", "spec": spec})
        assert status == 200
        run_id = answer["run"]["id"]
        assert wait_until(lambda: server.get(f"/v1/runs/{run_id}")[1]["run"]["status"] == "RUN_STATUS_SUCCEEDED", 90)
        yield server


def resident_bytes(pid: int) -> int:
    fields = Path(f"/proc/{pid}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def stuck(server: RunningServer, path: str) -> socket.socket:
    """A client that asks and then reads nothing."""
    client = socket.create_connection(("127.0.0.1", server.port))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/x-ndjson\r\n\r\n".encode())
    return client


@pytest.mark.parametrize("what", ["dataset", "watch"])
def test_clients_that_do_not_read_cost_little_memory_and_nobody_else(server: RunningServer, what: str) -> None:
    run_id = server.get("/v1/runs")[1]["runs"][0]["id"]
    path = (
        "/v1/dataset-versions/cases/1:fetch" if what == "dataset" else f"/v1/runs/{run_id}:watch?include_results=true"
    )
    before = resident_bytes(server.process.pid)
    clients = [stuck(server, path) for _ in range(CLIENTS)]
    try:
        assert not wait_until(lambda: resident_bytes(server.process.pid) - before > MOST_GROWTH_BYTES, 5)
        assert server.get("/v1/runs")[0] == 200
        assert all(client.recv(15) == b"HTTP/1.1 200 OK" for client in clients)
    finally:
        for client in clients:
            client.close()
    assert wait_until(lambda: server.metric("evalsi_calls_in_flight") == 0, 10)


def test_a_grpc_client_that_does_not_read_costs_little_memory(server: RunningServer) -> None:
    grpc = pytest.importorskip("grpc")
    request = encode(FetchDatasetVersionRequest(name="cases", version="1"))
    before = resident_bytes(server.process.pid)
    with grpc.insecure_channel(server.address) as channel:
        fetch: Any = channel.unary_stream("/evalsi.v1alpha1.DatasetCatalogService/FetchDatasetVersion")
        calls = [fetch(request, timeout=60) for _ in range(CLIENTS)]
        assert all(len(next(call)) > 1000 for call in calls)
        assert not wait_until(lambda: resident_bytes(server.process.pid) - before > MOST_GROWTH_BYTES, 5)
        assert server.get("/v1/runs")[0] == 200
        for call in calls:
            call.cancel()
    assert wait_until(lambda: server.metric("evalsi_calls_in_flight") == 0, 10)
