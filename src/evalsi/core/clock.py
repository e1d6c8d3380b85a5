"""Time as an argument: jobs take a `Clock`, tests hand over one they turn by hand."""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

from evalsi.core.errors import UsageError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


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


def microseconds(moment: datetime) -> int:
    """Microseconds from 1970 to an aware moment: times that sort as numbers."""
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(us: int) -> datetime:
    """The inverse of `microseconds`."""
    return _EPOCH + us * _MICROSECOND


def moment_of_text(text: str, what: str, *, hint: str = "write e.g. 2026-01-31T12:00:00Z") -> datetime:
    """The aware moment that an ISO 8601 text names.

    Raises: UsageError, naming `what`, with `hint`: it is none, or has no time zone.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{what} {text!r} is no ISO 8601 time", hint=hint) from error
    if moment.tzinfo is None:
        raise UsageError(f"{what} {text!r} names no time zone", hint=hint)
    return moment
