"""What every function of this package answers with: an interval, or an estimate that may carry one.

Its own module because all others speak these two words. What always holds: an `Interval` has finite ends and is wider
than nothing; where no such interval exists the answer is None and, in an `Estimate`, a sentence that says why.
"""

from dataclasses import dataclass
from math import isfinite


@dataclass(frozen=True, slots=True)
class Interval:
    """A range that covers the true value in a share `level` of repeated studies."""

    low: float
    high: float
    level: float
    """Confidence level, a fraction in (0, 1)."""
    method: str
    """Name of the formula, lower case with hyphens, for example `wilson`."""

    def __post_init__(self) -> None:
        """Refuse what would be a lie: an infinite, reversed or zero-width interval."""
        if not (isfinite(self.low) and isfinite(self.high) and self.low < self.high):
            raise ValueError(f"an interval needs finite ends with low < high, not {self.low} and {self.high}")

    @property
    def width(self) -> float:
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def clipped(self, bounds: tuple[float, float] | None) -> "Interval | None":
        """The part inside `bounds`; None when nothing wider than a point is left."""
        if bounds is None:
            return self
        return interval_or_none(max(self.low, bounds[0]), min(self.high, bounds[1]), self.level, self.method)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with what is known about it. `value` and `interval` are None where they do not exist, never NaN."""

    value: float | None
    n: int
    """Values the estimate rests on; errors and skips were left out before."""
    interval: Interval | None = None
    standard_error: float | None = None
    clusters: int | None = None
    """Independent groups, where the values were clustered."""
    reason: str | None = None
    """Why `value` or `interval` is missing, one sentence without a full stop; None when both are there."""


def interval_or_none(low: float, high: float, level: float, method: str) -> Interval | None:
    """An `Interval`, or None where its ends are not finite or not apart."""
    if isfinite(low) and isfinite(high) and low < high:
        return Interval(float(low), float(high), level, method)
    return None


def check_level(level: float) -> float:
    """The level itself. Raises ValueError unless 0 < level < 1."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"a confidence level lies between 0 and 1, not {level!r}")
    return level


def check_bounds(bounds: tuple[float, float] | None, lowest: float, highest: float) -> None:
    """Raise ValueError when `bounds` are reversed or a value lies outside them."""
    if bounds is None:
        return
    if not (isfinite(bounds[0]) and isfinite(bounds[1]) and bounds[0] < bounds[1]):
        raise ValueError(f"bounds need finite ends with low < high, not {bounds!r}")
    slack = 1e-9 * (bounds[1] - bounds[0])
    if lowest < bounds[0] - slack or highest > bounds[1] + slack:
        raise ValueError(f"values from {lowest!r} to {highest!r} lie outside the bounds {bounds!r}")
