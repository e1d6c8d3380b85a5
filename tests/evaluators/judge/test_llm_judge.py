"""llm-judge and correctness: what is shown, what is skipped, votes, cost, and replies that are no verdict."""

from typing import Any

import pytest

from evalsi.core.errors import InvalidParamsError, ProviderError, UnknownNameError, UsageError
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.catalog import load
from evalsi.schema import ErrorKind, Fault, Outcome
from tests.evaluators.judged import (
    CALL_USD,
    ScriptedModel,
    Shelf,
    bound,
    grade,
    grade_all,
    graded_reply,
    record,
    score_named,
)

WHOLE = {"input": "q?", "output": "the answer", "reference": "the truth", "context": ["passage one", "passage two"]}


def shown(name: str, *, params: dict[str, object] | None = None, **fields: Any) -> str:
    model = ScriptedModel(graded_reply(1))
    result = grade(name, model, params=params, **fields)
    assert result.outcome is Outcome.SCORED, result.reason
    (request,) = model.asked
    return "\n".join(message.content for message in request.messages)


@pytest.mark.parametrize(
    ("rubric", "seen", "unseen"),
    [
        ("correctness", ["q?", "the answer", "the truth", "passage two"], []),
        ("faithfulness", ["q?", "the answer", "passage one"], ["the truth"]),
        ("helpfulness", ["q?", "the answer"], ["the truth", "passage one"]),
        ("relevance", ["q?", "the answer"], ["the truth", "passage one"]),
        ("Is the answer one word?", ["q?", "the answer", "the truth", "Is the answer one word?"], []),
    ],
)
def test_a_rubric_shows_the_judge_what_it_needs_and_no_more(rubric: str, seen: list[str], unseen: list[str]) -> None:
    prompt = shown("llm-judge", params={"rubric": rubric}, **WHOLE)
    assert all(text in prompt for text in seen)
    assert not any(text in prompt for text in unseen)


def test_correctness_is_the_default_rubric() -> None:
    assert shown("llm-judge", **WHOLE) == shown("llm-judge", params={"rubric": "correctness"}, **WHOLE)


def test_a_field_that_a_record_lacks_is_not_shown_empty() -> None:
    prompt = shown("llm-judge", output="the answer")
    assert "<output-" in prompt
    assert "<reference-" not in prompt
    assert "<input-" not in prompt
    assert "reference answer:" not in prompt


@pytest.mark.parametrize(
    ("rubric", "fields", "reason"),
    [
        ("faithfulness", {"output": "a"}, "the record has no context"),
        ("faithfulness", {"output": "a", "context": [" ", ""]}, "the context is empty"),
        ("relevance", {"output": "a"}, "the record has no input"),
        ("helpfulness", {"output": "a", "input": "  "}, "the input is empty"),
        ("correctness", {"input": "q"}, "the record has no output"),
    ],
)
def test_a_record_without_what_the_rubric_needs_is_skipped_unasked(rubric: str, fields: dict, reason: str) -> None:
    model = ScriptedModel(graded_reply(1))
    result = grade("llm-judge", model, params={"rubric": rubric}, **fields)
    assert (result.outcome, result.reason) == (Outcome.SKIPPED, reason)
    assert model.asked == []


@pytest.mark.parametrize(("wrong", "right"), [("corectness", "correctness"), ("Helpfulnes", "helpfulness")])
def test_a_misspelt_rubric_is_refused_with_the_nearest_name(wrong: str, right: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        bound("llm-judge", ScriptedModel(""), params={"rubric": wrong})
    assert f"did you mean {right!r}?" in str(caught.value)


@pytest.mark.parametrize("params", [{"rubric": "  "}, {"votes": 2}, {"votes": 0}, {"votes": "3"}, {"average": "mode"}])
def test_params_that_make_no_sense_are_refused_before_anything_is_asked(params: dict) -> None:
    with pytest.raises(InvalidParamsError):
        bound("llm-judge", ScriptedModel(""), params=params)


def test_without_a_judge_nothing_is_bound() -> None:
    with pytest.raises(UsageError, match="no default judge"):
        bind(load("llm-judge"), context=EvalContext())


def test_a_rubric_with_template_marks_is_words() -> None:
    rubric = "Does it keep {{ output }} and {% raw %} as they are?"
    assert rubric in shown("llm-judge", params={"rubric": rubric}, **WHOLE)


def test_a_changed_rubric_changes_its_digest() -> None:
    one = bound("llm-judge", ScriptedModel(""), params={"rubric": "Is it kind?"}).instance.prompt_digests
    two = bound("llm-judge", ScriptedModel(""), params={"rubric": "Is it kind!?"}).instance.prompt_digests
    assert one["llm-judge@1 rubric"] != two["llm-judge@1 rubric"]


def test_the_score_carries_the_judges_words_and_its_origin() -> None:
    result = grade("correctness", graded_reply(0.75, "Right, but vague."), input="q", output="a", reference="b")
    score = score_named(result, "correctness")
    assert (score.number, score.explanation) == (0.75, "Right, but vague.")
    assert score.metadata["judge"] == "openai-compatible/judge-1"
    assert [prompt.partition("+")[0] for prompt in score.metadata["prompts"]] == ["correctness@1"]
    assert "cached" not in score.metadata
    assert result.usage is not None
    assert result.usage.cost_usd == pytest.approx(CALL_USD)
    assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.requests) == (1000, 100, 1)


def test_a_score_from_the_cache_says_so_and_costs_nothing_now() -> None:
    cache = Shelf()
    records = [record(output="a", reference="b")]
    grade_all(bound("correctness", ScriptedModel(graded_reply(1)), cache=cache), records)
    model = ScriptedModel(graded_reply(0))
    (result,) = grade_all(bound("correctness", model, cache=cache), records)
    score = score_named(result, "correctness")
    assert (score.number, score.metadata["cached"], model.asked) == (1.0, True, [])
    assert result.usage is not None
    assert result.usage.cached
    assert result.usage.cost_usd == 0.0
    assert result.usage.cached_cost_usd == pytest.approx(CALL_USD)


def test_an_empty_output_is_an_answer_and_an_empty_reference_is_no_reference() -> None:
    assert grade("correctness", graded_reply(0), output="", reference="b").scores[0].number == 0.0
    result = grade("correctness", graded_reply(1), output="a", reference=" ")
    assert (result.outcome, result.reason) == (Outcome.SKIPPED, "the reference is empty")


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("The answer is fine.", ErrorKind.JUDGE_PARSE),
        ('{"reasoning": "x", "score": 7}', ErrorKind.JUDGE_OUT_OF_RANGE),
        ('{"reasoning": "x", "score": NaN}', ErrorKind.JUDGE_PARSE),
        ('{"reasoning": "x", "score": 0.', ErrorKind.JUDGE_PARSE),
        ("I'm sorry, I cannot judge this.", ErrorKind.JUDGE_REFUSED),
    ],
)
def test_an_unreadable_reply_is_an_error_that_keeps_it_never_a_score(reply: str, kind: ErrorKind) -> None:
    result = grade("correctness", reply, output="a", reference="b")
    assert (result.outcome, result.error_kind, result.fault) == (Outcome.ERROR, kind, Fault.JUDGE)
    assert result.raw_reply == reply
    assert result.scores == []


def test_a_reply_that_had_to_be_repaired_says_so() -> None:
    result = grade("correctness", ["half a thought", graded_reply(0.5)], output="a", reference="b")
    score = score_named(result, "correctness")
    assert (score.number, score.metadata["repaired"]) == (0.5, True)
    assert result.usage is not None
    assert result.usage.cost_usd == pytest.approx(2 * CALL_USD)


def test_a_provider_that_fails_is_an_error_of_its_own_kind() -> None:
    broken = ProviderError("too many requests", kind=ErrorKind.RATE_LIMITED)
    result = grade("correctness", broken, output="a", reference="b")
    assert (result.outcome, result.error_kind) == (Outcome.ERROR, ErrorKind.RATE_LIMITED)


# --- Votes -----------------------------------------------------------------------------------------------------------

VOTES = [graded_reply(1.0, "clear"), graded_reply(0.5, "half"), graded_reply(0.75, "nearly")]


def test_votes_are_distinct_questions_with_their_own_places_in_the_cache() -> None:
    cache = Shelf()
    model = ScriptedModel(VOTES)
    (result,) = grade_all(bound("llm-judge", model, params={"votes": 3}, cache=cache), [record(output="a")])
    assert len(model.asked) == len(cache.kept) == 3
    score = score_named(result, "llm-judge")
    assert score.number == pytest.approx(0.75)
    assert score.metadata["votes"] == [1.0, 0.5, 0.75]
    # Pairs differ by 0.5, 0.25 and 0.25.
    assert score.confidence == score.metadata["agreement"] == pytest.approx(2 / 3)
    assert score.explanation == "Vote 1 (1): clear\nVote 2 (0.5): half\nVote 3 (0.75): nearly"
    assert result.usage is not None
    assert result.usage.cost_usd == pytest.approx(3 * CALL_USD)
    assert result.usage.input_tokens == 3000


def test_another_trial_asks_its_own_votes() -> None:
    cache = Shelf()
    for trial in range(2):
        grade_all(
            bound("llm-judge", ScriptedModel(VOTES), params={"votes": 3}, cache=cache, trial=trial),
            [record(output="a")],
        )
    assert len(cache.kept) == 6


def test_the_median_of_votes_is_unmoved_by_one_outlier() -> None:
    script = [graded_reply(1), graded_reply(1), graded_reply(0)]
    result = grade("llm-judge", script, params={"votes": 3, "average": "median"}, output="a")
    assert result.scores[0].number == 1.0


def test_a_single_verdict_claims_no_confidence() -> None:
    score = grade("llm-judge", graded_reply(1), output="a").scores[0]
    assert score.confidence is None
    assert "votes" not in score.metadata


def test_one_unreadable_vote_is_an_error_of_the_whole() -> None:
    result = grade("llm-judge", [graded_reply(1), "?", "?"], params={"votes": 3}, output="a")
    assert (result.outcome, result.raw_reply) == (Outcome.ERROR, "?")
