"""Replies from a file: recorded once, replayed without a network, refused when the question is another one."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalsi.core.errors import InvalidDataError, NotFoundError, ProviderError
from evalsi.infra.models.endpoint import Access
from evalsi.infra.models.openai import OpenAICompatibleModel
from evalsi.infra.models.recorded import RecordedModel, RecordingModel, recording_key
from evalsi.ports.chat_model import ChatReply, ChatRequest
from evalsi.testing.stand_in_model import Behaviour, StandInModel


def question(text: str = "Is 4 right?", **more: Any) -> ChatRequest:
    return msgspec.convert({"model": "m-1", "messages": [{"role": "user", "content": text}], **more}, ChatRequest)


def record(path: Path, *requests: ChatRequest) -> None:
    async def run(server: StandInModel) -> None:
        model = RecordingModel(OpenAICompatibleModel(Access(base_url=server.base_url)), path)
        await asyncio.gather(*(model.complete(request) for request in requests))
        await model.close()

    with StandInModel(Behaviour(replies=lambda asked: f"reply to {asked.body['messages'][0]['content']}")) as server:
        asyncio.run(run(server))


def replay(path: Path, request: ChatRequest) -> ChatReply:
    return asyncio.run(RecordedModel(path).complete(request))


def test_what_was_recorded_is_replayed_under_any_model_name(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    record(path, question("a"), question("b"), question("a"))
    assert len(path.read_bytes().splitlines()) == 2
    assert replay(path, question("b")).text == "reply to b"
    other = msgspec.structs.replace(question("a"), model="another")
    assert replay(path, other).text == "reply to a"
    assert (replay(path, question("a")).usage.output_tokens or 0) > 0


def test_recording_again_adds_only_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "replies.jsonl"
    record(path, question("a"))
    record(path, question("a"), question("b"))
    assert len(RecordedModel(path)) == 2


@pytest.mark.parametrize("change", [{"temperature": 0.5}, {"max_tokens": 5}, {"seed": 1}, {"effort": "low"}])
def test_another_question_has_no_answer_and_says_so(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "replies.jsonl"
    record(path, question())
    with pytest.raises(ProviderError, match="has no answer to this question; record again"):
        replay(path, question(**change))
    assert recording_key(question(**change)) != recording_key(question())


def test_another_recording_is_another_model_for_the_cache(tmp_path: Path) -> None:
    record(tmp_path / "a.jsonl", question("a"))
    record(tmp_path / "b.jsonl", question("b"))
    assert RecordedModel(tmp_path / "a.jsonl").identity != RecordedModel(tmp_path / "b.jsonl").identity
    assert RecordedModel(tmp_path / "a.jsonl").identity == RecordedModel(tmp_path / "a.jsonl").identity


def test_a_line_that_is_no_reply_is_named(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_bytes(b'{"key": "k", "reply": {"text": "x"}}\n\n{"key": "k"}\n')
    with pytest.raises(InvalidDataError, match=r"replies\.jsonl:3"):
        RecordedModel(path)


def test_a_recording_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"none\.jsonl"):
        RecordedModel(tmp_path / "none.jsonl")
