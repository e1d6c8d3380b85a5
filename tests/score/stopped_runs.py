"""Runs that end early, in this process and in another that is interrupted or killed."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evalsi.core.errors import NotFoundError, StoreError
from evalsi.score.request import ScoreRequest
from evalsi.score.score_dataset import Scored, score_dataset_now
from evalsi.settings import Settings
from evalsi.wiring.reading_runs import local_store
from evalsi.wiring.scoring import scoring
from tests.command_line import command, environment

CHECKS = '''\
"""An evaluator that notes every call in a file and takes as long as it is told to."""

import os
import time

from evalsi import evaluator, text_of


@evaluator(name="noted", requires=["output"])
def noted(record):
    with open("calls.txt", "a") as calls:
        calls.write(record.id + "\\n")
    time.sleep(float(os.environ.get("PAUSE_S", "0")))
    return len(text_of(record.output)) % 7
'''
EVALUATORS = "./checks.py:noted,exact-match,corpus-bleu"


def rows(n: int) -> list[dict[str, Any]]:
    words = "the cat sat on a mat and looked at one more dog".split()
    return [
        {
            "id": f"r{i}",
            "input": f"question {i}",
            "output": " ".join(words[i % 5 : i % 5 + 5]),
            "reference": " ".join(words[i % 3 : i % 3 + 5]),
        }
        for i in range(n)
    ]


def settings_of(folder: Path) -> Settings:
    return Settings(directory=folder / ".evalsi")


def score(folder: Path, request: ScoreRequest, *, after_batches: int | None = None) -> Scored:
    """Scores into the store of `folder`; asked to stop after so many batches."""
    asked = 0

    def stopped() -> bool:
        nonlocal asked
        asked += 1
        return after_batches is not None and asked > after_batches

    with scoring(request, settings_of(folder), stopped=stopped) as job:
        return score_dataset_now(job)


def start(folder: Path, *arguments: str, pause_s: float) -> "subprocess.Popen[str]":
    """`evalsi eval` of the folder's data as a process in a session of its own."""
    return subprocess.Popen(
        command("eval", "--data", "data.jsonl", "--evaluators", EVALUATORS, *arguments),
        cwd=folder,
        env=environment({"PAUSE_S": str(pause_s)}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def stored_ids(folder: Path) -> list[set[str]]:
    """By run, newest first: the ids of the records whose results are in the store."""
    try:
        with local_store(settings_of(folder)) as store:
            return [
                {f"r{first + row}" for _, first, count in store.segment_rows(run.id) for row in range(count)}
                for run in store.runs()
            ]
    except (NotFoundError, StoreError):
        return []


def calls(folder: Path) -> list[str]:
    path = folder / "calls.txt"
    return path.read_text().split() if path.exists() else []


def wait_until(happened: Callable[[], Any], *, within_s: float = 120.0) -> None:
    end_s = time.monotonic() + within_s
    while not happened():
        assert time.monotonic() < end_s, "it did not happen"
        time.sleep(0.02)


def children(pid: int) -> list[int]:
    """Living processes in the session of `pid`, itself excepted."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != pid:
            try:
                if os.getsid(int(entry.name)) == pid and (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except (ProcessLookupError, FileNotFoundError, PermissionError):
                continue
    return found
