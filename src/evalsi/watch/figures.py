"""Figures of a policy over time: buckets put together into periods and groups, each with its interval.

Its own module because the statistics of a policy, its series, drift and comparisons are all read from buckets so.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from math import ceil

from evalsi.ports.policy_store import HOUR_MS, MINUTE_MS, Bucket
from evalsi.schema import ConfidenceInterval, MetricDrift, MetricWindow
from evalsi.stats import (
    Interval,
    TwoSamples,
    kolmogorov_smirnov,
    proportion_difference,
    stability_index,
    welch_difference,
)
from evalsi.watch.fold import DURATION, tally_of
from evalsi.watch.policy import CheckedPolicy
from evalsi.watch.tally import Tally

LEVEL = 0.95
POINTS = 60
"""Points of a series where its step is not named."""
MOST_POINTS = 2_000
FEWEST_FOR_DRIFT = 50
"""Values in each period below which nothing is said about drift."""
DRIFT_P, DRIFT_INDEX = 0.01, 0.1
"""Values have moved when the test is below this p-value and the stability index above this: visible and not small."""
_DRIFT_BINS = 10


class Period:
    """Tallies of a time by metric and group."""

    def __init__(self, start_ms: int, end_ms: int) -> None:
        self.start_ms, self.end_ms = start_ms, end_ms
        self.tallies: dict[tuple[str, str], Tally] = {}

    def add(self, bucket: Bucket) -> None:
        key = bucket.key
        self.tallies.setdefault((key.metric, key.value), Tally()).plus(tally_of(bucket.body))


def period_of(buckets: Iterable[Bucket], start_ms: int, end_ms: int) -> Period:
    """What the buckets that begin within a time hold together."""
    period = Period(start_ms, end_ms)
    for bucket in buckets:
        if start_ms <= bucket.key.start_ms < end_ms and bucket.key.metric != DURATION:
            period.add(bucket)
    return period


def series_of(buckets: Sequence[Bucket], start_ms: int, end_ms: int, step_ms: int | None) -> list[Period]:
    """Periods of one length from `start_ms` on, those without values left out.

    Args:
        step_ms: Their length, rounded up to whole minutes, or to whole hours where buckets are hours; None for one
            that gives about `POINTS` points.
    """
    unit = HOUR_MS if any(bucket.length_ms > MINUTE_MS for bucket in buckets) else MINUTE_MS
    wanted = step_ms or (end_ms - start_ms) / POINTS
    step = max(unit, ceil(max(wanted, (end_ms - start_ms) / MOST_POINTS) / unit) * unit)
    first = start_ms - start_ms % step
    periods: dict[int, Period] = {}
    for bucket in buckets:
        place = (bucket.key.start_ms - first) // step
        if place < 0 or bucket.key.start_ms >= end_ms or bucket.key.metric == DURATION:
            continue
        begin = first + place * step
        periods.setdefault(place, Period(begin, begin + step)).add(bucket)
    return [periods[place] for place in sorted(periods)]


def windows_of(period: Period, checked: CheckedPolicy, level: float = LEVEL) -> list[MetricWindow]:
    """A window for each metric and group of a period, by name."""
    return [
        window_of(metric, tally, checked, period, group=group, level=level)
        for (metric, group), tally in sorted(period.tallies.items())
    ]


def window_of(
    metric: str, tally: Tally, checked: CheckedPolicy, period: Period, *, group: str = "", level: float = LEVEL
) -> MetricWindow:
    estimate = tally.estimate(level, checked.range_of(metric))
    return MetricWindow(
        metric=metric,
        n=max(0, tally.n),
        mean=estimate.value,
        ci=interval_message(estimate.interval),
        skipped=tally.skipped,
        errors=tally.errors,
        start=moment(period.start_ms),
        end=moment(period.end_ms),
        group=group,
        p05=tally.quantile(0.05),
        p50=tally.quantile(0.5),
        p95=tally.quantile(0.95),
        skip_reasons=dict(tally.reasons),
    )


def difference_of(
    before: Tally, now: Tally, bounds: tuple[float, float] | None, level: float = LEVEL
) -> TwoSamples | None:
    """The mean now less the mean before: of independent verdicts as proportions, else by Welch, clustered if need be."""
    if before.n and now.n and before.is_binary and now.is_binary and not (before.clustered or now.clustered):
        return proportion_difference((round(before.total), round(now.total)), (before.n, now.n), level)
    return welch_difference(before.estimate(level, bounds), now.estimate(level, bounds), level)


def drift_of(metric: str, before: Tally, now: Tally, bounds: tuple[float, float] | None) -> MetricDrift:
    """Whether the values of a metric have moved from one period to the next."""
    change = difference_of(before, now, bounds)
    p_value = index = None
    if min(before.n, now.n) >= FEWEST_FOR_DRIFT:
        bins = sorted({*before.bins, *now.bins})
        first, second = [before.bins.get(each, 0) for each in bins], [now.bins.get(each, 0) for each in bins]
        _, p_value = kolmogorov_smirnov(first, second)
        index = stability_index(*_in_tenths(first, second))
    return MetricDrift(
        metric=metric,
        psi=index,
        p_value=p_value,
        difference=None if change is None else change.difference,
        ci=interval_message(change.interval) if change is not None else None,
        n_before=before.n,
        n_now=now.n,
        moved=p_value is not None and index is not None and p_value < DRIFT_P and index > DRIFT_INDEX,
    )


def interval_message(interval: Interval | None) -> ConfidenceInterval | None:
    if interval is None:
        return None
    return ConfidenceInterval(low=interval.low, high=interval.high, level=interval.level, method=interval.method)


def moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _in_tenths(before: Sequence[int], now: Sequence[int]) -> tuple[list[int], list[int]]:
    """Counts in up to ten bins, each with about a tenth of the values before, so that no index rests on tiny bins."""
    tenth = sum(before) / _DRIFT_BINS
    first, second = [0], [0]
    for old, new in zip(before, now, strict=True):
        if first[-1] >= tenth:
            first.append(0)
            second.append(0)
        first[-1] += old
        second[-1] += new
    if len(first) > 1 and first[-1] < tenth / 2:
        first[-2:] = [first[-2] + first[-1]]
        second[-2:] = [second[-2] + second[-1]]
    return first, second
