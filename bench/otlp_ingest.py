"""Spans received and stored: this server beside another that speaks the same interface, in one go.

    python bench/otlp_ingest.py --spans 100000
    python bench/otlp_ingest.py --spans 100000 --peer /opt/peer/bin/evalsi
    python bench/otlp_ingest.py --spans 100000 --postgres postgresql:///an_empty_database

Each server gets the same agent traces of ten spans with about 1 KB of content, from several senders, in protobuf. It counts
as stored when the server's own counter says so and traces can be read back. With a peer, ratios are printed: budgets are 8
times the spans per second, an eighth of the processor time a span, half a byte on the disk for each byte sent, 400 MB.
"""

import argparse
import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evalsi.traces import Span
from evalsi.traces.otlp_writing import encode_otlp_protobuf

SPANS_OF_TRACE = 10
TRACES_OF_REQUEST = 50
CONTENT = "The lamp in the hall has been on since eight, says the house; room %d asks whether it may stay on. "
SETTLE_S = 5.0
"""A server's workers are still starting when it is ready; what they take for it is not what is measured."""
DATABASE = "EVALSI_BENCH_DATABASE"
BUDGETS = {"stored spans/s": 8.0, "CPU a span": 1 / 8}


def bodies(count: int, seed: int) -> Iterator[tuple[bytes, list[str]]]:
    """Requests, each with the ids of its traces."""
    rng = random.Random(seed)
    now_ns = time.time_ns()
    for number in range(count):
        ids = [f"{rng.getrandbits(128) | 1:032x}" for _ in range(TRACES_OF_REQUEST)]
        spans = [span for trace_id in ids for span in agent_trace(rng, trace_id, number, now_ns)]
        yield encode_otlp_protobuf(spans), ids


def agent_trace(rng: random.Random, trace_id: str, number: int, now_ns: int) -> list[Span]:
    text = (CONTENT % number * 12)[:1000]
    ids = [f"{rng.getrandbits(64) | 1:016x}" for _ in range(SPANS_OF_TRACE)]
    found: list[Span] = []
    for place, span_id in enumerate(ids):
        asks = place % 2 == 1
        operation = "invoke_agent" if not place else "chat" if asks else "execute_tool"
        answer = {
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "parts": [{"type": "text", "content": "It may."}]}]
            )
        }
        content = {
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": text}]}])
        }
        tool = {"gen_ai.tool.name": "lamp_state", "gen_ai.tool.call.result": text}
        usage = {
            "gen_ai.request.model": "m-1",
            "gen_ai.usage.input_tokens": 200 + place,
            "gen_ai.usage.output_tokens": 40,
        }
        found.append(
            Span(
                trace_id=trace_id,
                span_id=span_id,
                parent_span_id=ids[0] if place else "",
                name=operation,
                kind=1,
                start_ns=now_ns - (SPANS_OF_TRACE - place) * 5_000_000,
                end_ns=now_ns,
                attributes={
                    "gen_ai.operation.name": operation,
                    **({**content, **answer, **(usage if asks else {})} if asks or not place else tool),
                },
                resource={"service.name": "bench"},
                scope_name="bench",
            )
        )
    return found


@contextmanager
def serving(command: list[str], folder: Path, options: Sequence[str] = ()) -> Iterator[tuple[int, int]]:
    """A server in an empty folder: its port and process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    environment = {
        **{key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"},
        "EVALSI_DIR": str(folder / ".evalsi"),
        "PATH": f"{Path(command[0]).parent}:{os.environ['PATH']}",
    }
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "serve", "--listen", f"127.0.0.1:{port}", *options],
            cwd=folder,
            env=environment,
            stderr=log,
            stdout=log,
        )
        try:
            for _ in range(600):
                try:
                    if asked(port, "/healthz")[0] == 200:
                        break
                except OSError:
                    time.sleep(0.05)
            time.sleep(SETTLE_S)
            yield port, process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def asked(port: int, path: str, body: bytes | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        headers = {} if body is None else {"content-type": "application/x-protobuf"}
        connection.request("GET" if body is None else "POST", path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def ingested(port: int) -> int:
    found = re.search(rb"^evalsi_traces_ingested_total ([0-9.e+]+)", asked(port, "/metrics")[1], re.MULTILINE)
    return round(float(found[1])) if found else 0


def processes(pid: int) -> list[int]:
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            waiting += [int(child) for child in task.read_text().split()]
    return found


def cpu_s(pid: int) -> float:
    ticks = 0
    for one in processes(pid):
        if not Path(f"/proc/{one}").exists():
            continue
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid: int) -> int:
    pages = sum(int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in processes(pid))
    return pages * os.sysconf("SC_PAGE_SIZE")


def measured(command: list[str], spans: int, senders: int, postgres: str = "") -> dict[str, float]:
    with tempfile.TemporaryDirectory() as place:
        if not postgres:
            return _measured(command, spans, senders, Path(place), ())
        os.environ[DATABASE] = postgres
        settings = {"data_dir": ".evalsi", "storage": {"postgres": {"dsn_env": DATABASE}}}
        (Path(place) / "evalsi.yaml").write_text(json.dumps(settings))
        found = _measured(command, spans, senders, Path(place), ("--config", "evalsi.yaml"))
        import psycopg

        with psycopg.connect(postgres) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        assert row is not None
        return {**found, "disk bytes a byte": row[0] / found["sent MB"] / 1e6}


def _measured(command: list[str], spans: int, senders: int, place: Path, options: Sequence[str]) -> dict[str, float]:
    requests = list(bodies(spans // (SPANS_OF_TRACE * TRACES_OF_REQUEST), seed=7))
    sent_bytes = sum(len(body) for body, _ in requests)
    with serving(command, place, options) as (port, pid):
        waiting = iter(requests)
        lock = threading.Lock()
        again = [0]

        def send() -> None:
            while True:
                with lock:
                    request = next(waiting, None)
                if request is None:
                    return
                while (status := asked(port, "/v1/traces", request[0])[0]) != 200:
                    assert status in (429, 503), status
                    again[0] += 1
                    time.sleep(0.2)

        began_cpu_s, began_s = cpu_s(pid), time.monotonic()
        threads = [threading.Thread(target=send) for _ in range(senders)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        resident = resident_bytes(pid)
        wanted = [requests[at][1][-1] for at in range(0, len(requests), max(1, len(requests) // 20))]
        while ingested(port) < len(requests) * TRACES_OF_REQUEST or any(not readable(port, one) for one in wanted):
            time.sleep(0.05)
        stored_s = time.monotonic() - began_s
        used_s = cpu_s(pid) - began_cpu_s
        kept = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
    return {
        "stored spans/s": spans / stored_s,
        "CPU a span": used_s / spans * 1e6,
        "disk bytes a byte": kept / sent_bytes,
        "resident MB": resident / 1e6,
        "sent again": again[0],
        "sent MB": sent_bytes / 1e6,
    }


def readable(port: int, trace_id: str) -> bool:
    status, body = asked(port, f"/v1alpha1/traces/{trace_id}")
    return status == 200 and json.loads(body)["record"]["id"] == trace_id


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=50_000)
    parser.add_argument("--senders", type=int, default=8)
    parser.add_argument("--peer", help="program of another server, which takes 'serve --listen ADDRESS'")
    parser.add_argument("--postgres", default="", metavar="URL", help="an empty database for this server")
    given = parser.parse_args()
    own = [sys.executable, "-m", "evalsi"]
    found: dict[str, Any] = {"this": measured(own, given.spans, given.senders, given.postgres)}
    if given.peer:
        found["peer"] = measured([given.peer], given.spans, given.senders)
    for name, figures in found.items():
        print(name, "  ".join(f"{figure}: {value:,.2f}" for figure, value in figures.items()))
    if given.peer:
        for figure, budget in BUDGETS.items():
            ratio = found["this"][figure] / found["peer"][figure]
            print(f"{figure}: {ratio:.3g} of the peer's; the budget is {budget:g}")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
