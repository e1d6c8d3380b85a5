"""`evalsi view`: the pages over the store of a folder, and nothing else running."""

import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.command_line import evalsi, write_jsonl


@contextmanager
def viewing(folder: Path, *arguments: str) -> Iterator[str]:
    """The address that it prints; it must end well, and have said nothing else."""
    command = [sys.executable, "-m", "evalsi", "view", "--no-browser", *arguments]
    env = {**os.environ, "EVALSI_DIR": str(folder / ".evalsi")}
    process = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline()
        found = re.match(r"(http://127\.0\.0\.1:\d+/ui/\S*)", line)
        assert found is not None, line
        yield found[1]
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0
        assert process.stdout.read() + process.stderr.read() == ""
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def fetched(address: str) -> str:
    host, slash, path = address.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=30)
    try:
        connection.request("GET", slash + path)
        answer = connection.getresponse()
        assert answer.status == 200
        return answer.read().decode()
    finally:
        connection.close()


def test_a_run_of_the_command_line_is_seen(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "data.jsonl", [{"id": "a", "output": "Paris", "reference": "Paris"}])
    env = {"EVALSI_DIR": str(tmp_path / ".evalsi")}
    evalsi("eval", "--data", "data.jsonl", "--evaluators", "exact-match", "--name", "capitals", cwd=tmp_path, env=env)
    with viewing(tmp_path, "latest") as address:
        assert "capitals" in fetched(address)
        assert "capitals" in fetched(re.sub(r"/ui/.*", "/ui/runs", address))


def test_an_empty_store_says_how_to_begin(tmp_path: Path) -> None:
    with viewing(tmp_path) as address:
        assert "evalsi init demo" in fetched(address + "runs")


def test_a_run_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    env = {"EVALSI_DIR": str(tmp_path / ".evalsi")}
    shown = evalsi("view", "nothing", "--no-browser", cwd=tmp_path, env=env)
    assert shown.status == 1
    assert "nothing" in shown.err


@pytest.mark.parametrize("arguments", [["--port", "99999"], ["--port", "x"]])
def test_a_port_that_cannot_be_is_refused(tmp_path: Path, arguments: list[str]) -> None:
    assert evalsi("view", *arguments, cwd=tmp_path).status == 2
