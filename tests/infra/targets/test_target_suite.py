"""Every connector keeps the contract of `ports.target`."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from evalsi.infra.targets.recorded_target import RecordedTarget, RecordingTarget
from evalsi.ports.target import Target
from evalsi.schema import Content, Record
from evalsi.testing.stand_in_model import Behaviour, Question, StandInModel
from evalsi.testing.target_suite import check_target, echo_task
from tests.infra.targets.agent_server import AgentServer, Seen
from tests.infra.targets.asking import KEY, make, model_at, running


def echo(question: Question) -> str:
    return question.text


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("connector", "api"),
    [
        ("openai-compatible", "chat"),
        ("openai-compatible", "completions"),
        ("openai-compatible", "responses"),
        ("anthropic", "chat"),
    ],
)
def test_models_keep_the_contract_in_every_protocol(connector: str, api: str, stream: bool) -> None:
    with StandInModel(Behaviour(replies=echo, api_key=KEY)) as server:
        made: list[Any] = [lambda: model_at(server, connector, api=api, stream=stream)]
        asyncio.run(check_target(made[0], secrets=(KEY,)))


def test_http_agents_keep_the_contract() -> None:
    def answer(seen: Seen) -> Any:
        return {"said": seen.json["q"]} if seen.method == "POST" else {}

    with AgentServer(answer) as server:
        http = {
            "url": f"{server.url}/ask",
            "body_template": '{"q": "{{ input }}"}',
            "output_path": "said",
            "headers_env": {"Authorization": "THE_KEY"},
        }
        asyncio.run(check_target(lambda: make(agent={"http": http}), secrets=(KEY,)))
        assert server.seen[-1].headers["authorization"] == KEY


@pytest.mark.parametrize("kind", ["plain", "waits", "Object"])
def test_callables_keep_the_contract(tmp_path: Path, kind: str) -> None:
    (tmp_path / "agents.py").write_text(
        "def plain(input): return input\n"
        "async def waits(record, input): return record.input\n"
        "class _Object:\n    async def __call__(self, question): return {'output': question}\n"
        "Object = _Object()\n"
    )
    asyncio.run(check_target(lambda: make(tmp_path, python=f"agents.py:{kind}")))


def test_programs_keep_the_contract(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "import sys; print(sys.stdin.read())"]
    command = {"argv": argv, "env_from": {"TOKEN": "THE_KEY"}}
    asyncio.run(check_target(lambda: make(tmp_path, command=command), secrets=(KEY,)))


def test_recordings_keep_the_contract(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"

    def plain() -> Target:
        return make(tmp_path, python="agents.py:plain")

    (tmp_path / "agents.py").write_text("def plain(input): return input\n")
    asyncio.run(check_target(lambda: RecordingTarget(plain(), path)))
    asyncio.run(check_target_of_recording(path, plain()))


async def check_target_of_recording(path: Path, original: Target) -> None:
    """A recording cannot tell a record without an input from one that was never recorded; both are errors."""
    target = RecordedTarget(path, original)
    for number in range(20):
        answer = await target.answer(echo_task(number))
        assert answer.output.text is not None
        assert f"say {number} " in answer.output.text
        assert answer.usage.cached
    assert target.identity == original.identity
    await target.close()


def test_no_target_hands_out_what_the_dataset_has() -> None:
    target = make(connector="none")
    given = Record(id="a", input=Content(text="q"), output=Content(text="a"))
    task = echo_task(1)
    answer = running(target, lambda: target.answer(type(task)(record=given)))
    assert answer.output == Content(text="a")
