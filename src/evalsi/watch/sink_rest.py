"""How a sink that takes nothing is left alone: for longer each time, and then asked with less.

Its own module because whatever is taken to a sink, scores or the audit log, is patient in the same way.
"""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from evalsi.core.clock import Clock
from evalsi.ports.score_sink import SinkReceipt

FEWEST = 1
"""At once while a sink takes nothing, or less than it is given: what it stumbles over every time is then alone, and the
rest arrives.
"""
FIRST_REST_S, LONGEST_REST_S = 1.0, 300.0
"""How long a sink that takes nothing is left alone."""
LONGEST_ASKED_S = 3600.0
"""How long it is left alone at most when it asks for that itself."""


@dataclass
class SinkRest:
    """One sink. For one event loop."""

    clock: Clock
    most: int
    """How much is sent at once while all is well."""
    share: Callable[[], float] = random.random
    """From 0 to 1: which part of the second half of a pause is waited."""
    limit: int = field(init=False)
    """How much is sent at once now."""
    _failures: int = field(default=0, init=False)
    _until_s: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.limit = self.most

    @property
    def is_resting(self) -> bool:
        return self.clock.monotonic_s() < self._until_s

    @property
    def left_s(self) -> float:
        """Seconds until it is asked again."""
        return max(0.0, self._until_s - self.clock.monotonic_s())

    def note(self, receipts: Iterable[SinkReceipt]) -> None:
        """Learns from an attempt."""
        trouble = next((receipt for receipt in receipts if receipt.state == "trouble"), None)
        if trouble is None:
            self._failures = 0
            self.limit = min(self.most, 2 * self.limit)
            return
        self._failures += 1
        self.limit = max(FEWEST, self.limit // 2)
        pause_s = self.pause_s(FIRST_REST_S, LONGEST_REST_S, self._failures - 1)
        if trouble.after_s is not None:
            pause_s = max(pause_s, min(trouble.after_s, LONGEST_ASKED_S))
        self._until_s = self.clock.monotonic_s() + pause_s

    def pause_s(self, first_s: float, longest_s: float, doublings: int) -> float:
        """Doubles each time; shortened by up to half, so that many do not come back at once."""
        return min(longest_s, first_s * 2.0 ** min(doublings, 30)) * (0.5 + 0.5 * self.share())
