"""Two choices of traffic compared by what a policy found in them: periods, versions, labels.

Its own module because traffic seldom comes in pairs. Where it does (two versions were asked the same), the tests are those
of two runs, over the pairs; else those of independent samples, clustered by session. Both are adjusted for their number.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from evalsi.compare.paired_metric import ComparePlan, PairedMetric, compare_values, decide
from evalsi.ports.policy_store import PolicyMark, PolicyStore
from evalsi.schema import CompareTrafficResponse, MetricWindow, TrafficComparison, TrafficSlice
from evalsi.stats import TwoSamples, holm
from evalsi.watch.figures import Period, difference_of, interval_message, window_of
from evalsi.watch.policy import CheckedPolicy
from evalsi.watch.tally import Tally, alone

MOST_MARKS = 200_000
"""Subjects of one side that are compared, the newest ones."""
SHARE_OF_PAIRS = 0.5
"""So many pairs there must be for the subjects of the larger side: with fewer, something else would be compared."""
PAIRED_BY: Mapping[str, Callable[[PolicyMark], str]] = {
    "key": lambda mark: mark.own_key,
    "input": lambda mark: mark.asked,
    "session": lambda mark: mark.cluster,
}
"""What makes a pair, in the order it is tried."""
_TESTS = {"welch": "Welch", "newcombe": "two proportions"}


@dataclass(frozen=True)
class _Side:
    period: Period
    marks: Sequence[PolicyMark]
    tallies: Mapping[str, Tally]


def compare_traffic(
    store: PolicyStore,
    checked: CheckedPolicy,
    baseline: TrafficSlice,
    candidate: TrafficSlice,
    now: datetime,
    *,
    level: float = 0.95,
) -> CompareTrafficResponse:
    """The candidate against the baseline, one comparison for each metric that either has.

    Sides are paired by the first of `PAIRED_BY` by which enough subjects of both have a partner. A verdict is "improved" or "regressed" where the test, adjusted for the number of metrics (Holm), finds a difference
    at `1 - level` and the metric says which way is better; "inconclusive" otherwise.
    """
    first, second = _side(store, checked, baseline, now), _side(store, checked, candidate, now)
    metrics = sorted(first.tallies.keys() | second.tallies.keys())
    paired_by = _paired_by(first.marks, second.marks)
    if paired_by:
        pairs = _Pairs(first.marks, second.marks, PAIRED_BY[paired_by])
        plan = ComparePlan(level=level)
        compared = decide([pairs.compared(metric, checked, plan) for metric in metrics], plan)
        return CompareTrafficResponse(
            comparisons=[_of_pairs(each, first, second, checked, level) for each in compared], paired_by=paired_by
        )
    found: list[tuple[str, TwoSamples | None]] = [
        (
            metric,
            difference_of(
                first.tallies.get(metric, Tally()), second.tallies.get(metric, Tally()), checked.range_of(metric), level
            ),
        )
        for metric in metrics
    ]
    adjusted = iter(holm([each.p_value for _, each in found if each is not None and each.p_value is not None]))
    comparisons: list[TrafficComparison] = []
    for metric, change in found:
        p_value = next(adjusted) if change is not None and change.p_value is not None else None
        comparisons.append(
            TrafficComparison(
                metric=metric,
                baseline=_window(metric, first, checked, level),
                candidate=_window(metric, second, checked, level),
                difference=None if change is None else change.difference,
                ci=interval_message(change.interval) if change is not None else None,
                p_value=p_value,
                verdict=_verdict(checked, metric, change, p_value, level),
                test=_TESTS.get(change.interval.method, "")
                if p_value is not None and change and change.interval
                else "",
            )
        )
    return CompareTrafficResponse(comparisons=comparisons)


def _of_pairs(
    found: PairedMetric, first: _Side, second: _Side, checked: CheckedPolicy, level: float
) -> TrafficComparison:
    return TrafficComparison(
        metric=found.metric,
        baseline=_window(found.metric, first, checked, level),
        candidate=_window(found.metric, second, checked, level),
        difference=found.difference,
        ci=interval_message(found.interval),
        p_value=found.p_adjusted,
        verdict=found.verdict.lower() if found.verdict in ("IMPROVED", "REGRESSED") else "inconclusive",
        test=found.test if found.p_adjusted is not None else "",
        pairs=found.pairs,
    )


def _paired_by(first: Sequence[PolicyMark], second: Sequence[PolicyMark]) -> str:
    """By what enough subjects of both sides have a partner; empty when by nothing, and where the sides overlap."""
    if not {mark.subject for mark in first}.isdisjoint(mark.subject for mark in second):
        return ""
    for name, key_of in PAIRED_BY.items():
        one, other = ([key_of(mark) for mark in side] for side in (first, second))
        shared = len({key for key in one if key} & {key for key in other if key})
        # Many subjects of one key are one pair. Those of a session are one anyway.
        units = [len(set(keys) - {""}) + keys.count("") if name == "session" else len(keys) for keys in (one, other)]
        if shared and shared >= SHARE_OF_PAIRS * max(units):
            return name
    return ""


class _Pairs:
    """Values of what both sides have, a row for each key: the mean of its values on a side."""

    def __init__(
        self, first: Sequence[PolicyMark], second: Sequence[PolicyMark], key_of: Callable[[PolicyMark], str]
    ) -> None:
        self._sides = [_by_key(first, key_of), _by_key(second, key_of)]
        self._keys = [key for key in self._sides[0] if key in self._sides[1]]
        sessions = [self._sides[0][key][0].cluster for key in self._keys]
        # Pairs of one session are not independent; a key whose subject belongs to none stands alone.
        self._clusters = [session or alone(key) for session, key in zip(sessions, self._keys, strict=True)]

    def compared(self, metric: str, checked: CheckedPolicy, plan: ComparePlan) -> PairedMetric:
        before, after = (
            np.array([_mean_of(side[key], metric) for key in self._keys], dtype=np.float64) for side in self._sides
        )
        known = np.concatenate((before, after))
        known = known[~np.isnan(known)]
        spec = checked.metrics.get(metric)
        return compare_values(
            metric,
            before,
            after,
            binary=bool(np.isin(known, (0.0, 1.0)).all()) if known.size else False,
            higher_is_better=spec.higher_is_better if spec is not None else None,
            bounds=checked.range_of(metric),
            plan=plan,
            clusters=self._clusters if len(set(self._clusters)) < len(self._keys) else None,
        )


def _by_key(marks: Sequence[PolicyMark], key_of: Callable[[PolicyMark], str]) -> dict[str, list[PolicyMark]]:
    found: dict[str, list[PolicyMark]] = {}
    for mark in marks:
        key = key_of(mark)
        if key:
            found.setdefault(key, []).append(mark)
    return found


def _mean_of(marks: Sequence[PolicyMark], metric: str) -> float:
    values = [value for mark in marks for value in mark.values.get(metric, ())]
    return sum(values) / len(values) if values else float("nan")


def _verdict(
    checked: CheckedPolicy, metric: str, change: TwoSamples | None, p_value: float | None, level: float
) -> str:
    spec = checked.metrics.get(metric)
    better = spec.higher_is_better if spec is not None else None
    if change is None or p_value is None or p_value > 1 - level or better is None:
        return "inconclusive"
    return "improved" if (change.difference > 0) == better else "regressed"


def _window(metric: str, side: _Side, checked: CheckedPolicy, level: float) -> MetricWindow:
    return window_of(metric, side.tallies.get(metric, Tally()), checked, side.period, level=level)


def _side(store: PolicyStore, checked: CheckedPolicy, choice: TrafficSlice, now: datetime) -> _Side:
    since_ms = int(choice.since.timestamp() * 1000) if choice.since is not None else 0
    until_ms = int((choice.until or now).timestamp() * 1000) + (choice.until is None)
    marks = store.marks(
        checked.policy.project, checked.policy.name, since_ms=since_ms, until_ms=until_ms, limit=MOST_MARKS
    )
    wanted = [mark for mark in marks if _is_of(mark, choice)]
    start_ms = since_ms or min((mark.at_ms for mark in wanted), default=until_ms)
    return _Side(Period(start_ms, until_ms), wanted, _tallies(wanted))


def _is_of(mark: PolicyMark, choice: TrafficSlice) -> bool:
    if choice.version and mark.groups.get("version") != choice.version:
        return False
    wanted = (label.partition("=") for label in choice.labels)
    return all(mark.groups.get(f"label.{key}") == value for key, _, value in wanted)


def _tallies(marks: Sequence[PolicyMark]) -> dict[str, Tally]:
    values: dict[str, list[float]] = {}
    clusters: dict[str, list[str]] = {}
    reasons: dict[str, list[str]] = {}
    errors: dict[str, int] = {}
    for mark in marks:
        for metric, some in mark.values.items():
            cluster = mark.cluster or (alone(mark.subject) if len(some) == 1 else mark.subject)
            values.setdefault(metric, []).extend(some)
            clusters.setdefault(metric, []).extend([cluster] * len(some))
        for metric, some_reasons in mark.skipped.items():
            reasons.setdefault(metric, []).extend(some_reasons)
        for metric in mark.errors:
            errors[metric] = errors.get(metric, 0) + 1
    return {
        metric: Tally.of(
            values.get(metric, []), clusters.get(metric, []), reasons.get(metric, []), errors.get(metric, 0)
        )
        for metric in values.keys() | reasons.keys() | errors.keys()
    }
