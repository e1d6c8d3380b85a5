"""Several runs over the records that all of them hold: a row a run, each against one reference, and what they cost.

Its own module because more than two runs raise questions that a pair does not. Which records count: those that every run
holds and scored, so that all figures of a table rest on the same ones. How many tests: one per run and group against the
reference, adjusted together by Holm. What a reference that was picked for its score costs: the tests are then adjusted
for every pair that could have been picked (Bonferroni). Which runs are worth their money: those that no other run beats on score and
cost at once. What always holds: a cost that is not known for every record is no cost, and puts no run on the frontier or
off it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from evalsi.compare.paired_metric import ComparePlan, PairedMetric, compare_values, decide
from evalsi.compare.run_values import (
    Key,
    RunValues,
    collect_values,
    common_cluster_key,
    grouped_as_made,
    shared_rows,
)
from evalsi.core.errors import GateFailedError, NothingScoredError, UnknownNameError, UsageError
from evalsi.core.figure import figure
from evalsi.core.natural_order import natural_order
from evalsi.results.declared_range import declared_range
from evalsi.results.graded_run import GradedRun
from evalsi.stats import Estimate, cluster_robust_t, mean_estimate, proportion_estimate
from evalsi.stats.cluster import ClusterTotals

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
MOST_GROUPS = 100


@dataclass(frozen=True, kw_only=True)
class MatrixPlan:
    """What to compare and how. `against` names the reference: the first run, or the best by its mean."""

    metric: str
    by: str | None = None
    against: Literal["first", "best"] = "first"
    level: float = 0.95
    seed: int = 0
    tuned: frozenset[int] = frozenset()
    """Places of the runs of systems that were tuned on these records: their scores are no evidence for other records."""


@dataclass(frozen=True, kw_only=True)
class UsageMean:
    """A mean per sample over the records of the table. None unless every one of them carries it."""

    mean: float | None
    known: int
    """Records that carry it."""


@dataclass(frozen=True, kw_only=True)
class MatrixRow:
    """One run within one table. `difference` is against the reference; None for the reference itself."""

    run: str
    run_id: str
    estimate: Estimate
    difference: PairedMetric | None
    cost_usd: UsageMean
    latency_s: UsageMean
    frontier: bool | None
    """Whether no other run has at least its score for at most its cost and one of both better. None where its score or
    cost is unknown."""
    dominated_by: str | None = None
    """The best-scored run that dominates it."""


@dataclass(frozen=True, kw_only=True)
class MatrixTable:
    """All runs over the same `n` observations; `group` is None for all records, else a value of the metadata key."""

    group: str | None
    n: int
    rows: list[MatrixRow]


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """The table of all records, then one per group.

    `shared` observations are in every run; `n` of the first table are scored in every run too.
    """

    metric: str
    reference: str
    level: float
    shared: int
    tests: int
    adjustment: str
    """How p-values were adjusted, for people."""
    tables: list[MatrixTable]
    warnings: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class _Shared:
    """The runs' values over the shared observations: arrays of shape (shared,) per run."""

    names: list[str]
    ids: list[str]
    values: list[FloatArray]
    costs: list[FloatArray]
    latencies: list[FloatArray]
    keys: list[Key]
    groups: list[str] | None
    clusters: list[str] | None
    """By observation: what the runs were grouped by when they were made."""
    binary: bool
    higher_is_better: bool | None
    bounds: tuple[float, float] | None


def compare_many(runs: Sequence[GradedRun], plan: MatrixPlan) -> Matrix:
    """Compares runs on one metric.

    Raises:
        UsageError: fewer than two runs, more than `MOST_GROUPS` groups, or "best" of a metric without a good end.
        UnknownNameError: a run lacks the metric, or no record carries the key.
        NothingScoredError: the runs share no record that all of them scored.
    """
    if len(runs) < 2:
        raise UsageError("a matrix needs at least two runs", hint="name two or more")
    shared, warnings = _shared(runs, plan)
    complete: BoolArray = np.logical_not(np.isnan(np.vstack(shared.values)).any(axis=0))
    warnings += _left_out(shared, complete)
    warnings += [
        f"{shared.names[run]} was tuned on these records: its score says nothing of others, so it is neither best nor on "
        "the frontier"
        for run in sorted(plan.tuned)
    ]
    if not complete.any():
        raise NothingScoredError(
            f"no record was scored for {plan.metric} in every run", hint="; ".join(warnings) or "compare fewer runs"
        )
    reference = _reference(shared, complete, plan)
    tables = [_table(shared, complete, None, reference, plan)]
    for group, rows in _groups(shared, complete).items():
        tables.append(_table(shared, rows, group, reference, plan))
    tables, tests, adjustment = _decided(tables, plan)
    return Matrix(
        metric=plan.metric,
        reference=shared.names[reference],
        level=plan.level,
        shared=len(shared.keys),
        tests=tests,
        adjustment=adjustment,
        tables=tables,
        warnings=warnings,
    )


def check_regressions(matrix: Matrix, max_regression: float = 0.0, *, strict: bool = False) -> int:
    """0 when no run is worse than the reference for sure and by more than `max_regression`, in any table.

    Args:
        strict: A run must be shown not to be worse by more than that: its interval may not reach so far.
    Raises: GateFailedError: one is. NothingScoredError: a table holds nothing to compare.
    """
    failed: list[str] = []
    for table in matrix.tables:
        for row in table.rows:
            found = row.difference
            if found is None:
                continue
            if found.difference is None or not found.pairs:
                raise NothingScoredError(f"the gate on {matrix.metric} has no data for {row.run}")
            place = f" where {table.group}" if table.group is not None else ""
            if found.verdict == "REGRESSED" and abs(found.difference) > max_regression:
                failed.append(f"{row.run} regressed by {figure(abs(found.difference))}{place}")
            elif strict and (worst := _worst(found)) > max_regression:
                failed.append(f"{row.run} may be worse by {figure(worst)}{place}")
    if failed:
        raise GateFailedError(f"{matrix.metric} against {matrix.reference}: {'; '.join(failed)}")
    return 0


def _worst(found: PairedMetric) -> float:
    """The largest loss that the interval of a difference holds."""
    if found.interval is None:
        return float("inf")
    return found.interval.high if found.higher_is_better is False else -found.interval.low


def _shared(runs: Sequence[GradedRun], plan: MatrixPlan) -> tuple[_Shared, list[str]]:
    cluster_by = common_cluster_key(runs)
    collected = [collect_values(run, plan.by if place == 0 else None) for place, run in enumerate(runs)]
    names = _names(runs)
    for values, name in zip(collected, names, strict=True):
        if plan.metric not in values.metrics:
            raise UnknownNameError(f"metric in run {name}", plan.metric, values.metrics)
    rows = shared_rows(collected)
    keys = [collected[0].key(int(row)) for row in rows[0]]
    warnings = [
        f"{values.count - len(keys)} of {values.count} observations of {name} are not in every run and are left out"
        for name, values in zip(names, collected, strict=True)
        if values.count > len(keys)
    ]
    if cluster_by:
        warnings.append(grouped_as_made(cluster_by))
    warnings += _other_evaluators(runs, names, plan.metric)
    summary = next((found for run in runs if (found := run.summary(plan.metric)) is not None), None)
    binary = all(values.binary[plan.metric] for values in collected)
    arrays = [values.joined(plan.metric)[at] for values, at in zip(collected, rows, strict=True)]
    bounds = (0.0, 1.0) if binary else declared_range(summary, runs[0].manifest) if summary is not None else None
    if bounds is not None and any(np.nanmin(a, initial=bounds[0]) < bounds[0] for a in arrays):
        bounds = None
    if bounds is not None and any(np.nanmax(a, initial=bounds[1]) > bounds[1] for a in arrays):
        bounds = None
    return (
        _Shared(
            names=names,
            ids=[run.manifest.run_id or run.source for run in runs],
            values=arrays,
            costs=[_usage(values, "cost", at) for values, at in zip(collected, rows, strict=True)],
            latencies=[_usage(values, "latency", at) for values, at in zip(collected, rows, strict=True)],
            keys=keys,
            groups=[collected[0].groups[int(row)] for row in rows[0]] if plan.by else None,
            clusters=_clusters(runs, collected[0], cluster_by, rows[0]),
            binary=binary,
            higher_is_better=summary.higher_is_better if summary is not None else True,
            bounds=bounds,
        ),
        warnings,
    )


def _clusters(
    runs: Sequence[GradedRun], first: RunValues, cluster_by: str | None, rows: npt.NDArray[np.int64]
) -> list[str] | None:
    """What each shared observation is grouped by; reads the first run again, for its groups may be those of the tables."""
    if cluster_by is None:
        return None
    groups = collect_values(runs[0], cluster_by).groups
    assert len(groups) == first.count
    return [groups[int(row)] for row in rows]


def _names(runs: Sequence[GradedRun]) -> list[str]:
    """Titles that tell the runs apart: those that are alike get the beginning of the run's id, else a number."""
    titles = [run.title for run in runs]
    names: list[str] = []
    for place, (run, title) in enumerate(zip(runs, titles, strict=True)):
        name = title
        if titles.count(title) > 1:
            name = f"{title} ({run.manifest.run_id[:10]})" if run.manifest.run_id else f"{title} ({place + 1})"
        names.append(name if name not in names else f"{name} ({place + 1})")
    return names


def _other_evaluators(runs: Sequence[GradedRun], names: list[str], metric: str) -> list[str]:
    """Says where the metric was not measured alike."""
    found: list[str] = []
    first = _measured_by(runs[0], metric)
    for run, name in zip(runs[1:], names[1:], strict=True):
        if _measured_by(run, metric) != first:
            found.append(f"{metric} was not measured alike: {name} has another version, other params or another judge")
    return found


def _measured_by(run: GradedRun, metric: str) -> object:
    summary = run.summary(metric)
    evaluator = next((one for one in run.manifest.evaluators if summary and one.name == summary.evaluator), None)
    if evaluator is None:
        return None
    version = evaluator.manifest.version if evaluator.manifest is not None else ""
    return version, evaluator.params, evaluator.judge_settings_sha256


def _usage(values: RunValues, name: str, rows: npt.NDArray[np.int64]) -> FloatArray:
    return values.usage[name][rows] if len(rows) else np.zeros(0)


def _left_out(shared: _Shared, complete: BoolArray) -> list[str]:
    found: list[str] = []
    for name, values in zip(shared.names, shared.values, strict=True):
        missing = int(np.isnan(values).sum())
        if missing:
            found.append(f"{name} did not score {missing} of {values.size} shared observations")
    missing = int((~complete).sum())
    if missing:
        found.append(f"{missing} shared observations that some run did not score are left out for all")
    return found


def _reference(shared: _Shared, complete: BoolArray, plan: MatrixPlan) -> int:
    if plan.against == "first":
        return 0
    if shared.higher_is_better is None:
        raise UsageError(f"{plan.metric} has no good end, so no run is the best", hint="compare against the first")
    means = {run: float(values[complete].mean()) for run, values in enumerate(shared.values) if run not in plan.tuned}
    if not means:
        raise UsageError("every run was tuned on these records, so none is the best", hint="compare against the first")
    return (max if shared.higher_is_better else min)(means, key=means.__getitem__)


def _groups(shared: _Shared, complete: BoolArray) -> dict[str, BoolArray]:
    """The complete observations of each value of the key, in natural order."""
    if shared.groups is None:
        return {}
    labels = np.array(shared.groups, dtype=object)
    distinct = sorted(set(labels[complete].tolist()), key=natural_order)
    if len(distinct) > MOST_GROUPS:
        raise UsageError(
            f"there are {len(distinct):,} groups, more than {MOST_GROUPS}", hint="use a key with fewer values"
        )
    return {label: complete & (labels == label) for label in distinct}


def _table(shared: _Shared, use: BoolArray, group: str | None, reference: int, plan: MatrixPlan) -> MatrixTable:
    at = np.flatnonzero(use)
    ids = [shared.keys[int(row)][0] for row in at]
    clusters = ids if len(set(ids)) < len(ids) else None
    if shared.clusters is not None:
        clusters = [shared.clusters[int(row)] for row in at]
    rows: list[MatrixRow] = []
    for run, values in enumerate(shared.values):
        own = values[at]
        difference = None
        if run != reference:
            difference = compare_values(
                plan.metric,
                shared.values[reference][at],
                own,
                binary=shared.binary,
                higher_is_better=shared.higher_is_better,
                bounds=shared.bounds,
                plan=ComparePlan(level=plan.level, seed=plan.seed),
                clusters=clusters,
            )
        rows.append(
            MatrixRow(
                run=shared.names[run],
                run_id=shared.ids[run],
                estimate=_estimate(own, clusters, shared, plan.level),
                difference=difference,
                cost_usd=_usage_mean(shared.costs[run][at]),
                latency_s=_usage_mean(shared.latencies[run][at]),
                frontier=None,
            )
        )
    return MatrixTable(group=group, n=len(ids), rows=_with_frontier(rows, shared.higher_is_better, plan.tuned))


def _estimate(values: FloatArray, clusters: list[str] | None, shared: _Shared, level: float) -> Estimate:
    if clusters is not None:
        return cluster_robust_t(ClusterTotals.of(values, clusters), level, shared.bounds)
    if shared.binary:
        return proportion_estimate(int(values.sum()), values.size, level)
    return mean_estimate(values, level, shared.bounds)


def _usage_mean(values: FloatArray) -> UsageMean:
    known = int((~np.isnan(values)).sum())
    return UsageMean(mean=float(values.mean()) if known == values.size and known else None, known=known)


def _with_frontier(rows: list[MatrixRow], higher_is_better: bool | None, tuned: frozenset[int]) -> list[MatrixRow]:
    """Places every run of known score and cost on the frontier or under the run that dominates it."""
    if higher_is_better is None:
        return rows
    direction = 1.0 if higher_is_better else -1.0
    placed = [
        (direction * row.estimate.value, row.cost_usd.mean, row)
        for run, row in enumerate(rows)
        if run not in tuned and row.estimate.value is not None and row.cost_usd.mean is not None
    ]
    decided: dict[str, MatrixRow] = {}
    for score, cost, row in placed:
        above = [one for one in placed if one[0] >= score and one[1] <= cost and (one[0] > score or one[1] < cost)]
        best = max(above, key=lambda one: (one[0], -one[1]), default=None)
        decided[row.run] = replace(row, frontier=best is None, dominated_by=best[2].run if best is not None else None)
    return [decided.get(row.run, row) for row in rows]


def _decided(tables: list[MatrixTable], plan: MatrixPlan) -> tuple[list[MatrixTable], int, str]:
    """Gives every difference its adjusted p-value and verdict, over all tables together."""
    differences = [row.difference for table in tables for row in table.rows if row.difference is not None]
    tests = sum(1 for one in differences if one.p_value is not None)
    pairs = None
    adjustment = f"Holm over {tests} test{'s' if tests != 1 else ''}"
    if plan.against == "best":
        # Whichever run is best was picked by looking, so every pair of runs was looked at.
        runs = len(tables[0].rows)
        pairs = len(tables) * runs * (runs - 1) // 2
        adjustment = f"Bonferroni over all {pairs} pairs, because the reference was picked for its score"
    decided = iter(decide(differences, ComparePlan(level=plan.level, seed=plan.seed), comparisons=pairs))
    return (
        [
            replace(
                table,
                rows=[row if row.difference is None else replace(row, difference=next(decided)) for row in table.rows],
            )
            for table in tables
        ],
        tests,
        adjustment,
    )
