"""A run that is killed at any moment is finished by the same command as if nothing had happened."""

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.errors import NotFoundError, StoreError
from evalsi.engine.columns import pack
from evalsi.results.graded_run import stored_run
from evalsi.results.trial_tally import trial_of
from evalsi.settings import Settings
from evalsi.wiring.reading_runs import local_store
from tests.command_line import command, environment, evalsi, write_jsonl
from tests.run.logged_model import logged_model
from tests.thoroughness import repeats

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")]

RECORDS, TRIALS, CONCURRENCY = 200, 2, 8
RUNS = repeats(1, 4)
KILLS = 13 * RUNS
CHECKS = '''\
"""Evaluators that see every row, and the whole dataset in its order."""

import zlib

from evalsi import evaluator, text_of


@evaluator(name="length", requires=["output"])
def length(record):
    return len(text_of(record.output)) % 3


@evaluator(scope="dataset", name="order", requires=["output"])
class Order:
    """A checksum of all answers in order."""

    def map(self, records):
        return "".join(text_of(record.output) + ";" for record in records)

    def merge(self, left, right):
        return left + right

    def reduce(self, state):
        return zlib.crc32(state.encode()) / 2**32
'''


def spec(base_url: str, **changes: Any) -> dict[str, Any]:
    return {
        "apiVersion": "evals.si/v1alpha1",
        "kind": "EvalRun",
        "metadata": {"name": "killed"},
        "spec": {
            "target": {
                "connector": "openai-compatible",
                "model": "stand-in",
                "base_url": base_url,
                "max_concurrency": CONCURRENCY,
            },
            "dataset": {"path": "data.jsonl"},
            "evaluators": ["exact-match", "./checks.py:length", "./checks.py:Order"],
            "trials": TRIALS,
        }
        | changes,
    }


@pytest.fixture
def model(tmp_path: Path) -> Iterator[str]:
    with logged_model(tmp_path / "questions.log", latency_s=0.02) as base_url:
        yield base_url


@pytest.fixture
def folder(tmp_path: Path, model: str) -> Path:
    return prepared(tmp_path / "run", model)


def prepared(folder: Path, base_url: str, **changes: Any) -> Path:
    folder.mkdir()
    write_jsonl(
        folder / "data.jsonl",
        [
            {"id": f"r{n}", "input": f"say r{n}", "reference": f"r{n}" if n % 3 else "other", "topic": str(n % 5)}
            for n in range(RECORDS)
        ],
    )
    (folder / "checks.py").write_text(CHECKS)
    (folder / "run.json").write_text(json.dumps(spec(base_url, **changes)))
    return folder


def started(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command("run", "-f", "run.json", *arguments),
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def questions(folder: Path) -> list[str]:
    return (folder.parent / "questions.log").read_text().split()


def answered(folder: Path) -> Counter[str]:
    """By record: the trials of the newest run whose answer is in the store."""
    try:
        with local_store(Settings(directory=folder / ".evalsi")) as store:
            (run,) = store.runs(limit=1)
            return Counter(f"r{row // TRIALS}" for row, _ in store.answers(run.id))
    except (NotFoundError, StoreError, ValueError):
        return Counter()


def results(folder: Path) -> tuple[list[Any], list[bytes], Any]:
    """Records with their answers, all results without their times, and the summaries of the newest run."""
    with local_store(Settings(directory=folder / ".evalsi")) as store:
        run = stored_run(store, store.find("latest").id)
        rows = sorted(run.read_rows(), key=lambda part: part.first_row)
        asked = [(record.id, trial_of(record), record.output) for part in rows for record in part.records]
        values: dict[str, list[Any]] = {}
        for part in rows:
            for evaluator in part.columns:
                kept = values.setdefault(evaluator.evaluator, [])
                kept += zip(evaluator.outcomes, *(c.values for c in evaluator.columns.values()), strict=True)
        for evaluator in run.whole:
            evaluator.duration_s = 0.0
        return asked, [repr(values).encode(), pack(run.whole)], run.summaries


def undisturbed(folder: Path, base_url: str) -> tuple[list[Any], list[bytes], Any]:
    process = started(prepared(folder, base_url))
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    return results(folder)


def test_a_run_that_is_killed_again_and_again_ends_as_if_nothing_had_happened(tmp_path: Path, model: str) -> None:
    expected = undisturbed(tmp_path / "undisturbed", model)
    chance = random.Random(20)
    log = tmp_path / "questions.log"
    kills = 0
    for number in range(RUNS):
        folder = prepared(tmp_path / f"run{number}", model)
        before_run = len(log.read_text().split())
        killed_here = 0
        again = 0
        while True:
            stored, before = answered(folder), len(questions(folder))
            process = started(folder)
            last = killed_here >= KILLS / RUNS
            if not last:
                wait_for_questions(process, folder, before + chance.randrange(0, 28))
                time.sleep(chance.random() * 0.02)
                process.kill()
            _, said = process.communicate(timeout=60)
            asked = Counter(settled_questions(folder)[before:])
            # What is in the store when a process starts is never asked by it.
            for record, count in asked.items():
                assert count <= TRIALS - stored[record], (number, killed_here, record)
            if process.returncode == -signal.SIGKILL:
                killed_here += 1
                again += sum(asked.values()) - (sum(answered(folder).values()) - sum(stored.values()))
            else:
                assert process.returncode == 0, said
                break
        kills += killed_here
        everything = questions(folder)[before_run:]
        assert len(everything) == RECORDS * TRIALS + again, "only what was in flight at a kill is asked again"
        assert again <= killed_here * 3 * CONCURRENCY
        assert results(folder) == expected
        (listed,) = json.loads(evalsi("runs", "list", "--format", "json", cwd=folder).out)
        assert (listed["status"], listed["rows"]) == ("succeeded", RECORDS * TRIALS)
    assert kills == KILLS


def settled_questions(folder: Path) -> list[str]:
    """The questions, when those that a process sent before its death have arrived too."""
    found = questions(folder)
    while True:
        time.sleep(0.1)
        if len(now := questions(folder)) == len(found):
            return now
        found = now


def wait_for_questions(process: "subprocess.Popen[str]", folder: Path, count: int) -> None:
    end_s = time.monotonic() + 120
    while len(questions(folder)) < count and process.poll() is None:
        assert time.monotonic() < end_s
        time.sleep(0.002)


def test_a_killed_run_can_be_read_and_continued_by_its_id(folder: Path) -> None:
    process = started(folder)
    wait_for_questions(process, folder, 300)
    process.kill()
    process.communicate()
    shown = json.loads(evalsi("runs", "show", "latest", "--format", "json", cwd=folder).out)
    metrics = {each["metric"]: each["total"] for each in shown}
    assert {"exact-match", "length", "exact-match.pass@2"} <= metrics.keys()
    assert 0 < metrics["exact-match"] < RECORDS * TRIALS
    (standing,) = [
        line for line in evalsi("runs", "show", "latest", cwd=folder).err.splitlines() if "not finished" in line
    ]
    graded, kept = metrics["exact-match"], sum(answered(folder).values())
    assert standing == f"not finished: {graded} of 400 rows are graded, {kept} answers are kept"
    assert "order" not in metrics
    assert evalsi("report", "latest", "-o", "r.md", cwd=folder).status == 0
    (listed,) = json.loads(evalsi("runs", "list", "--format", "json", cwd=folder).out)
    continued = evalsi("runs", "resume", listed["id"][:10], cwd=folder)
    assert continued.status == 0, continued.err
    assert f"continued run {listed['id'][:8]}: " in continued.err
    assert "rows were already done" in continued.err
    again = evalsi("runs", "resume", "latest", cwd=folder)
    assert again.status == 2
    assert "is finished (succeeded)" in again.err


def test_ctrl_c_once_saves_and_the_run_goes_on_without_asking_twice(folder: Path) -> None:
    process = started(folder)
    wait_for_questions(process, folder, 100)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    assert "exact-match" in out
    assert "evalsi runs resume" in said
    assert "Traceback" not in said
    asked = questions(folder)
    assert Counter(asked) == answered(folder), "what was in flight was finished and saved"
    finished = started(folder)
    _, said = finished.communicate(timeout=60)
    assert finished.returncode == 0, said
    assert Counter(questions(folder)) == Counter({f"r{n}": TRIALS for n in range(RECORDS)})


def test_ctrl_c_twice_stops_at_once_and_the_run_can_be_continued(tmp_path: Path) -> None:
    with logged_model(tmp_path / "questions.log", latency_s=20) as base_url:
        folder = prepared(tmp_path / "run", base_url)
        process = started(folder)
        wait_for_questions(process, folder, 1)
        began_s = time.monotonic()
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - began_s < 15
    assert "Traceback" not in said
    (listed,) = json.loads(evalsi("runs", "list", "--format", "json", cwd=folder).out)
    assert listed["status"] == "interrupted"


def test_two_runs_of_different_specs_write_into_one_store_at_once(folder: Path) -> None:
    both = [started(folder, "--name", name, "--set", f"spec.trials={trials}") for name, trials in (("a", 1), ("b", 3))]
    for process in both:
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
    listed = json.loads(evalsi("runs", "list", "--format", "json", cwd=folder).out)
    assert {(run["name"], run["status"], run["rows"]) for run in listed} == {
        ("a", "succeeded", RECORDS),
        ("b", "succeeded", 3 * RECORDS),
    }
    assert Counter(questions(folder)) == Counter({f"r{n}": 4 for n in range(RECORDS)})


def test_a_run_is_followed_and_cancelled_from_another_process(folder: Path) -> None:
    process = started(folder, "--set", "spec.target.max_concurrency=1")
    wait_for_questions(process, folder, 5)
    watcher = subprocess.Popen(
        command("runs", "watch", "--interval", "0.1"),
        cwd=folder,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(0.5)
    cancelled = evalsi("runs", "cancel", cwd=folder)
    assert cancelled.status == 0, cancelled.err
    assert "asked process" in cancelled.err
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    _, seen = watcher.communicate(timeout=30)
    assert watcher.returncode == 1
    assert f"/{RECORDS * TRIALS}" in seen
    assert "is interrupted" in seen
    nobody = evalsi("runs", "cancel", cwd=folder)
    assert nobody.status == 2
    assert "is not being written" in nobody.err
