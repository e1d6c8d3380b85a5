"""When to ask again, and when not to ask at all.

A single failure is asked again after a growing, jittered pause, or after the pause the provider names. A provider that
fails every time is left alone for a while: the circuit breaker makes everybody wait for one probe instead of sending a
storm. It fails questions at once, and says why, when the host was never reached within seconds (a wrong address should
not take a minute to notice) or when it has been down for longer than anybody should wait.
"""

import email.utils
import math
import random
import time
from datetime import UTC, datetime

import msgspec

from evalsi.core.errors import ProviderError
from evalsi.schema import ErrorKind


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How patiently a question is asked.

    Args:
        attempts: The most attempts at one question.
        first_pause_s, longest_pause_s: Pauses double from the first to the longest; each is shortened by up to half.
        attempt_s: Seconds one attempt may take.
        deadline_s: Seconds one question may take, pauses and waiting for limits included.
        unreachable_s: Seconds until a host that has never been reached is given up.
        patience_s: Seconds a provider that had answered before may be down until questions fail at once.
    """

    attempts: int = 8
    first_pause_s: float = 0.5
    longest_pause_s: float = 20.0
    attempt_s: float = 120.0
    deadline_s: float = 600.0
    unreachable_s: float = 4.0
    patience_s: float = 90.0

    def pause_s(self, attempt: int, retry_after_s: float | None) -> float:
        """Seconds to wait after the failure of attempt `attempt` (from 1). What the provider asked for is a minimum."""
        doubled = min(self.longest_pause_s, self.first_pause_s * 2.0 ** min(attempt - 1, 30))
        jittered = doubled * random.uniform(0.5, 1.0)
        if retry_after_s is None:
            return jittered
        # Those who were told the same time do not come back at the same instant.
        return retry_after_s + random.uniform(0.0, min(0.1 * retry_after_s, self.first_pause_s))


def retry_after_s(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a Retry-After header asks for: a number of seconds, or an HTTP date (RFC 9110, section 10.2.3).

    Returns: None when there is no header or it cannot be read; never negative.
    """
    if not value:
        return None
    text = value.strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            date = email.utils.parsedate_to_datetime(text)
        except ValueError:
            return None
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        seconds = (date - (now or datetime.now(UTC))).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


class CircuitBreaker:
    """Watches one host. Closed: ask. Open: wait for the next probe, or fail at once when there is no hope."""

    _THRESHOLD = 5
    _FIRST_COOL_DOWN_S = 0.5
    _LONGEST_COOL_DOWN_S = 15.0
    _POLL_S = 0.05

    def __init__(self, host: str, policy: RetryPolicy) -> None:
        self.host = host
        self._policy = policy
        self._reached = False
        self._failures = 0
        self._failing_since_s = 0.0
        self._open_until_s = 0.0
        self._cool_down_s = self._FIRST_COOL_DOWN_S
        self._probing = False
        self._sentence = ""

    def admit_s(self) -> float:
        """0 when a question may be asked, else the seconds after which to come again.

        Raises: ProviderError (CIRCUIT_OPEN): there is no hope for now; says what happened.
        """
        if self._failures < self._THRESHOLD:
            return 0.0
        now_s = time.monotonic()
        if now_s < self._open_until_s:
            down_s = now_s - self._failing_since_s
            hope_s = (self._policy.patience_s if self._reached else self._policy.unreachable_s) - down_s
            if hope_s <= 0:
                raise ProviderError(
                    f"nobody was asked: {self._sentence} ({self._failures} times within {down_s:.0f} s)",
                    kind=ErrorKind.CIRCUIT_OPEN,
                    retryable=True,
                    retry_after_s=self._open_until_s - now_s,
                )
            return min(self._open_until_s - now_s, hope_s)
        if self._probing:
            return self._POLL_S
        self._probing = True
        return 0.0

    def hope_s(self) -> float:
        """Seconds for which it still makes sense to try: without end once the host has been reached."""
        if self._reached or not self._failures:
            return math.inf
        return self._failing_since_s + self._policy.unreachable_s - time.monotonic()

    def reached(self) -> None:
        """An answer came, whatever it said: the host is there, and asked for a probe no longer."""
        self._reached = True
        self._probing = False
        if self._failures:
            self._failures = 0
            self._cool_down_s = self._FIRST_COOL_DOWN_S

    def failed(self, sentence: str, asked_at_s: float) -> None:
        """No answer came, or one that says that the provider is broken, to a question of that monotonic time."""
        now_s = time.monotonic()
        if self._failures == 0:
            self._failing_since_s = asked_at_s
        self._failures += 1
        self._sentence = sentence
        if self._probing:
            self._probing = False
            self._cool_down_s = min(self._LONGEST_COOL_DOWN_S, self._cool_down_s * 2)
        if self._failures >= self._THRESHOLD and now_s >= self._open_until_s:
            self._open_until_s = now_s + self._cool_down_s

    def abandoned(self) -> None:
        """A question ended without telling anything, e.g. by cancellation; another may be the probe."""
        self._probing = False
