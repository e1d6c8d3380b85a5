"""Compilers and linters of the machine, in the real sandbox, on programs that are never run."""

import shutil
from typing import Any

import pytest

from evalsi.core.errors import InvalidParamsError, MeasurementError, SkipRecord, UsageError
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.catalog import load
from evalsi.schema import Score
from tests.evaluators.code.programs_graded import graded

PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where sandboxes look for programs."""


def verdicts(programs: list[str], **params: Any) -> list[bool | None]:
    found = graded("code-check", [(program, {}) for program in programs], **params)
    return [end.passed if isinstance(end, Score) else None for end in found]


CASES = {
    "gcc": (
        ["```c\nint two(void) { return 2; }\n```", '#include <stdio.h>\nint main(void) { puts("x"); return 0; }'],
        ["int two(void) { return 2 }", "int two(void) { return undeclared; }", '#include "/etc/shadow"\n', "#error no"],
    ),
    "g++": (
        ["```cpp\n#include <vector>\nstd::vector<int> v{1, 2};\n```"],
        ["```cpp\nstd::vector<int> v;\n```", "```cpp\nclass {\n```"],
    ),
    "node": (
        ["```js\nconst two = () => 2;\n```", "import fs from 'fs';\nexport const two = 2;", "process.exit(1)"],
        ["const two = ;", "```javascript\nfunction two( {\n```"],
    ),
    "bash": (["```sh\nfor n in 1 2; do echo $n; done\n```", "exit 1"], ["for n in 1 2; do echo $n", "if true; fi"]),
}  # fmt: skip


@pytest.mark.parametrize("checker", sorted(CASES))
def test_a_checker_of_this_machine_tells_right_programs_from_wrong_ones(checker: str) -> None:
    if shutil.which(checker, path=PATH) is None:
        pytest.skip(f"{checker} is not on this machine")
    right, wrong = CASES[checker]
    assert verdicts([*right, *wrong], checker=checker) == [True] * len(right) + [False] * len(wrong)


def test_a_checker_that_is_not_there_skips_the_record_and_says_so() -> None:
    (end,) = graded("code-check", [("x = 1", {})], command=["no-such-linter", "{file}"])
    assert isinstance(end, SkipRecord)
    assert "no-such-linter is not installed" in str(end)


def test_a_command_of_ones_own_decides_by_its_status() -> None:
    own: dict[str, Any] = {"command": ["grep", "-q", "docstring", "{file}"], "file": "program.py", "language": "python"}
    programs = ["```text\ndocstring\n```\n```python\nx = 1\n```", "```python\n# docstring\n```\n```text\nx\n```"]
    assert verdicts(programs, **own) == [False, True]


def test_a_checker_that_takes_for_ever_or_says_127_is_the_programs_failure() -> None:
    sleeper = ["sh", "-c", "sleep 30", "sh", "{file}"]
    assert verdicts(["x"], command=sleeper, timeout_s=0.5) == [False]
    assert verdicts(["x"], command=["sh", "-c", "exit 127", "sh", "{file}"]) == [False]


def test_no_program_is_a_miss_and_no_sandbox_an_error() -> None:
    assert verdicts(["", "```c\n\n```"], checker="gcc") == [False, False]
    (end,) = graded("code-check", [("int x;", {})], checker="gcc", min_isolation="vm")
    assert isinstance(end, MeasurementError) or (isinstance(end, Score) and end.passed)


@pytest.mark.parametrize("params", [{}, {"checker": "gcc", "command": ["x", "{file}"]}, {"command": ["x"]}, {"checker": "tcc"}])  # fmt: skip
def test_what_says_no_checker_or_two_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises((UsageError, InvalidParamsError)):
        bind(load("code-check"), context=EvalContext(), params=params)
