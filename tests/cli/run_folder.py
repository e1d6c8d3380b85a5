"""A folder with a run: a dataset, a target that is a Python function, a specification."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.command_line import write_jsonl

TARGET = '''\
"""Answers with the last word of the question, and notes every question in a file."""

from pathlib import Path


def answer(text):
    with Path("asked.txt").open("a") as asked:
        asked.write(text + "\\n")
    word = text.split()[-1]
    if word == "crash":
        raise RuntimeError("no idea")
    return word
'''


def write_run(
    folder: Path,
    *,
    right: int = 8,
    wrong: int = 2,
    extra: Sequence[Mapping[str, Any]] = (),
    target: Mapping[str, Any] | None = None,
    **spec: Any,
) -> Path:
    """Writes `run.json` and what it needs; `right` of its records are answered as their reference says."""
    rows = [
        {"id": f"r{n}", "input": f"say {n}", "reference": str(n) if n < right else "other", "topic": f"t{n % 2}"}
        for n in range(right + wrong)
    ]
    write_jsonl(folder / "cases.jsonl", [*rows, *extra])
    (folder / "target.py").write_text(TARGET)
    run = {
        "apiVersion": "evals.si/v1alpha1",
        "kind": "EvalRun",
        "metadata": {"name": "nightly", "labels": {"team": "docs"}},
        "spec": {
            "target": dict(target or {"python": "target.py:answer"}),
            "dataset": {"path": "cases.jsonl"},
            "evaluators": ["exact-match"],
        }
        | spec,
    }
    path = folder / "run.json"
    path.write_text(json.dumps(run))
    return path


def asked(folder: Path) -> list[str]:
    """Every question so far."""
    path = folder / "asked.txt"
    return path.read_text().splitlines() if path.exists() else []
