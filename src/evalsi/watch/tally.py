"""Values of a metric, counted so that counts of any minutes and groups can be put together, and a value taken back.

Its own module because a mean, its interval, percentiles and drift over any period all come out of it. What always holds:
tallies of parts added in any order are the tally of the whole; taking back what was added leaves what was there; its
size does not grow with the number of values.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import ceil, log
from typing import TypeVar
from zlib import crc32

import msgspec
import numpy as np

from evalsi.stats import ClusterTotals, Estimate, Moments, cluster_robust_t, mean_estimate, proportion_estimate

KeyT = TypeVar("KeyT", int, str)

ACCURACY = 0.005
"""Largest relative error of a percentile."""
_GAMMA = (1 + ACCURACY) / (1 - ACCURACY)
_LOG_GAMMA = log(_GAMMA)
_SMALLEST = 1e-9
"""Values nearer to 0 count as 0 in percentiles."""
_OFFSET = ceil(-log(_SMALLEST) / _LOG_GAMMA) + 1
_ALONE = "\0"
CROWDS = 32
"""Groups into which sessions are dealt."""


class Tally(msgspec.Struct, array_like=True, omit_defaults=True):
    """A count of values that can be changed; `plus` and `minus` change it.

    Percentiles come from counts in bins whose width is a fixed share of the value: Masson, Rim & Lee (2019), PVLDB
    12:2195-2205 (DDSketch). Values of one session are not independent: sessions are dealt into `CROWDS` groups by a
    hash, all values of one into one group, and the groups are the clusters of the interval: Wolter (2007), Introduction
    to Variance Estimation, chapter 2 (random groups).
    """

    n: int = 0
    total: float = 0.0
    squares: float = 0.0
    skipped: int = 0
    errors: int = 0
    clustered: int = 0
    """Values that belong to a session."""
    bins: dict[int, int] = {}
    crowds: dict[int, tuple[int, float]] = {}
    """Count and sum by group; only filled where values belong to sessions."""
    reasons: dict[str, int] = {}
    """Skips by reason."""

    @classmethod
    def of(
        cls,
        values: Sequence[float] = (),
        clusters: Sequence[str] = (),
        reasons: Iterable[str] = (),
        errors: int = 0,
    ) -> "Tally":
        """A tally of values, each with the session it belongs to (or "", or an own name when it stands alone)."""
        crowds: dict[int, tuple[int, float]] = {}
        for value, crowd in zip(values, map(_crowd_of, clusters), strict=bool(clusters)):
            count, total = crowds.get(crowd, (0, 0.0))
            crowds[crowd] = count + 1, total + value
        skips = Counter(reasons)
        return cls(
            n=len(values),
            total=sum(values),
            squares=sum([value * value for value in values]),
            skipped=skips.total(),
            errors=errors,
            clustered=len([name for name in clusters if not name.startswith(_ALONE)]),
            bins=dict(Counter(map(bin_of, values))),
            crowds=crowds,
            reasons=dict(skips),
        )

    def plus(self, other: "Tally", sign: int = 1) -> None:
        """Adds another tally to this one; with `sign` -1 takes it back."""
        self.n += sign * other.n
        self.total += sign * other.total
        self.squares += sign * other.squares
        self.skipped += sign * other.skipped
        self.errors += sign * other.errors
        self.clustered += sign * other.clustered
        _add_counts(self.bins, other.bins, sign)
        _add_counts(self.reasons, other.reasons, sign)
        for crowd, (count, total) in other.crowds.items():
            before, sum_before = self.crowds.get(crowd, (0, 0.0))
            if before + sign * count:
                self.crowds[crowd] = before + sign * count, sum_before + sign * total
            else:
                self.crowds.pop(crowd, None)

    @property
    def mean(self) -> float | None:
        return self.total / self.n if self.n > 0 else None

    @property
    def is_binary(self) -> bool:
        """Whether all values are 0 or 1."""
        return self.bins.keys() <= {0, bin_of(1.0)} and abs(self.squares - self.total) < 1e-6

    def estimate(self, level: float = 0.95, bounds: tuple[float, float] | None = None) -> Estimate:
        """The mean with its interval: clustered by session where there are sessions, else Wilson's or Student's."""
        if self.n <= 0:
            return Estimate(None, 0, reason="nothing was scored")
        if self.clustered and len(self.crowds) > 1:
            counts = np.asarray([count for count, _ in self.crowds.values()], dtype=np.int64)
            sums = np.asarray([total for _, total in self.crowds.values()], dtype=np.float64)
            if bounds is not None:
                sums = np.clip(sums, bounds[0] * counts, bounds[1] * counts)
            return cluster_robust_t(ClusterTotals(sums, counts), level, bounds)
        if self.is_binary:
            return proportion_estimate(round(self.total), self.n, level)
        return mean_estimate(self.moments(bounds), level, bounds)

    def moments(self, bounds: tuple[float, float] | None = None) -> Moments:
        """Count, mean and spread; lowest and highest are those of the bins."""
        mean = self.total / self.n
        deviations = max(0.0, self.squares - self.n * mean * mean)
        if len(self.bins) < 2:
            return Moments(self.n, mean, 0.0, mean, mean)
        lowest, highest = value_of(min(self.bins)), value_of(max(self.bins))
        if bounds is not None:
            lowest, highest = max(lowest, bounds[0]), min(highest, bounds[1])
        return Moments(self.n, mean, deviations, min(lowest, mean), max(highest, mean))

    def quantile(self, share: float) -> float | None:
        """The value that `share` of the values do not exceed, with a relative error of at most twice `ACCURACY`.

        It is the roundest number that the values of its bin may have been, so that counts are whole.
        """
        if self.n <= 0:
            return None
        if self.n * self.squares - self.total * self.total <= _SAME * self.n * self.squares:
            return self.total / self.n  # one value, again and again: it is known exactly
        wanted, seen = share * (self.n - 1), 0
        for number in sorted(self.bins):
            seen += self.bins[number]
            if seen > wanted:
                return _roundest(number)
        return _roundest(max(self.bins))


def alone(name: str) -> str:
    """How a value that belongs to no session is named as a cluster of its own."""
    return _ALONE + name


_SAME = 1e-12
"""What rounding leaves of the spread of equal values, as a part of their squares."""


@lru_cache(1024)
def _crowd_of(session: str) -> int:
    """The group of a session. Its values are counted for each metric and field, one after the other."""
    return crc32(session.encode()) % CROWDS


@lru_cache(1024)
def bin_of(value: float) -> int:
    """The bin of a value: 0 for 0, above it for positive values, below it for negative ones."""
    size = abs(value)
    if size < _SMALLEST:
        return 0
    number = max(1, ceil(log(size) / _LOG_GAMMA) + _OFFSET)
    return number if value > 0 else -number


def value_of(number: int) -> float:
    """The value that stands for a bin. 1 is exactly 1, so that verdicts stay verdicts."""
    if number == 0:
        return 0.0
    if abs(number) == _OFFSET:
        return 1.0 if number > 0 else -1.0
    size = 2 * _GAMMA ** (abs(number) - _OFFSET) / (_GAMMA + 1)
    return size if number > 0 else -size


_MOST_DIGITS = 4


def _roundest(number: int) -> float:
    """The value of a bin that takes the fewest digits to write."""
    middle = value_of(number)
    digits = range(1, _MOST_DIGITS)
    return next((near for count in digits if bin_of(near := float(f"{middle:.{count}g}")) == number), middle)


def _add_counts(into: dict[KeyT, int], counts: Mapping[KeyT, int], sign: int) -> None:
    for key, count in counts.items():
        left = into.get(key, 0) + sign * count
        if left:
            into[key] = left
        else:
            into.pop(key, None)
