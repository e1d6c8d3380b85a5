"""The web pages, loaded when somebody first asks for one: a server is ready sooner, and most calls are not for pages.

Its own module because nothing of the pages may be imported where the server is put together.
"""

import asyncio
from collections.abc import Sequence

from evalsi.server.calls import Door
from evalsi.server.exchange import Receive, Scope, Send
from evalsi.server.one_port import App
from evalsi.server.served_method import ServedMethod


class PagesWhenAsked:
    """As `Pages`, which it makes at the first request."""

    def __init__(self, door: Door, served: Sequence[ServedMethod]) -> None:
        self._door = door
        self._served = served
        self._pages: App | None = None
        self._loading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._pages is None:
            async with self._loading:
                self._pages = self._pages or await asyncio.to_thread(self._loaded)
        await self._pages(scope, receive, send)

    def _loaded(self) -> App:
        from evalsi.server.pages.pages import Pages

        return Pages(self._door, self._served)
