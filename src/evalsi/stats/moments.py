"""Count, mean, spread and range of a stream of values, in constant memory.

Its own module because the engine sees batches, never the whole column. What always holds: moments of batches merged in
any order equal the moments of all values to rounding, and no value is needed twice.
"""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
import numpy.typing as npt

from evalsi.stats.sample import checked_values


@dataclass(frozen=True, slots=True)
class Moments:
    """A value: `add` and `merge` return new moments. `Moments()` is the empty sample.

    Source: Chan, Golub & LeVeque (1983), The American Statistician 37:242-247 (pairwise update of sums of squares).
    """

    n: int = 0
    mean_or_zero: float = 0.0
    squared_deviations: float = 0.0
    """Sum of squared deviations from the mean, in the metric's unit squared."""
    lowest: float = inf
    highest: float = -inf

    @classmethod
    def of(cls, values: npt.ArrayLike) -> "Moments":
        """Moments of an array of shape (n,). Raises ValueError on NaN or infinity."""
        array = checked_values(values)
        if array.size == 0:
            return cls()
        if array.size == 1:
            only = float(array[0])
            return cls(1, only, 0.0, only, only)
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large to add up shows in the mean
            mean = float(array.mean())
            deviations = array - mean
            squares = float(np.dot(deviations, deviations))
        return cls(array.size, mean, squares, float(array.min()), float(array.max()))

    def add(self, values: npt.ArrayLike) -> "Moments":
        """These moments with one more batch of shape (batch,)."""
        return self.merge(Moments.of(values))

    def merge(self, other: "Moments") -> "Moments":
        if other.n == 0:
            return self
        if self.n == 0:
            return other
        n = self.n + other.n
        gap = other.mean_or_zero - self.mean_or_zero
        return Moments(
            n,
            self.mean_or_zero + gap * (other.n / n),
            self.squared_deviations + other.squared_deviations + gap * gap * (self.n * (other.n / n)),
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
        )

    @property
    def mean(self) -> float | None:
        return self.mean_or_zero if self.n else None

    @property
    def min(self) -> float | None:
        return self.lowest if self.n else None

    @property
    def max(self) -> float | None:
        return self.highest if self.n else None

    @property
    def std(self) -> float | None:
        """Sample standard deviation (divisor n - 1); None below two values."""
        return sqrt(self.squared_deviations / (self.n - 1)) if self.n > 1 else None

    @property
    def standard_error(self) -> float | None:
        """Of the mean: std / sqrt(n); None below two values."""
        return None if self.std is None else self.std / sqrt(self.n)

    @property
    def is_constant(self) -> bool:
        """All values are equal, up to the rounding that a computed score carries."""
        return self.n > 0 and self.highest - self.lowest <= 1e-12 * max(abs(self.lowest), abs(self.highest))
