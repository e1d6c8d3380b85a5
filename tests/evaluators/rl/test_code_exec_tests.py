"""Programs graded by cases: what they print and what their functions give, compared where they cannot reach."""

import shutil
from typing import Any

import pytest

from evalsi.core.errors import InvalidParamsError, SkipRecord
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.catalog import load
from evalsi.evaluators.programs.test_material import cases_of, has_cases, python_tests_of
from evalsi.schema import Content, Record, Score
from tests.evaluators.code.programs_graded import graded, numbers

HOST_PYTHON = str(shutil.which("python3", path="/usr/bin:/usr/local/bin:/bin"))
"""Where programs find it too; by its path it is not the name of the sandbox's own."""
SUM = "print(sum(map(int, input().split())))\n"
CASES: dict[str, Any] = {"test_cases": [{"input": "1 2\n", "output": "3\n"}, {"input": "5 6\n", "output": "11"}]}


def test_the_share_of_right_cases_is_the_score() -> None:
    half = "a, b = map(int, input().split())\nprint(3)\n"
    assert numbers("code-exec-tests", [(SUM, CASES), (half, CASES), ("print('x')", CASES)]) == [1, 0.5, 0]
    assert numbers("code-exec-tests", [(half, CASES)], all_or_nothing=True) == [0]
    assert numbers("code-exec-tests", [(half, CASES)], max_cases=1) == [1]


def test_a_list_of_tests_that_holds_inputs_and_outputs_is_cases() -> None:
    record = Record(id="r", output=Content(text="print(1)"), metadata={"tests": CASES["test_cases"]})
    assert [(case.given, case.expected) for case in cases_of(record)] == [("1 2\n", "3\n"), ("5 6\n", "11")]
    with pytest.raises(SkipRecord, match="code-exec-tests"):
        python_tests_of(record)
    assert not has_cases(Record(id="r", metadata={"tests": ["assert True"]}))


@pytest.mark.parametrize(
    "program",
    [
        "print('2 cases passed')\n",
        "import os\nos._exit(0)\n",
        "print('3\\n11')\n",
        SUM + "raise SystemExit(1)\n",
        "while True: pass\n",
        "import sys\nsys.stdout.write('3' * (4 << 20))\n",
        "import os\nfor fd in range(3, 40):\n    try: os.write(fd, b'3\\n')\n    except OSError: pass\n",
    ],
)
def test_what_is_not_the_output_counts_nothing(program: str) -> None:
    assert numbers("code-exec-tests", [(program, CASES)], timeout_s=1) == [0]


def test_functions_are_called_and_their_values_compared_by_type() -> None:
    adds = "def add(a, b):\n    return a + b\n"
    texts = "def add(a, b):\n    return str(a + b)\n"
    apps = {"input_output": {"fn_name": "add", "inputs": [[1, 2], [3, 4]], "outputs": [[3], 7]}}
    listed = {"test_cases": [{"function": "add", "args": [1, 2], "expected": 3}]}
    asserts = {"test_list": ["assert add(1, 2) == 3"]}
    programs = [(text, metadata) for metadata in (apps, listed, asserts) for text in (adds, texts)]
    assert numbers("code-exec-tests", programs) == [1, 0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("printed", "expected", "compare", "score"),
    [
        ("0.5  1", "0.50 1", "tokens", 1),
        ("3", "3.0", "tokens", 1),
        ("10000000000000001", "10000000000000000", "tokens", 0),
        ("a  b", "a b", "tokens", 1),
        ("a  b", "a b", "lines", 0),
        ("a b  ", "a b", "lines", 1),
        ("a b", "a b", "exact", 0),
        ("a b", "a b\n", "exact", 1),
        ("nan", "1.0", "tokens", 0),
    ],
)
def test_outputs_are_compared_as_the_params_say(printed: str, expected: str, compare: str, score: float) -> None:
    metadata = {"test_cases": [{"input": "", "output": expected}]}
    assert numbers("code-exec-tests", [(f"print({printed!r})", metadata)], compare=compare) == [score]


def test_the_interpreter_runs_the_program_and_one_that_is_missing_is_no_failure_of_it() -> None:
    asserts = {"test_list": ["assert add(1, 2) == 3"], "setup": "x = 1"}
    right, wrong = "def add(a, b):\n    return a + b\n", "def add(a, b):\n    return 4\n"
    assert numbers("code-exec-tests", [(SUM, CASES), ("print(1)", CASES)], interpreter=HOST_PYTHON) == [1, 0]
    assert numbers("unit-tests", [(right, asserts), (wrong, asserts)], interpreter=HOST_PYTHON) == [1, 0]
    (missing,) = graded("unit-tests", [(right, asserts)], interpreter="python9.9")
    assert "python9.9 is not installed" in str(missing)
    assert numbers("unit-tests", [(right, asserts)], interpreter="python9.9") == ["MeasurementError"]


def test_other_languages_run_by_command() -> None:
    shell = "```sh\nread a b\necho $((a + b))\n```"
    assert numbers("code-exec-tests", [(shell, CASES)], command=["sh", "main.sh"], file_name="main.sh") == [1]


def test_cases_that_cannot_be_read_are_skipped() -> None:
    broken: list[dict[str, Any]] = [
        {},
        {"test_cases": [{"input": "x"}]},
        {"test_cases": "{"},
        {"test_cases": ["x"]},
        {"input_output": {"inputs": [1], "outputs": []}},
    ]
    assert numbers("code-exec-tests", [(SUM, metadata) for metadata in broken]) == ["SkipRecord"] * len(broken)


def test_the_score_says_which_case_failed() -> None:
    (end,) = graded("code-exec-tests", [("print(4)", CASES)])
    assert isinstance(end, Score)
    assert "0 of 2" in end.explanation
    assert "'4'" in end.explanation


def test_params_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidParamsError):
        bind(load("code-exec-tests"), context=EvalContext(), params={"timeout_s": 0})
