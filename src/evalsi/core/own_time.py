"""Deadlines that count only what a call does, not how long it waits for its turn.

A module of its own because two far apart have to agree: who sets a deadline, and who has calls wait for a place. What one
hung program takes from a queue would otherwise be taken from everybody behind it. Where the two are on different machines, the
one with the queue says when the turn has come.
"""

import asyncio
import contextlib
from collections.abc import Callable, Generator
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Self


class OwnTime:
    """As `asyncio.timeout`, but for the time in which any part of the call is in `waiting_for_a_turn`.

    Args:
        limit_s: Seconds; when they are over, leaving raises TimeoutError.
    """

    def __init__(self, limit_s: float) -> None:
        self._scope = asyncio.Timeout(None)
        self._waiting = 0
        self._left_s = limit_s
        self._before: Token[OwnTime | None] | None = None

    async def __aenter__(self) -> Self:
        await self._scope.__aenter__()
        self._scope.reschedule(asyncio.get_running_loop().time() + self._left_s)
        self._before = _CURRENT.set(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if self._before is not None:
            _CURRENT.reset(self._before)
        return await self._scope.__aexit__(kind, error, trace)

    @property
    def stands_still(self) -> bool:
        """Whether a part of the call waits for its turn just now."""
        return self._waiting > 0

    def expired(self) -> bool:
        return self._scope.expired()

    def stop(self) -> None:
        """The call waits; its time stands still."""
        self._waiting += 1
        when = self._scope.when()
        if self._waiting == 1 and when is not None:
            self._left_s = when - asyncio.get_running_loop().time()
            self._reschedule(None)

    def go_on(self) -> None:
        """A part of the call no longer waits."""
        self._waiting -= 1
        if not self._waiting:
            self._reschedule(asyncio.get_running_loop().time() + self._left_s)

    def _reschedule(self, when: float | None) -> None:
        with contextlib.suppress(RuntimeError):  # the call is over, and a part of it is being cleared away
            self._scope.reschedule(when)


_CURRENT: ContextVar[OwnTime | None] = ContextVar("own_time", default=None)


@contextlib.contextmanager
def waiting_for_a_turn() -> Generator[None]:
    """Around a wait for what others have: it takes nothing from the deadline of the call that waits."""
    current = _CURRENT.get()
    if current is None:
        yield
        return
    current.stop()
    try:
        yield
    finally:
        current.go_on()


_TELL: ContextVar[Callable[[], None] | None] = ContextVar("tell_of_turn", default=None)


@contextlib.contextmanager
def told_of_its_turn(tell: Callable[[], None]) -> Generator[None]:
    """Calls `tell` each time that something in the block has waited for its turn, if at all, and now begins."""
    before = _TELL.set(tell)
    try:
        yield
    finally:
        _TELL.reset(before)


def turn_has_come() -> None:
    """To be called by who has a queue, once a call has its place."""
    tell = _TELL.get()
    if tell is not None:
        tell()
