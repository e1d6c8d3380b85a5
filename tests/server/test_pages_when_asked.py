"""Pages are loaded once, by whoever comes first, and a server lives on without them."""

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from evalsi.server import serve
from evalsi.server.journal import Journal
from evalsi.server.one_port import App
from evalsi.server.pages_when_asked import PagesWhenAsked


class Loading(PagesWhenAsked):
    def __init__(self, loaded: Callable[[], App]) -> None:
        super().__init__(door=None, served=[])  # pyright: ignore[reportArgumentType] - nothing is asked of it here
        self.made = 0
        self._make = loaded

    def _loaded(self) -> App:
        self.made += 1
        return self._make()


def test_pages_that_cannot_be_loaded_are_in_the_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "LATE_S", 0)
    monkeypatch.setattr(serve, "PAGES_S", 0)
    written: list[bytes] = []

    def broken() -> App:
        raise ImportError("no templates")

    load: Any = vars(serve)["_load"]
    asyncio.run(load([], Loading(broken), Journal("info", write=written.append)))
    (line,) = [json.loads(each) for each in written]
    assert line["service"] == "pages"
    assert "no templates" in line["trace"]


def test_two_first_requests_at_once_load_the_pages_once() -> None:
    both = threading.Barrier(2)

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "done"})

    pages = Loading(lambda: app)
    load = pages.load

    def together() -> App:
        both.wait(60)
        return load()

    pages.load = together
    told: list[Any] = []

    async def main() -> None:
        async def send(message: Any) -> None:
            told.append(message)

        async def receive() -> Any:
            return {}

        await asyncio.gather(pages({}, receive, send), pages({}, receive, send))  # pyright: ignore[reportArgumentType]

    asyncio.run(main())
    assert (pages.made, len(told)) == (1, 2)
