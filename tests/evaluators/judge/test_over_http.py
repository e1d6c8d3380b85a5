"""The same evaluators over a real HTTP connection: a stand-in server that speaks the provider's protocol and fails on cue."""

import asyncio
import json
import math
import re
from collections.abc import Sequence
from typing import Any

import pytest

from evalsi.engine.columns import results
from evalsi.engine.evaluate import Evaluation, RecordBatch
from evalsi.engine.panel import Panel
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.builtin import BUILTIN
from evalsi.evaluators.catalog import load
from evalsi.infra.models.endpoint import Access
from evalsi.infra.models.openai import OpenAICompatibleModel
from evalsi.judges.judge import JudgeSettings, ModelJudge
from evalsi.schema import EvaluationResult, Outcome, Record
from evalsi.testing.stand_in_model import Behaviour, Question, Reply, StandInModel
from tests.evaluators.judged import record, value_of


def graded_over_http(
    name: str, behaviour: Behaviour, records: Sequence[Record], *, params: Any = None, baselines: Sequence[Record] = ()
) -> list[EvaluationResult]:
    async def run(base_url: str) -> list[EvaluationResult]:
        model = OpenAICompatibleModel(Access(base_url=base_url))
        judge = ModelJudge(model, JudgeSettings(provider="openai-compatible", model="stand-in"))
        try:
            evaluator = bind(load(name), context=EvalContext(judge=judge), params=params)
            evaluation = Evaluation(Panel(evaluators=(evaluator,)), baselines={each.id: each for each in baselines})
            graded = [batch async for batch in evaluation.grade(iter([RecordBatch(0, list(records))]))]
            return list(results(graded[0].columns[0], [each.id for each in records]))
        finally:
            await judge.close()

    with StandInModel(behaviour) as server:
        return asyncio.run(run(server.base_url))


NAMES = [
    f"{pack}/{name}"
    for pack in ("judge", "rag")
    for name in BUILTIN[pack]
    if "judge" in load(f"{pack}/{name}").requires
]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_gives_the_same_scores_over_http(name: str) -> None:
    example: dict[str, Any] = dict(load(name).example)
    replies = example["judge_reply"]
    (result,) = graded_over_http(
        name,
        Behaviour(replies=[replies] if isinstance(replies, str) else replies),
        [record(**example["record"])],
        params=example.get("params"),
        baselines=[record(**example["baseline"])] if "baseline" in example else (),
    )
    assert result.outcome is Outcome.SCORED, result.reason
    assert {score.name: value_of(score) for score in result.scores} == pytest.approx(example["expected"])
    assert result.usage is not None
    assert result.usage.input_tokens
    assert result.usage.cost_usd is None


def test_token_probabilities_come_through_the_protocol() -> None:
    def alternatives(token: str, **top: float) -> dict[str, Any]:
        listed = [{"token": other, "logprob": math.log(weight)} for other, weight in top.items()]
        return {"token": token, "logprob": 0.0, "top_logprobs": listed}

    tokens = [alternatives("Rating:"), alternatives(" 4", **{" 4": 0.5, " 5": 0.5})]
    tokens[1]["logprob"] = math.log(0.5)

    def answer(question: Question) -> Reply:
        assert question.body["top_logprobs"] == 20
        return Reply(text="Rating: 4", logprobs=tokens)

    params = {"criteria": "Coherence: it holds together.", "steps": ["Read it."]}
    (result,) = graded_over_http("g-eval", Behaviour(replies=answer), [record(output="a")], params=params)
    assert result.scores[0].number == pytest.approx((4.5 - 1) / 4)
    assert result.scores[0].metadata["rating_from"] == "token-probabilities"


def test_rate_limits_and_broken_servers_cost_time_and_no_score() -> None:
    def answer(question: Question) -> str:
        (number,) = re.findall(r"record (\d+)!", question.text)
        return json.dumps({"reasoning": "x", "score": int(number) / 40})

    records = [record(id=str(n), output=f"record {n}!", reference="b") for n in range(40)]
    behaviour = Behaviour(replies=answer, rate_limited=0.1, server_error=0.05, dropped=0.05, seed=7)
    graded = graded_over_http("correctness", behaviour, records)
    assert [result.scores[0].number for result in graded] == [n / 40 for n in range(40)]
