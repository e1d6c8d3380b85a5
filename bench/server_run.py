"""A run of a million tasks on a server: how it goes, and how quickly the server answers about it meanwhile and afterwards.

    python bench/server_run.py [--records 500000]

The outputs are recorded, so that nobody is asked. While the run goes on, GetRun is called over and over; afterwards GetRun and
the first page of results. Prints one JSON line per measurement. Budgets: GetRun p95 below 20 ms meanwhile, the first page
below 50 ms, and less than 1 GB in the server and in its workers.
"""

import argparse
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

EVALUATORS = ("exact-match", "numeric-match")
PAUSE_S = 0.02
TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, process: "subprocess.Popen[bytes]", port: int) -> None:
        self.pid = process.pid
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def call(self, verb: str, path: str, body: Any = None) -> Any:
        content = None if body is None else json.dumps(body).encode()
        self.connection.request(verb, path, content, {"content-type": "application/json"})
        answer = self.connection.getresponse()
        found = json.loads(answer.read())
        if answer.status != 200:
            raise SystemExit(f"{verb} {path}: {answer.status} {found}")
        return found

    def timed(self, path: str) -> tuple[float, Any]:
        begun_s = time.perf_counter()
        found = self.call("GET", path)
        return time.perf_counter() - begun_s, found

    def processes(self) -> list[int]:
        """The server and what it has started."""
        found = [self.pid]
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
        return found


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    command = [sys.executable, "-m", "evalsi", "serve", "--listen", f"127.0.0.1:{port}", "--data-dir", str(folder)]
    # As installed programs are: with their modules compiled.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment)
    try:
        server = Server(process, port)
        for _ in range(600):
            try:
                server.call("GET", "/v1alpha1/runs")
                break
            except OSError:
                server.connection.close()
                time.sleep(0.05)
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def say(name: str, **figures: float | str) -> None:
    shown = {key: round(value, 4) if isinstance(value, float) else value for key, value in figures.items()}
    print(json.dumps({"name": name, **shown}), flush=True)


def share(times_s: list[float], part: float) -> float:
    return sorted(times_s)[min(len(times_s) - 1, int(part * len(times_s)))]


def say_calls(name: str, server: Server, path: str, calls: int) -> Any:
    """The same call over and over, with what it costs the server."""
    before_s, times_s, found = cpu_s(server.pid), [], None
    for _ in range(calls):
        took_s, found = server.timed(path)
        times_s.append(took_s)
    cpu_ms = (cpu_s(server.pid) - before_s) / calls * 1000
    say(name, calls=calls, first_ms=times_s[0] * 1e3, p50_ms=share(times_s, 0.5) * 1e3, p95_ms=share(times_s, 0.95) * 1e3, cpu_ms=cpu_ms)  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--records", type=int, default=500_000)
    records = parser.parse_args().records
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "datasets").mkdir()
        with (folder / "datasets" / "answers.jsonl").open("w") as file:
            for row in range(records):
                file.write(json.dumps({"id": f"r{row}", "q": f"q{row}", "out": str(row % 7), "ref": str(row % 5)}))
                file.write("\n")
        with serving(folder) as server:
            mapping = {"input": "q", "output": "out", "reference": "ref"}
            spec = {
                "dataset": {"path": "answers.jsonl", "mapping": mapping},
                "evaluators": [{"ref": name} for name in EVALUATORS],
            }
            begun_s, before_s = time.perf_counter(), cpu_s(server.pid)
            run = server.call("POST", "/v1alpha1/runs", {"name": "bench", "spec": spec})["run"]
            times_s: list[float] = []
            peaks: dict[int, float] = {}
            path = f"/v1alpha1/runs/{run['id']}"
            while run["status"] in ("RUN_STATUS_PENDING", "RUN_STATUS_RUNNING"):
                took_s, found = server.timed(path)
                times_s.append(took_s)
                run = found["run"]
                for pid in server.processes():
                    try:
                        peaks[pid] = max(peaks.get(pid, 0.0), peak_mib(pid))
                    except (FileNotFoundError, ProcessLookupError):
                        continue
                time.sleep(PAUSE_S)
            wall_s, tasks = time.perf_counter() - begun_s, records * len(EVALUATORS)
            say("run", tasks=tasks, status=run["status"], wall_s=wall_s, tasks_per_s=tasks / wall_s)
            say(
                "GetRun meanwhile",
                calls=len(times_s),
                p50_ms=share(times_s, 0.5) * 1e3,
                p95_ms=share(times_s, 0.95) * 1e3,
                longest_ms=max(times_s) * 1e3,
                cpu_ms=(cpu_s(server.pid) - before_s) / len(times_s) * 1e3,
            )
            say("memory", server_mib=peaks.pop(server.pid), largest_worker_mib=max(peaks.values()))
            say_calls("GetRun afterwards", server, path, 100)
            first = say_calls("first page", server, f"{path}/results", 30)
            say_calls("next page", server, f"{path}/results?page_token={first['nextPageToken']}", 30)
            say_calls("page of 1,000", server, f"{path}/results?page_size=1000", 5)
            query = "evaluator=exact-match&order_by=-score"
            say_calls("first page by score", server, f"{path}/results?{query}", 10)
            say_calls("first page of one outcome", server, f"{path}/results?outcome=OUTCOME_ERROR", 10)


if __name__ == "__main__":
    main()
