"""A run that was stopped or killed is continued by the same work, and only by the same work."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalsi.datasets import DatasetOptions
from evalsi.engine.summary import SummaryPlan
from evalsi.schema import EvaluatorRef
from evalsi.score.request import ScoreRequest, with_settings
from tests.command_line import command, environment, evalsi, write_jsonl
from tests.score.stopped_runs import CHECKS, calls, children, rows, score, start, stored_ids, wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
TOLD = "\nstopping: what is in flight and ends within seconds is saved"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "data.jsonl", rows(256))
    (tmp_path / "checks.py").write_text(CHECKS)
    return tmp_path


def exported(folder: Path, run: str = "latest") -> tuple[bytes, Any]:
    """All values of a run, as bytes, and its summaries."""
    assert evalsi("runs", "export", run, "out.csv", cwd=folder).status == 0
    shown = evalsi("runs", "show", run, "--format", "json", cwd=folder)
    return (folder / "out.csv").read_bytes(), json.loads(shown.out)


@pytest.mark.slow
def test_a_killed_run_is_finished_by_the_same_command_as_if_nothing_had_happened(folder: Path, tmp_path: Path) -> None:
    process = start(folder, pause_s=0.01)
    wait_until(lambda: any(stored_ids(folder)))
    workers = children(process.pid)
    assert workers
    process.kill()
    process.communicate()
    wait_until(lambda: not any(Path(f"/proc/{pid}/cmdline").exists() for pid in workers), within_s=5)
    (stored,) = stored_ids(folder)
    assert 0 < len(stored) < 256

    finished = start(folder, pause_s=0)
    _, said = finished.communicate(timeout=60)
    assert finished.returncode == 0
    assert f"continued an interrupted run: {len(stored)} records were already graded" in said
    count = Counter(calls(folder))
    assert count.keys() == {f"r{i}" for i in range(256)}
    assert all(count[identifier] == 1 for identifier in stored)
    assert max(count.values()) <= 2
    assert len(json.loads(evalsi("runs", "list", "--format", "json", cwd=folder).out)) == 1

    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    write_jsonl(undisturbed / "data.jsonl", rows(256))
    (undisturbed / "checks.py").write_text(CHECKS)
    start(undisturbed, pause_s=0).communicate(timeout=60)
    assert exported(folder) == exported(undisturbed)


@pytest.mark.slow
def test_of_a_slow_evaluator_what_it_has_graded_is_stored_within_seconds(folder: Path) -> None:
    process = start(folder, pause_s=0.5)
    try:
        wait_until(lambda: any(len(each) >= 12 for each in stored_ids(folder)))
        done = len(calls(folder))
        assert done - len(stored_ids(folder)[0]) <= 8
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_ctrl_c_once_saves_what_is_in_flight_and_the_same_command_goes_on(folder: Path) -> None:
    process = start(folder, pause_s=0.01)
    wait_until(lambda: any(stored_ids(folder)))
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert TOLD in said
    assert "run the same command again to continue" in said
    assert "Traceback" not in said
    assert "noted" in out
    (stored,) = stored_ids(folder)
    assert Counter(calls(folder)) == Counter(stored), "what was graded is saved"

    finished = start(folder, "--name", "the-second-try", "--label", "try=2", pause_s=0)
    finished.communicate(timeout=60)
    assert finished.returncode == 0
    assert Counter(calls(folder)) == Counter(f"r{i}" for i in range(256))
    (listed,) = json.loads(evalsi("runs", "list", "--label", "try=2", "--format", "json", cwd=folder).out)
    assert listed["name"] == "the-second-try", "a run that is continued is called as the command says now"
    assert json.loads(evalsi("runs", "show", "the-second-try", "--manifest", cwd=folder).out)["name"] == listed["name"]


@pytest.mark.slow
def test_ctrl_c_twice_stops_at_once_and_leaves_no_process(folder: Path) -> None:
    process = start(folder, pause_s=20)
    wait_until(lambda: calls(folder))
    started_s = time.monotonic()
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - started_s < 15
    assert "Traceback" not in said
    assert children(process.pid) == []
    (listed,) = json.loads(evalsi("runs", "list", "--format", "json", cwd=folder).out)
    assert listed["status"] == "interrupted"


@pytest.mark.slow
def test_two_processes_score_into_one_store_at_once(folder: Path) -> None:
    both = [start(folder, "--name", name, "--no-resume", pause_s=0.002) for name in ("one", "two")]
    for process in both:
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
    listed = json.loads(evalsi("runs", "list", "--format", "json", cwd=folder).out)
    assert {(run["name"], run["status"], run["rows"]) for run in listed} == {
        ("one", "succeeded", 256),
        ("two", "succeeded", 256),
    }


@pytest.mark.slow
def test_of_two_that_would_continue_a_run_one_does_and_the_other_starts_its_own(folder: Path) -> None:
    process = start(folder, pause_s=0.01)
    wait_until(lambda: any(stored_ids(folder)))
    process.kill()
    process.communicate()
    both = [start(folder, pause_s=0.002) for _ in range(2)]
    said = [process.communicate(timeout=60)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert 1 <= sum("continued" in text for text in said) <= 2


N = 2500
SOURCE = "BONUS = 0\n\n\ndef helper():\n    return BONUS\n\n\ndef plain(record):\n    return 1 + helper()\n"


def request(folder: Path) -> ScoreRequest:
    return ScoreRequest(
        data=str(folder / "many.jsonl"), evaluators=[EvaluatorRef(ref="exact-match"), EvaluatorRef(ref="token-f1")]
    )


def changed_data(folder: Path, asked: ScoreRequest) -> ScoreRequest:
    write_jsonl(folder / "many.jsonl", [*rows(N - 1), {"id": "other", "output": "x", "reference": "y"}])
    return asked


def with_param(_: Path, asked: ScoreRequest) -> ScoreRequest:
    return replace(
        asked, evaluators=[EvaluatorRef(ref="exact-match", params={"ignore_case": True}), asked.evaluators[1]]
    )


CHANGES: dict[str, Callable[[Path, ScoreRequest], ScoreRequest]] = {
    "data": changed_data,
    "param": with_param,
    "evaluators": lambda _, asked: replace(asked, evaluators=asked.evaluators[:1]),
    "alias": lambda _, asked: replace(
        asked, evaluators=[EvaluatorRef(ref="exact-match", name="a"), asked.evaluators[1]]
    ),
    "where": lambda _, asked: replace(asked, dataset=DatasetOptions(where="output != 'x'")),
    "limit": lambda _, asked: replace(asked, dataset=DatasetOptions(limit=N - 1)),
    "mapping": lambda _, asked: replace(asked, dataset=DatasetOptions(mapping={"reference": "output"})),
    "seed": lambda _, asked: replace(asked, plan=SummaryPlan(seed=1)),
    "no resume": lambda _, asked: replace(asked, resume=False),
}


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "many.jsonl", rows(N))
    first = score(tmp_path, request(tmp_path), after_batches=1)
    assert first.interrupted
    assert 0 < first.run.summaries[0].n < N
    return tmp_path


def test_the_same_work_continues_whatever_it_is_called_and_however_fast_it_may_go(stopped: Path) -> None:
    asked = replace(request(stopped), name="now with a name", concurrency=3, deadline_s=5)
    again = score(stopped, asked)
    assert again.resumed_rows == 1024
    assert not again.interrupted
    assert again.run.summaries == score(stopped, replace(asked, resume=False)).run.summaries


@pytest.mark.parametrize("change", CHANGES)
def test_other_work_starts_anew(stopped: Path, change: str) -> None:
    again = score(stopped, CHANGES[change](stopped, request(stopped)))
    assert again.resumed_rows == 0
    assert not again.interrupted


@pytest.mark.parametrize(
    ("old", "new", "resumed", "mean"),
    [("", "", True, 1.0), ("1 + helper", "2 + helper", False, 2.0), ("BONUS = 0", "BONUS = 9", False, 10.0)],
    ids=["same file", "changed evaluator", "changed constant beside it"],
)
def test_an_evaluator_of_a_file_is_known_by_the_whole_file(
    tmp_path: Path, old: str, new: str, resumed: bool, mean: float
) -> None:
    write_jsonl(tmp_path / "many.jsonl", rows(200))
    checks = tmp_path / "checks.py"
    checks.write_text(SOURCE)
    asked = replace(request(tmp_path), evaluators=[EvaluatorRef(ref=f"{checks}:plain")])
    assert score(tmp_path, asked, after_batches=1).interrupted
    checks.write_text(SOURCE.replace(old, new) if old else SOURCE)
    again = score(tmp_path, asked)
    assert (again.resumed_rows > 0) == resumed
    assert again.run.summaries[0].mean == mean


@pytest.mark.parametrize("change", [False, True])
def test_other_baselines_are_other_work(tmp_path: Path, change: bool) -> None:
    write_jsonl(tmp_path / "many.jsonl", rows(200))
    write_jsonl(tmp_path / "base.jsonl", rows(200))
    (tmp_path / "checks.py").write_text(
        "from evalsi import evaluator\n"
        "@evaluator(name='same', scope='comparative')\n"
        "def same(record, baseline):\n    return record.output == baseline.output\n"
    )
    asked = replace(
        request(tmp_path),
        evaluators=[EvaluatorRef(ref=f"{tmp_path / 'checks.py'}:same")],
        baseline=str(tmp_path / "base.jsonl"),
    )
    assert score(tmp_path, asked, after_batches=1).interrupted
    if change:
        write_jsonl(tmp_path / "base.jsonl", [{**row, "output": "other"} for row in rows(200)])
    again = score(tmp_path, asked)
    assert (again.resumed_rows == 0) == change
    assert again.run.summaries[0].mean == (0.0 if change else 1.0)


def test_settings_of_a_flag_change_the_request_and_nothing_else(tmp_path: Path) -> None:
    asked = with_settings(request(tmp_path), ["concurrency=3", "dataset.seed=5", "judge.max_usd=0.5", "name=x=y"])
    assert (asked.concurrency, asked.dataset.seed, asked.judge.max_usd, asked.name) == (3, 5, 0.5, "x=y")
    assert asked.evaluators == request(tmp_path).evaluators


def test_a_run_that_is_killed_while_it_is_summed_up_is_only_summed_up_again(folder: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", KILLED_AT_THE_END], cwd=folder, env=environment(), check=False, capture_output=True
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    again = subprocess.run(command("eval", "--data", "data.jsonl", "--evaluators", "exact-match,corpus-bleu"), cwd=folder, env=environment(), check=True, capture_output=True, text=True)  # fmt: skip
    assert "256 records were already graded" in again.stderr
    assert "corpus-bleu" in again.stdout


KILLED_AT_THE_END = """
import os, signal
from evalsi.engine.evaluate import Evaluation
Evaluation.finish_now = lambda self: os.kill(os.getpid(), signal.SIGKILL)
from evalsi.cli.app import run
run(["eval", "--data", "data.jsonl", "--evaluators", "exact-match,corpus-bleu"])
"""
