"""How the tests here build targets and ask them."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from evalsi.core.errors import MeasurementError
from evalsi.infra.targets.make_target import Surroundings, make_target
from evalsi.ports.target import Answer, Target, TargetTask
from evalsi.schema import Content, Record
from evalsi.schema import Target as TargetSpec
from evalsi.schema.json_codec import convert
from evalsi.testing.stand_in_model import StandInModel

T = TypeVar("T")
KEY = "sk-test-0123456789abcdef"
ENVIRONMENT = {"THE_KEY": KEY, "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nowhere"}


def secret(name: str) -> str:
    return ENVIRONMENT[name]


def around(folder: Path | None = None) -> Surroundings:
    return Surroundings(
        secret=secret,
        unnamed_key=lambda variable, _: ENVIRONMENT.get(variable, ""),
        environment=ENVIRONMENT,
        folder=folder or Path(),
    )


def make(folder: Path | None = None, **spec: Any) -> Target:
    return make_target(convert(spec, TargetSpec, at="target"), around(folder))


def model_at(server: StandInModel, connector: str = "openai-compatible", **spec: Any) -> Target:
    base_url = server.root_url if connector == "anthropic" else server.base_url
    return make(connector=connector, model="m-1", base_url=base_url, api_key_env="THE_KEY", **spec)


def task(text: str = "2+2?", **more: Any) -> TargetTask:
    trial = more.pop("trial", 0)
    return TargetTask(record=convert({"id": "r1", "input": {"text": text}, **more}, Record), trial=trial)


def running(target: Target, work: Callable[[], Awaitable[T]]) -> T:
    async def run() -> T:
        try:
            return await work()
        finally:
            await target.close()

    return asyncio.run(run())


def ask(target: Target, asked: TargetTask | None = None) -> Answer:
    return running(target, lambda: target.answer(asked or task()))


def failure(target: Target, asked: TargetTask | None = None) -> Any:
    with pytest.raises(MeasurementError) as caught:
        ask(target, asked)
    return caught.value


def text(value: str) -> Content:
    return Content(text=value)
