"""Products that scores are taken to, as they are published, started and stopped."""

import json
import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

START_S = 300.0


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def started(
    command: Sequence[str], folder: Path, port: int, ready: str, environment: Mapping[str, str] | None = None
) -> Generator[str]:
    """A server; it is stopped afterwards with all that it started.

    Args:
        ready: A path that is answered with 200 once it is there.
    """
    log = folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            end = monotonic() + START_S
            while answer_of(url + ready)[0] != 200:
                assert process.poll() is None, log.read_text()[-2000:]
                assert monotonic() < end, log.read_text()[-2000:]
                sleep(0.2)
            yield url
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def answer_of(url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> tuple[int, Any]:
    """Status and JSON (or text) of an answer; 0 where there is none."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, data=body, headers=dict(headers or {})), timeout=60) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
        error.close()
    except OSError:
        return 0, None
    try:
        return status, json.loads(text)
    except ValueError:
        return status, text
