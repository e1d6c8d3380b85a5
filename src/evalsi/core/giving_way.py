"""Awaits code of others that shares our event loop, so that it can neither hold the loop up for long nor stop it.

Its own module because evaluators and targets are awaited alike, and a loop that stands still costs everybody on it.
"""

import asyncio
import contextlib
import signal
import weakref
from collections.abc import Awaitable
from contextvars import ContextVar
from time import monotonic
from types import FrameType
from typing import Any, TypeVar

from evalsi.core.errors import DeadlineError
from evalsi.core.overdue import OverdueError, alarm_is_free
from evalsi.schema import Fault

T = TypeVar("T")
_BEAT_S = 0.5


async def giving_way(value: Awaitable[T], deadline_s: float, fault: Fault = Fault.EVALUATOR) -> T:
    """What an awaitable of others gives. It may hold the event loop up for half of its deadline, so that those who wait
    beside it keep theirs, and it cannot stop the loop.

    Args:
        deadline_s: What one call may take; somebody else sees to it where the loop goes on.
        fault: Whose failure it is when it does not give way.

    Raises: DeadlineError: it kept the event loop to itself.
    """
    loop = asyncio.get_running_loop()
    watch = _WATCHES.get(loop)
    if watch is None:
        watch = _WATCHES[loop] = _LoopWatch(loop)
    patience_s = deadline_s / 2
    before = _PATIENCE_S.set(patience_s)
    watch.enter(patience_s)
    try:
        return await value
    except OverdueError:
        raise DeadlineError(f"it kept the event loop to itself for {patience_s:g} s", fault=fault) from None
    finally:
        watch.leave()
        _PATIENCE_S.reset(before)


class _LoopWatch:
    """Notices that an event loop stands still in code of others. Rings only while such code is under way.

    Whose code it is tells the context, which tasks inherit that such code starts.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = weakref.ref(loop)
        self._under_way = 0
        self._beat_s = _BEAT_S
        self._beat_at = 0.0
        self._next_beat: asyncio.TimerHandle | None = None
        self._before: Any = None
        _keep_running(loop)

    def enter(self, patience_s: float) -> None:
        self._under_way += 1
        is_shorter = patience_s / 4 < self._beat_s
        self._beat_s = min(self._beat_s, patience_s / 4)
        if self._next_beat is not None and is_shorter:
            self._next_beat.cancel()
            self._beat()
        elif self._next_beat is None and alarm_is_free():
            self._before = signal.signal(signal.SIGALRM, self._ring)
            self._beat()

    def leave(self) -> None:
        self._under_way -= 1
        if not self._under_way and self._next_beat is not None:
            self._next_beat.cancel()
            self._next_beat = None
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)

    def _beat(self) -> None:
        loop = self._loop()
        assert loop is not None
        self._beat_at = monotonic()
        signal.setitimer(signal.ITIMER_REAL, 2 * self._beat_s)
        self._next_beat = loop.call_later(self._beat_s, self._beat)

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        patience_s = _PATIENCE_S.get()
        left_s = self._beat_s if patience_s is None else self._beat_at + patience_s - monotonic()
        if left_s > 0:
            signal.setitimer(signal.ITIMER_REAL, min(left_s, 2 * self._beat_s))
            return
        self._beat_at = monotonic()
        signal.setitimer(signal.ITIMER_REAL, 2 * self._beat_s)
        raise OverdueError


def _keep_running(loop: asyncio.AbstractEventLoop) -> None:
    """Lets code of others not stop the loop under everybody's feet."""
    stop = loop.stop

    def refuse() -> None:
        if _PATIENCE_S.get() is not None:
            raise RuntimeError("the event loop is not this code's to stop")
        stop()

    with contextlib.suppress(AttributeError):  # a loop that is no Python object
        loop.stop = refuse


_PATIENCE_S: ContextVar[float | None] = ContextVar("patience_s", default=None)
"""Set while code of others runs: how long it may hold the loop up."""
_WATCHES: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopWatch]" = weakref.WeakKeyDictionary()
