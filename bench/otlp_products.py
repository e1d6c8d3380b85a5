"""Spans stored a second: this server beside MLflow and Phoenix as published, the same bodies, SQLite, in one go.

    python bench/otlp_products.py --mlflow /opt/mlflow/bin/python --phoenix /opt/phoenix/bin/python

The Pythons are of environments that hold `mlflow` and `arize-phoenix`. A span counts as stored when it is in the product's
own file; of this server, when its counter says so and traces can be read back. The others take fewer spans, since they need
minutes for what takes a second here; this one is measured with as many as they get, and with many. The budget is 20 times.
"""

import argparse
import http.client
import os
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from otlp_ingest import SPANS_OF_TRACE, TRACES_OF_REQUEST, bodies, measured

from tests.infra.sinks.published_products import free_port, started

LONGEST_S = 300.0
PROTOBUF = {"content-type": "application/x-protobuf"}


def stored_a_second(port: int, headers: dict[str, str], spans: int, senders: int, file: Path) -> float:
    """Raises: AssertionError: a request was not taken."""
    requests = [body for body, _ in bodies(spans // (SPANS_OF_TRACE * TRACES_OF_REQUEST), seed=7)]
    waiting, lock = iter(requests), threading.Lock()
    refused: list[int] = []

    def send() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_S)
        while True:
            with lock:
                body = next(waiting, None)
            if body is None:
                return
            connection.request("POST", "/v1/traces", body, headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                refused.append(answer.status)

    began_s = time.monotonic()
    threads = [threading.Thread(target=send) for _ in range(senders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not refused, refused
    while (kept := in_file(file)) < spans and time.monotonic() - began_s < LONGEST_S:
        time.sleep(0.2)
    return kept / (time.monotonic() - began_s)


def in_file(file: Path) -> int:
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=30)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM spans").fetchone()
    return count


def mlflow(python: str, spans: int, senders: int) -> float:
    with tempfile.TemporaryDirectory() as place:
        folder, port = Path(place), free_port()
        options = ["--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--artifacts-destination", place]
        quiet = {
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "DO_NOT_TRACK": "true",
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        }
        command = [python, "-m", "mlflow", "server", *options, "--host", "127.0.0.1", "--port", str(port)]
        with started(command, folder, port, "/health", quiet):
            headers = {**PROTOBUF, "x-mlflow-experiment-id": "0"}
            return stored_a_second(port, headers, spans, senders, folder / "mlflow.db")


def phoenix(python: str, spans: int, senders: int) -> float:
    with tempfile.TemporaryDirectory() as place:
        folder, port = Path(place), free_port()
        settings = {
            "PHOENIX_WORKING_DIR": place,
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": str(port),
            "PHOENIX_GRPC_PORT": str(free_port()),
            "PHOENIX_TELEMETRY_ENABLED": "false",
        }
        with started([python, "-m", "phoenix.server.main", "serve"], folder, port, "/healthz", settings):
            return stored_a_second(port, PROTOBUF, spans, senders, folder / "phoenix.db")


def this(spans: int, senders: int) -> float:
    return measured([sys.executable, "-m", "evalsi"], spans, senders)["stored spans/s"]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mlflow", default="", metavar="PYTHON")
    parser.add_argument("--phoenix", default="", metavar="PYTHON")
    parser.add_argument("--spans", type=int, default=20_000)
    parser.add_argument("--senders", type=int, default=8)
    given = parser.parse_args(arguments)
    few, many = this(given.spans, given.senders), this(100_000, given.senders)
    print(f"this: {few:,.0f} stored spans/s of {given.spans:,}, {many:,.0f} of 100,000")
    for name, python, measure in (("mlflow", given.mlflow, mlflow), ("phoenix", given.phoenix, phoenix)):
        if python:
            other = measure(python, given.spans, given.senders)
            print(f"{name}: {other:,.0f}; this is {few / other:,.0f} and {many / other:,.0f} times that (20)")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
