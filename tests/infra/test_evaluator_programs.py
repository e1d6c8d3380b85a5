"""Programs that grade: started, asked, and survived, whatever they do."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi.core.errors import PluginError, UnknownNameError
from evalsi.evaluators.catalog import every_definition, know_programs, load
from evalsi.infra.evaluator_program import ProgramPlan, ProgramProcess
from evalsi.schema import Content, ErrorKind, EvaluationResult, Outcome, Record
from tests.server.running_server import processes_with, wait_until

ROOT = Path(__file__).parents[2]
MARK = f"--of={os.getpid()}"


def program(*more: str, start_timeout_s: float = 30.0) -> ProgramProcess:
    return ProgramProcess(
        ProgramPlan(
            name="odd-house",
            command=[sys.executable, "-m", "tests.infra.odd_program", MARK, *more],
            environment={"PATH": os.environ["PATH"]},
            folder=ROOT,
            start_timeout_s=start_timeout_s,
        )
    )


@pytest.fixture(scope="module")
def odd_house() -> Generator[ProgramProcess]:
    process = program()
    try:
        yield process
    finally:
        process.close()


@pytest.fixture(autouse=True)
def known(odd_house: ProgramProcess) -> Generator[None]:
    know_programs([odd_house])
    yield
    know_programs([])


def graded(words: Sequence[str]) -> Mapping[str, EvaluationResult]:
    rows: list[dict[str, Any]] = [{"id": f"{n}", "output": word} for n, word in enumerate(words)]
    results = evalsi.evaluate(rows, "odd-house/odd").results()
    return {words[int(result.record_id)]: result for result in results}


@pytest.mark.slow
def test_what_a_program_gets_wrong_about_a_record_costs_that_record_alone() -> None:
    words = ["fine", "silence", "another", "undeclared", "nothing", "failure", "well"]
    found = graded(words)
    assert [word for word in words if found[word].outcome is Outcome.SCORED] == ["fine", "well"]
    assert {found[word].outcome for word in words[1:-1]} == {Outcome.ERROR}
    assert "gave no result" in found["silence"].reason
    assert "does not have" in found["undeclared"].reason
    assert found["failure"].reason == "no model"


@pytest.mark.slow
def test_a_record_over_which_the_program_dies_costs_no_other_record() -> None:
    words = [f"fine {n}" for n in range(20)] + ["crash"] + [f"well {n}" for n in range(20)]
    found = graded(words)
    assert found["crash"].outcome is Outcome.ERROR
    assert found["crash"].error_kind is ErrorKind.CRASH
    assert "exit status 3" in found["crash"].reason
    assert [word for word in words if found[word].outcome is not Outcome.SCORED] == ["crash"]


@pytest.mark.slow
def test_a_program_that_was_killed_is_started_again(odd_house: ProgramProcess) -> None:
    assert graded(["fine"])["fine"].outcome is Outcome.SCORED
    assert wait_until(lambda: len(processes()) == 1)
    (pid,) = processes()
    os.kill(pid, signal.SIGKILL)
    assert graded(["fine"])["fine"].outcome is Outcome.SCORED
    assert processes() != [pid]
    odd_house.close()
    assert wait_until(lambda: not processes())


@pytest.mark.slow
def test_calls_from_python_find_the_programs_of_the_environment_and_start_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = f"--of={tmp_path}"
    command = [sys.executable, "-m", "tests.infra.odd_program", mark]
    plugins = tmp_path / "plugins.json"
    plugins.write_text(json.dumps({"plugins": {"named": {"command": command, "folder": str(ROOT)}}}))
    monkeypatch.setenv("EVALSI_PLUGINS", str(plugins))
    rows = [{"id": "a", "output": "fine"}]
    spec = {"name": "kept", "components": [{"ref": "named/odd", "name": "odd"}]}
    (first,) = evalsi.evaluate(rows, "named/odd").results()
    (again,) = asyncio.run(evalsi.aevaluate(rows, "named/odd")).results()
    with evalsi.rewards.load(spec) as reward:
        assert reward.score([Record(id="a", output=Content(text="fine"))])[0].total == 1.0
    assert first.outcome is again.outcome is Outcome.SCORED
    assert len(processes_with(mark)) == 1


@pytest.mark.slow
def test_a_program_sees_of_the_environment_only_what_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    (score,) = graded(["environment"])["environment"].scores
    assert "PATH" in score.explanation
    assert "SOME_API_KEY" not in score.explanation


@pytest.mark.slow
def test_a_manifest_that_makes_no_sense_breaks_its_own_evaluator_alone() -> None:
    found = dict(every_definition("odd-house"))
    assert [name for name, each in found.items() if not isinstance(each, Exception)] == ["odd-house/odd"]
    assert len(found) == 5
    with pytest.raises(PluginError, match="is lent none"):
        load("odd-house/judging")
    with pytest.raises(UnknownNameError, match="did you mean 'odd'"):
        load("odd-house/odds")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "reason"), [("--broken", "ended with exit status 5"), ("--slow", "was not ready within 1 s")]
)
def test_a_program_that_does_not_get_ready_is_named(option: str, reason: str) -> None:
    process = program(option, start_timeout_s=1 if option == "--slow" else 30)
    know_programs([process])
    with pytest.raises(PluginError, match=f"program 'odd-house' {reason}"):
        load("odd-house/odd")
    process.close()


def processes() -> list[int]:
    """The processes of the programs that this process started."""
    return processes_with(MARK)
