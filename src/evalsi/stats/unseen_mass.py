"""What n equal values still allow: the honest interval of a bounded metric whose sample is constant.

Its own module because every mean in this package (plain, clustered, paired, bootstrapped) falls back on it: a variance
estimate of zero says "certain", while n equal values only say that anything else is rare. What always holds: the
interval contains the value, lies inside the bounds and shrinks as 1/n.

The argument. All n values equal c. Call q the chance that a value differs from c. Where q <= e the mean lies between
c - e (c - low) and c + e (high - c), because what differs is bounded. Where q > e, n values agree at c with chance
(1 - q)^n < (1 - e)^n. Taking (1 - e)^n = (1 - level)/2, the Clopper-Pearson bound for an event never seen in n trials,
a miss has at most that chance for each value c that could be the constant, and there are at most two such values that
matter. On 0/1 data this *is* the Clopper-Pearson interval.
"""

from math import expm1, log

from evalsi.stats.interval import Interval, check_bounds, check_level, interval_or_none


def unseen_mass(value: float, n: int, bounds: tuple[float, float], level: float = 0.95) -> Interval | None:
    """Interval of the mean after `n` independent values that all equal `value`.

    Args:
        value: the constant, in the metric's unit.
        n: independent values (clusters, where the data is clustered).
        bounds: lowest and highest value the metric can take.
    Returns: an interval inside `bounds`; None for n = 0.
    Raises: ValueError: the value lies outside the bounds.
    Source: bound of an unseen event, Clopper & Pearson (1934), also Hanley & Lippman-Hand (1983), JAMA 249:1743-1745.
    """
    check_level(level)
    check_bounds(bounds, value, value)
    if n <= 0:
        return None
    unseen = -expm1(log((1 - level) / 2) / n)
    low = max(bounds[0], value - unseen * (value - bounds[0]))
    high = min(bounds[1], value + unseen * (bounds[1] - value))
    return interval_or_none(low, high, level, "unseen-mass")
