"""A real server in a process of its own, for tests that speak to it over the network."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

RECORD = {"id": "1", "output": {"text": "Paris"}, "reference": {"text": "Paris"}}
PATIENCE_S = 120.0
"""How long a server may take to start or stop on a machine that has much else to do. How quick it is has tests of its own."""
EXACT = {"records": [RECORD], "evaluators": [{"ref": "exact-match"}]}


class RunningServer:
    def __init__(self, process: subprocess.Popen[bytes], lines: list[dict[str, Any]], port: int) -> None:
        self.process = process
        self.lines = lines
        """The log so far."""
        self.port = port

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def request(
        self, verb: str, path: str, body: bytes | str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request(verb, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def post(self, path: str, message: Any, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        status, _, body = self.request("POST", path, json.dumps(message), headers)
        return status, json.loads(body)

    def get(self, path: str) -> tuple[int, Any]:
        status, _, body = self.request("GET", path)
        return status, json.loads(body)

    def metric(self, name: str) -> float:
        _, _, body = self.request("GET", "/metrics")
        return sum(float(line.rsplit(" ", 1)[1]) for line in body.decode().splitlines() if line.startswith(name))

    def children(self) -> list[int]:
        tasks = Path(f"/proc/{self.process.pid}/task")
        return [int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()]


@contextmanager
def running_server(
    folder: Path,
    options: Sequence[str] = (),
    environment: dict[str, str] | None = None,
    command: Sequence[str] = ("serve", "--listen", "127.0.0.1:0"),
    *,
    inside: Sequence[str] = (),
) -> Generator[RunningServer]:
    """A server on a free port; it is stopped afterwards, and must then stop well.

    Args:
        inside: A command that runs the one it is given after its own words, in the same process.
    """
    env = {**os.environ, "EVALSI_DIR": str(folder / "store"), **(environment or {})}
    process = subprocess.Popen(
        [*inside, sys.executable, "-m", "evalsi", *command, *options], cwd=folder, env=env, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    lines: list[dict[str, Any]] = []
    ready = threading.Event()

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            try:
                lines.append(json.loads(line))
            except ValueError:
                lines.append({"event": "no JSON", "text": line.decode()})
            if lines[-1].get("event") == "ready":
                ready.set()
        ready.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        assert ready.wait(PATIENCE_S), "the server is not ready"
        found = next((line for line in lines if line.get("event") == "ready"), None)
        assert found is not None, lines
        yield RunningServer(process, lines, found["port"])
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE_S)
        finally:
            process.kill()
            process.wait()
            reader.join(5)
            process.stderr.close()


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def processes_with(word: str) -> list[int]:
    """The living processes that were started with this word. A word of a test's own finds those of no other test."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and is_alive(int(entry.name)):
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if word.encode() in words:
                found.append(int(entry.name))
    return found


def wait_until(what: Any, seconds: float = 60.0) -> bool:
    end = monotonic() + seconds
    while monotonic() < end:
        if what():
            return True
        sleep(0.02)
    return bool(what())
