"""Intervals of a difference between two configurations measured on the same records.

Its own module because pairing removes the spread between records: an interval from two separate means is far too wide
and hides real changes. What always holds: a difference is after less before; no discordant pair, or all pairs equal,
is little evidence and never a zero-width interval.
"""

from math import sqrt

import numpy.typing as npt

from evalsi.stats.cluster import ClusterTotals, cluster_robust_t
from evalsi.stats.distributions import normal_quantile
from evalsi.stats.interval import Estimate, Interval, check_level, interval_or_none
from evalsi.stats.mean import mean_estimate
from evalsi.stats.sample import Labels, checked_pair


def paired_difference(
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    level: float = 0.95,
    *,
    clusters: Labels | None = None,
    bounds: tuple[float, float] | None = None,
) -> Estimate:
    """Mean of after - before with Student's t interval of the differences, cluster-robust when `clusters` are given.

    Args:
        before, after: shape (n,), the same records in the same order.
        clusters: one label per record.
        bounds: range of the *scores*; the difference then lies in [low - high, high - low].
    Returns: the estimate, in the metric's unit. No interval for n < 2, nor for equal differences without bounds.
    Raises: ValueError: lengths differ, NaN or infinity, a difference outside the bounds.
    Source: Student (1908); with clusters as `cluster_robust_t`. For 0/1 scores prefer `bonett_price`.
    """
    first, second = checked_pair(before, after)
    differences = second - first
    span = None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])
    if clusters is None:
        return mean_estimate(differences, level, span)
    return cluster_robust_t(ClusterTotals.of(differences, clusters), level, span)


def _check_discordant(better: int, worse: int, n: int) -> None:
    if better < 0 or worse < 0 or better + worse > n:
        raise ValueError(f"better and worse are counts among n pairs, not {better} and {worse} of {n}")


def bonett_price(better: int, worse: int, n: int, level: float = 0.95) -> Interval | None:
    """Interval of the difference of two paired success rates: one pseudo-pair added in each direction.

    It cannot collapse: with no discordant pair at all it still needs 54 pairs to lie inside +-0.05 at 95%.

    Args:
        better: pairs that failed before and pass after. worse: the reverse.
        n: all pairs, concordant ones included.
    Returns: an interval of (better - worse) / n inside [-1, 1]; None for n = 0. At low levels and extreme counts it may
        leave out the observed difference, which it pulls towards zero.
    Raises: ValueError: counts out of range.
    Source: Bonett & Price (2012), Journal of Educational and Behavioral Statistics 37:479-488.
    """
    check_level(level)
    _check_discordant(better, worse, n)
    if n == 0:
        return None
    up, down = (better + 1) / (n + 2), (worse + 1) / (n + 2)
    centre = up - down
    half = normal_quantile(0.5 + level / 2) * sqrt((up + down - centre * centre) / (n + 2))
    return interval_or_none(max(-1.0, centre - half), min(1.0, centre + half), level, "bonett-price")


def paired_wald(better: int, worse: int, n: int, level: float = 0.95) -> Estimate:
    """The textbook interval of a paired difference: for comparison with published figures, not for verdicts.

    Args, Raises: as `bonett_price`.
    Returns: difference, standard error and interval; no interval where its width would be zero (no discordant pair, or
        every pair discordant one way). Its coverage falls below the level with few discordant pairs.
    Source: Agresti (2013), Categorical Data Analysis, 3rd ed., 11.1.1.
    """
    check_level(level)
    _check_discordant(better, worse, n)
    if n == 0:
        return Estimate(None, 0, reason="there are no pairs")
    difference = (better - worse) / n
    variance = max(0.0, (better + worse) / n - difference * difference) / n
    if better + worse == 0 or n in {better, worse}:
        reason = "without pairs that disagree with the rest this formula has no width; use bonett_price"
        return Estimate(difference, n, reason=reason)
    error = sqrt(variance)
    half = normal_quantile(0.5 + level / 2) * error
    low, high = max(-1.0, difference - half), min(1.0, difference + half)
    return Estimate(difference, n, interval_or_none(low, high, level, "paired-wald"), error)


def paired_proportions(better: int, worse: int, n: int, level: float = 0.95) -> Estimate:
    """Observed difference of paired success rates with its `bonett_price` interval, as an `Estimate`."""
    interval = bonett_price(better, worse, n, level)
    if n == 0:
        return Estimate(None, 0, reason="there are no pairs")
    return Estimate((better - worse) / n, n, interval, paired_wald(better, worse, n, level).standard_error)
