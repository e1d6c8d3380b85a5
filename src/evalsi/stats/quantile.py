"""A quantile (median latency, p99) with an interval from order statistics.

Its own module because latencies are skewed and have no bound: this needs no assumption on their shape. What always
holds: both ends are observed values; where the sample is too small to bound the quantile on both sides, None.
"""

import numpy as np
import numpy.typing as npt

from evalsi.stats.distributions import binomial_cdf, normal_quantile
from evalsi.stats.interval import Estimate, check_level, interval_or_none
from evalsi.stats.sample import checked_values


def quantile_estimate(values: npt.ArrayLike, q: float, level: float = 0.95) -> Estimate:
    """Sample quantile with a distribution-free interval of coverage at least `level`.

    The number of values below the true quantile is Binomial(n, q); the interval runs between the two order statistics
    that bracket it, with at most (1 - level)/2 beyond each.

    Args:
        values: shape (n,), any unit. q: fraction in (0, 1), for example 0.99.
    Returns: the estimate (linear interpolation between order statistics). No interval while n is too small (below 6 for
        a median, below 368 for p99, at 95%) or while all values in reach are equal; ties are widened outwards.
    Raises: ValueError: NaN or infinity, q or level out of range.
    Source: Thompson (1936), Annals of Mathematical Statistics 7:122-128; David & Nagaraja (2003), Order Statistics, 7.1.
    """
    check_level(level)
    if not 0.0 < q < 1.0:
        raise ValueError(f"a quantile lies between 0 and 1, not {q!r}")
    array = np.sort(checked_values(values))
    n = array.size
    if n == 0:
        return Estimate(None, 0, reason="nothing was measured")
    value = float(np.quantile(array, q))
    tail = (1.0 - level) / 2.0
    ranks = order_ranks(n, q, tail)
    if ranks is None:
        reason = f"{n} values are too few to bound the {q:g} quantile on both sides"
        return Estimate(value, n, reason=reason)
    low, high = float(array[ranks[0]]), float(array[ranks[1]])
    if low == high:
        below, above = array[array < low], array[array > high]
        low = float(below[-1]) if below.size else low
        high = float(above[0]) if above.size else high
    interval = interval_or_none(low, high, level, "order-statistics")
    reason = None if interval is not None else "all values are equal, so their spread says nothing"
    return Estimate(value, n, interval, reason=reason)


def order_ranks(n: int, q: float, tail: float) -> tuple[int, int] | None:
    """Zero-based ranks (low, high) with P(true quantile < x[low]) <= tail and P(true quantile > x[high]) <= tail.

    Returns: None when `n` values cannot do that.
    """
    # x[low] lies above the quantile when at most `low` values are below it: P(K <= low) for K ~ Binomial(n, q).
    spread = normal_quantile(1.0 - tail) * (n * q * (1.0 - q)) ** 0.5
    low = int(min(n - 1.0, max(0.0, n * q - spread)))
    while low >= 0 and binomial_cdf(low, n, q) > tail:
        low -= 1
    while low + 1 < n and binomial_cdf(low + 1, n, q) <= tail:
        low += 1
    high = int(min(n - 1.0, max(0.0, n * q + spread)))
    # x[high] lies below the quantile when more than `high` values are below it.
    while high < n and 1.0 - binomial_cdf(high, n, q) > tail:
        high += 1
    while high > 0 and 1.0 - binomial_cdf(high - 1, n, q) <= tail:
        high -= 1
    return None if low < 0 or high >= n else (low, high)
