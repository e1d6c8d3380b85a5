"""The mean of clustered values: several records per document, user, conversation or repeated item.

Its own module because clustered records are not independent, and an interval that treats them so is too narrow by a
factor that grows with the cluster size. What always holds: only the sum and the count per cluster are needed, so a
stream can be counted in memory that grows with the clusters alone; one record per cluster gives Student's interval.
"""

from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np
import numpy.typing as npt

from evalsi.stats.distributions import student_t_quantile
from evalsi.stats.interval import Estimate, check_bounds, check_level, interval_or_none
from evalsi.stats.sample import FloatArray, IntArray, Labels, checked_values, label_codes
from evalsi.stats.unseen_mass import unseen_mass


@dataclass(frozen=True, slots=True)
class ClusterTotals:
    """Sum and count of the values of each cluster: all that the clustered mean and its interval need."""

    sums: FloatArray
    """float64, shape (clusters,), in the metric's unit; infinite where values are too large to add up."""
    counts: IntArray
    """int64, shape (clusters,), each at least 1."""

    def __post_init__(self) -> None:
        if self.sums.shape != self.counts.shape or self.sums.ndim != 1:
            raise ValueError(f"sums and counts need one equal length, not {self.sums.shape} and {self.counts.shape}")
        if (self.counts < 1).any():
            raise ValueError("each cluster needs at least one value")

    @classmethod
    def of(cls, values: npt.ArrayLike, clusters: Labels) -> "ClusterTotals":
        """Totals of values of shape (n,) with one label each. Raises ValueError when the lengths differ."""
        array = checked_values(values)
        codes, distinct = label_codes(clusters)
        if codes.size != array.size:
            raise ValueError(f"each value needs a cluster: {array.size} values, {codes.size} clusters")
        return cls(
            np.bincount(codes, weights=array, minlength=len(distinct)).astype(np.float64),
            np.bincount(codes, minlength=len(distinct)).astype(np.int64),
        )


def _bell_mccaffrey_df(shares: FloatArray) -> float:
    """Degrees of freedom of the CR2 variance of a mean, from each cluster's share of the values.

    The CR2 variance is a quadratic form in the values with matrix B; Satterthwaite's df is tr(B)^2 / tr(B^2), here
    under independent values, written out so that no square matrix is built. Equal clusters give clusters - 1.
    """
    pull = shares * shares / (1.0 - shares)
    return 1.0 / float((shares * shares).sum() + pull.sum() ** 2 - (pull * pull).sum())


def cluster_robust_t(totals: ClusterTotals, level: float = 0.95, bounds: tuple[float, float] | None = None) -> Estimate:
    """Mean of all values with an interval that allows any dependence inside a cluster.

    The CR2 variance (each cluster's residual sum divided by sqrt(1 - its share of the values)) with Student's t on
    Bell-McCaffrey degrees of freedom. In simulation (docs/reference/statistics.md) this keeps its level from three
    clusters of unequal size on, where the usual CR1 variance with clusters - 1 degrees of freedom falls to 72%.

    Args:
        totals: sums and counts per cluster (`ClusterTotals.of(values, clusters)`).
        bounds: the metric's possible range, if it has one; the interval is cut to it.
    Returns: the estimate with `clusters` set. No interval for fewer than two clusters, nor for equal cluster means
        without bounds; with bounds these get `unseen_mass` over clusters.
    Raises: ValueError: a cluster mean outside the bounds, a level out of range.
    Source: Bell & McCaffrey (2002), Survey Methodology 28:169-181; Imbens & Kolesar (2016), Review of Economics and
        Statistics 98:701-712; Miller (2024), arXiv:2411.00640, for why evaluations need it.
    """
    check_level(level)
    clusters = totals.sums.size
    if clusters == 0:
        return Estimate(None, 0, clusters=0, reason="nothing was scored")
    n = int(totals.counts.sum())
    with np.errstate(over="ignore", invalid="ignore"):
        whole = float(totals.sums.sum())
    if not isfinite(whole):
        return Estimate(None, n, clusters=clusters, reason="the values are too large to add up")
    means = totals.sums / totals.counts
    lowest, highest = float(means.min()), float(means.max())
    check_bounds(bounds, lowest, highest)
    mean = whole / n
    if clusters == 1:
        return Estimate(mean, n, clusters=1, reason="one cluster shows no spread between clusters, so no interval")
    if highest - lowest <= 1e-12 * max(abs(lowest), abs(highest)):
        if bounds is None:
            reason = f"all {clusters} cluster means are equal and the metric has no known bounds"
            return Estimate(mean, n, clusters=clusters, reason=reason)
        interval = unseen_mass(min(max(mean, bounds[0]), bounds[1]), clusters, bounds, level)
        return Estimate(mean, n, interval, clusters=clusters)
    counts = totals.counts.astype(np.float64)
    shares = counts / n
    residuals = totals.sums - counts * mean
    with np.errstate(over="ignore"):
        error = sqrt(float((residuals * residuals / (1.0 - shares)).sum())) / n
    df = _bell_mccaffrey_df(shares)
    half = student_t_quantile(0.5 + level / 2, df) * error
    interval = interval_or_none(mean - half, mean + half, level, "clustered-t")
    interval = None if interval is None else interval.clipped(bounds)
    reason = None if interval is not None else "the spread is too large or too small for double precision"
    return Estimate(mean, n, interval, error if isfinite(error) else None, clusters, reason)
