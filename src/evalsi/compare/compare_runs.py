"""Two graded runs, record by record: what they share, how they differ, and whether the difference can be trusted.

Only records that both runs hold are compared, and how many are not is said. Records are matched by id and, within an
id, by their order (the trial). Values are kept as one float per record and metric; texts are read again for the records
that are shown.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evalsi.compare.paired_metric import ComparePlan, PairedMetric, Verdict, compare_values, decide
from evalsi.compare.run_values import (
    USAGE,
    RunValues,
    collect_values,
    common_cluster_key,
    grouped_as_made,
    shared_rows,
)
from evalsi.core.content import text_of
from evalsi.core.errors import UnknownNameError
from evalsi.datasets.row_ids import is_made
from evalsi.results.graded_run import GradedRun
from evalsi.schema import Record
from evalsi.stats import Estimate, mean_estimate

MAX_FLIPS = 50
_Values: TypeAlias = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""Values of the baseline and of the candidate, in one order."""


@dataclass(frozen=True, kw_only=True)
class Flip:
    """A record whose value changed, with what both runs answered."""

    record_id: str
    metric: str
    before: float
    after: float
    input: str
    reference: str
    baseline_output: str
    candidate_output: str
    explanation: str = ""
    """Why the candidate's value is what it is, where the evaluator said."""

    @property
    def change(self) -> float:
        return self.after - self.before


@dataclass(frozen=True, kw_only=True)
class UsageDifference:
    """A cost or latency: both means over the shared records that carry it, and the paired difference."""

    name: str
    unit: str
    baseline_mean: float
    candidate_mean: float
    difference: Estimate


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A finished comparison. `verdict` is that of the metrics together: one regression regresses the whole."""

    baseline: str
    candidate: str
    metrics: list[PairedMetric]
    shared: int
    only_baseline: int
    only_candidate: int
    usage: list[UsageDifference] = field(default_factory=list[UsageDifference])
    flips: list[Flip] = field(default_factory=list[Flip])
    flips_left_out: int = 0
    warnings: list[str] = field(default_factory=list[str])

    @property
    def verdict(self) -> Verdict:
        verdicts = {metric.verdict for metric in self.metrics}
        for worst in ("REGRESSED", "IMPROVED"):
            if worst in verdicts:
                return worst
        for open_word in ("INCONCLUSIVE", "UNCHANGED", "NO DIRECTION"):
            if open_word in verdicts:
                return open_word
        return "NO DATA"

    def __str__(self) -> str:
        from evalsi.compare.comparison_text import as_text

        return as_text(self)

    def metric(self, name: str) -> PairedMetric | None:
        return next((metric for metric in self.metrics if metric.metric == name), None)

    def _repr_markdown_(self) -> str:
        """For notebooks, with the records that changed."""
        from evalsi.compare.markdown import as_markdown

        return as_markdown(self)


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
    shared = _Shared.of(before, after)
    names = [name for name in before.metrics if name in after.metrics and (not metrics or name in metrics)]
    values = {name: shared.values(name) for name in names}
    clusters = shared.clusters(by_group=bool(key))
    compared: list[PairedMetric] = []
    for name, (first, second) in values.items():
        summary = candidate.summary(name) or baseline.summary(name)
        binary = before.binary[name] and after.binary[name]
        metric = compare_values(
            name,
            first,
            second,
            binary=binary,
            higher_is_better=summary.higher_is_better if summary is not None else True,
            bounds=(0.0, 1.0) if binary else _kept_range(candidate, name, first, second),
            plan=plan,
            clusters=clusters,
        )
        compared.append(replace(metric, unit=summary.unit if summary is not None else ""))
    compared = decide(compared, plan)
    changed, changes = _changed(compared, values, max_flips)
    return Comparison(
        baseline=baseline.title,
        candidate=candidate.title,
        metrics=compared,
        shared=shared.count,
        only_baseline=before.count - shared.count,
        only_candidate=after.count - shared.count,
        usage=_usage(shared, plan),
        flips=_texts(baseline, candidate, changed, shared),
        flips_left_out=changes - len(changed),
        warnings=[
            *([grouped_as_made(kept)] if kept else []),
            *_warnings(baseline, candidate, before, after, shared.count),
            *_adjusted_away(compared, plan),
        ],
    )


@dataclass(frozen=True, kw_only=True)
class _Shared:
    """The observations that both runs hold, and the rows at which each run holds them, shape (observations,)."""

    before: RunValues
    after: RunValues
    rows_before: npt.NDArray[np.int64]
    rows_after: npt.NDArray[np.int64]

    @classmethod
    def of(cls, before: RunValues, after: RunValues) -> "_Shared":
        rows_before, rows_after = shared_rows((before, after))
        return cls(before=before, after=after, rows_before=rows_before, rows_after=rows_after)

    @property
    def count(self) -> int:
        return self.rows_before.size

    def values(self, metric: str) -> _Values:
        return self.before.joined(metric)[self.rows_before], self.after.joined(metric)[self.rows_after]

    def clusters(self, *, by_group: bool) -> list[str] | None:
        """Which observations depend on each other: by the groups of the baseline, else the trials of one record."""
        if by_group:
            return [self.before.groups[int(row)] for row in self.rows_before]
        if not self.before.has_trials:
            return None
        identifiers = [self.before.ids[int(row)] for row in self.rows_before]
        return identifiers if len(set(identifiers)) < len(identifiers) else None


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


def _usage(shared: _Shared, plan: ComparePlan) -> list[UsageDifference]:
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
                    difference=mean_estimate(second[both] - first[both], plan.level),
                )
            )
    return found


def _changed(
    metrics: list[PairedMetric],
    values: dict[str, _Values],
    most: int,
) -> tuple[list[tuple[int, str, float, float]], int]:
    """The first `most` changes as (row, metric, before, after), and how many there are in all.

    In order: verdicts before numbers, losses before gains, largest first.
    """
    rows: list[npt.NDArray[np.int64]] = []
    gains: list[npt.NDArray[np.float64]] = []
    for metric in metrics:
        first, second = values[metric.metric]
        difference = second - first
        rows.append(np.flatnonzero(~np.isnan(difference) & (difference != 0)))
        gains.append((-1.0 if metric.higher_is_better is False else 1.0) * difference[rows[-1]])
    if not rows:
        return [], 0
    row, gain = np.concatenate(rows), np.concatenate(gains)
    which = np.repeat(np.arange(len(metrics)), [each.size for each in rows])
    numeric = np.array([not metric.binary for metric in metrics])[which]
    changes: list[tuple[int, str, float, float]] = []
    for place in _first_changes(numeric, gain, most):
        name = metrics[int(which[place])].metric
        first, second = values[name]
        changes.append((int(row[place]), name, float(first[row[place]]), float(second[row[place]])))
    return changes, row.size


def _first_changes(numeric: npt.NDArray[np.bool_], gain: npt.NDArray[np.float64], most: int) -> list[int]:
    """Places of the first `most` changes in the order of `_changed`, without sorting the others."""
    found: list[int] = []
    for of_kind in (~numeric, numeric):
        for of_direction in (gain < 0, gain > 0):
            wanted = most - len(found)
            if wanted <= 0:
                return found
            here = np.flatnonzero(of_kind & of_direction)
            size = np.abs(gain[here])
            if wanted < here.size:
                kept = size >= np.partition(size, here.size - wanted)[here.size - wanted]
                here, size = here[kept], size[kept]
            found.extend(map(int, here[np.argsort(-size, kind="stable")[:wanted]]))
    return found


def _texts(
    baseline: GradedRun, candidate: GradedRun, wanted: list[tuple[int, str, float, float]], shared: _Shared
) -> list[Flip]:
    """The changes with what was asked and answered; their rows are places among what is shared."""
    records_before = dict(_records_at(baseline, {int(shared.rows_before[row]) for row, *_ in wanted}))
    records_after = dict(_records_at(candidate, {int(shared.rows_after[row]) for row, *_ in wanted}))
    flips: list[Flip] = []
    for row, metric, first, second in wanted:
        old, _ = records_before[int(shared.rows_before[row])]
        new, explanations = records_after[int(shared.rows_after[row])]
        flips.append(
            Flip(
                record_id=shared.before.ids[int(shared.rows_before[row])],
                metric=metric,
                before=first,
                after=second,
                input=text_of(new.input),
                reference=text_of(new.reference),
                baseline_output=text_of(old.output),
                candidate_output=text_of(new.output),
                explanation=explanations.get(metric, ""),
            )
        )
    return flips


def _records_at(run: GradedRun, wanted: set[int]) -> Iterator[tuple[int, tuple[Record, dict[str, str]]]]:
    """The records at the wanted rows, decoded, with the explanations of their metrics."""
    first = 0
    last = max(wanted, default=-1)
    for rows in run.read_rows():
        if first > last:
            return
        here = [row for row in wanted if first <= row < first + rows.rows]
        for row in here:
            record = rows.record(row - first)
            explanations: dict[str, str] = {}
            for columns in rows.columns:
                note = columns.notes.get(row - first)
                for output, text in (note.explanations if note is not None else {}).items():
                    explanations[columns.metric(output)] = text
            yield row, (record, explanations)
        first += rows.rows


def _adjusted_away(metrics: Sequence[PairedMetric], plan: ComparePlan) -> list[str]:
    """Why a verdict is open beside an interval that excludes 0: the interval is the metric's own, the test is one of many."""
    names = [
        metric.metric
        for metric in metrics
        if metric.verdict == "INCONCLUSIVE"
        and metric.interval is not None
        and (metric.interval.low > 0 or metric.interval.high < 0)
        and metric.p_value is not None
        and metric.p_value <= 1 - plan.level
    ]
    if not names:
        return []
    return [
        f"{', '.join(names)}: the interval excludes 0, and the verdict is INCONCLUSIVE all the same, since it goes by p, which "
        f"is adjusted for {len(metrics)} metrics; name the metric that matters before looking, with --metric or metrics="
    ]


def _left_out(before: RunValues, after: RunValues, shared: int) -> str:
    """What is in one run only: records, or further trials of records that both have."""
    only_before, only_after = before.count - shared, after.count - shared
    if not (before.has_trials or after.has_trials):
        return (
            f"{only_before} records are only in the baseline and {only_after} only in the candidate; they are left out"
        )
    apart = set(before.ids) ^ set(after.ids)
    alone = sum(each in apart for each in (*before.ids, *after.ids))
    whose = ", of records that both have"
    if alone:
        whose = f" ({alone} of these trials {'is' if alone == 1 else 'are'} of records that one run alone has)"
    return f"{only_before} trials are only in the baseline and {only_after} only in the candidate{whose}; they are left out"


def _warnings(baseline: GradedRun, candidate: GradedRun, before: RunValues, after: RunValues, shared: int) -> list[str]:
    found: list[str] = []
    if not shared:
        empty = [side for side, values in (("baseline", before), ("candidate", after)) if not values.count]
        why = f"the {' and the '.join(empty)} has no records" if empty else "the runs share no record id"
        found.append(f"{why}, so there is nothing to compare")
    elif shared < max(before.count, after.count):
        found.append(_left_out(before, after, shared))
    if shared < min(before.count, after.count) and any(map(is_made, {*before.ids} ^ {*after.ids})):
        found.append(
            "their records have no ids of their own, so they are matched by what was asked; map a column of ids: --map id=COLUMN"
        )
    old = {evaluator.name: evaluator for evaluator in baseline.manifest.evaluators}
    for evaluator in candidate.manifest.evaluators:
        other = old.get(evaluator.name)
        if other is None or other.manifest is None or evaluator.manifest is None:
            continue
        if other.manifest.version != evaluator.manifest.version:
            found.append(
                f"{evaluator.name} ran as version {other.manifest.version} in the baseline and "
                f"{evaluator.manifest.version} in the candidate"
            )
        elif other.params != evaluator.params:
            found.append(f"{evaluator.name} ran with different params")
    judges_before = {judge.settings_sha256 for judge in baseline.manifest.judges}
    judges_after = {judge.settings_sha256 for judge in candidate.manifest.judges}
    if judges_before != judges_after and judges_before and judges_after:
        found.append("the runs were judged by different judges or judge settings")
    only = sorted(set(before.metrics) ^ set(after.metrics))
    if only:
        found.append(f"only in one of the runs: {', '.join(only)}")
    return found
