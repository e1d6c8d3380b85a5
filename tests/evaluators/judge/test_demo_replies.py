"""The shipped judge replies, read by the evaluators they were written for."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.catalog import load
from evalsi.infra.models.recorded import RecordedModel
from evalsi.judges.judge import JudgeSettings, ModelJudge
from evalsi.ports.chat_model import ChatReply, ChatRequest
from evalsi.schema import ErrorKind, EvaluationResult, Outcome, Usage
from tests.evaluators.judged import ScriptedModel, bound, grade_all, record

DATA = Path(__file__).parents[3] / "examples" / "demo" / "data"


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def replayed(assistant: str, evaluator: str) -> list[EvaluationResult]:
    records = lines(f"{assistant}.jsonl")
    rows = [row for row in lines("judge_replies.jsonl") if (row["assistant"], row["judge"]) == (assistant, evaluator)]
    replies = {row["record_id"]: row for row in rows}
    # Outputs and inputs identify the record a question is about.
    by_input = {each["input"]: replies[each["id"]] for each in records if each["id"] in replies}

    def reply(request: ChatRequest) -> ChatReply:
        (row,) = [row for text, row in by_input.items() if f"\n{text}\n</input-" in request.messages[-1].content]
        usage = Usage(input_tokens=row["input_tokens"], output_tokens=row["output_tokens"])
        return ChatReply(text=row["reply"], usage=usage)

    made = [record(**{key: each[key] for key in ("id", "input", "output", "reference", "context")}) for each in records]
    return grade_all(bound(evaluator, ScriptedModel(reply)), made)


@pytest.mark.parametrize(("assistant", "right"), [("aster", 114), ("birch", 128)])
def test_correctness_finds_what_the_data_set_promises(assistant: str, right: int) -> None:
    results = replayed(assistant, "correctness")
    scored = [result.scores[0].number or 0.0 for result in results if result.outcome is Outcome.SCORED]
    assert sum(score >= 0.75 for score in scored) == right


def test_unreadable_replies_are_errors_and_answers_without_claims_are_skipped() -> None:
    results = [
        result
        for assistant in ("aster", "birch")
        for evaluator in ("correctness", "faithfulness")
        for result in replayed(assistant, evaluator)
    ]
    outcomes = Counter(result.outcome for result in results)
    errors = [result for result in results if result.outcome is Outcome.ERROR]
    assert len(results) == 640
    assert len(errors) == 3
    assert {error.error_kind for error in errors} <= {ErrorKind.JUDGE_PARSE, ErrorKind.JUDGE_REFUSED}
    assert all(error.raw_reply for error in errors)
    empty = sum('"claims": []' in row["reply"] for row in lines("judge_replies.jsonl"))
    assert outcomes[Outcome.SKIPPED] == empty
    assert {result.reason.partition(":")[0] for result in results if result.outcome is Outcome.SKIPPED} == {
        "nothing to check"
    }


@pytest.mark.parametrize("evaluator", ["correctness", "faithfulness"])
def test_the_shipped_recording_was_made_with_todays_prompts(evaluator: str) -> None:
    settings = JudgeSettings(provider="recorded", model="recorded")
    judge = ModelJudge(RecordedModel(DATA / "judge_recording.jsonl"), settings)
    made = [
        record(**{key: each[key] for key in ("id", "input", "output", "reference", "context")})
        for each in lines("aster.jsonl")
    ]
    results = grade_all(bind(load(evaluator), context=EvalContext(judge=judge)), made)
    strangers = [result.record_id for result in results if result.error_kind is ErrorKind.PROVIDER_REJECTED]
    assert strangers == []
