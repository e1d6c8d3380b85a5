"""A short program that runs for longer than most, watched: it is not to cost others more than its own share.

One that is refused processes without end is ended at once, not at its time limit: it would keep every processor busy with
asking. One that only waits gives its place to others.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from evalsi.infra.sandbox.pool import Lent

_LOOK_S = 0.05
"""Most programs have ended by then, and are never looked at."""
_LOOKS_ASLEEP = 4
_BUSY = 0.01
"""Of a processor; who uses less, look after look, is asleep, and not merely one of many who want it."""


@contextmanager
def watched(lent: Lent, patience: asyncio.Timeout, refusals_before: int) -> Generator[None]:
    """Inside, the program is watched. `patience` runs out at once when the program is to be ended."""
    loop = asyncio.get_running_loop()
    used_s: float | None = None
    idle = 0

    def look() -> None:
        nonlocal used_s, idle, timer
        if lent.slot.wants_processes_without_end(refusals_before):
            patience.reschedule(loop.time())
            return
        before_s, used_s = used_s, lent.slot.processor_s()
        is_idle = before_s is not None and used_s is not None and used_s - before_s < _BUSY * _LOOK_S
        idle = idle + 1 if is_idle else 0
        if idle == _LOOKS_ASLEEP:
            lent.sleep()
        timer = loop.call_later(_LOOK_S, look)

    timer = loop.call_later(_LOOK_S, look)
    try:
        yield
    finally:
        timer.cancel()
