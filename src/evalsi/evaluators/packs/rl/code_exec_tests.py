"""`code-exec-tests`: the share of cases that a program answers rightly, compared outside of its reach."""

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal, cast

import msgspec

from evalsi.core.content import json_text
from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.matching.record_text import NO_FINAL_ANSWER, answer_reader
from evalsi.evaluators.programs.declared_packages import missed_module
from evalsi.evaluators.programs.program_text import program_text
from evalsi.evaluators.programs.python_tests import OWN_PYTHON, ProgramRunner, PythonTests, run_python_tests
from evalsi.evaluators.programs.running_params import ProgramParams, runner_of
from evalsi.evaluators.programs.test_material import ProgramCase, cases_of, has_cases, python_tests_of
from evalsi.ports.sandbox import Execution

_NAME = "code-exec-tests"
_TOLERANCE = 1e-9


class CodeExecTestsParams(ProgramParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which cases, and how their outputs are compared."""

    timeout_s: Annotated[float, msgspec.Meta(gt=0, le=600)] = 5.0
    """Seconds that the program has for each case; more is its failure."""
    memory_mb: Annotated[int, msgspec.Meta(ge=32, le=65536)] = 1024
    """Mebibytes that it may use; more is its failure."""
    compare: Literal["tokens", "lines", "exact"] = "tokens"
    """How printed outputs are compared: word by word with numbers as numbers, line by line, or every character."""
    all_or_nothing: bool = False
    """1 where every case is right, else 0."""
    max_cases: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Only the first so many cases; 0 for all."""
    command: list[str] | None = None
    """Runs the program instead of Python, e.g. [sh, -c, "cc -o a main.c && ./a"]; needs a sandbox that has it."""
    file_name: str = "main.py"
    """What the program is called where `command` runs it."""


@evaluator(
    name=_NAME,
    version="1.0.0",
    requires=["output", "sandbox"],
    params=CodeExecTestsParams,
    outputs=[output(_NAME, low=0, high=1, description="Share of the cases that are right.")],
    example={
        "record": {
            "output": "```python\nprint(sum(map(int, input().split())))\n```",
            "metadata": {"test_cases": [{"input": "1 2\n", "output": "3"}, {"input": "5 6\n", "output": "11"}]},
        },
        "expected": {"code-exec-tests": 1.0},
    },
)
class CodeExecTests:
    """The share of cases that the program in the answer gets right: standard input and output, or calls of a function.

    Cases are `metadata.test_cases` ([{input, output}], [{function, args, output}], or {inputs, outputs, fn_name}) or such
    a list in `metadata.tests`, else the tests that `unit-tests` reads. Each runs in a fresh process; outputs are compared here, where the program cannot
    reach, and its exit status is never taken for a verdict. Its timeout, crash or memory is a case that is wrong.
    """

    def __init__(self, params: CodeExecTestsParams, context: EvalContext) -> None:
        if params.command is not None and params.packages:
            raise ValueError("`packages` are looked for in Python, which `command` takes the place of")
        if params.command is not None and params.interpreter != OWN_PYTHON:
            raise ValueError("`interpreter` and `command` both say what runs the program; give one")
        self._params = params
        self._runner = runner_of(params, context)
        self._read = answer_reader(params.reasoning_tags)

    async def evaluate(self, record: Record) -> Score:
        cases = cases_of(record) if has_cases(record) else []
        tests = None if cases else python_tests_of(record)
        answer = self._read(record)
        source = "" if answer is None else program_text(answer, frozenset({"python", "python3", "py"}))
        if not source.strip():
            return Score(name=_NAME, number=0.0, explanation="there is no program" if answer else NO_FINAL_ANSWER)
        runner = self._runner
        if tests is not None:
            limited = tests.tests[: self._params.max_cases or None]
            report = await run_python_tests(source, msgspec.structs.replace(tests, tests=limited), runner)
            return self._score(report.passed, report.total, report.first_failure)
        right, first = await self._count_right(source, cases[: self._params.max_cases or None], runner)
        return self._score(right, len(cases[: self._params.max_cases or None]), first)

    def _score(self, right: int, total: int, first_failure: str) -> Score:
        share = float(right == total) if self._params.all_or_nothing else right / total
        words = f"{right} of {total} cases are right" + (f"; {first_failure}" if first_failure else "")
        return Score(name=_NAME, number=share, explanation=words, metadata={"passed": right, "total": total})

    async def _count_right(self, source: str, cases: Sequence[ProgramCase], runner: ProgramRunner) -> tuple[int, str]:
        calls = [case for case in cases if case.function]
        prints = [case for case in cases if not case.function]
        failures: list[str] = []
        right = 0
        if calls:
            tests = PythonTests(tests=tuple(_assertion(case) for case in calls))
            report = await run_python_tests(source, tests, runner)
            right += report.passed
            failures += [report.first_failure] if report.first_failure else []
        if prints:
            stdins = tuple(_joined(case.given).encode() for case in prints)
            for case, execution in zip(prints, await self._executions(source, stdins, runner), strict=True):
                why = self._mismatch(case, execution)
                right += not why
                failures += [why] if why else []
        return right, failures[0] if failures else ""

    async def _executions(self, source: str, stdins: tuple[bytes, ...], runner: ProgramRunner) -> Sequence[Execution]:
        if self._params.command is None:
            return await runner.run(source, stdins)
        return await runner.run_command(tuple(self._params.command), self._params.file_name, source, stdins)

    def _mismatch(self, case: ProgramCase, execution: Execution) -> str:
        if not execution.succeeded:
            missed = missed_module(execution.stderr)
            how = execution.reason or f"{execution.outcome.value} {execution.exit_code}"
            return f"the program ended with {how}" + (f": {missed}" if missed else "")
        if execution.truncated:
            return "the program said too much"
        given = execution.stdout.decode("utf-8", "replace")
        wanted = _joined(case.expected)
        return "" if _same_output(given, wanted, self._params.compare) else f"it printed {given.strip()[:80]!r}"


def _assertion(case: ProgramCase) -> str:
    """A case of a function as the plain assertion whose expected value stays on this side."""
    given: Any = case.given
    arguments = cast("list[Any]", given) if isinstance(given, list) else [given]
    return f"{case.function}({', '.join(map(repr, arguments))}) == {case.expected!r}"


def _joined(value: Any) -> str:
    """Text as it is; a list of lines joined."""
    return (
        "\n".join(json_text(each) for each in cast("list[Any]", value)) if isinstance(value, list) else json_text(value)
    )


def _same_output(given: str, wanted: str, how: str) -> bool:
    if how == "exact":
        return given == wanted
    if how == "lines":
        return _lines(given) == _lines(wanted)
    mine, yours = given.split(), wanted.split()
    return len(mine) == len(yours) and all(map(_same_token, mine, yours))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _same_token(given: str, wanted: str) -> bool:
    """Equal text, or equal numbers where one is written with a decimal point. Whole numbers are exact."""
    if given == wanted:
        return True
    if "." not in wanted and "e" not in wanted.lower():
        return False
    try:
        return math.isclose(float(given), float(wanted), rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    except ValueError:
        return False
