"""faithfulness and context-recall: claims in one question or two, nothing to check, verdicts that do not fit."""

import json

import pytest

from evalsi.schema import ErrorKind, Outcome
from tests.evaluators.judged import CALL_USD, ScriptedModel, grade, score_named

FIELDS = {"input": "Open?", "output": "Yes, until 8. Entry is free.", "context": ["Open until 6.", "Entry is free."]}


def judged(*supported: bool) -> str:
    return json.dumps({"claims": [{"claim": f"claim {n}", "supported": value} for n, value in enumerate(supported, 1)]})


def test_the_score_is_supported_claims_over_claims_and_names_the_others() -> None:
    result = grade("faithfulness", judged(True, False, True, False), **FIELDS)
    score = score_named(result, "faithfulness")
    assert score.number == 0.5
    assert score.explanation == "2 of 4 claims supported. Not supported:\n- claim 2\n- claim 4"
    assert score.metadata["claims"][1] == {"claim": "claim 2", "supported": False}


def test_with_every_claim_supported_nothing_is_listed() -> None:
    assert grade("faithfulness", judged(True), **FIELDS).scores[0].explanation == "1 of 1 claims supported."


@pytest.mark.parametrize("two_step", [False, True])
def test_an_answer_without_claims_is_skipped_and_neither_0_nor_1(two_step: bool) -> None:
    result = grade("faithfulness", '{"claims": []}', params={"two_step": two_step}, **FIELDS)
    assert (result.outcome, result.scores) == (Outcome.SKIPPED, [])
    assert result.reason == "nothing to check: the output makes no claim"


def test_an_empty_answer_is_skipped_without_asking() -> None:
    model = ScriptedModel(judged(True))
    result = grade("faithfulness", model, output=" ", context=["a"])
    assert (result.outcome, result.reason) == (Outcome.SKIPPED, "nothing to check: the output is empty")
    assert model.asked == []


def test_an_answer_without_passages_is_skipped_without_asking() -> None:
    for context, reason in (([], "the record has no context"), ([""], "the context is empty")):
        model = ScriptedModel(judged(True))
        result = grade("faithfulness", model, output="a", context=context)
        assert (result.outcome, result.reason, model.asked) == (Outcome.SKIPPED, reason, [])


def test_two_steps_list_the_claims_without_the_passages_and_then_verify_each() -> None:
    verdicts = {
        "verdicts": [
            {"claim": 2, "reason": "It is stated.", "verdict": "supported"},
            {"claim": 1, "reason": "It closes at 6.", "verdict": "unsupported"},
        ]
    }
    model = ScriptedModel(['{"claims": ["It is open\\nuntil 8.", "Entry is free."]}', json.dumps(verdicts)])
    result = grade("faithfulness", model, params={"two_step": True}, **FIELDS)
    score = score_named(result, "faithfulness")
    assert score.number == 0.5
    assert score.explanation == "1 of 2 claims supported. Not supported:\n- It is open until 8. (It closes at 6.)"
    listing, verifying = model.questions
    assert "until 6" not in listing
    assert "1. It is open until 8.\n2. Entry is free." in verifying
    assert "Open until 6." in verifying
    assert FIELDS["output"] not in verifying
    assert result.usage is not None
    assert result.usage.cost_usd == pytest.approx(2 * CALL_USD)
    assert len(score.metadata["prompts"]) == 2


@pytest.mark.parametrize(
    "reply",
    [
        '{"claims": [{"claim": "a", "supported": true}, {"claim": "a", "supported": false}]}',
        '{"claims": [{"claim": "a", "supported": "maybe"}]}',
        '{"claims": [{"claim": "a"}]}',
        '{"claims": "all supported"}',
        "All of it is supported.",
        json.dumps({"claims": [{"claim": str(n), "supported": True} for n in range(201)]}),
    ],
)
def test_claims_that_cannot_be_read_are_an_error(reply: str) -> None:
    result = grade("faithfulness", reply, **FIELDS)
    assert (result.outcome, result.error_kind, result.raw_reply) == (Outcome.ERROR, ErrorKind.JUDGE_PARSE, reply)


def test_a_claim_that_is_said_twice_counts_once() -> None:
    reply = '{"claims": [{"claim": "a", "supported": true}, {"claim": " a ", "supported": true}, {"claim": "b", "supported": false}]}'
    assert grade("faithfulness", reply, **FIELDS).scores[0].number == 0.5


def test_context_recall_checks_the_reference_and_never_sees_the_output() -> None:
    model = ScriptedModel(judged(True, True, False, True))
    result = grade("context-recall", model, reference="Until 6, free.", **FIELDS)
    assert score_named(result, "context-recall").number == 0.75
    assert "Until 6, free." in model.questions[0]
    assert FIELDS["output"] not in model.questions[0]
    assert "reference answer" in model.asked[0].messages[0].content


def test_a_reference_without_claims_or_text_is_skipped() -> None:
    result = grade("context-recall", '{"claims": []}', reference="-", **FIELDS)
    assert result.reason == "nothing to check: the reference makes no claim"
    assert grade("context-recall", judged(True), reference=" ", **FIELDS).outcome is Outcome.SKIPPED
