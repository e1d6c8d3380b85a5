"""An interval of a bounded mean that stays valid whenever it is looked at, from four sums.

Its own module because `confidence_sequence`, which is narrower, keeps two thousand numbers for one mean, and this is
kept for every alert of every policy. What always holds: over the whole, endless sequence the true mean is outside at any
time with chance at most 1 - level, for every distribution inside the bounds.
"""

from math import log, sqrt

import msgspec

from evalsi.stats.interval import Interval, interval_or_none

_LARGEST_WEIGHT = 0.5


class BernsteinSequence(msgspec.Struct, frozen=True, array_like=True):
    """A value: `update` returns the sequence with one more value; it can be stored. Start with `BernsteinSequence()`.

    Source: Waudby-Smith & Ramdas (2024), Journal of the Royal Statistical Society B 86:1-27, theorem 2 (predictable
    plug-in empirical Bernstein), with the weights of their section 3.2.
    """

    n: int = 0
    total: float = 0.0
    """Of the values scaled to [0, 1]."""
    squares: float = 0.0
    """Sum of squared distances from the running mean."""
    weights: float = 0.0
    weighted: float = 0.0
    penalty: float = 0.0

    def update(self, value: float, bounds: tuple[float, float], level: float) -> "BernsteinSequence":
        """With one more value inside the bounds, which are, like the level, the same at every call."""
        x = min(1.0, max(0.0, (value - bounds[0]) / (bounds[1] - bounds[0])))
        known = (0.5 + self.total) / (self.n + 1)
        variance = (0.25 + self.squares) / (self.n + 1)
        t = self.n + 1
        weight = min(sqrt(2.0 * log(2.0 / (1.0 - level)) / (variance * t * log(1.0 + t))), _LARGEST_WEIGHT)
        total = self.total + x
        now = (0.5 + total) / (t + 1)
        distance = (x - known) ** 2
        return BernsteinSequence(
            n=t,
            total=total,
            squares=self.squares + (x - now) ** 2,
            weights=self.weights + weight,
            weighted=self.weighted + weight * x,
            penalty=self.penalty + distance * (-log(1.0 - weight) - weight),
        )

    def interval(self, bounds: tuple[float, float], level: float) -> Interval | None:
        """The interval now, inside the bounds; None before the first value."""
        if self.n == 0:
            return None
        center = self.weighted / self.weights
        half = (log(2.0 / (1.0 - level)) + self.penalty) / self.weights
        span = bounds[1] - bounds[0]
        low, high = bounds[0] + span * max(0.0, center - half), bounds[0] + span * min(1.0, center + half)
        return interval_or_none(low, high, level, "empirical-bernstein")
