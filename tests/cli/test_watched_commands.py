"""Code of others that ends its process: the command that loaded it says so, and never ends with a 0 it did not earn."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.run_folder import write_run
from tests.command_line import command, environment, evalsi, write_jsonl

needs_watching = pytest.mark.skipif(sys.platform != "linux", reason="commands are watched on Linux")

ENDINGS = {
    "crash": ("import ctypes; ctypes.string_at(0)", "signal SIGSEGV"),
    "native exit": ("import ctypes; ctypes.CDLL(None)._exit(0)", "exit status 0"),
    "exit": ("import os; os._exit(0)", "SystemExit: it called os._exit(0)"),
    "system exit": ("raise SystemExit(0)", "calls sys.exit(0)"),
    "memory": ("bytearray(64 << 30)", "MemoryError"),
}
FATAL = ("crash", "native exit")
"""What no process survives. The rest costs what was at hand."""


def asynchronous(code: str) -> str:
    return f"async def it(record):\n    if record.id == 'jp':\n        {code}\n    return 'yes'\n"


@needs_watching
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_module_that_ends_its_process_at_import_is_one_sentence_and_no_success(ending: str, tmp_path: Path) -> None:
    code, told = ENDINGS[ending]
    write_jsonl(tmp_path / "data.jsonl")
    (tmp_path / "checks.py").write_text(code)
    ended = evalsi("eval", "--data", "data.jsonl", "--evaluators", "./checks.py:it", cwd=tmp_path)
    assert ended.status == 1
    assert ended.out == ""
    (line,) = ended.err.splitlines()
    assert line.startswith("error: ")
    assert told in line


@needs_watching
@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_an_asking_evaluator_that_ends_its_process_costs_a_record_or_is_told(ending: str, tmp_path: Path) -> None:
    code, told = ENDINGS[ending]
    write_jsonl(tmp_path / "data.jsonl")
    (tmp_path / "checks.py").write_text(asynchronous(code))
    ended = evalsi("eval", "--data", "data.jsonl", "--evaluators", "./checks.py:it", "--format", "json", cwd=tmp_path)
    assert told in ended.err
    assert "Traceback" not in ended.err
    if ending in FATAL:
        assert ended.status == 1
    else:
        assert ended.status == 0
        (metric,) = json.loads(ended.out)
        assert (metric["total"], metric["errors"]) == (4, 1)


@needs_watching
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_target_that_ends_its_process_costs_a_record_or_is_told(ending: str, kind: str, tmp_path: Path) -> None:
    code, told = ENDINGS[ending]
    write_run(tmp_path, right=3, wrong=0)
    body = f"    if input.endswith('1'):\n        {code}\n    return input.split()[-1]\n"
    (tmp_path / "target.py").write_text(f"{kind} answer(input):\n{body}")
    ended = evalsi("run", "-f", "run.json", "--format", "json", cwd=tmp_path)
    assert "Traceback" not in ended.err
    if ending in FATAL:
        assert ended.status == 1
        assert told in ended.err
    else:
        assert ended.status == 0
        (metric,) = json.loads(ended.out)
        assert (metric["n"], metric["errors"]) == (2, 1)


@needs_watching
def test_a_signal_that_reaches_the_command_reaches_its_work_and_neither_outlives_the_other(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "data.jsonl")
    (tmp_path / "checks.py").write_text(
        "import os, time\nopen('pid', 'w').write(str(os.getpid()))\nopen('ready', 'w').close()\ntime.sleep(60)\n"
    )
    for number in (signal.SIGTERM, signal.SIGKILL):
        (tmp_path / "ready").unlink(missing_ok=True)
        process = subprocess.Popen(
            command("eval", "--data", "data.jsonl", "--evaluators", "./checks.py:it"),
            cwd=tmp_path,
            env=environment(),
            stderr=subprocess.DEVNULL,
        )
        assert happens((tmp_path / "ready").exists)
        worker = int((tmp_path / "pid").read_text())
        assert worker != process.pid
        process.send_signal(number)
        assert process.wait(timeout=10) == -number
        assert happens(lambda worker=worker: not Path(f"/proc/{worker}").exists() or is_zombie(worker))


@pytest.mark.slow
def test_after_one_ctrl_c_a_target_that_hangs_is_not_waited_for_and_what_was_answered_is_saved(tmp_path: Path) -> None:
    write_run(tmp_path, right=6, wrong=0)
    (tmp_path / "target.py").write_text(
        "import asyncio\n\nasync def answer(input):\n    if input.endswith('1'):\n        open('ready', 'w').close()\n"
        "        await asyncio.sleep(1e6)\n    return input.split()[-1]\n"
    )
    process = subprocess.Popen(
        command("run", "run.json"), cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True
    )
    assert happens((tmp_path / "ready").exists)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=15)
    assert process.returncode == 130
    assert "continue with the same command" in said
    shown = json.loads(evalsi("runs", "list", "--format", "json", cwd=tmp_path).out)
    assert shown[0]["status"] == "interrupted"


def test_what_an_evaluator_prints_is_seen_and_is_no_data(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "data.jsonl")
    (tmp_path / "checks.py").write_text("def it(record):\n    print('looking at', record.id)\n    return True\n")
    ended = evalsi("eval", "--data", "data.jsonl", "--evaluators", "./checks.py:it", "--format", "json", cwd=tmp_path)
    assert json.loads(ended.out)[0]["n"] == 4
    assert "looking at fr" in ended.err


@needs_watching
def test_a_gate_that_failed_is_still_told_by_the_exit_status(tmp_path: Path) -> None:
    write_run(tmp_path, right=1, wrong=9, gates=[{"metric": "exact-match", "min": 0.9}])
    assert evalsi("run", "-f", "run.json", cwd=tmp_path).status == 3


def happens(condition: Callable[[], bool], within_s: float = 10.0) -> bool:
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.02)
    return False


def is_zombie(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_fork_of_the_work_may_end_as_it_likes(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "data.jsonl")
    (tmp_path / "checks.py").write_text(
        "import os\n\ndef status_of_a_fork():\n    child = os.fork()\n    if child == 0:\n        os._exit(5)\n"
        "    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n\n"
        "assert status_of_a_fork() == 5\n\nasync def it(record):\n    return status_of_a_fork() == 5\n"
    )
    ended = evalsi("eval", "--data", "data.jsonl", "--evaluators", "./checks.py:it", "--format", "json", cwd=tmp_path)
    assert ended.status == 0, ended.err
    assert json.loads(ended.out)[0]["mean"] == 1.0
