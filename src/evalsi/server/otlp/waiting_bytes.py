"""How much of what is received may be in memory at once: what is over it is told to come again, at once.

Its own module because every way in shares the one account. What always holds: bytes are counted before they are kept, and
given back however a request ends, but not before the work on them has ended, which goes on when its client has gone.
"""

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from evalsi.core.errors import OverloadedError

T = TypeVar("T")
RETRY_AFTER_S = 1.0
MOST_LEFT_ALONE = 1024
"""Requests whose senders have given up. Small ones take much more memory than their bytes."""


class WaitingBytes:
    """The account of a server. Used from the event loop alone."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0
        self.left_alone: set[asyncio.Task[Any]] = set()
        """Work that goes on for nobody."""

    def check(self, size: int) -> None:
        """Raises: OverloadedError: there is no room for `size` more bytes."""
        if len(self.left_alone) >= MOST_LEFT_ALONE:
            raise OverloadedError(
                f"the server still stores {MOST_LEFT_ALONE:,} requests whose senders have given up and takes no more just now",
                retry_after_s=RETRY_AFTER_S,
            )
        if self.held + size > self.most:
            raise OverloadedError(
                f"the server holds {self.held >> 20} MiB of traces that are not stored yet and takes no more just now",
                retry_after_s=RETRY_AFTER_S,
            )

    @contextmanager
    def holding(self) -> Generator["HeldBytes"]:
        """An entry that is given back at the end."""
        held = HeldBytes(self)
        try:
            yield held
        finally:
            held.give_back()


class HeldBytes:
    """What one request holds."""

    def __init__(self, account: WaitingBytes) -> None:
        self._account = account
        self._work: asyncio.Task[Any] | None = None
        """What was left alone and goes on."""
        self.size = 0

    def add(self, size: int) -> None:
        """Raises: OverloadedError: there is no room."""
        self._account.check(size)
        self._account.held += size
        self.size += size

    async def for_all_of(self, work: Coroutine[Any, Any, T]) -> T:
        """What `work` gives. It goes on where who waits for it is cancelled: a thread that has begun cannot be stopped, and
        what is taken apart by then would be counted as neither stored nor dropped.
        """
        task = asyncio.create_task(work)
        try:
            return await asyncio.shield(task)
        finally:
            if not task.done():
                self._work = task
            del task  # it holds the error, whose traceback holds this

    def give_back(self) -> None:
        """Gives the bytes back as soon as the work on them has ended."""
        if self._work is None:
            self._account.held -= self.size
            return
        account, size = self._account, self.size

        def end(work: "asyncio.Task[Any]") -> None:
            account.held -= size
            account.left_alone.discard(work)

        account.left_alone.add(self._work)
        self._work.add_done_callback(end)
        self._work = None
