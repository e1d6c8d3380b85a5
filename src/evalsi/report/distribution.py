"""Distributions in constant memory: a histogram over known ends, and values thinned evenly once they are many.

Its own module because a report on a million records must not hold a million numbers.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil

import numpy as np
import numpy.typing as npt

from evalsi.stats import Estimate, quantile_estimate

BINS = 20
_KEPT_VALUES = 65_536


@dataclass(slots=True)
class Histogram:
    """Counts of values in equal bins from `low` to `high`; the last bin holds its upper end. Values beyond the ends
    count in the outermost bins.
    """

    low: float
    high: float
    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(BINS, dtype=np.int64))

    def add(self, values: npt.NDArray[np.float64]) -> None:
        """Counts finite values of any shape."""
        if not values.size:
            return
        bins = self.counts.size
        with np.errstate(over="ignore"):
            places = (values - self.low) / (self.high - self.low) * bins
        self.counts += np.bincount(np.clip(places, 0, bins - 1).astype(np.int64).ravel(), minlength=bins)

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    def edges(self, index: int) -> tuple[float, float]:
        width = (self.high - self.low) / self.counts.size
        return self.low + index * width, self.low + (index + 1) * width


def histogram_between(low: float, high: float) -> Histogram:
    """A histogram from `low` to `high`, `low < high`. Between whole numbers further apart than 1 every bin holds equally
    many whole numbers, so that counts of words do not show a comb.
    """
    whole = low == round(low) and high == round(high) and 1 < high - low < 1e9
    if not whole:
        return Histogram(low, high)
    width = ceil((high - low + 1) / (2 * BINS))
    bins = ceil((high - low + 1) / width)
    return Histogram(low - 0.5, low - 0.5 + bins * width, np.zeros(bins, dtype=np.int64))


@dataclass(slots=True)
class ThinnedValues:
    """Every `step`-th value of a stream, all of them until there are many; n and the sum are of all values."""

    step: int = 1
    n: int = 0
    total: float = 0.0
    _kept: list[npt.NDArray[np.float64]] = field(default_factory=list[npt.NDArray[np.float64]])
    _size: int = 0

    def add(self, values: Iterable[float]) -> None:
        array = np.fromiter(values, dtype=np.float64)
        if not array.size:
            return
        kept = array[-self.n % self.step :: self.step]
        self.n += array.size
        self.total += float(array.sum())
        self._kept.append(kept)
        self._size += kept.size
        if self._size > 2 * _KEPT_VALUES:
            self._kept = [np.concatenate(self._kept)[::2]]
            self._size = self._kept[0].size
            self.step *= 2

    def values(self) -> npt.NDArray[np.float64]:
        """The kept values, shape (kept,)."""
        return np.concatenate(self._kept) if self._kept else np.empty(0)

    def quantile(self, q: float, level: float = 0.95) -> Estimate:
        """The quantile of the kept values; thinning widens its interval and never narrows it."""
        return quantile_estimate(self.values(), q, level)

    def histogram(self, *, share: float = 0.99) -> Histogram:
        """Bins from 0 (or the least value) to the `share` quantile; the few beyond count in the last bin."""
        values = self.values()
        low = min(0.0, float(values.min())) if values.size else 0.0
        high = float(np.quantile(values, share)) if values.size else 1.0
        made = Histogram(low, high if high > low else low + 1.0)
        made.add(values)
        return made
