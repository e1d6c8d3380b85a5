"""`evalsi init`: a folder with a small example that works, and the command that runs it."""

import shlex
from pathlib import Path

import click

from evalsi.cli.terminal import say

DATA = """\
{"id": "capital-fr", "input": "What is the capital of France?", "output": "Paris", "reference": "Paris", "topic": "geography"}
{"id": "capital-jp", "input": "What is the capital of Japan?", "output": "Kyoto", "reference": "Tokyo", "topic": "geography"}
{"id": "sum", "input": "What is 17 + 25?", "output": "The answer is 42.", "reference": "42", "topic": "arithmetic"}
{"id": "boil", "input": "At how many degrees Celsius does water boil at sea level?", "output": "It boils at 100 degrees.", "reference": "100", "topic": "physics"}
{"id": "greeting", "input": "Write a polite one-line greeting.", "output": "Good morning, and thank you for writing!", "reference": "Good morning, thank you for writing.", "topic": "writing"}
{"id": "leap", "input": "Is 2024 a leap year?", "output": "Yes, 2024 is a leap year.", "reference": "Yes", "topic": "arithmetic"}
"""

CHECKS = '''\
"""Evaluators of your own: functions of a record. Use them as ./checks.py:short_enough"""

from evalsi import Record, evaluator, text_of


@evaluator(name="short-enough", version="1.0.0", requires=["output"])
def short_enough(record: Record) -> bool:
    """Is the answer at most twelve words long?"""
    return len(text_of(record.output).split()) <= 12
'''

RUN = """\
# What `evalsi run run.yaml` does: asks `answer` in target.py about every record, grades, and decides the gate.
apiVersion: evals.si/v1alpha1
kind: EvalRun
metadata:
  name: first-run
spec:
  dataset:
    path: data.jsonl
  target:
    python: target.py:answer
  evaluators:
    - exact-match
    - numeric-match
  gates:
    - metric: numeric-match
      min: 0.1
"""

TARGET = '''\
"""What is under evaluation: put a call of your model or agent here."""

import re


def answer(input: str) -> str:
    """Adds up the numbers in the question, and knows nothing else."""
    numbers = [int(number) for number in re.findall(r"\\d+", input)]
    return str(sum(numbers)) if numbers else "I do not know."
'''

README = """\
# A first evaluation

    evalsi eval --data data.jsonl --evaluators exact-match,contains,numeric-match,./checks.py:short_enough
    evalsi report latest -o report.html

Ask a target and grade what it says:

    evalsi run run.yaml

`data.jsonl` holds outputs with references; `checks.py` holds an evaluator of your own;
`target.py` is asked by `run.yaml`.
"""


@click.command()
@click.argument("directory", default=".", type=click.Path(file_okay=False))
def init(directory: str) -> None:
    """Write a small working example into DIRECTORY; files that are there are never touched."""
    from evalsi.core.errors import UsageError

    folder = Path(directory)
    files = {"data.jsonl": DATA, "checks.py": CHECKS, "target.py": TARGET, "run.yaml": RUN, "README.md": README}
    taken = [name for name in files if (folder / name).exists()]
    if taken:
        raise UsageError(
            f"{folder / taken[0]} is there already", hint="name an empty or new folder: evalsi init my-evals"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    say(f"wrote {', '.join(files)} in {folder}")
    enter = "" if directory == "." else f"cd {shlex.quote(directory)} && "
    say(f"next: {enter}evalsi eval --data data.jsonl --evaluators exact-match,numeric-match,./checks.py:short_enough")
    say("or ask a target: evalsi run run.yaml")
