"""Two graded runs, record by record: what they share, how they differ, and whether the difference can be trusted.

Only records that both runs hold are compared, and how many are not is said. Records are matched by id and, within an
id, by their order (the trial). Values are kept as one float per record and metric; texts are read again for the records
that are shown.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evalsi.compare.changed_records import changed_values, with_texts
from evalsi.compare.comparison import Comparison, UsageDifference
from evalsi.compare.comparison_warnings import adjusted_away, warnings_about
from evalsi.compare.paired_metric import ComparePlan, PairedMetric, compare_values, decide
from evalsi.compare.run_values import USAGE, RunValues, collect_values, common_cluster_key, grouped_as_made
from evalsi.compare.shared_records import PairedValues, SharedRecords
from evalsi.core.errors import UnknownNameError
from evalsi.results.graded_run import GradedRun
from evalsi.stats import ClusterTotals, Estimate, cluster_robust_t, mean_estimate

MAX_FLIPS = 50


def compare_runs(
    baseline: GradedRun,
    candidate: GradedRun,
    plan: ComparePlan | None = None,
    *,
    metrics: Sequence[str] = (),
    cluster_by: str | None = None,
    max_flips: int = MAX_FLIPS,
    collect: Callable[[GradedRun, str | None], RunValues] = collect_values,
) -> Comparison:
    """Compares `candidate` with `baseline`.

    Args:
        metrics: Which metrics; by default all that both runs have.
        cluster_by: Metadata key that groups records which are not independent. By default the one that both runs were
            made with, which is then said, else the trials of one record are a group, as with "record.id".
        max_flips: Changed records to carry with their texts; those that fell the most come first.
        collect: Reads the values of a run; for whoever has read it before.

    Raises: UnknownNameError: a metric or a margin's metric that is in neither run, a key that no record carries.
    """
    plan = plan or ComparePlan()
    kept = None if cluster_by else common_cluster_key((baseline, candidate))
    key = cluster_by or kept
    before, after = collect(baseline, key), collect(candidate, None)
    known = {**before.metrics, **after.metrics}
    for name in (*metrics, *(plan.margins or {})):
        if name not in known:
            raise UnknownNameError("metric", name, known)
    shared = SharedRecords.of(before, after)
    names = [name for name in before.metrics if name in after.metrics and (not metrics or name in metrics)]
    values = {name: shared.values(name) for name in names}
    clusters = shared.clusters(by_group=bool(key))
    compared = decide(
        [_compared(name, baseline, candidate, shared, pair, clusters, plan) for name, pair in values.items()], plan
    )
    changed, changes = changed_values(compared, values, max_flips)
    return Comparison(
        baseline=baseline.title,
        candidate=candidate.title,
        metrics=compared,
        shared=shared.count,
        only_baseline=before.count - shared.count,
        only_candidate=after.count - shared.count,
        usage=_usage(shared, plan, clusters),
        flips=with_texts(baseline, candidate, changed, shared),
        flips_left_out=changes - len(changed),
        warnings=[
            *([grouped_as_made(kept)] if kept else []),
            *warnings_about(baseline, candidate, before, after, shared.count),
            *adjusted_away(compared, plan),
        ],
    )


def _compared(
    name: str,
    baseline: GradedRun,
    candidate: GradedRun,
    shared: SharedRecords,
    values: PairedValues,
    clusters: list[str] | None,
    plan: ComparePlan,
) -> PairedMetric:
    summary = candidate.summary(name) or baseline.summary(name)
    binary = shared.before.binary[name] and shared.after.binary[name]
    metric = compare_values(
        name,
        *values,
        binary=binary,
        higher_is_better=summary.higher_is_better if summary is not None else True,
        bounds=(0.0, 1.0) if binary else _kept_range(candidate, name, *values),
        plan=plan,
        clusters=clusters,
    )
    return replace(metric, unit=summary.unit if summary is not None else "")


def _kept_range(run: GradedRun, metric: str, *values: npt.NDArray[np.float64]) -> tuple[float, float] | None:
    """The declared range, unless a value lies outside: a baseline of another version may have known no range."""
    declared = _declared_range(run, metric)
    if declared is None or any(((each < declared[0]) | (each > declared[1])).any() for each in values):
        return None
    return declared


def _declared_range(run: GradedRun, metric: str) -> tuple[float, float] | None:
    """The range that the metric's evaluator declares, if it has both ends."""
    summary = run.summary(metric)
    for evaluator in run.manifest.evaluators:
        if evaluator.manifest is None or summary is None or evaluator.name != summary.evaluator:
            continue
        named = metric.removeprefix(f"{evaluator.name}.")
        for spec in evaluator.manifest.outputs:
            only = len(evaluator.manifest.outputs) == 1
            fits = spec.name == named or (metric == evaluator.name and (only or spec.name == evaluator.manifest.name))
            if fits and spec.min is not None and spec.max is not None and spec.min < spec.max:
                return spec.min, spec.max
    return None


def _usage(shared: SharedRecords, plan: ComparePlan, clusters: list[str] | None) -> list[UsageDifference]:
    found: list[UsageDifference] = []
    for name, (_, unit) in USAGE.items() if shared.count else ():
        first = shared.before.usage[name][shared.rows_before]
        second = shared.after.usage[name][shared.rows_after]
        both = ~(np.isnan(first) | np.isnan(second))
        if both.any():
            found.append(
                UsageDifference(
                    name=name,
                    unit=unit,
                    baseline_mean=float(first[both].mean()),
                    candidate_mean=float(second[both].mean()),
                    difference=_mean(second[both] - first[both], clusters, both, plan.level),
                )
            )
    return found


def _mean(
    differences: npt.NDArray[np.float64], clusters: list[str] | None, both: npt.NDArray[np.bool_], level: float
) -> Estimate:
    if clusters is None:
        return mean_estimate(differences, level)
    groups = [group for group, there in zip(clusters, both.tolist(), strict=True) if there]
    return cluster_robust_t(ClusterTotals.of(differences, groups), level)
