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


AGENT_DATA = """\
{"id": "weather-paris", "input": "Do I need an umbrella in Paris?", "reference": [{"name": "weather", "arguments": {"city": "Paris"}}]}
{"id": "weather-oslo", "input": "What is the weather in Oslo?", "reference": [{"name": "weather", "arguments": {"city": "Oslo"}}]}
{"id": "compare", "input": "Is it warmer in Oslo or in Paris?", "reference": [{"name": "weather", "arguments": {"city": "Oslo"}}, {"name": "weather", "arguments": {"city": "Paris"}}]}
"""

AGENT = '''\
"""The agent under evaluation: put yours here. It hands out what it answers, and the steps on the way to it."""

import re

WEATHER = {"Paris": "rain, 9 degrees", "Oslo": "snow, -3 degrees"}


def answer(input: str) -> dict:
    """Looks up the weather of the first city in the question, and forgets that there may be two."""
    city = re.findall("|".join(WEATHER), input)[0]
    found = WEATHER[city]
    steps = [{"type": "tool", "name": "weather", "input": {"city": city}, "output": found}]
    return {"output": f"{city}: {found}", "trajectory": {"steps": steps}}
'''

AGENT_RUN = """\
# What `evalsi run run.yaml` does: has `answer` in agent.py do every task, looks at the tools that it used, decides the gate.
apiVersion: evals.si/v1alpha1
kind: EvalRun
metadata:
  name: first-agent
spec:
  dataset:
    path: tasks.jsonl
  target:
    python: agent.py:answer
  evaluators:
    - tool-call-accuracy
    - tool-errors
    - loop-detection
  gates:
    - metric: tool-call-accuracy.precision
      min: 0.5
"""

AGENT_README = """\
# A first evaluation of an agent

    evalsi run run.yaml
    evalsi report latest -o report.html

`tasks.jsonl` holds tasks with the calls of tools that are wanted; `agent.py` does them; `run.yaml` says what is measured.
"""

_RECORDED = {"data.jsonl": DATA, "checks.py": CHECKS, "target.py": TARGET, "run.yaml": RUN, "README.md": README}
_TEMPLATES = {
    "recorded": (
        _RECORDED,
        "evalsi eval --data data.jsonl --evaluators exact-match,numeric-match,./checks.py:short_enough",
        "or ask a target: evalsi run run.yaml",
    ),
    "agent": (
        {"tasks.jsonl": AGENT_DATA, "agent.py": AGENT, "run.yaml": AGENT_RUN, "README.md": AGENT_README},
        "evalsi run run.yaml",
        "",
    ),
}
"""By name: the files, the command that shows what they do, and what else there is to say."""


@click.command()
@click.argument("directory", default=".", type=click.Path(file_okay=False))
@click.option(
    "--template",
    type=click.Choice(list(_TEMPLATES)),
    default="recorded",
    show_default=True,
    help="What the example is about: outputs that exist, or an agent with tools.",
)
def init(directory: str, template: str) -> None:
    """Write a small working example into DIRECTORY; files that are there are never touched."""
    from evalsi.core.errors import UsageError

    folder = Path(directory)
    files, command, more = _TEMPLATES[template]
    taken = [name for name in files if (folder / name).exists() or (folder / name).is_symlink()]
    if taken:
        raise UsageError(
            f"{folder / taken[0]} is already there", hint="name an empty or new folder: evalsi init my-evals"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    say(f"wrote {', '.join(files)} in {folder}")
    enter = "" if directory == "." else f"cd {shlex.quote(directory)} && "
    say(f"next: {enter}{command}")
    if more:
        say(more)
