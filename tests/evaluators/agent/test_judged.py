"""What a judge says about trajectories: what it is shown, and what becomes of its answers."""

import asyncio
from typing import Any

import msgspec

from evalsi.engine.columns import results
from evalsi.engine.evaluate import Evaluation, RecordBatch
from evalsi.engine.panel import Panel
from evalsi.schema import EvaluationResult, Outcome, Record
from tests.evaluators.judged import ScriptedModel, bound, grade_all

GOOD = '{"reasoning": "It is on.", "score": 1.0}'
STEPS = [
    {"type": "llm", "name": "small-1", "output": {"text": "I will switch it on."}},
    {"type": "tool", "name": "lamp", "input": {"json": {"room": "hall"}}, "output": {"text": "ok"}},
    {"type": "generic", "name": "frame"},
]


def _record(**fields: Any) -> Record:
    return msgspec.convert(
        {"id": "1", "input": {"text": "Hall lamp on."}, "trajectory": {"steps": STEPS}} | fields, Record
    )


def _graded(name: str, model: ScriptedModel, given: Record, **params: Any) -> EvaluationResult:
    (result,) = grade_all(bound(name, model, params=params), [given])
    return result


def test_the_goal_is_judged_by_the_steps_and_the_judge_sees_them() -> None:
    model = ScriptedModel(GOOD)
    result = _graded("goal-completion", model, _record())
    assert result.scores[0].number == 1.0
    (question,) = model.questions
    assert "Hall lamp on." in question
    assert "tool lamp" in question
    assert "frame" not in question


def test_a_policy_is_judged_and_stands_apart_from_the_data() -> None:
    model = ScriptedModel('{"reasoning": "Nobody was asked.", "compliant": false}')
    result = _graded("policy-compliance", model, _record(), policy="Ask first.")
    assert result.scores[0].passed is False
    assert "Ask first." not in model.questions[0]
    assert any("Ask first." in message.content for message in model.asked[0].messages)


def test_steps_without_content_are_skipped_and_the_judge_is_not_asked() -> None:
    model = ScriptedModel(GOOD)
    bare = _record(trajectory={"steps": [{"type": "llm", "name": "small-1"}]})
    result = _graded("goal-completion", model, bare)
    assert result.outcome is Outcome.SKIPPED
    assert "no content" in result.reason
    assert model.asked == []


def test_a_long_trajectory_is_shown_without_its_middle() -> None:
    model = ScriptedModel(GOOD)
    steps = [{"type": "tool", "name": f"t{number}", "output": {"text": "x" * 3000}} for number in range(100)]
    _graded("goal-completion", model, _record(trajectory={"steps": steps}))
    (question,) = model.questions
    assert "tool t0\n" in question
    assert "tool t99\n" in question
    assert "steps left out" in question
    assert len(question) < 80_000


def test_frustration_is_judged_once_per_session_over_all_its_turns() -> None:
    model = ScriptedModel('{"reasoning": "Asks three times.", "score": 0.5}')
    turns = [
        msgspec.convert(
            {"id": str(number), "input": {"text": text}, "output": {"text": "no"}, "metadata": {"session_id": "s"}},
            Record,
        )
        for number, text in enumerate(["lamp on", "LAMP ON", "lamp on!!!"])
    ]

    async def run() -> list[EvaluationResult]:
        evaluation = Evaluation(Panel(evaluators=(bound("user-frustration", model),)))
        _ = [batch async for batch in evaluation.grade(iter([RecordBatch(0, turns)]))]
        return [result for columns in await evaluation.finish() for result in results(columns, ["s"])]

    (result,) = asyncio.run(run())
    assert result.scores[0].number == 0.5
    (question,) = model.questions
    assert "LAMP ON" in question
    assert "lamp on!!!" in question
