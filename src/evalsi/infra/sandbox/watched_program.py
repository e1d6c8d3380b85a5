"""A short program that runs for longer than most, watched: it is not to cost others more than its own share.

One that is refused processes without end is ended at once, not at its time limit: it would keep every processor busy with
asking. One that only waits gives its place to others, and has the next one when it does something again.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from evalsi.infra.sandbox.pool import Lent

_FIRST_LOOK_S = 0.02
"""Most programs have ended by then, and are never looked at."""
_LATER = 1.25
_RAREST_LOOKS_S = 0.25
_LOOKS_ASLEEP = 3
_BUSY = 0.01
"""Of a processor; who uses less, look after look, is asleep, and not merely one of many who want it."""


@contextmanager
def watched(lent: Lent, patience: asyncio.Timeout, refusals_before: int) -> Generator[None]:
    """Inside, the program is watched. `patience` runs out at once when the program is to be ended."""
    loop = asyncio.get_running_loop()
    wait_s, idle = _FIRST_LOOK_S, 0
    used_s: float | None = None

    def look() -> None:
        nonlocal wait_s, used_s, idle, timer
        if lent.slot.wants_processes_without_end(refusals_before):
            lent.slot.kill()
            patience.reschedule(loop.time())
            return
        before_s, used_s = used_s, lent.slot.processor_s()
        if before_s is not None and used_s is not None:
            idle = idle + 1 if used_s - before_s < _BUSY * wait_s else 0
            if idle == _LOOKS_ASLEEP:
                lent.sleep()
            elif not idle:
                lent.wake()
        wait_s = min(wait_s * _LATER, _RAREST_LOOKS_S)
        timer = loop.call_later(wait_s, look)

    timer = loop.call_later(wait_s, look)
    try:
        yield
    finally:
        timer.cancel()
