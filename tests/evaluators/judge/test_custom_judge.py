"""custom-judge: templates are checked before anything is asked, record fields are data, each reply form, votes."""

from typing import Any

import pytest

from evalsi.core.errors import InvalidParamsError, InvalidSpecError, UnknownNameError, UsageError
from evalsi.evaluators.packs.judge.votes import average_of, majority_of
from evalsi.schema import ErrorKind, Fault, Outcome
from tests.case_files import case
from tests.evaluators.judged import ScriptedModel, bound, grade, score_named, value_of

LABELS = {"form": "label", "labels": {"kind": 1, "neutral": 0.5, "rude": 0}}
JSON = {
    "form": "json",
    "fields": [
        {"type": "text", "name": "why"},
        {"type": "number", "name": "accuracy", "low": 0, "high": 10},
        {"type": "label", "name": "tone", "labels": ["warm", "cold"]},
        {"type": "flag", "name": "safe"},
    ],
}


def params(template: str = "Answer:\n{{ output }}", **more: Any) -> dict[str, Any]:
    return {"template": template, **more}


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ ouput }}", "did you mean 'output'?"),
        ("{{ output }} {{ contxt }}", "did you mean 'context'?"),
        ("{{ output }} {{ topic }}", "metadata.topic"),
        ("{{ output }} {{ context.first }}", "context.first"),
    ],
)
def test_a_variable_that_no_record_has_is_refused_with_the_nearest_one(template: str, said: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        bound("custom-judge", ScriptedModel(""), params=params(template))
    assert said in str(caught.value)
    assert "custom-judge.template" in str(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [
        params("{% for x in y %}{{ output }}"),
        params("{{ output | upper }}"),
        params("Is it good?"),
        params("{{ id }}"),
        params(" "),
        params(system="You saw {{ output }}"),
        params(reply={"form": "score", "low": 1, "high": 1}),
        params(reply={"form": "label", "labels": {"good": 1}}),
        params(reply={"form": "label", "labels": {"good": 1, "GOOD": 0}}),
        params(reply={"form": "label", "labels": {"good": 2, "bad": 0}}),
        params(reply={"form": "json", "fields": [{"type": "text", "name": "why"}]}),
        params(reply={"form": "json", "fields": [{"type": "flag", "name": "x"}], "main": "y"}),
        params(reply={"form": "letters"}),
        params(votes=4),
        {},
    ],
)
def test_a_template_or_form_that_makes_no_sense_is_refused_before_anything_is_asked(wrong: dict[str, Any]) -> None:
    with pytest.raises((InvalidParamsError, InvalidSpecError, UsageError)):
        bound("custom-judge", ScriptedModel(""), params=wrong)


@pytest.mark.parametrize(
    ("reply_form", "reply", "expected"),
    [
        ({"form": "score"}, "Fine.\nRating: 0.8", {"custom-judge": 0.8}),
        ({"form": "score", "low": 1, "high": 5}, "Fine.\nRating: 4", {"custom-judge": 0.75}),
        (LABELS, "Short.\nVerdict: neutral", {"custom-judge": 0.5, "label": "neutral"}),
        ({"form": "pass-fail"}, "No.\nVerdict: FAIL", {"custom-judge": False}),
        (
            JSON,
            '{"why": "ok", "accuracy": 7, "tone": "warm", "safe": true}',
            {"custom-judge": True, "accuracy": 7.0, "tone": "warm"},
        ),
        (
            JSON | {"main": "accuracy"},
            '{"why": "ok", "accuracy": 7, "tone": "cold", "safe": false}',
            {"custom-judge": 7.0, "tone": "cold", "safe": False},
        ),
    ],
)
def test_each_form_of_reply_is_read_into_its_outputs(reply_form: dict, reply: str, expected: dict[str, Any]) -> None:
    result = grade("custom-judge", reply, params=params(reply=reply_form), output="a")
    assert result.outcome is Outcome.SCORED, result.reason
    assert {score.name: value_of(score) for score in result.scores} == expected
    assert score_named(result, "custom-judge").explanation == ("ok" if reply_form["form"] == "json" else reply)


@pytest.mark.parametrize("reply_form", [{"form": "score"}, LABELS, {"form": "pass-fail"}, JSON])
def test_the_form_that_is_read_is_the_form_that_is_asked_for(reply_form: dict) -> None:
    model = ScriptedModel("?")
    grade("custom-judge", model, params=params(reply=reply_form), output="a")
    assert ("JSON" if reply_form["form"] == "json" else "last line") in model.questions[0]
    assert (model.asked[0].response_schema is not None) == (reply_form["form"] == "json")
    bare = ScriptedModel("?")
    grade("custom-judge", bare, params=params(reply=reply_form, ask_for_form=False), output="a")
    assert bare.questions[0].endswith(">")


def test_prompt_variables_are_data_and_never_template_code() -> None:
    given = case("C04")
    template = given["input"]["template"]
    for fields, expected in zip(given["input"]["rows"], given["expected"]["rows"], strict=True):
        model = ScriptedModel("Rating: 1")
        asked = params(template, fenced=False, ask_for_form=False)
        result = grade("custom-judge", model, params=asked, **fields)
        if isinstance(expected, str):
            assert model.questions == [expected]
        elif "status" in expected:
            assert (result.outcome.name, result.error_kind.value) == (expected["status"], expected["code"])
            assert expected["names"] in result.reason
            assert model.asked == []
        else:
            assert all(text in model.questions[0] for text in expected["contains"])
            assert not any(text in model.questions[0] for text in expected["not_contains"])


def test_metadata_and_context_can_be_shown() -> None:
    model = ScriptedModel("Rating: 1")
    template = "{{ metadata.topic }} {{ metadata.user.age }} {{ context }} {{ id }}"
    fields = {"metadata": {"topic": "bills", "user": {"age": 41}}, "context": ["one", "two"]}
    result = grade("custom-judge", model, params=params(template), id="case-7", **fields)
    assert result.outcome is Outcome.SCORED
    for text in ("bills", "41", "[1] one\n\n[2] two", "case-7"):
        assert text in model.questions[0]


def test_metadata_that_a_record_lacks_is_an_error_and_not_a_gap() -> None:
    result = grade("custom-judge", "Rating: 1", params=params("{{ output }} {{ metadata.topic }}"), output="a")
    assert (result.outcome, result.error_kind) == (Outcome.ERROR, ErrorKind.MISSING_FIELD)
    assert "metadata.topic" in result.reason


def test_the_majority_of_labels_decides_and_its_share_is_the_confidence() -> None:
    script = ["Verdict: kind", "Verdict: rude", "Verdict: kind"]
    score = score_named(grade("custom-judge", script, params=params(reply=LABELS, votes=3), output="a"), "custom-judge")
    assert (score.number, score.confidence) == (1.0, pytest.approx(2 / 3))
    assert score.metadata["votes"] == ["kind", "rude", "kind"]


def test_a_majority_of_verdicts_decides() -> None:
    script = ["Verdict: FAIL", "Verdict: PASS", "Verdict: FAIL"]
    result = grade("custom-judge", script, params=params(reply={"form": "pass-fail"}, votes=3), output="a")
    assert score_named(result, "custom-judge").passed is False


def test_votes_without_a_majority_are_an_error_of_the_judge_and_no_score() -> None:
    script = ["Verdict: kind", "Verdict: rude", "Verdict: neutral"]
    result = grade("custom-judge", script, params=params(reply=LABELS, votes=3), output="a")
    assert (result.outcome, result.error_kind, result.fault) == (Outcome.ERROR, ErrorKind.NO_SCORE, Fault.JUDGE)
    assert "no majority" in result.reason


def test_json_fields_are_each_combined_in_their_own_way() -> None:
    script = [
        '{"why": "a", "accuracy": 2, "tone": "warm", "safe": true}',
        '{"why": "b", "accuracy": 4, "tone": "cold", "safe": true}',
        '{"why": "c", "accuracy": 6, "tone": "cold", "safe": false}',
    ]
    result = grade("custom-judge", script, params=params(reply=JSON, votes=3), output="a")
    assert {score.name: value_of(score) for score in result.scores} == {
        "custom-judge": True,
        "accuracy": 4.0,
        "tone": "cold",
    }


def test_agreement_is_one_for_equal_votes_and_falls_as_they_part() -> None:
    assert average_of([0.5] * 3, "mean").agreement == 1.0
    assert average_of([0.0, 1.0], "mean").agreement == 0.0
    assert average_of([0.0, 10.0], "mean", span=10).agreement == 0.0
    assert majority_of(["a"] * 5).agreement == 1.0
    assert majority_of([True, True, False]) == (True, pytest.approx(2 / 3))
