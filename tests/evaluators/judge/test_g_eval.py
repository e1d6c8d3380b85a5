"""G-Eval: steps given or written once, ratings with and without token probabilities."""

import json
import math

import pytest

from evalsi.core.errors import InvalidParamsError
from evalsi.ports.chat_model import ChatReply, ChatRequest, TokenAlternatives
from evalsi.schema import ErrorKind, Outcome
from tests.evaluators.judged import CALL_USD, USAGE, ScriptedModel, bound, grade, grade_all, record, score_named

CRITERIA = {"criteria": "Coherence: sentences build on each other."}
GIVEN = CRITERIA | {"steps": ["Read it.", "Note breaks."]}
WRITTEN_STEPS = json.dumps({"steps": ["Read the output.", "Look for breaks."]})


def rating_with(weights: dict[str, float], written: str = "4") -> ChatReply:
    top = {token: math.log(weight) for token, weight in weights.items()}
    tokens = [
        TokenAlternatives(token="Rating", logprob=0.0),
        TokenAlternatives(token=":", logprob=0.0),
        TokenAlternatives(token=f" {written}", logprob=top.get(f" {written}", -1.0), top=top),
    ]
    return ChatReply(text=f"Rating: {written}", usage=USAGE, logprobs=tuple(tokens))


def test_the_rating_is_the_expectation_over_its_token_where_probabilities_are_given() -> None:
    score = score_named(
        grade("g-eval", rating_with({" 4": 0.6, " 5": 0.3, " 3": 0.1}), params=GIVEN, output="a"), "g-eval"
    )
    assert score.metadata["rating"] == pytest.approx(0.6 * 4 + 0.3 * 5 + 0.1 * 3)
    assert score.number == pytest.approx((score.metadata["rating"] - 1) / 4)
    assert score.metadata["rating_from"] == "token-probabilities"
    assert score.metadata["written_rating"] == 4.0
    assert score.metadata["probabilities"] == pytest.approx({"3": 0.1, "4": 0.6, "5": 0.3})
    assert score.metadata["probability_on_scale"] == pytest.approx(1.0)


def test_without_probabilities_the_written_rating_counts_and_the_metadata_say_so() -> None:
    score = score_named(grade("g-eval", "It flows.\nRating: 4", params=GIVEN, output="a"), "g-eval")
    assert (score.number, score.metadata["rating_from"]) == (0.75, "reply")
    assert score.explanation == "It flows.\nRating: 4"
    assert "written_rating" not in score.metadata


def test_a_rating_in_two_tokens_is_taken_as_written() -> None:
    tokens = (
        TokenAlternatives(token="Rating: ", logprob=0.0),
        TokenAlternatives(token="1", logprob=-0.1, top={"1": -0.1, "2": -3.0}),
        TokenAlternatives(token="0", logprob=0.0),
    )
    reply = ChatReply(text="Rating: 10", usage=USAGE, logprobs=tokens)
    score = score_named(grade("g-eval", reply, params=GIVEN | {"high": 10}, output="a"), "g-eval")
    assert (score.number, score.metadata["rating_from"]) == (1.0, "reply")


def test_probabilities_are_asked_for_only_when_wanted() -> None:
    for wanted, alternatives in ((True, 20), (False, 0)):
        model = ScriptedModel("Rating: 3")
        grade("g-eval", model, params=GIVEN | {"probabilities": wanted}, output="a")
        assert [request.top_logprobs for request in model.asked] == [alternatives]


def test_given_steps_reach_the_judge_and_none_are_written() -> None:
    model = ScriptedModel("Rating: 3")
    result = grade("g-eval", model, params=GIVEN, output="a")
    (request,) = model.asked
    assert "1. Read it.\n2. Note breaks." in request.messages[0].content
    assert "steps" not in score_named(result, "g-eval").metadata


def test_steps_are_written_once_for_all_records_and_kept_with_each_score() -> None:
    def reply(request: ChatRequest) -> str:
        return WRITTEN_STEPS if "You prepare the evaluation" in request.messages[0].content else "Rating: 5"

    model = ScriptedModel(reply)
    results = grade_all(bound("g-eval", model, params=CRITERIA), [record(id=str(n), output=f"a{n}") for n in range(8)])
    assert len(model.asked) == 9
    assert {result.scores[0].number for result in results} == {1.0}
    assert {tuple(result.scores[0].metadata["steps"]) for result in results} == {
        ("Read the output.", "Look for breaks.")
    }
    costs = sorted(result.usage.cost_usd or 0 for result in results if result.usage)
    assert costs == pytest.approx([CALL_USD] * 7 + [2 * CALL_USD])
    assert "1. Read the output." in model.asked[-1].messages[0].content


def test_steps_that_cannot_be_read_cost_the_record_that_asked_and_are_asked_again() -> None:
    replies = ['{"steps": []}', '{"steps": [" "]}', WRITTEN_STEPS, "Rating: 5"]
    first, second = grade_all(
        bound("g-eval", ScriptedModel(replies), params=CRITERIA),
        [record(id="1", output="a"), record(id="2", output="b")],
    )
    outcomes = sorted([first.outcome.name, second.outcome.name])
    assert outcomes == ["ERROR", "SCORED"]
    failed = first if first.outcome is Outcome.ERROR else second
    assert failed.error_kind is ErrorKind.JUDGE_PARSE


def test_one_binding_can_be_run_in_several_event_loops() -> None:
    evaluator = bound("g-eval", ScriptedModel([WRITTEN_STEPS, "Rating: 5"]), params=CRITERIA)
    for _ in range(2):
        assert grade_all(evaluator, [record(output="a")])[0].scores[0].number == 1.0


def test_without_reasons_only_the_rating_is_asked_for() -> None:
    model = ScriptedModel("Rating: 3")
    grade("g-eval", model, params=GIVEN | {"explain": False}, output="a")
    assert "Reply with one line and nothing else: 'Rating: N'" in model.questions[0]


@pytest.mark.parametrize("rating", ["0", "6", "-3"])
def test_a_rating_outside_the_scale_is_an_error_and_not_clamped(rating: str) -> None:
    result = grade("g-eval", f"Rating: {rating}", params=GIVEN, output="a")
    assert (result.outcome, result.error_kind) == (Outcome.ERROR, ErrorKind.JUDGE_OUT_OF_RANGE)


@pytest.mark.parametrize(
    "params", [{}, {"criteria": " "}, CRITERIA | {"low": 5, "high": 5}, CRITERIA | {"steps": [""]}]
)
def test_params_without_criteria_or_scale_are_refused(params: dict) -> None:
    with pytest.raises(InvalidParamsError):
        bound("g-eval", ScriptedModel(""), params=params)
