"""When a call is made again, and after how long.

Its own module because it is a decision with numbers and needs no network to be checked. What always holds: a call that
may have changed something is repeated only under a key that lets the server know it again.
"""

from dataclasses import dataclass
from random import random

LONGEST_TOLD_S = 60.0
"""A server that asks for a longer wait is not waited for: its answer is passed on."""


@dataclass(frozen=True, kw_only=True)
class RetryPlan:
    """How often and how patiently a call is repeated that failed for a reason that may pass."""

    attempts: int = 4
    """In all; 1 repeats nothing."""
    first_wait_s: float = 0.25
    longest_wait_s: float = 8.0

    def wait_s(self, attempt: int, told_s: float | None) -> float | None:
        """Seconds to wait after attempt number `attempt` (from 1); None when it was the last.

        A wait that the server asked for is kept, plus up to a quarter of it. Else the wait is drawn between 0 and a bound
        that doubles with every attempt, so that many clients do not come back at once.
        """
        if attempt >= self.attempts or (told_s is not None and told_s > LONGEST_TOLD_S):
            return None
        if told_s is not None:
            return told_s * (1 + random() / 4)
        return random() * min(self.longest_wait_s, self.first_wait_s * 2 ** (attempt - 1))


def may_pass(status: int, told_s: float | None) -> bool:
    """Whether what an HTTP status says may pass by itself. A used-up quota says 429 and no time to wait."""
    return status in (502, 503) or (status == 429 and told_s is not None)


def told_wait_s(retry_after: str) -> float | None:
    """Seconds in a `Retry-After` header; None where it holds none. A date is taken for none: clocks differ."""
    try:
        seconds = float(retry_after)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
