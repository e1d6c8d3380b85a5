"""The web pages, loaded when somebody first asks for one, or when the server has been ready for a moment: it is ready sooner, and
the first page of a server that has been there for a while comes as fast as the next.

Its own module because nothing of the pages may be imported where the server is put together.
"""

import asyncio
import threading
from collections.abc import Sequence

from evalsi.server.calls import Door
from evalsi.server.exchange import Receive, Scope, Send
from evalsi.server.one_port import App
from evalsi.server.served_method import ServedMethod


class PagesWhenAsked:
    """As `Pages`, which it makes once."""

    def __init__(self, door: Door, served: Sequence[ServedMethod]) -> None:
        self._door = door
        self._served = served
        self._pages: App | None = None
        self._loading = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pages = self._pages or await asyncio.to_thread(self.load)
        await pages(scope, receive, send)

    def load(self) -> App:
        """The pages. Blocks while they are loaded."""
        if self._pages is None:
            with self._loading:
                self._pages = self._pages or self._loaded()
        return self._pages

    def _loaded(self) -> App:
        from evalsi.server.pages.pages import Pages
        from evalsi.server.pages.templates_of_pages import compile_templates

        compile_templates()
        return Pages(self._door, self._served)
