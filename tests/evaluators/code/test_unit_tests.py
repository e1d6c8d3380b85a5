"""Tests of programs: every form passes the honest and none passes a forgery."""

import asyncio
import random
import re
import time
from typing import Any

import pytest

from evalsi.core.errors import MeasurementError, SkipRecord
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.catalog import load
from evalsi.evaluators.programs.program_text import program_text
from evalsi.schema import Content, ErrorKind, Record, Score
from tests.case_files import case, rows_of
from tests.evaluators.code.forgeries import FORGERIES, HELPED_BY_THE_TEST
from tests.evaluators.code.programs_graded import graded, numbers
from tests.evaluators.code.right_programs import NOT_GRADED, RIGHT

HONEST = "def add(a, b):\n    return a + b\n"
ADDITIONS = ["add(1, 2) == 3", "add(-1, 1) == 0"]
FORMS: dict[str, dict[str, Any]] = {
    "plain": {"test_list": ADDITIONS},
    "script": {"test_list": [f"wanted = 1\nassert {text}" for text in ADDITIONS]},
    "pytest": {
        "test": "import pytest\nfrom solution import add\n\n@pytest.mark.parametrize('a, b, c', [(1, 2, 3), (-1, 1, 0)])\n"
        "def test_adds(a, b, c):\n    assert add(a, b) == c\n\ndef test_sums():\n    assert add(1, 2) == pytest.approx(3)\n"
    },
    "unittest": {
        "test": "import unittest\nfrom solution import add\n\nclass Adds(unittest.TestCase):\n    def setUp(self):\n"
        "        self.three = 3\n\n    def test_three(self):\n        self.assertEqual(add(1, 2), self.three)\n\n"
        "    def test_nothing(self):\n        self.assertEqual(0, add(-1, 1))\n"
    },
    "check": {
        "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert abs(candidate(-1, 1)) < 1e-6\n",
        "entry_point": "add",
    },
    "loop": {"test": "for a, b in [(1, 2), (-1, 1), (5, 5)]:\n    assert abs(add(a, b) - (a + b)) < 1e-9\n"},
    "orders": {"test": "assert add(1, 2) > 2.5 and 3 in [add(1, 2)] and not add(-1, 1)\n"},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_tests_passes_an_honest_program_and_fails_a_wrong_one(form: str) -> None:
    wrong = "def add(a, b):\n    return a - b\n"
    fenced = f"Here it is:\n```python\n{HONEST}```\nIt adds."
    assert numbers("unit-tests", [(HONEST, FORMS[form]), (wrong, FORMS[form]), (fenced, FORMS[form])]) == [1, 0, 1]


@pytest.mark.parametrize(
    "answer",
    [
        "<think>easy</think><answer>```python\nCODE```</answer>",
        "<answer>\n```python\nCODE```</answer>",
        "<answer> ```\nCODE``` </answer>\nDone.",
        "<answer><code>```py\nCODE```</code></answer>",
    ],
)
def test_a_fence_may_stand_on_the_line_of_a_tag(answer: str) -> None:
    assert program_text(answer.replace("CODE", HONEST).removeprefix("<think>easy</think>")) == HONEST
    assert program_text("x = '<b>```'\n") == "x = '<b>```'\n"


def test_the_shared_programs_get_their_scores() -> None:
    rows = rows_of("L01")
    metadata = {"test_list": case("L01")["input"]["tests"]}
    found = numbers("unit-tests", [(row["code"], metadata) for row, _ in rows], timeout_s=2)
    for (row, expected), score in zip(rows, found, strict=True):
        allowed = {0.0, 1.0} if str(expected["score"]).startswith("0 or 1") else {float(str(expected["score"])[0])}
        assert score in allowed, row["name"]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_no_forgery_passes(form: str) -> None:
    found = graded("unit-tests", [(text, FORMS[form]) for text in FORGERIES.values()], timeout_s=1, memory_mb=256)
    for name, end in zip(FORGERIES, found, strict=True):
        assert isinstance(end, Score), (name, end)
        assert end.passed is False, (name, end.explanation)


def test_a_program_that_is_right_passes_tests_as_people_write_them() -> None:
    found = graded("unit-tests", list(RIGHT.values()), timeout_s=10)
    for name, end in zip(RIGHT, found, strict=True):
        assert isinstance(end, Score), (name, end)
        assert end.passed is True, (name, end.explanation)


def test_tests_that_need_what_is_not_here_are_skipped_and_fail_nobody() -> None:
    assert numbers("unit-tests", list(NOT_GRADED.values())) == ["SkipRecord"] * len(NOT_GRADED)


def test_no_program_is_helped_by_what_a_test_leaves_to_it() -> None:
    found = graded("unit-tests", list(HELPED_BY_THE_TEST.values()), timeout_s=2)
    for name, end in zip(HELPED_BY_THE_TEST, found, strict=True):
        if name == "a package that the test does not import":
            assert isinstance(end, SkipRecord), (name, end)
            continue
        assert isinstance(end, Score), (name, end)
        assert end.passed is False, (name, end.explanation)


def test_an_error_is_caught_by_its_own_names_alone() -> None:
    program = "class Mine(Exception):\n    pass\nclass Other(Exception):\n    pass\ndef f(x):\n    raise Mine(x)\n"
    test = "import pytest, solution\n\ndef test_f():\n    with pytest.raises(solution.Other):\n        solution.f(5)\n"
    assert numbers("unit-tests", [(program, {"test": test})]) == [0]


@pytest.mark.slow
def test_no_mutated_forgery_passes() -> None:
    """Pieces of forgeries put together, cut and with other values in them; a fixed seed, so a failure can be repeated."""
    draw = random.Random(20260101)
    texts = [text for text in FORGERIES.values() if "while True" not in text and "<< 34" not in text]
    mutated: list[str] = []
    while len(mutated) < 60:
        first, second = draw.sample(texts, 2)
        lines = first.splitlines()
        text = "\n".join(lines[: draw.randint(0, len(lines))]) + "\n" + second
        text = re.sub(r"\b0\.5\b|\b77\b", lambda _: draw.choice(["True", "None", "'3'", "[3]", "3.5", "b'3'"]), text)
        mutated.append(text.replace("os._exit(0)", draw.choice(["os._exit(0)", "raise SystemExit(0)", "pass"])))
    for form in ("plain", "loop"):
        found = graded("unit-tests", [(text, FORMS[form]) for text in mutated], timeout_s=1, memory_mb=256)
        for text, end in zip(mutated, found, strict=True):
            assert isinstance(end, Score), (text, end)
            assert end.passed is False, (text, end.explanation)


def test_classes_keep_their_state_within_a_test_and_not_beyond() -> None:
    stack = (
        "class Stack:\n    made = 0\n    def __init__(self):\n        self.items = []\n        Stack.made += 1\n"
        "    def push(self, x):\n        self.items.append(x)\n    def pop(self):\n        return self.items.pop()\n"
        "    def __len__(self):\n        return len(self.items)\n    def __contains__(self, x):\n        return x in self.items\n"
    )
    test = (
        "import pytest\nfrom solution import Stack\n\ndef test_order():\n    s = Stack()\n    s.push(1)\n    s.push((2, 'b'))\n"
        "    assert len(s) == 2 and 1 in s and 7 not in s\n    assert s.pop() == (2, 'b')\n    assert s.items == [1]\n\n"
        "def test_empty():\n    with pytest.raises(IndexError):\n        Stack().pop()\n    assert Stack.made == 1\n"
    )
    assert numbers("unit-tests", [(stack, {"test": test})]) == [1]


def test_arguments_changed_in_place_are_changed_for_the_test() -> None:
    sorting = "def order(xs):\n    xs.sort()\n"
    emptying = "def order(xs):\n    xs.clear()\n    return []\n"
    in_place = {"test": "xs = [3, 1, 2]\norder(xs)\nassert xs == [1, 2, 3]\n"}
    by_value = {"test": "xs = [3, 1, 2]\nassert order(xs) == sorted(xs)\n"}
    assert numbers("unit-tests", [(sorting, in_place), (emptying, by_value)]) == [1, 0]


def test_what_cannot_be_graded_is_skipped_and_never_scored() -> None:
    ends = numbers(
        "unit-tests",
        [
            (HONEST, {}),
            (HONEST, {"test": "def broken(:\n"}),
            (HONEST, {"test": "import numpy\nassert add(1, 2) == 3\n"}),
            (HONEST, {"test": "assert add(object(), 2) == 3\n"}),
            (HONEST, {"test": "assert 1 == 1\n"}),
        ],
    )
    assert ends == ["SkipRecord"] * 5


def test_without_a_sandbox_a_program_is_not_run() -> None:
    bound = bind(load("unit-tests"), context=EvalContext(), params={})
    assert bound.call is not None
    with pytest.raises(MeasurementError, match="sandbox_unavailable") as raised:
        asyncio.run(bound.call(Record(id="r", output=Content(text=HONEST), metadata=FORMS["plain"])))
    assert raised.value.kind is ErrorKind.ENVIRONMENT


def test_a_level_that_is_not_here_is_an_error_and_no_score() -> None:
    (end,) = graded("unit-tests", [(HONEST, FORMS["plain"])], min_isolation="vm")
    assert isinstance(end, MeasurementError)


@pytest.mark.parametrize("form", ["plain", "script"])
def test_a_program_that_hangs_in_every_test_ends_with_the_third(form: str) -> None:
    texts = [f"assert add({number}, 0) == {number}" for number in range(40)]
    tests = texts if form == "plain" else [f"nothing = 0\n{text}" for text in texts]
    hanging = "def add(a, b):\n    while True:\n        pass\n"
    started = time.perf_counter()
    assert numbers("unit-tests", [(hanging, {"test_list": tests})], timeout_s=1) == [0]
    assert time.perf_counter() - started < 35  # forty would take a minute in two places


def test_a_hanging_program_costs_its_time_and_no_more() -> None:
    hanging = "def add(a, b):\n    while True:\n        pass\n"
    started = time.perf_counter()
    assert numbers("unit-tests", [(hanging, {"test_list": ADDITIONS[:1]}), (HONEST, FORMS["plain"])], timeout_s=1) == [
        0,
        1,
    ]
    assert time.perf_counter() - started < 30
