"""A disk that fills up while a server works: callers are told, nothing acknowledged is lost, and runs go on afterwards."""

import json
import os
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import write_jsonl
from tests.server.running_server import RunningServer, running_server, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux" or shutil.which("unshare") is None, reason="needs a small disk"),
]

ROWS = 6000
SPEC = {"dataset": {"path": "data.jsonl"}, "evaluators": [{"ref": "exact-match"}]}
UNDER_WAY = ("RUN_STATUS_PENDING", "RUN_STATUS_RUNNING")


class SmallDisk:
    """A disk that the server alone has, seen through its process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def free_bytes(self) -> int:
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize

    def fill(self, *, leaving_bytes: int = 0) -> None:
        with (self.folder / "filler").open("ab", buffering=0) as filler:
            try:
                while self.free_bytes > leaving_bytes:
                    filler.write(b"x" * 4096)
            except OSError:
                """It is full."""

    def make_room(self) -> None:
        (self.folder / "filler").unlink()


@contextmanager
def server_on_a_small_disk(folder: Path) -> Generator[tuple[RunningServer, SmallDisk]]:
    disk = folder / "disk"
    disk.mkdir()
    (folder / "evalsi.yaml").write_text(
        "data_dir: disk/data\ndatasets_dir: datasets\nruns: {lease_ttl: 2s, max_concurrent: 2}\n"
    )
    mounted = f'mount -t tmpfs -o size=12m tmpfs "{disk}" && exec "$@"'
    inside = ("unshare", "--mount", "--map-root-user", "sh", "-c", mounted, "sh")
    with running_server(folder, ("--config", "evalsi.yaml"), inside=inside) as server:
        yield server, SmallDisk(Path(f"/proc/{server.process.pid}/root{disk}"))


def run_of(server: RunningServer, run_id: str) -> dict[str, Any]:
    status, answer = server.get(f"/v1/runs/{run_id}")
    assert status == 200
    return answer["run"]


def finished(server: RunningServer, run_id: str) -> dict[str, Any]:
    assert wait_until(lambda: run_of(server, run_id)["status"] not in UNDER_WAY, 90)
    return run_of(server, run_id)


def test_a_full_disk_costs_time_and_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    (tmp_path / "datasets").mkdir()
    rows = [
        {"id": f"r{n}", "input": os.urandom(100).hex(), "output": str(n % 7), "reference": str(n % 5)}
        for n in range(ROWS)
    ]
    write_jsonl(tmp_path / "datasets" / "data.jsonl", rows)
    with server_on_a_small_disk(tmp_path) as (server, disk):
        status, answer = server.post("/v1/runs", {"name": "before", "spec": SPEC})
        assert status == 200
        before = finished(server, answer["run"]["id"])
        assert before["status"] == "RUN_STATUS_SUCCEEDED"

        disk.fill(leaving_bytes=300_000)
        status, answer = server.post("/v1/runs", {"name": "meanwhile", "spec": SPEC})
        assert status == 200
        accepted = [answer["run"]["id"]]
        assert wait_until(lambda: any("waits: the store" in str(line) for line in server.lines), 30)
        disk.fill()
        refused = 0
        for _ in range(500):
            status, headers, body = server.request("POST", "/v1/runs", json.dumps({"name": "full", "spec": SPEC}))
            if status == 200:
                accepted.append(json.loads(body)["run"]["id"])
                continue
            refused += 1
            assert (status, headers["retry-after"]) == (503, "1")
            assert "the disk or the quota is full" in json.loads(body)["message"]
            if refused == 5:
                break
        assert refused == 5
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        status, _, body = server.request("POST", "/v1/datasets/cases/upload", lines)
        assert status == 503, body
        # Whoever only reads notices nothing.
        assert run_of(server, before["id"]) == before
        assert server.get("/v1/runs")[0] == 200
        assert server.get("/readyz")[0] == 200
        assert run_of(server, accepted[0])["status"] in UNDER_WAY

        disk.make_room()
        for run_id in accepted:
            run = finished(server, run_id)
            assert (run["status"], run["error"]) == ("RUN_STATUS_SUCCEEDED", "")
            assert run["progress"] == {"total": ROWS, "done": ROWS}
            assert run["summaries"] == before["summaries"]
        status, _, body = server.request("POST", "/v1/datasets/cases/upload", lines)
        assert status == 201, body
        assert json.loads(body)["dataset"]["records"] == ROWS
    assert not any("Traceback" in str(line) for line in server.lines)
