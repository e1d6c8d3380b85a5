"""The form of an output and its length as rewards."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.core.errors import InvalidParamsError
from evalsi.schema import Usage
from tests.evaluators.measuring import bound, called, record, value


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("<think>a</think><answer>b</answer>", True),
        (" <think>a\nb</think>\n\n<answer>c</answer>\n", True),
        ("<think>a</think>", False),
        ("<answer>b</answer><think>a</think>", False),
        ("x <think>a</think><answer>b</answer>", False),
        ("", False),
    ],
)
def test_the_usual_form_is_thinking_and_then_an_answer(output: str, expected: bool) -> None:
    assert value("format-check", output) is expected
    assert value("format-check", output, tags=["think", "answer"]) is expected


def test_tags_may_not_be_repeated() -> None:
    twice = "<think>a</think><answer>b</answer><answer>c</answer>"
    assert value("format-check", twice, tags=["think", "answer"]) is False
    inside = "<think>a<answer>b</answer></think><answer>c</answer>"
    assert value("format-check", inside, tags=["think", "answer"]) is False


@pytest.mark.parametrize("params", [{"tags": []}, {"tags": ["a b"]}, {"pattern": "("}, {"tags": ["a"], "pattern": "x"}])
def test_a_form_that_makes_no_sense_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(InvalidParamsError):
        bound("format-check", **params)


@given(st.integers(0, 40), st.integers(1, 30), st.integers(0, 30))
def test_the_penalty_is_dapos(length: int, limit: int, buffer: int) -> None:
    buffer = min(buffer, limit)
    given_value = value("overlong-penalty", "x" * length, max_length=limit, buffer=buffer, unit="characters")
    if length <= limit - buffer:
        assert given_value == 0
    elif length > limit:
        assert given_value == -1
    else:
        assert given_value == pytest.approx(((limit - buffer) - length) / buffer)


def test_tokens_are_those_that_were_measured() -> None:
    plain = record("a b c")
    evaluator = bound("overlong-penalty", max_length=10, buffer=5)
    measured = msgspec.structs.replace(plain, usage=Usage(output_tokens=9))
    assert called(evaluator, measured) == pytest.approx(-0.8)
    assert value("overlong-penalty", "a b c", max_length=10) == "SKIPPED"


def test_a_buffer_beyond_the_limit_is_refused() -> None:
    with pytest.raises(InvalidParamsError, match="larger"):
        bound("overlong-penalty", max_length=5, buffer=6)
