"""The reference page of run specs says what is so."""

import re
from pathlib import Path

from evalsi.core.errors import InvalidSpecError
from evalsi.run.gates.condition import GateCondition
from evalsi.run.spec import read_run_spec
from evalsi.schema import GateStat
from tests.run.spec.specs import HEAD, mistakes, read

PAGE = (Path(__file__).parents[3] / "docs/reference/run-spec.md").read_text(encoding="utf-8")
CHECKS = (
    "from evalsi.evaluators.api import evaluator\n\n\n@evaluator(name='polite')\ndef polite(record):\n    return True\n"
)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_its_example_is_right(tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text(CHECKS)
    (example,) = blocks("yaml")
    path = tmp_path / "run.yaml"
    path.write_text(example)
    spec = read_run_spec(path).spec
    assert (len(spec.evaluators), len(spec.gates), len(spec.sinks)) == (3, 4, 2)


def test_its_mistakes_are_those_that_are_printed(tmp_path: Path) -> None:
    text = (
        "apiVersion: evals.si/v1alpha1\nkind: EvalRun\nmetadata: {name: My Run_1}\nspec:\n"
        "  evaluatrs: [exact-match]\n  dataset: {path: a}\n  gates:\n    - {metric: contains, min: 90}\n"
    )
    said = mistakes(text)
    for line in blocks("text")[0].splitlines()[1:3]:
        assert line.strip().replace("run.yaml", "<text>") in said
    gates = (
        f"{HEAD}spec:\n  evaluators: [exact-match]\n  dataset: {{path: a}}\n  trials: 1\n  gates:\n"
        "    - {metric: exact-match, min: 90}\n    - \"metric('exact_match').mean > 0.5\"\n"
    )
    sentences = [mistake.split(": ", 1)[1] for mistake in mistakes(gates)]
    assert [line.split(": ", 1)[1] for line in blocks("text")[0].splitlines()[3:]] == sentences


def test_every_figure_is_on_the_page_and_every_figure_of_the_page_exists() -> None:
    named = set(re.findall(r"(?<=`)(?:metric\('m'\)|run)\.\w+(?:\(3\))?", PAGE))
    for figure in named:
        assert GateCondition(f"{figure} > 0").problems == [], figure
    for stat in GateStat:
        if stat.number:
            tail = stat.value.removeprefix("latency") if stat.value.startswith("latency_p") else stat.value
            assert f"`{tail}`" in PAGE or f"`{stat.value}`" in PAGE, stat


def test_every_flag_of_the_page_can_be_used() -> None:
    flags = re.findall(r"^\| `--set ['\"]?(.+?)['\"]?` \|", PAGE, re.MULTILINE)
    assert len(flags) == 5
    body = "spec:\n  target: {connector: recorded, recording: a}\n  dataset: {path: a}\n  evaluators: [exact-match, fuzzy-match]\n"
    text = f"{HEAD}{body}  gates: [{{metric: exact-match, min: 0.5}}]\n"
    for flag in flags:
        try:
            read(text, flag)
        except InvalidSpecError as error:
            raise AssertionError(flag) from error
