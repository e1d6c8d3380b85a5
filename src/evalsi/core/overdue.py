"""Ends Python code of others that takes too long in the main thread, by an exception that an alarm raises inside it.

Its own module because an import that never ends and an `async` function that never gives way are ended alike. It does not
reach other threads, a native call that never returns, or systems without alarms; there only Ctrl-C helps.
"""

import contextlib
import signal
import threading
from collections.abc import Generator
from types import FrameType


class OverdueError(BaseException):
    """Raised inside code that took too long. No `except Exception` of that code stops it."""


@contextlib.contextmanager
def ended_after(deadline_s: float) -> Generator[None]:
    """Raises `OverdueError` in the block once it has run for `deadline_s`, unless somebody else uses the alarm."""
    if not alarm_is_free():
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise OverdueError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, deadline_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def alarm_is_free() -> bool:
    """Whether an alarm can be set here, and nobody else has set one."""
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0
        and signal.getsignal(signal.SIGALRM) in (signal.SIG_DFL, signal.SIG_IGN)
    )
