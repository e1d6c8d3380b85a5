"""An interval of a bounded mean that may be looked at after every record and stays valid.

Its own module because looking at an ordinary 95% interval until it says what one hopes for misses far more often than
one time in twenty. What always holds: over the whole, endless sequence the true mean is outside at any time with
chance at most 1 - level, for every distribution inside the bounds; the interval only ever shrinks.
"""

from dataclasses import dataclass, field, replace
from math import log

import numpy as np
import numpy.typing as npt

from evalsi.stats.interval import Interval, check_bounds, check_level, interval_or_none
from evalsi.stats.sample import FloatArray, checked_values

_GRID = 1_001
"""Candidate means; the interval is rounded outwards to this grid."""
_BATCH = 512
_BET_CAP = 0.75
"""Largest share of the capital that may be lost on one record. Source: the 3/4 of the paper's experiments."""


def _zeros() -> FloatArray:
    return np.zeros(_GRID)


@dataclass(frozen=True, slots=True)
class ConfidenceSequence:
    """A value: `update` returns the sequence with more records. Start with `ConfidenceSequence(bounds=(0.0, 1.0))`.

    For each candidate mean two gamblers bet that the mean is higher, or lower. A candidate is ruled out for good once
    either has multiplied its capital by 2 / (1 - level).

    Source: Waudby-Smith & Ramdas (2024), Journal of the Royal Statistical Society B 86:1-27, the hedged capital
    process with predictable plug-in bets (their theorem 3), with running intersection.
    """

    bounds: tuple[float, float]
    level: float = 0.95
    n: int = 0
    total: float = 0.0
    squares: float = 0.0
    """Sum of squared deviations from the running mean, in units of the bounds."""
    log_up: FloatArray = field(default_factory=_zeros, repr=False)
    log_down: FloatArray = field(default_factory=_zeros, repr=False)
    low_index: int = 0
    high_index: int = _GRID - 1

    def __post_init__(self) -> None:
        check_level(self.level)
        check_bounds(self.bounds, *self.bounds)

    def update(self, values: npt.ArrayLike) -> "ConfidenceSequence":
        """The sequence after more records, in the order they came.

        Args:
            values: shape (batch,), inside the bounds.
        Raises: ValueError: NaN, infinity, or a value outside the bounds.
        """
        array = checked_values(values)
        if array.size == 0:
            return self
        check_bounds(self.bounds, float(array.min()), float(array.max()))
        scaled = np.clip((array - self.bounds[0]) / (self.bounds[1] - self.bounds[0]), 0.0, 1.0)
        sequence = self
        for start in range(0, scaled.size, _BATCH):
            sequence = sequence._bet(scaled[start : start + _BATCH])
        return sequence

    def _bet(self, x: FloatArray) -> "ConfidenceSequence":
        alpha = 1.0 - self.level
        t = self.n + np.arange(1, x.size + 1)
        totals = self.total + np.cumsum(x)
        running_mean = (0.5 + totals) / (t + 1)
        squares = self.squares + np.cumsum((x - running_mean) ** 2)
        # The bet on record t may use only what was known before it.
        known_squares = np.concatenate([[self.squares], squares[:-1]])
        variance = (0.25 + known_squares) / t
        bets = np.sqrt(2.0 * log(2.0 / alpha) / (variance * t * np.log1p(t)))
        candidates = np.linspace(0.0, 1.0, _GRID)
        with np.errstate(divide="ignore"):
            up_bets = np.minimum(bets[:, None], _BET_CAP / candidates)
            down_bets = np.minimum(bets[:, None], _BET_CAP / (1.0 - candidates))
        gaps = x[:, None] - candidates
        log_up = self.log_up + np.cumsum(np.log1p(up_bets * gaps), axis=0)
        log_down = self.log_down + np.cumsum(np.log1p(-down_bets * gaps), axis=0)
        threshold = log(2.0 / alpha)
        # Upward capital falls with the candidate, so every candidate left of a ruled-out one is ruled out too.
        out_low = np.flatnonzero(log_up.max(axis=0) >= threshold)
        out_high = np.flatnonzero(log_down.max(axis=0) >= threshold)
        low = max(self.low_index, int(out_low[-1]) if out_low.size else 0)
        high = min(self.high_index, int(out_high[0]) if out_high.size else _GRID - 1)
        if low >= high:
            # Everything is ruled out, which happens with chance at most 1 - level: the last interval stands.
            low, high = self.low_index, self.high_index
        return replace(
            self,
            n=self.n + x.size,
            total=float(totals[-1]),
            squares=float(squares[-1]),
            log_up=log_up[-1],
            log_down=log_down[-1],
            low_index=low,
            high_index=high,
        )

    @property
    def interval(self) -> Interval | None:
        """The interval now, in the metric's unit; None before the first record."""
        if self.n == 0:
            return None
        span = (self.bounds[1] - self.bounds[0]) / (_GRID - 1)
        low, high = self.bounds[0] + span * self.low_index, self.bounds[0] + span * self.high_index
        return interval_or_none(low, min(high, self.bounds[1]), self.level, "betting")


def betting_interval(values: npt.ArrayLike, bounds: tuple[float, float], level: float = 0.95) -> Interval | None:
    """Interval of a bounded mean that keeps its level at every n and for every shape; wider than Student's.

    Args:
        values: shape (n,), in an order that does not depend on the values (the order of the dataset).
    Returns: an interval inside the bounds; None for n = 0.
    Raises, Source: as `ConfidenceSequence`.
    """
    return ConfidenceSequence(bounds=bounds, level=level).update(values).interval
