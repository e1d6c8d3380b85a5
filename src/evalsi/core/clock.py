"""Time as an argument: jobs take a `Clock`, tests hand over one they turn by hand."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Wall-clock time for people and records; monotonic time for durations and deadlines."""

    def now(self) -> datetime:
        """Aware, UTC."""
        ...

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary start; never goes back."""
        ...


class SystemClock:
    """Implements `Clock` with the machine's clocks."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        return time.monotonic()
