"""Runs judge evaluators as a run does: catalog, binding, engine, and the real judge over a model whose replies a test writes."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from evalsi.engine.columns import results
from evalsi.engine.evaluate import Evaluation, RecordBatch
from evalsi.engine.panel import Panel
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import BoundEvaluator, bind
from evalsi.evaluators.catalog import load
from evalsi.judges.judge import JudgeSettings, ModelJudge
from evalsi.judges.prices import Price, table_of
from evalsi.ports.chat_model import ChatReply, ChatRequest
from evalsi.schema import Content, EvaluationResult, Record, Score, Usage

USAGE = Usage(input_tokens=1000, output_tokens=100, latency=0.25)
CALL_USD = 0.0014
"""What one call of `USAGE` costs at the prices below."""
PRICES = table_of({"judge-1": Price(input=1.0, output=4.0)})
SETTINGS = JudgeSettings(provider="openai-compatible", model="judge-1")

Script = (
    str | ChatReply | Exception | Sequence["str | ChatReply | Exception"] | Callable[[ChatRequest], str | ChatReply]
)


class Shelf:
    """A reply cache in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self.kept.get(key)

    def put(self, key: str, value: bytes) -> None:
        self.kept.setdefault(key, value)

    def close(self) -> None:
        pass


class ScriptedModel:
    """A chat model that replies with one text, with several in turn (the last one repeats), or as a function says."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.asked: list[ChatRequest] = []

    @property
    def identity(self) -> dict[str, str]:
        return {"provider": "openai-compatible", "base_url": "http://judge"}

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        await asyncio.sleep(0)
        reply: Any = self._script
        if callable(self._script):
            reply = self._script(request)
        elif isinstance(self._script, Sequence) and not isinstance(self._script, str):
            reply = self._script[min(len(self.asked), len(self._script)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return ChatReply(text=reply, usage=USAGE) if isinstance(reply, str) else reply

    async def close(self) -> None:
        pass

    @property
    def questions(self) -> list[str]:
        """The user messages, in the order they came."""
        return [request.messages[-1].content for request in self.asked]


def content(value: Any) -> Content:
    return Content(text=value) if isinstance(value, str) else Content(json=value)


def record(**fields: Any) -> Record:
    """A record of plain values, as in examples: texts become text, anything else JSON."""
    made: dict[str, Any] = {name: content(fields[name]) for name in ("input", "output", "reference") if name in fields}
    context = [content(passage) for passage in fields.get("context", [])]
    return Record(id=fields.get("id", "1"), context=context, metadata=fields.get("metadata", {}), **made)


def bound(
    name: str, model: ScriptedModel, *, params: dict[str, Any] | None = None, cache: Shelf | None = None, trial: int = 0
) -> BoundEvaluator:
    judge = ModelJudge(model, SETTINGS, cache=cache, prices=PRICES)
    return bind(load(name), context=EvalContext(judge=judge, repetition=trial), params=params)


def grade_all(
    evaluator: BoundEvaluator, records: Sequence[Record], baselines: Sequence[Record] = ()
) -> list[EvaluationResult]:
    async def run() -> list[EvaluationResult]:
        evaluation = Evaluation(Panel(evaluators=(evaluator,)), baselines={each.id: each for each in baselines})
        graded = [batch async for batch in evaluation.grade(iter([RecordBatch(0, list(records))]))]
        return list(results(graded[0].columns[0], [each.id for each in records]))

    return asyncio.run(run())


def grade(
    name: str,
    script: Script | ScriptedModel,
    *,
    params: dict[str, Any] | None = None,
    baseline: Record | None = None,
    **fields: Any,
) -> EvaluationResult:
    """One record through the engine."""
    model = script if isinstance(script, ScriptedModel) else ScriptedModel(script)
    baselines = () if baseline is None else (baseline,)
    (result,) = grade_all(bound(name, model, params=params), [record(**fields)], baselines)
    return result


def score_named(result: EvaluationResult, output: str) -> Score:
    (score,) = [each for each in result.scores if each.name == output]
    return score


def value_of(score: Score) -> float | bool | str | None:
    return score.number if score.number is not None else score.passed if score.passed is not None else score.label


def graded_reply(score: float, reasoning: str = "because") -> str:
    return json.dumps({"reasoning": reasoning, "score": score})
