"""Cases J01 and J02 through the engine, and what the explanations name."""

from typing import Any

import pytest

from evalsi.engine.columns import results
from evalsi.schema import EvaluationResult, Outcome
from tests.case_files import case, rows_of
from tests.evaluators.measuring import columns, record


def graded(name: str, reference: Any, steps: list[dict[str, Any]], **params: Any) -> EvaluationResult:
    given = record(None, reference, trajectory={"steps": steps})
    (found,) = results(columns(name, given, **params), ["r"])
    return found


def values(result: EvaluationResult) -> dict[str, Any]:
    return {score.name: score.number if score.passed is None else score.passed for score in result.scores}


def steps_of_calls(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each call as a step of its own; arguments as text stay text, as a model wrote them."""
    steps: list[dict[str, Any]] = []
    for call in calls:
        given = call["arguments"]
        content = {"text": given} if isinstance(given, str) else {"json": given}
        steps.append({"type": "tool", "name": call["name"], "input": content})
    return steps


@pytest.mark.parametrize(("row", "expected"), rows_of("J01"))
def test_calls_match_as_the_case_says(row: dict[str, Any], expected: dict[str, Any]) -> None:
    result = graded("tool-call-accuracy", row["expected"], steps_of_calls(row["actual"]), **row["options"])
    assert values(result)["tool-calls-match"] is expected["match"], expected["why"]


@pytest.mark.parametrize(("row", "expected"), rows_of("J01"))
def test_calls_within_a_models_message_match_alike(row: dict[str, Any], expected: dict[str, Any]) -> None:
    import msgspec

    calls = [
        {
            "id": f"c{place}",
            "name": call["name"],
            "arguments": given if isinstance(given := call["arguments"], str) else msgspec.json.encode(given).decode(),
        }
        for place, call in enumerate(row["actual"])
    ]
    message = {"role": "assistant", "tool_calls": calls}
    steps = [{"type": "llm", "output": {"messages": {"messages": [message]}}}]
    result = graded("tool-call-accuracy", row["expected"], steps, **row["options"])
    assert values(result)["tool-calls-match"] is expected["match"], expected["why"]


def test_malformed_arguments_are_named_and_never_empty() -> None:
    result = graded(
        "tool-call-accuracy",
        [{"name": "set", "arguments": {}}],
        [{"type": "tool", "name": "set", "input": {"text": '{"a": 1'}}],
    )
    match = next(score for score in result.scores if score.name == "tool-calls-match")
    assert "malformed" in match.explanation


def test_recall_and_precision_count_calls_and_are_absent_where_there_is_none() -> None:
    reference = [{"name": "f"}, {"name": "g"}]
    both = values(graded("tool-call-accuracy", reference, [{"type": "tool", "name": "f"}]))
    assert (both["recall"], both["precision"]) == (0.5, 1.0)
    assert values(graded("tool-call-accuracy", [], [])) == {"tool-calls-match": True}
    assert "precision" not in values(graded("tool-call-accuracy", reference, []))


def test_a_call_without_wanted_arguments_does_not_take_the_place_of_another() -> None:
    reference = ["f", {"name": "f", "arguments": {"x": 1}}]
    steps = steps_of_calls([{"name": "f", "arguments": {"x": 1}}, {"name": "f", "arguments": {"x": 2}}])
    assert values(graded("tool-call-accuracy", reference, steps))["recall"] == 1.0


@pytest.mark.parametrize("mode", ["strict", "unordered", "superset", "subset", "in_order"])
def test_trajectories_match_by_mode_as_the_case_says(mode: str) -> None:
    found = case("J02")
    reference = found["input"]["reference"]
    for actual, expected in zip(found["input"]["actual"], found["expected"]["rows"], strict=True):
        steps = [{"type": "tool", "name": name} for name in actual]
        assert values(graded("trajectory-match", reference, steps, mode=mode))["trajectory-match"] is expected[mode], (
            actual
        )


def test_a_miss_names_the_first_missing_and_the_first_extra_call() -> None:
    steps = [{"type": "tool", "name": name} for name in ("search", "email", "call")]
    (score,) = graded("trajectory-match", ["search", "open", "answer"], steps, mode="unordered").scores
    assert score.explanation == "first missing: open; first extra: email"


def test_an_agent_that_called_nothing_is_said_to_have() -> None:
    (score,) = graded("trajectory-match", ["search"], [], mode="subset").scores
    assert score.passed is True
    assert "no tool was called" in score.explanation


@pytest.mark.parametrize("reference", ["just text", {"answer": 5}, [5]])
def test_a_reference_that_is_no_list_of_calls_is_skipped(reference: Any) -> None:
    result = graded("tool-call-accuracy", reference, [{"type": "tool", "name": "f"}])
    assert result.outcome is Outcome.SKIPPED
    assert "list of tool calls" in result.reason
