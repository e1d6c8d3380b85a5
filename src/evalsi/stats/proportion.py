"""Intervals for a share of successes: Wilson (default) and Clopper-Pearson (never below its level).

Its own module because a 0/1 metric needs no variance estimate, so these work from one record on. What always holds: the
interval contains the observed share, lies in [0, 1], and has width even at 0 of n and n of n.
"""

from math import sqrt

from evalsi.stats.distributions import beta_quantile, normal_quantile
from evalsi.stats.interval import Estimate, Interval, check_level, interval_or_none


def _check_counts(successes: int, n: int) -> None:
    if not 0 <= successes <= n:
        raise ValueError(f"successes lie between 0 and n, not {successes} of {n}")


def wilson(successes: int, n: int, level: float = 0.95) -> Interval | None:
    """Score interval of a binomial proportion. Average coverage is the level; it dips below near 0 and 1.

    Args:
        successes, n: counts, 0 <= successes <= n.
        level: fraction in (0, 1).
    Returns: fractions in [0, 1]; None for n = 0.
    Raises: ValueError: counts or level out of range.
    Source: Wilson (1927), JASA 22:209-212; recommended by Brown, Cai & DasGupta (2001), Statistical Science 16:101-133.
    """
    _check_counts(successes, n)
    check_level(level)
    if n == 0:
        return None
    z = normal_quantile(0.5 + level / 2)
    share = successes / n
    shrink = 1.0 + z * z / n
    centre = (share + z * z / (2 * n)) / shrink
    half = z / shrink * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At the ends the formula is exact in real numbers and off by one rounding in floats.
    low = 0.0 if successes == 0 else max(0.0, min(centre - half, share))
    high = 1.0 if successes == n else min(1.0, max(centre + half, share))
    return interval_or_none(low, high, level, "wilson")


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> Interval | None:
    """Exact interval of a binomial proportion: coverage is at least the level for every p, so it is wider.

    Args, Returns, Raises: as `wilson`.
    Source: Clopper & Pearson (1934), Biometrika 26:404-413.
    """
    _check_counts(successes, n)
    check_level(level)
    if n == 0:
        return None
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else beta_quantile(tail, successes, n - successes + 1)
    high = 1.0 if successes == n else 1.0 - beta_quantile(tail, n - successes, successes + 1)
    return interval_or_none(low, high, level, "clopper-pearson")


def proportion_estimate(successes: int, n: int, level: float = 0.95) -> Estimate:
    """Observed share with its Wilson interval, as an `Estimate`; both are None for n = 0."""
    interval = wilson(successes, n, level)
    if n == 0:
        return Estimate(None, 0, reason="nothing was scored")
    share = successes / n
    return Estimate(share, n, interval, standard_error=sqrt(share * (1 - share) / n) if 0 < successes < n else None)
