"""Correlation of two raters' numbers: Pearson (linear) and Spearman (order only), with Fisher intervals.

Its own module because it says nothing of agreement (a judge that is always two points too kind correlates perfectly).
What always holds: without variation on either side the correlation is undefined, which is None with a reason.
"""

from math import atanh, sqrt, tanh

import numpy as np
import numpy.typing as npt

from evalsi.stats.distributions import normal_quantile
from evalsi.stats.interval import Estimate, check_level, interval_or_none
from evalsi.stats.moments import Moments
from evalsi.stats.sample import FloatArray, checked_pair


def pearson(first: npt.ArrayLike, second: npt.ArrayLike, level: float = 0.95) -> Estimate:
    """Linear correlation with the Fisher z interval.

    Args:
        first, second: shape (n,), the same records in the same order.
    Returns: r in [-1, 1]. No value below two records or when one side is constant; no interval below four records or
        for r = +-1, where the transform is infinite.
    Raises: ValueError: lengths differ, NaN or infinity.
    Source: Fisher (1921), Metron 1:3-32. The interval supposes normal values.
    """
    a, b = checked_pair(first, second)
    return _correlation(a, b, level, spearman_correction=False)


def spearman(first: npt.ArrayLike, second: npt.ArrayLike, level: float = 0.95) -> Estimate:
    """Rank correlation (ties get mean ranks) with the Fisher z interval of Bonett and Wright.

    Args, Returns, Raises: as `pearson`.
    Source: Spearman (1904), American Journal of Psychology 15:72-101; Bonett & Wright (2000), Psychometrika 65:23-28.
    """
    a, b = checked_pair(first, second)
    return _correlation(_mean_ranks(a), _mean_ranks(b), level, spearman_correction=True)


def _mean_ranks(values: FloatArray) -> FloatArray:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2.0)[place]


def _correlation(a: FloatArray, b: FloatArray, level: float, *, spearman_correction: bool) -> Estimate:
    check_level(level)
    n = a.size
    if n < 2:
        return Estimate(None, n, reason="a correlation needs two records")
    if Moments.of(a).is_constant or Moments.of(b).is_constant:
        return Estimate(None, n, reason="one side is constant, so the correlation is 0/0")
    x, y = a - a.mean(), b - b.mean()
    x, y = x / np.abs(x).max(), y / np.abs(y).max()
    r = min(1.0, max(-1.0, float(x @ y) / sqrt(float(x @ x) * float(y @ y))))
    if n < 4:
        return Estimate(r, n, reason="the interval of a correlation needs four records")
    if abs(r) >= 1.0 - 1e-12:
        return Estimate(r, n, reason="the records lie on one line, which shows no spread around it")
    error = sqrt((1.0 + r * r / 2.0 if spearman_correction else 1.0) / (n - 3))
    half = normal_quantile(0.5 + level / 2) * error
    method = "bonett-wright" if spearman_correction else "fisher-z"
    return Estimate(r, n, interval_or_none(tanh(atanh(r) - half), tanh(atanh(r) + half), level, method))
