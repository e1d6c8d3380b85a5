"""`evalsi view`: the pages over the store of a folder, and nothing else running."""

import asyncio
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

from tests.browser import CHROMIUM, chromium
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


def test_runs_without_a_name_are_no_series_and_the_list_shows_when_each_was_made(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "data.jsonl", [{"id": "1", "output": "a", "reference": "a"}])
    for name in ((), (), ("--name", "nightly"), ("--name", "nightly")):
        command = ("eval", "--data", "data.jsonl", "--evaluators", "exact-match", "--no-resume", *name)
        done = evalsi(*command, cwd=tmp_path, env={"EVALSI_DIR": str(tmp_path / ".evalsi")})
        assert done.status == 0, done.err
    with viewing(tmp_path) as url:
        page = fetched(url + "runs")
        if CHROMIUM is not None:
            assert asyncio.run(_hidden_width(url + "runs", tmp_path / "profile")) == 0
    assert page.count('class="sparkline"') == 1
    assert ">Labels<" not in page


async def _hidden_width(url: str, profile: Path) -> int:
    """Pixels of the table that stand outside of a window as wide as that of a small laptop."""
    async with asyncio.timeout(120), chromium(profile) as tab:
        await tab.open(url, width=1280, height=800)
        found = await tab.evaluate("(wide => wide.scrollWidth - wide.clientWidth)(document.querySelector('.wide'))")
        return int(found)
