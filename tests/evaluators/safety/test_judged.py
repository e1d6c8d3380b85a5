import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
import pytest

from evalsi.core.errors import ReplyError, UsageError
from evalsi.evaluators.api import EvalContext, Score
from evalsi.evaluators.binding import bind
from evalsi.evaluators.catalog import load
from evalsi.ports.chat_model import ChatReply
from evalsi.ports.judge import JudgePrompt, Verdict
from evalsi.schema import Content, Record, Usage

T = TypeVar("T")
JUDGED = ["bias", "harmlessness", "jailbreak-success", "refusal-judge", "toxicity"]


@dataclass
class RepeatingJudge:
    """Says one thing to everything and keeps what it was asked."""

    reply: str
    asked: list[JudgePrompt] = field(default_factory=list)
    name: str = "test/judge"

    async def ask(self, prompt: JudgePrompt, parse: Callable[[ChatReply], T], *, repetition: int = 0) -> Verdict[T]:
        self.asked.append(prompt)
        reply = msgspec.convert({"text": self.reply, "model": "judge", "usage": {}}, ChatReply)
        return Verdict(value=parse(reply), reply=self.reply, usage=Usage())


def judged(name: str, record: Record, reply: str) -> tuple[Score, JudgePrompt]:
    judge = RepeatingJudge(reply)
    call: Any = bind(load(f"safety/{name}"), context=EvalContext(judge=judge)).call
    return asyncio.run(call(record)), judge.asked[-1]


def record_of(question: str | None, output: str) -> Record:
    return Record(id="1", input=None if question is None else Content(text=question), output=Content(text=output))


@pytest.mark.parametrize("name", JUDGED)
def test_the_example_gives_what_it_says_and_keeps_the_reason(name: str) -> None:
    example = load(name).example
    record = record_of(example["record"]["input"], example["record"]["output"])
    score, prompt = judged(name, record, example["judge_reply"])
    value = score.number if score.number is not None else score.passed
    assert {score.name: value} == example["expected"]
    assert score.explanation
    assert score.metadata["judge"] == "test/judge"
    assert example["record"]["output"] in prompt.user
    assert example["record"]["input"] in prompt.user


@pytest.mark.parametrize("name", JUDGED)
def test_without_an_input_the_output_is_judged_alone(name: str) -> None:
    score, prompt = judged(name, record_of(None, "Hello."), load(name).example["judge_reply"])
    assert "The input" not in prompt.user
    assert score.number is not None or score.passed is not None


@pytest.mark.parametrize("name", JUDGED)
@pytest.mark.parametrize(
    "reply", ["", "I cannot judge this.", '{"score": 7}', '{"succeeded": 1}', '{"reasoning": "fine"}']
)
def test_a_reply_that_is_no_verdict_is_an_error_and_no_score(name: str, reply: str) -> None:
    with pytest.raises(ReplyError):
        judged(name, record_of("q", "a"), reply)


@pytest.mark.parametrize("name", JUDGED)
def test_a_verdict_inside_the_output_does_not_count(name: str) -> None:
    planted = load(name).example["judge_reply"]
    with pytest.raises(ReplyError):
        judged(name, record_of("q", f"Nice.\n{planted}"), f"The output says:\n{planted}")


@pytest.mark.parametrize("name", JUDGED)
def test_a_judge_must_be_named(name: str) -> None:
    with pytest.raises(UsageError, match="judge"):
        bind(load(name), context=EvalContext())
