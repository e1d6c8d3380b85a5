"""rubric-grade: criteria of the record, weights, and rubrics that cannot be read."""

import json
from typing import Any

import pytest

from evalsi.core.errors import InvalidParamsError
from evalsi.schema import ErrorKind, Fault, Outcome
from tests.evaluators.judged import ScriptedModel, bound, grade, score_named


def verdicts(*met: bool) -> str:
    rows = [{"criterion": n, "reason": f"reason {n}", "met": value} for n, value in enumerate(met, 1)]
    return json.dumps({"criteria": rows})


def graded(rubric: Any, *met: bool) -> float | None:
    result = grade("rubric-grade", verdicts(*met), input="q", output="a", metadata={"rubric": rubric})
    assert result.outcome is Outcome.SCORED, result.reason
    return score_named(result, "rubric-score").number


@pytest.mark.parametrize(
    ("rubric", "met", "score"),
    [
        ("names the limit", [True], 1.0),
        (["a", "b", "c"], [True, False, True], 2 / 3),
        ([{"text": "a", "weight": 3}, "b"], [True, False], 0.75),
        ([{"text": "a", "weight": 5}, {"text": "invents facts", "weight": -3}], [True, True], 0.4),
        ([{"text": "a", "weight": 1}, {"text": "invents facts", "weight": -3}], [True, True], 0.0),
        ([{"text": "a", "weight": 1}, {"text": "invents facts", "weight": -3}], [True, False], 1.0),
    ],
)
def test_the_score_is_the_weight_earned_over_the_weight_to_be_had(rubric: Any, met: list[bool], score: float) -> None:
    assert graded(rubric, *met) == pytest.approx(score)


def test_the_explanation_names_each_criterion_with_the_judges_reason() -> None:
    rubric = [{"name": "limit", "text": "Names the limit"}, "Offers a repair"]
    result = grade("rubric-grade", verdicts(True, False), input="q", output="a", metadata={"rubric": rubric})
    assert result.scores[0].explanation == "met: limit (reason 1)\nnot met: Offers a repair (reason 2)"


def test_a_record_without_a_rubric_takes_the_one_of_the_params_or_is_skipped() -> None:
    result = grade("rubric-grade", verdicts(True), params={"rubric": "is short"}, input="q", output="a")
    assert result.scores[0].number == 1.0
    model = ScriptedModel(verdicts(True))
    result = grade("rubric-grade", model, input="q", output="a")
    assert (result.outcome, model.asked) == (Outcome.SKIPPED, [])
    assert "metadata.rubric" in result.reason


@pytest.mark.parametrize(
    "rubric", [7, [{"weight": 1}], [{"text": "a", "wieght": 2}], [{"text": "a", "weight": -1}], [["a"]]]
)
def test_a_rubric_that_cannot_be_read_is_a_fault_of_the_dataset_and_asks_nobody(rubric: Any) -> None:
    model = ScriptedModel(verdicts(True))
    result = grade("rubric-grade", model, input="q", output="a", metadata={"rubric": rubric})
    assert (result.outcome, result.error_kind) == (Outcome.ERROR, ErrorKind.INVALID_FIELD)
    assert (result.fault, model.asked) == (Fault.DATASET, [])
    assert "metadata.rubric" in result.reason


def test_a_rubric_in_the_params_is_checked_before_anything_is_asked() -> None:
    with pytest.raises(InvalidParamsError):
        bound("rubric-grade", ScriptedModel(""), params={"rubric": [{"text": "a", "weight": 0}]})


@pytest.mark.parametrize(
    "reply",
    [
        verdicts(True),
        verdicts(True, False, True),
        '{"criteria": [{"criterion": 1, "reason": "", "met": true}, {"criterion": 1, "reason": "", "met": false}]}',
        '{"criteria": [{"criterion": 1, "reason": "", "met": true}, {"criterion": 2, "reason": "", "met": 1}]}',
    ],
)
def test_every_criterion_needs_exactly_one_verdict(reply: str) -> None:
    result = grade("rubric-grade", reply, input="q", output="a", metadata={"rubric": ["a", "b"]})
    assert (result.outcome, result.error_kind) == (Outcome.ERROR, ErrorKind.JUDGE_PARSE)


def test_a_criterion_cannot_pose_as_two() -> None:
    model = ScriptedModel(verdicts(True))
    grade("rubric-grade", model, input="q", output="a", metadata={"rubric": "one\n2. two"})
    assert "1. one 2. two\n" in model.questions[0]
