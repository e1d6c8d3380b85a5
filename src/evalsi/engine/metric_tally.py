"""The values of one metric so far: moments, what is kept for the median, totals of clusters, counts of labels.

Its own module because it needs numpy and the statistics, which whoever asks models loads while it waits. Values are folded in
blocks whatever batches they came in, so that figures of the same values are the same to the last digit however a run was cut,
stopped and continued.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from evalsi.stats import Moments

__all__ = ["MetricTally"]

_BLOCK_VALUES = 1024
_FEW_VALUES = 32
"""Up to so many, a sort in Python is done before numpy has begun."""
_KEPT_VALUES = 65_536
"""Distinct values up to which a median is exact; beyond, it is read off this many evenly kept values."""


@dataclass(slots=True)
class MetricTally:
    """One metric over the rows seen so far."""

    kind: str = "passed"
    labels: dict[str, int] = field(default_factory=dict[str, int])
    clusters: dict[str, tuple[float, int]] = field(default_factory=dict[str, tuple[float, int]])
    sampled_step: int = 1
    _folded: Moments = field(default_factory=Moments)
    """Of the whole blocks so far."""
    _rest: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """The values since."""
    _values: list[npt.NDArray[np.float64]] = field(default_factory=list[npt.NDArray[np.float64]])
    """Of the whole blocks, what is kept for the median and the bootstrap."""
    _kept: int = 0

    def moments(self) -> Moments:
        return self._folded.add(self._rest) if self._rest.size else self._folded

    def kept_values(self) -> npt.NDArray[np.float64]:
        """All values, or every `sampled_step`th."""
        if not self._values and self.sampled_step == 1:
            return self._rest
        return np.concatenate([*self._values, self._rest[-self._folded.n % self.sampled_step :: self.sampled_step]])

    def median(self) -> float | None:
        """Of the values that are kept."""
        values = self.kept_values()
        if not values.size:
            return None
        if values.size > _FEW_VALUES:
            return float(np.median(values))
        ordered = sorted(values.tolist())
        return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2

    def take(self, values: npt.NDArray[np.float64], *, keep_all: bool) -> None:
        """Adds values in their order. Without `keep_all` they are thinned evenly beyond the limit."""
        self._rest = np.concatenate((self._rest, values)) if self._rest.size else values
        whole = self._rest.size - self._rest.size % _BLOCK_VALUES
        for begin in range(0, whole, _BLOCK_VALUES):
            self._fold(self._rest[begin : begin + _BLOCK_VALUES], keep_all=keep_all)
        self._rest = self._rest[whole:]

    def _fold(self, block: npt.NDArray[np.float64], *, keep_all: bool) -> None:
        kept = block[-self._folded.n % self.sampled_step :: self.sampled_step]
        self._values.append(kept)
        self._folded = self._folded.add(block)
        self._kept += kept.size
        if self._kept > 2 * _KEPT_VALUES and not keep_all:
            self._values = [np.concatenate(self._values)[::2]]
            self._kept = self._values[0].size
            self.sampled_step *= 2
