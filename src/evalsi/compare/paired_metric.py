"""One metric of two runs over the same records: the difference, its interval, a test, and what could have been seen.

The verdict needs no eye for statistics: IMPROVED or REGRESSED when the adjusted test says so, UNCHANGED when a margin
was given and the whole interval lies within it, NO DIRECTION where nobody declared which way is better, INCONCLUSIVE
otherwise.
"""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalsi.stats import (
    ClusterTotals,
    Estimate,
    Interval,
    Sensitivity,
    detectable_mean,
    detectable_paired_proportion,
    holm,
    mcnemar_exact,
    paired_difference,
    paired_permutation,
    paired_proportions,
)

Verdict: TypeAlias = Literal["IMPROVED", "REGRESSED", "UNCHANGED", "INCONCLUSIVE", "NO DIRECTION", "NO DATA"]
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class PairedMetric:
    """The comparison of one metric. Differences are candidate minus baseline, in the metric's unit."""

    metric: str
    binary: bool
    higher_is_better: bool | None
    pairs: int
    """Records scored in both runs."""
    unpaired: int
    """Shared records that one of the runs did not score."""
    baseline_mean: float | None
    candidate_mean: float | None
    difference: float | None
    interval: Interval | None
    p_value: float | None
    p_adjusted: float | None
    """Adjusted for all tests that were made together, by Holm unless said otherwise."""
    test: str
    better: int
    """Records whose value rose."""
    worse: int
    """Records whose value fell."""
    detectable: float | None
    """Smallest difference that this many pairs find with 80% power at the 5% level."""
    verdict: Verdict
    note: str = ""
    unit: str = ""
    """Unit of the metric's values, for example "ms"; "" for plain numbers."""


@dataclass(frozen=True, kw_only=True)
class ComparePlan:
    """How to compare. `margins` holds, by metric, the difference that would still be no change."""

    level: float = 0.95
    seed: int = 0
    margins: dict[str, float] | None = None


def compare_values(
    metric: str,
    before: FloatArray,
    after: FloatArray,
    *,
    binary: bool,
    higher_is_better: bool | None,
    bounds: tuple[float, float] | None,
    plan: ComparePlan,
    clusters: list[str] | None = None,
) -> PairedMetric:
    """Compares the values of the same records, NaN where a run did not score one.

    Args:
        before, after: float64, shape (records,), same order.
        clusters: a group per record; grouped records are resampled and swapped together.
    """
    both = ~(np.isnan(before) | np.isnan(after))
    first, second = before[both], after[both]
    groups = [clusters[row] for row in np.flatnonzero(both)] if clusters is not None else None
    pairs = int(both.sum())
    better, worse = int((second > first).sum()), int((second < first).sum())
    if binary and groups is None:
        estimate, test = paired_proportions(better, worse, pairs, plan.level), "McNemar, exact"
        p_value = mcnemar_exact(better, worse) if pairs else None
    else:
        estimate = paired_difference(first, second, plan.level, clusters=groups, bounds=bounds)
        test = "paired permutation"
        p_value = paired_permutation(first, second, seed=plan.seed, clusters=groups) if pairs else None
    return PairedMetric(
        metric=metric,
        binary=binary,
        higher_is_better=higher_is_better,
        pairs=pairs,
        unpaired=before.size - pairs,
        baseline_mean=float(first.mean()) if pairs else None,
        candidate_mean=float(second.mean()) if pairs else None,
        difference=estimate.value,
        interval=estimate.interval,
        p_value=p_value,
        p_adjusted=p_value,
        test=test,
        better=better,
        worse=worse,
        detectable=_detectable(first, second, binary, better + worse, plan.level)
        if groups is None
        else _detectable_of_groups(first, second, groups, plan.level),
        verdict="NO DATA" if not pairs else "INCONCLUSIVE",
        note=_note(estimate, pairs),
    )


def decide(metrics: list[PairedMetric], plan: ComparePlan, *, comparisons: int | None = None) -> list[PairedMetric]:
    """Adjusts the tests for their number and gives each metric its verdict.

    Args:
        comparisons: Where what is compared was picked by looking: comparisons that were looked at (Bonferroni). By
            default the tests themselves count (Holm).
    """
    raw = [metric.p_value for metric in metrics if metric.p_value is not None]
    adjusted = iter(holm(raw) if comparisons is None else [min(1.0, p * comparisons) for p in raw])
    decided: list[PairedMetric] = []
    for metric in metrics:
        with_p = replace(metric, p_adjusted=None if metric.p_value is None else next(adjusted))
        decided.append(replace(with_p, verdict=_verdict(with_p, plan)))
    return decided


def _verdict(metric: PairedMetric, plan: ComparePlan) -> Verdict:
    if not metric.pairs or metric.difference is None:
        return "NO DATA"
    if metric.p_adjusted is not None and metric.p_adjusted <= 1 - plan.level and metric.higher_is_better is not None:
        return "IMPROVED" if (metric.difference > 0) == metric.higher_is_better else "REGRESSED"
    margin = (plan.margins or {}).get(metric.metric)
    if margin is not None and metric.interval is not None and -margin <= metric.interval.low:  # noqa: SIM102
        if metric.interval.high <= margin:
            return "UNCHANGED"
    return "INCONCLUSIVE" if metric.higher_is_better is not None else "NO DIRECTION"


def _detectable(first: FloatArray, second: FloatArray, binary: bool, discordant: int, level: float) -> float | None:
    pairs = first.size
    if pairs < 2:
        return None
    sensitivity = Sensitivity(alpha=1 - level)
    if binary:
        # With no flip seen, the share of flips may still be about 3 / n (the rule of three).
        share = min(1.0, max(discordant, 3) / pairs)
        return detectable_paired_proportion(pairs, share, sensitivity)
    spread = float(np.std(second - first, ddof=1))
    return detectable_mean(pairs, spread, sensitivity) if spread > 0 else None


def _detectable_of_groups(first: FloatArray, second: FloatArray, groups: list[str], level: float) -> float | None:
    """As `_detectable`, with a group as the unit: its records are not independent, and their mean says what they say."""
    if len(groups) < 2:
        return None
    totals = ClusterTotals.of(second - first, groups)
    means = totals.sums / totals.counts
    spread = float(np.std(means, ddof=1)) if means.size > 1 else 0.0
    return detectable_mean(means.size, spread, Sensitivity(alpha=1 - level)) if spread > 0 else None


def _note(estimate: Estimate, pairs: int) -> str:
    if not pairs:
        return "no record was scored in both runs"
    return estimate.reason or ""
