"""The mathematical reward: what it reads out of an answer, and what it does where it cannot tell."""

import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from tests.case_files import case
from tests.command_line import environment
from tests.evaluators.measuring import result, value


@pytest.mark.parametrize(
    ("output", "reference", "expected"),
    [
        ("So the area is \\boxed{\\frac{6}{4}}.", "1.5", True),
        ("<think>maybe \\boxed{7}</think> It is \\boxed{8}", "8", True),
        ("<think>\\boxed{8}</think> It is \\boxed{7}", "8", False),
        ("<think>it is 8", "8", False),
        ("<think>a</think><answer>x = 3</answer>", "3", True),
        ("First 12, then 30 and at last we have 42 apples in the basket", "42", True),
        ("The answer is $\\sqrt{8}$, about 2.83.", "2\\sqrt{2}", True),
        ("The answer is 5 cm.", "5", True),
        ("It is $x+1$.", "1+x", True),
        ("So we get \\(x+1\\)", "1+x", True),
        ("$x+1$", "1+x", True),
        ("I do not know.", "5", False),
        ("", "5", False),
        ("\\boxed{4\\sqrt(2)}", "4", False),
        ("\\boxed{28}", "28\\%", False),
        ("#### 1,234", "1234", True),
    ],
)
def test_the_stated_result_decides(output: str, reference: str, expected: bool) -> None:
    assert value("math-equiv", output, reference) is expected


def test_any_of_several_references_will_do() -> None:
    assert value("math-equiv", "\\boxed{3}", ["2", "x=3"]) is True


def test_a_reference_that_cannot_be_read_is_skipped_unless_the_answer_is_the_same_text() -> None:
    assert value("math-equiv", "\\boxed{5}", "\\int_0^1 x\\,dx") == "SKIPPED"
    assert value("math-equiv", "\\boxed{\\int_0^1 x dx}", "\\int_0^1 x\\,dx") is True


def test_the_fallback_is_what_counts_where_nothing_marks_the_result() -> None:
    text = "We counted 12 birds there on Monday, and on Tuesday there were 9 of them"
    assert value("math-equiv", text, "9") is True
    assert value("math-equiv", text, "9", fallback="none") is False


def test_the_backend_decides_who_compares_what_is_not_rational() -> None:
    root = "\\boxed{\\sqrt{8}}"
    assert value("math-equiv", root, "2\\sqrt{2}", backend="numeric") is True
    assert value("math-equiv", root, "2\\sqrt{2}", backend="exact") == "SKIPPED"
    assert value("math-equiv", "\\boxed{2/4}", "0.5", backend="exact") is True


@pytest.mark.parametrize("row", case("B02")["input"]["rows"], ids=lambda row: row["answer"][:12])
def test_hostile_answers_are_misses_in_no_time_in_any_thread(row: dict[str, str]) -> None:
    found: list[Any] = []
    started = time.perf_counter()
    thread = threading.Thread(
        target=lambda: found.append(
            value("math-equiv", f"\\boxed{{{row['answer']}}}", row["reference"], fallback="whole")
        )
    )
    thread.start()
    thread.join()
    found.append(value("math-equiv", row["answer"], row["reference"], fallback="whole"))
    assert found == [False, False]
    assert time.perf_counter() - started < 30


@pytest.mark.parametrize(
    "answer",
    ["2^{3^{4^{5}}}", "e^{e^{e^{e}}}", "(10^{300})!", "\\sin(10^{10^{9}})", "1" * 399, "+".join(["x^{99}"] * 200)],
)
def test_what_is_too_large_is_a_miss(answer: str) -> None:
    started = time.perf_counter()
    assert value("math-equiv", f"\\boxed{{{answer}}}", "\\sqrt{2}") is False
    assert time.perf_counter() - started < 30


def test_without_the_extra_what_is_not_rational_is_skipped_and_the_rest_is_scored() -> None:
    program = (
        "import sys; sys.modules['mpmath'] = None\n"
        "from tests.evaluators.measuring import value\n"
        "print(value('math-equiv', '\\\\boxed{1/2}', '0.5'), value('math-equiv', '\\\\boxed{2\\\\sqrt{2}}', '\\\\sqrt{8}'),"
        " value('math-equiv', '\\\\boxed{3}', '\\\\sqrt{8}'), value('math-equiv', '\\\\boxed{\\\\sqrt{8}}', '\\\\sqrt{8}'))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment(), timeout=60
    )
    assert ran.stdout.split() == ["True", "SKIPPED", "SKIPPED", "True"]


def test_a_miss_says_why() -> None:
    (score,) = result("math-equiv", "\\boxed{\\foo{1}}", "1").scores
    assert score.passed is False
    assert "cannot be read" in score.explanation
