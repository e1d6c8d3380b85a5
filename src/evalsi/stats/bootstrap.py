"""Bootstrap intervals: of a mean (exact and fast), and of any statistic that can be computed from record weights.

Its own module because resampling is one idea with one seed rule. What always holds: a resample has n draws; records
(or clusters of records) are drawn, never trials; the same arguments give the same interval to the last bit; a
resampling distribution without width is never shown as certainty.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt

from evalsi.stats.cluster import ClusterTotals
from evalsi.stats.distributions import normal_cdf, normal_quantile
from evalsi.stats.interval import Estimate, Interval, check_bounds, check_level, interval_or_none
from evalsi.stats.mean import mean_estimate
from evalsi.stats.moments import Moments
from evalsi.stats.sample import FloatArray, IntArray, Labels, checked_pair, checked_values, label_codes
from evalsi.stats.unseen_mass import unseen_mass

_CHUNK_ELEMENTS = 2_000_000
"""Weights held at once: 16 MB. Depends on n alone, so it never changes an interval."""

_UNDEFINED_ALLOWED = 0.05
"""Share of resamples on which a statistic may be undefined before its interval is refused."""


Statistic = Callable[[IntArray], npt.ArrayLike]
"""Record weights, int64 of shape (rows, n), to one value per row, shape (rows,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """How to resample. Two equal plans on equal data give equal intervals."""

    seed: int
    resamples: int = 10_000
    level: float = 0.95
    kind: Literal["percentile", "bca"] = "percentile"
    """`bca` corrects for bias and skew; it helps skewed metrics and costs a jackknife."""

    def __post_init__(self) -> None:
        check_level(self.level)
        if self.resamples < 100:
            raise ValueError(f"fewer than 100 resamples show no tails, not {self.resamples}")

    @property
    def method(self) -> str:
        return f"bootstrap-{self.kind}"


def _interval_of_distribution(
    resampled: FloatArray, estimate: float, influence: FloatArray | None, plan: Resampling
) -> Interval | None:
    """Percentile or BCa interval of a resampling distribution; None where it has no width.

    Args:
        resampled: statistic on each resample, shape (resamples,).
        influence: how much each unit moves the statistic, shape (units,), any positive scale; needed for BCa.
    """
    if np.ptp(resampled) <= 1e-12 * np.abs(resampled).max():
        return None  # what differs is rounding
    tail = (1.0 - plan.level) / 2.0
    cuts = (tail, 1.0 - tail)
    if plan.kind == "bca":
        below = (float((resampled < estimate).mean()) + float((resampled <= estimate).mean())) / 2.0
        if influence is None or not 0.0 < below < 1.0:
            return None
        squares = float(influence @ influence)
        acceleration = float((influence**3).sum()) / (6.0 * squares**1.5) if squares > 0.0 else 0.0
        bias = normal_quantile(below)
        shifted: list[float] = []
        for cut in cuts:
            z = bias + normal_quantile(cut)
            shifted.append(normal_cdf(bias + z / (1.0 - acceleration * z)) if acceleration * z < 1.0 else 1.0)
        cuts = (shifted[0], shifted[1])
    low, high = np.quantile(resampled, cuts)
    return interval_or_none(float(low), float(high), plan.level, plan.method)


def _resampled_means(values: FloatArray, plan: Resampling) -> FloatArray:
    """Means of resamples, shape (resamples,), drawn exactly as by n draws with replacement.

    How often each distinct value is drawn is multinomial, so with few distinct values (graded scores, 0/1) a resample
    costs one draw per distinct value and not per record.
    """
    generator = np.random.default_rng(plan.seed)
    n = values.size
    distinct, counts = np.unique(values, return_counts=True)
    means = np.empty(plan.resamples)
    few = distinct.size * 8 <= n or distinct.size <= 64
    step = max(1, _CHUNK_ELEMENTS // (distinct.size if few else n))
    for start in range(0, plan.resamples, step):
        rows = min(step, plan.resamples - start)
        if few:
            means[start : start + rows] = generator.multinomial(n, counts / n, size=rows) @ distinct / n
        else:
            means[start : start + rows] = values[generator.integers(0, n, size=(rows, n))].mean(axis=1)
    return means


def _weights(units: int, plan: Resampling) -> Iterator[IntArray]:
    """How often each unit is drawn: int64 chunks of shape (rows, units), each row summing to `units`."""
    generator = np.random.default_rng(plan.seed)
    step = max(1, _CHUNK_ELEMENTS // units)
    for start in range(0, plan.resamples, step):
        rows = min(step, plan.resamples - start)
        drawn = generator.integers(0, units, size=(rows, units))
        drawn += np.arange(rows, dtype=np.int64)[:, None] * units
        yield np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units)


def bootstrap_mean(
    values: npt.ArrayLike,
    plan: Resampling,
    *,
    clusters: Labels | None = None,
    bounds: tuple[float, float] | None = None,
) -> Estimate:
    """Bootstrap interval of a mean; with `clusters`, whole clusters are drawn.

    Percentile intervals of few values are too narrow (the resampling spread is that of the divisor n): prefer
    `mean_estimate` or `cluster_robust_t` below about 30 units.

    Args:
        values: shape (n,).
        clusters: one label per value.
        bounds: the metric's possible range, used where the sample is constant.
    Returns: the estimate. `standard_error` is exact over all resamples (population standard deviation / sqrt(n)), not
        simulated. No interval for fewer than two units, nor for a constant sample without bounds.
    Raises: ValueError: NaN or infinity, lengths differ, a value outside the bounds.
    Source: Efron & Tibshirani (1993), An Introduction to the Bootstrap, ch. 5, 13.3, 14.3; clusters drawn whole as in
        Davison & Hinkley (1997), Bootstrap Methods and their Application, 3.8.
    """
    array = checked_values(values)
    if clusters is not None:
        return _bootstrap_cluster_mean(ClusterTotals.of(array, clusters), plan, bounds)
    moments = Moments.of(array)
    plain = mean_estimate(moments, plan.level, bounds)
    if plain.value is None or moments.n < 2 or moments.is_constant:
        return plain
    estimate = moments.mean_or_zero
    error = sqrt(moments.squared_deviations) / moments.n
    interval = _interval_of_distribution(_resampled_means(array, plan), estimate, array - estimate, plan)
    return Estimate(estimate, moments.n, interval or plain.interval, error, reason=plain.reason)


def _bootstrap_cluster_mean(totals: ClusterTotals, plan: Resampling, bounds: tuple[float, float] | None) -> Estimate:
    clusters = totals.sums.size
    if clusters == 0:
        return Estimate(None, 0, clusters=0, reason="nothing was scored")
    n = int(totals.counts.sum())
    mean = float(totals.sums.sum()) / n
    if clusters == 1:
        return Estimate(mean, n, clusters=1, reason="one cluster shows no spread between clusters, so no interval")
    means = totals.sums / totals.counts
    check_bounds(bounds, float(means.min()), float(means.max()))
    if np.ptp(means) <= 1e-12 * np.abs(means).max():
        if bounds is None:
            reason = f"all {clusters} cluster means are equal and the metric has no known bounds"
            return Estimate(mean, n, clusters=clusters, reason=reason)
        interval = unseen_mass(min(max(mean, bounds[0]), bounds[1]), clusters, bounds, plan.level)
        return Estimate(mean, n, interval, clusters=clusters)
    resampled = np.concatenate([(rows @ totals.sums) / (rows @ totals.counts) for rows in _weights(clusters, plan)])
    influence = totals.sums - totals.counts * mean
    interval = _interval_of_distribution(resampled, mean, influence, plan)
    reason = None if interval is not None else "every resample of clusters gives the same mean"
    return Estimate(mean, n, interval, float(resampled.std()), clusters, reason)


@dataclass(frozen=True, slots=True)
class _Units:
    """What is drawn: records, or clusters of records."""

    n: int
    units: int
    codes: IntArray | None = None
    """Cluster of each record, shape (n,); None where records are drawn."""

    @classmethod
    def of(cls, n: int, clusters: Labels | None) -> "_Units":
        if clusters is None:
            return cls(n, n)
        codes, distinct = label_codes(clusters)
        if codes.size != n:
            raise ValueError(f"each record needs a cluster: {n} records, {codes.size} clusters")
        return cls(n, len(distinct), codes)

    def values(self, statistic: Statistic, unit_weights: IntArray) -> FloatArray:
        """The statistic on each row of unit weights, shape (rows,)."""
        weights = unit_weights if self.codes is None else unit_weights[:, self.codes]
        return np.asarray(statistic(weights), dtype=np.float64)


def resampled_statistic(
    statistic: Statistic, n: int, plan: Resampling, *, clusters: Labels | None = None
) -> FloatArray:
    """The statistic on each resample, shape (resamples,): for intervals that are not percentiles.

    Args, Raises: as `bootstrap_statistic`.
    """
    drawn = _Units.of(n, clusters)
    if drawn.units == 0:
        return np.empty(0)
    return np.concatenate([drawn.values(statistic, rows) for rows in _weights(drawn.units, plan)])


def bootstrap_statistic(statistic: Statistic, n: int, plan: Resampling, *, clusters: Labels | None = None) -> Estimate:
    """Bootstrap interval of a corpus metric: the statistic is computed anew on each resample of records.

    Args:
        statistic: takes record weights, int64 of shape (rows, n), how often each record is drawn, and returns the
            metric of each row, shape (rows,). A row of ones is the data itself. It may answer NaN where the metric is
            undefined (for example no positive record was drawn). For a metric of pooled counts it is two lines:
            `counts = weights @ counts_per_record; return metric(counts)`.
        n: records.
        clusters: one label per record; whole clusters are drawn.
    Returns: the estimate. No interval for fewer than two units, where every resample gives the same value, or where
        the metric is undefined on more than 5% of resamples (`reason` says which).
    Raises: ValueError: not one cluster per record.
    Source: Efron & Tibshirani (1993), ch. 6, 13.3, 14.3; for corpus BLEU, Koehn (2004), EMNLP, 388-395.
    """
    drawn = _Units.of(n, clusters)
    groups = None if clusters is None else drawn.units
    if n == 0:
        return Estimate(None, 0, clusters=groups, reason="nothing was scored")
    estimate = float(drawn.values(statistic, np.ones((1, drawn.units), dtype=np.int64))[0])
    if not isfinite(estimate):
        return Estimate(None, n, clusters=groups, reason="the metric is undefined on these records")
    if drawn.units < 2:
        return Estimate(estimate, n, clusters=groups, reason="one record or cluster shows no spread, so no interval")
    resampled = resampled_statistic(statistic, n, plan, clusters=clusters)
    defined = resampled[np.isfinite(resampled)]
    if defined.size < (1.0 - _UNDEFINED_ALLOWED) * resampled.size:
        lost = resampled.size - defined.size
        reason = f"the metric is undefined on {lost} of {resampled.size} resamples; there are too few records"
        return Estimate(estimate, n, clusters=groups, reason=reason)
    influence = _jackknife_influence(statistic, drawn) if plan.kind == "bca" else None
    if influence is not None and not np.isfinite(influence).all():
        reason = "the metric is undefined when one record is left out, which BCa needs; use the percentile kind"
        return Estimate(estimate, n, clusters=groups, reason=reason)
    interval = _interval_of_distribution(defined, estimate, influence, plan)
    if interval is None:
        reason = "every resample gives the same value, so the records show no spread"
        return Estimate(estimate, n, clusters=groups, reason=reason)
    return Estimate(estimate, n, interval, float(defined.std()), groups)


def _jackknife_influence(statistic: Statistic, drawn: _Units) -> FloatArray:
    """Mean of the leave-one-out values less each of them, shape (units,). Source: Efron & Tibshirani (1993), 14.15."""
    step = max(1, _CHUNK_ELEMENTS // drawn.units)
    left_out: list[FloatArray] = []
    for start in range(0, drawn.units, step):
        rows = min(step, drawn.units - start)
        weights = np.ones((rows, drawn.units), dtype=np.int64)
        weights[np.arange(rows), start + np.arange(rows)] = 0
        left_out.append(drawn.values(statistic, weights))
    leave_one_out = np.concatenate(left_out)
    return leave_one_out.mean() - leave_one_out


def paired_bootstrap(
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    plan: Resampling,
    *,
    clusters: Labels | None = None,
    bounds: tuple[float, float] | None = None,
) -> Estimate:
    """Bootstrap interval of mean(after - before) over the same records, in the same order.

    Args:
        before, after: shape (n,).
        bounds: range of the *scores*; the difference then lies in [low - high, high - low].
    Returns, Raises, Source: as `bootstrap_mean`, on the differences.
    """
    first, second = checked_pair(before, after)
    span = None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])
    return bootstrap_mean(second - first, plan, clusters=clusters, bounds=span)
