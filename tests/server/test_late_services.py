"""A server is ready before it has loaded what grades, and whoever calls meanwhile gets an answer all the same."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from evalsi.core.errors import UnimplementedError
from evalsi.schema.method import METHODS, Method
from evalsi.server.late_service import LateService
from evalsi.server.served_method import served_methods
from tests.server.running_server import EXACT, running_server, wait_until

_NAMES = {f"{method.service.rpartition('.')[2]}.{method.name}": method for method in METHODS}
GET, WATCH, CANCEL = _NAMES["RunService.GetRun"], _NAMES["RunService.WatchRun"], _NAMES["RunService.CancelRun"]


class _Service:
    def __init__(self) -> None:
        self.closed = False

    async def get_run(self, request: str, caller: str) -> str:
        return f"{caller} asks for {request}"

    async def watch_run(self, request: str, caller: str) -> AsyncGenerator[str]:
        try:
            yield request
            yield caller
        finally:
            self.closed = True


def test_nothing_that_grades_is_loaded_before_a_server_is_ready(tmp_path: Path) -> None:
    with running_server(tmp_path, environment={"PYTHONPROFILEIMPORTTIME": "1"}) as server:
        told = [line.get("text", line.get("event", "")) for line in server.lines]
        before = told[: told.index("ready")]
        loaded = {text.rpartition("|")[2].strip() for text in before if text.startswith("import time:")}
        assert "evalsi.server.serve" in loaded
        heavy = {"numpy", "yaml", "duckdb", "evalsi.engine.evaluate", "evalsi.evaluators.detectors", "evalsi.stats"}
        assert not heavy & loaded
        assert not [name for name in loaded if name.startswith("evalsi.server.services.")]
        status, answer = server.post("/v1alpha1/evaluate", EXACT)
        assert status == 200, answer
        assert server.get("/v1alpha1/runs")[0] == 200


def test_pages_are_loaded_though_nobody_has_asked_for_one(tmp_path: Path) -> None:
    with running_server(tmp_path, environment={"PYTHONPROFILEIMPORTTIME": "1"}) as server:

        def is_loaded() -> bool:
            return any(line.get("text", "").rstrip().endswith("evalsi.server.pages.pages") for line in server.lines)

        assert not is_loaded()
        assert wait_until(is_loaded, 60)
        assert server.request("GET", "/ui/runs", None, {})[0] == 200


def test_calls_that_come_at_the_same_moment_share_one_service() -> None:
    made: list[_Service] = []
    entered = threading.Event()

    def make() -> _Service:
        entered.set()
        sleep(0.05)
        made.append(_Service())
        return made[-1]

    late = LateService("RunService", make)

    async def ask() -> list[Any]:
        get = late.code_of(GET)
        return await asyncio.gather(*(get(number, "ann") for number in range(5)))

    assert asyncio.run(ask()) == [f"ann asks for {number}" for number in range(5)]
    assert len(made) == 1


def test_a_stream_of_a_late_service_is_closed_with_its_caller() -> None:
    service = _Service()
    late = LateService("RunService", lambda: service)

    async def look() -> str:
        stream = late.code_of(WATCH)("r1", "ann")
        first = await anext(stream)
        await stream.aclose()
        return first

    assert asyncio.run(look()) == "r1"
    assert service.closed


def test_a_method_that_its_class_lacks_is_not_implemented() -> None:
    (served,) = served_methods([LateService("RunService", _Service)], [CANCEL])
    assert served.call is not None
    with pytest.raises(UnimplementedError, match=r"RunService\.CancelRun is not served"):
        asyncio.run(served.call("r1", "ann"))


def test_a_service_that_could_not_be_made_is_made_at_the_next_call() -> None:
    tries: list[int] = []

    def make() -> _Service:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("no file could be opened")
        return _Service()

    late = LateService("RunService", make)
    with pytest.raises(OSError, match="no file"):
        asyncio.run(late.code_of(GET)("r1", "ann"))
    assert asyncio.run(late.code_of(GET)("r1", "ann")) == "ann asks for r1"


def test_every_method_is_served_by_the_class_that_is_loaded_for_it(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        for method in _reads():
            status, _, answer = server.request("GET", method.path)
            assert status in (200, 400), (method.full_name, status, answer)


def _reads() -> list[Method]:
    """Methods that are asked with nothing."""
    return [
        method for method in METHODS if method.verb == "GET" and "{" not in method.path and not method.server_streams
    ]
