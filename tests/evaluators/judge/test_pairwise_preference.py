"""pairwise-preference: both orders are asked, a preference counts when it survives the swap."""

import re

import pytest

from evalsi.ports.chat_model import ChatRequest
from evalsi.schema import EvaluationResult, Outcome
from tests.evaluators.judged import CALL_USD, ScriptedModel, grade, record, score_named

BLOCK = r"{name}:\n<(\S+)>\n(.*?)\n</\1>"


def answers_in(request: ChatRequest) -> tuple[str, str]:
    """What stands as answer A and as answer B in a question."""
    text = request.messages[-1].content
    found = [re.search(BLOCK.format(name=name), text, re.DOTALL) for name in ("Answer A", "Answer B")]
    assert all(found)
    return found[0].group(2), found[1].group(2)  # type: ignore[union-attr]


def compare(script: object, ours: str = "ours", theirs: str = "theirs") -> tuple[EvaluationResult, ScriptedModel]:
    model = ScriptedModel(script)  # type: ignore[arg-type]
    result = grade("pairwise-preference", model, baseline=record(input="q", output=theirs), input="q", output=ours)
    return result, model


def outputs_of(result: EvaluationResult) -> tuple[float | None, bool | None, str | None]:
    return (
        score_named(result, "pairwise-preference").number,
        score_named(result, "consistent").passed,
        score_named(result, "favoured-position").label,
    )


def test_the_second_question_shows_the_answers_in_the_other_order() -> None:
    _, model = compare("Verdict: tie")
    assert [answers_in(request) for request in model.asked] == [("ours", "theirs"), ("theirs", "ours")]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (("A", "B"), (1.0, True, "neither")),
        (("B", "A"), (0.0, True, "neither")),
        (("tie", "tie"), (0.5, True, "neither")),
        (("A", "A"), (0.5, False, "first")),
        (("B", "B"), (0.5, False, "second")),
        (("A", "tie"), (0.5, False, "neither")),
        (("tie", "A"), (0.5, False, "neither")),
    ],
)
def test_a_preference_counts_only_when_it_survives_the_swap(verdicts: tuple[str, str], expected: tuple) -> None:
    result, _ = compare([f"Because.\nVerdict: {verdict}" for verdict in verdicts])
    assert outputs_of(result) == expected


def test_a_judge_that_goes_by_content_is_consistent_and_one_that_goes_by_place_is_found_out() -> None:
    def by_content(request: ChatRequest) -> str:
        return f"Verdict: {'A' if answers_in(request)[0] == 'ours' else 'B'}"

    assert outputs_of(compare(by_content)[0]) == (1.0, True, "neither")
    assert outputs_of(compare("Verdict: A")[0]) == (0.5, False, "first")


def test_the_words_of_both_questions_are_kept_and_both_are_paid_for() -> None:
    result, _ = compare(["Ours is clear.\nVerdict: A", "Still ours.\nVerdict: B"])
    score = score_named(result, "pairwise-preference")
    assert "Shown first (prefers it): Ours is clear." in score.explanation
    assert "Shown second (prefers it): Still ours." in score.explanation
    assert (score.metadata["shown_first"], score.metadata["shown_second"]) == ("record", "record")
    assert result.usage is not None
    assert result.usage.cost_usd == pytest.approx(2 * CALL_USD)


def test_equal_outputs_are_a_tie_without_a_question() -> None:
    result, model = compare("Verdict: A", ours="same", theirs="same")
    assert outputs_of(result) == (0.5, True, "neither")
    assert model.asked == []


def test_a_record_without_a_baseline_or_without_its_output_is_skipped() -> None:
    assert grade("pairwise-preference", "Verdict: A", output="a").outcome is Outcome.SKIPPED
    result = grade("pairwise-preference", "Verdict: A", baseline=record(input="q"), output="a")
    assert (result.outcome, result.reason) == (Outcome.SKIPPED, "the baseline has no output")


def test_an_unreadable_second_verdict_is_an_error_not_half_a_preference() -> None:
    result, _ = compare(["Verdict: A", "Both are good.", "Hard to say."])
    assert (result.outcome, result.raw_reply) == (Outcome.ERROR, "Hard to say.")


def test_own_criteria_reach_the_judge() -> None:
    model = ScriptedModel("Verdict: tie")
    params = {"criteria": "Shorter is better."}
    grade("pairwise-preference", model, params=params, baseline=record(output="b"), output="a")
    assert "Shorter is better." in model.asked[0].messages[0].content
