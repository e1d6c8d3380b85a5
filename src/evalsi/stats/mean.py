"""The mean of independent values and Student's interval for it.

Its own module because it is the default for every graded metric. What always holds: a constant sample never yields a
zero-width interval (bounded metrics get `unseen_mass`, unbounded ones None with a reason).
"""

from math import isfinite

import numpy.typing as npt

from evalsi.stats.distributions import student_t_quantile
from evalsi.stats.interval import Estimate, Interval, check_bounds, check_level, interval_or_none
from evalsi.stats.moments import Moments
from evalsi.stats.unseen_mass import unseen_mass


def mean_estimate(
    sample: npt.ArrayLike | Moments, level: float = 0.95, bounds: tuple[float, float] | None = None
) -> Estimate:
    """Mean of independent values with its standard error and Student t interval.

    Args:
        sample: values of shape (n,), or their `Moments`.
        level: fraction in (0, 1).
        bounds: the metric's possible range, if it has one; the interval is cut to it.
    Returns: the estimate. No interval for n < 2, nor for a constant sample without bounds; `reason` says so.
    Raises: ValueError: NaN or infinity, a value outside the bounds, a level out of range.
    Source: Student (1908), Biometrika 6:1-25; constant samples as in `unseen_mass`.
    """
    check_level(level)
    moments = sample if isinstance(sample, Moments) else Moments.of(sample)
    if moments.n == 0:
        return Estimate(None, 0, reason="nothing was scored")
    check_bounds(bounds, moments.lowest, moments.highest)
    mean, n, error = moments.mean_or_zero, moments.n, moments.standard_error
    if not isfinite(mean):
        return Estimate(None, n, reason="the values are too large to add up")
    if error is None:
        return Estimate(mean, n, reason="one value shows no spread, so it has no interval")
    if moments.is_constant:
        if bounds is None:
            reason = f"all {n} values are equal and the metric has no known bounds, so their spread says nothing"
            return Estimate(mean, n, reason=reason)
        return Estimate(mean, n, unseen_mass(min(max(mean, bounds[0]), bounds[1]), n, bounds, level))
    half = student_t_quantile(0.5 + level / 2, n - 1) * error
    interval = interval_or_none(mean - half, mean + half, level, "t")
    interval = None if interval is None else interval.clipped(bounds)
    reason = None if interval is not None else "the spread is too large or too small for double precision"
    return Estimate(mean, n, interval, error if isfinite(error) else None, reason=reason)


def t_interval(
    sample: npt.ArrayLike | Moments, level: float = 0.95, bounds: tuple[float, float] | None = None
) -> Interval | None:
    """The interval of `mean_estimate` alone, where no reason is wanted."""
    return mean_estimate(sample, level, bounds).interval
