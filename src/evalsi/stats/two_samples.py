"""Whether two independent samples differ: in their means, and in their whole distribution. From counts alone.

Its own module because traffic comes without pairs, and is kept in counts per bin and not as values. What always holds:
an interval is wider than nothing, and a test that the data cannot carry gives None.
"""

from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
import numpy.typing as npt

from evalsi.stats.distributions import normal_cdf, student_t_cdf, student_t_quantile
from evalsi.stats.interval import Estimate, Interval, interval_or_none
from evalsi.stats.proportion import wilson

_KOLMOGOROV_TERMS = 100
_EMPTY_SHARE = 1e-4
"""Share that stands for an empty bin in a stability index."""


@dataclass(frozen=True, slots=True)
class TwoSamples:
    """The second mean less the first."""

    difference: float
    interval: Interval | None
    p_value: float | None
    """Two-sided."""


def welch_difference(first: Estimate, second: Estimate, level: float = 0.95) -> TwoSamples | None:
    """Difference of two means by their standard errors, each on the degrees of freedom of its values or clusters.

    Returns: None when a sample is empty; no interval and no p-value where a standard error is not known.
    Source: Welch (1947), Biometrika 34:28-35.
    """
    if first.value is None or second.value is None:
        return None
    difference = second.value - first.value
    one, other = first.standard_error, second.standard_error
    if not one and not other:
        return TwoSamples(difference, None, None)
    parts = [((error or 0.0) ** 2, (each.clusters or each.n) - 1) for error, each in ((one, first), (other, second))]
    variance = sum(part for part, _ in parts)
    shrink = sum(part * part / max(df, 1) for part, df in parts)
    df = variance * variance / shrink
    error = sqrt(variance)
    half = student_t_quantile(0.5 + level / 2, df) * error
    p_value = 2 * student_t_cdf(-abs(difference) / error, df)
    return TwoSamples(difference, interval_or_none(difference - half, difference + half, level, "welch"), p_value)


def proportion_difference(successes: tuple[int, int], n: tuple[int, int], level: float = 0.95) -> TwoSamples | None:
    """Difference of two proportions of independent values: Newcombe's interval, the pooled score test.

    Args:
        successes, n: of the first and the second sample.
    Returns: None when a sample is empty; no p-value when all values of both are equal.
    Source: Newcombe (1998), Statistics in Medicine 17:873-890, method 10.
    """
    if not (n[0] and n[1]):
        return None
    p1, p2 = successes[0] / n[0], successes[1] / n[1]
    one, other = wilson(successes[0], n[0], level), wilson(successes[1], n[1], level)
    assert one is not None
    assert other is not None
    difference = p2 - p1
    low = difference - sqrt((p2 - other.low) ** 2 + (one.high - p1) ** 2)
    high = difference + sqrt((other.high - p2) ** 2 + (p1 - one.low) ** 2)
    pooled = (successes[0] + successes[1]) / (n[0] + n[1])
    error = sqrt(pooled * (1 - pooled) * (1 / n[0] + 1 / n[1]))
    p_value = 2 * normal_cdf(-abs(difference) / error) if error else None
    return TwoSamples(difference, interval_or_none(low, high, level, "newcombe"), p_value)


def kolmogorov_smirnov(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[float, float]:
    """The largest distance of two distribution functions, and its two-sided p-value.

    Args:
        first, second: Counts in the same bins, in the order of their values, shape (bins,), each with at least one value.
    Returns: the distance in [0, 1] and the p-value, which is too large rather than too small where values share bins.
    Source: Kolmogorov's limit with the correction of Stephens (1970), Journal of the Royal Statistical Society B 32:115-122.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    distance = float(np.abs(np.cumsum(a) / a.sum() - np.cumsum(b) / b.sum()).max())
    root = sqrt(a.sum() * b.sum() / (a.sum() + b.sum()))
    z = (root + 0.12 + 0.11 / root) * distance
    if z < 0.2:
        return distance, 1.0
    terms = sum((-1) ** (k - 1) * exp(-2.0 * k * k * z * z) for k in range(1, _KOLMOGOROV_TERMS))
    return distance, min(1.0, max(0.0, 2.0 * terms))


def stability_index(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """The population stability index: sum over bins of (q - p) ln(q / p), p and q the shares of the bin.

    Args:
        first, second: Counts in the same bins, shape (bins,), each with at least one value. An empty bin counts as a
            share of 0.0001.
    Returns: 0 for equal shares; by convention below 0.1 is stable and above 0.25 has moved.
    Source: Siddiqi (2006), Credit Risk Scorecards, chapter 8; it is Jeffreys' divergence of the two.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    p, q = np.maximum(a / a.sum(), _EMPTY_SHARE), np.maximum(b / b.sum(), _EMPTY_SHARE)
    return float(sum((y - x) * log(y / x) for x, y in zip(p.tolist(), q.tolist(), strict=True)))
