"""Two graded runs, record by record: what they share, how they differ, and whether the difference can be trusted.

Only records that both runs hold are compared, and how many are not is said. Records are matched by id and, within an
id, by their order (the trial). Values are kept as one float per record and metric; texts are read again for the records
that are shown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from evalsi.compare.paired_metric import ComparePlan, PairedMetric, Verdict, compare_values, decide
from evalsi.compare.run_values import USAGE, Key, RunValues, collect_values
from evalsi.core.content import text_of
from evalsi.core.errors import UnknownNameError
from evalsi.results.graded_run import GradedRun
from evalsi.schema import Record
from evalsi.stats import Estimate, mean_estimate

MAX_FLIPS = 50


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
        if not verdicts or verdicts == {"NO DATA"}:
            return "NO DATA"
        return "UNCHANGED" if verdicts <= {"UNCHANGED", "NO DATA"} else "INCONCLUSIVE"

    def metric(self, name: str) -> PairedMetric | None:
        return next((metric for metric in self.metrics if metric.metric == name), None)


def compare_runs(
    baseline: GradedRun,
    candidate: GradedRun,
    plan: ComparePlan | None = None,
    *,
    metrics: Sequence[str] = (),
    cluster_by: str | None = None,
    max_flips: int = MAX_FLIPS,
) -> Comparison:
    """Compares `candidate` with `baseline`.

    Args:
        metrics: Which metrics; by default all that both runs have.
        cluster_by: Metadata key that groups records which are not independent. By default the trials of one record are
            a group.
        max_flips: Changed records to carry with their texts; those that fell the most come first.

    Raises: UnknownNameError: a metric or a margin's metric that is in neither run, a key that no record carries.
    """
    plan = plan or ComparePlan()
    before, after = collect_values(baseline, cluster_by), collect_values(candidate, None)
    known = {**before.metrics, **after.metrics}
    for name in (*metrics, *(plan.margins or {})):
        if name not in known:
            raise UnknownNameError("metric", name, known)
    shared = [key for key in before.rows if key in after.rows]
    rows_before = np.array([before.rows[key] for key in shared], dtype=np.int64)
    rows_after = np.array([after.rows[key] for key in shared], dtype=np.int64)
    clusters: list[str] | None = None
    if cluster_by:
        clusters = [before.groups[int(row)] for row in rows_before]
    elif len({identifier for identifier, _ in shared}) < len(shared):
        clusters = [identifier for identifier, _ in shared]
    compared: list[PairedMetric] = []
    values: dict[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]] = {}
    for name in before.metrics:
        if name not in after.metrics or (metrics and name not in metrics):
            continue
        summary = candidate.summary(name) or baseline.summary(name)
        first, second = before.joined(name)[rows_before], after.joined(name)[rows_after]
        values[name] = (first, second)
        binary = before.binary[name] and after.binary[name]
        compared.append(
            compare_values(
                name,
                first,
                second,
                binary=binary,
                higher_is_better=summary.higher_is_better if summary is not None else True,
                bounds=(0.0, 1.0) if binary else _kept_range(candidate, name, first, second),
                plan=plan,
                clusters=clusters,
            )
        )
    compared = decide(compared, plan)
    changed, changes = _changed(compared, values, max_flips)
    shown = _texts(
        baseline,
        candidate,
        [(shared[row], metric, first, second) for row, metric, first, second in changed],
        before,
        after,
    )
    return Comparison(
        baseline=baseline.title,
        candidate=candidate.title,
        metrics=compared,
        shared=len(shared),
        only_baseline=len(before.rows) - len(shared),
        only_candidate=len(after.rows) - len(shared),
        usage=_usage(before, after, rows_before, rows_after, plan),
        flips=shown,
        flips_left_out=changes - len(changed),
        warnings=_warnings(baseline, candidate, before, after, len(shared)),
    )


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


def _usage(
    before: RunValues,
    after: RunValues,
    rows_before: npt.NDArray[np.int64],
    rows_after: npt.NDArray[np.int64],
    plan: ComparePlan,
) -> list[UsageDifference]:
    found: list[UsageDifference] = []
    for name, (_, unit) in USAGE.items():
        if not rows_before.size:
            continue
        first = np.array(before.usage[name])[rows_before]
        second = np.array(after.usage[name])[rows_after]
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
    values: dict[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]],
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
    for place in np.lexsort((-np.abs(gain), gain > 0, numeric))[:most]:
        name = metrics[which[place]].metric
        first, second = values[name]
        changes.append((int(row[place]), name, float(first[row[place]]), float(second[row[place]])))
    return changes, row.size


def _texts(
    baseline: GradedRun,
    candidate: GradedRun,
    wanted: list[tuple[Key, str, float, float]],
    before: RunValues,
    after: RunValues,
) -> list[Flip]:
    rows = {before.rows[key] for key, *_ in wanted}
    records_before = dict(_records_at(baseline, rows))
    rows_after = {after.rows[key] for key, *_ in wanted}
    records_after = dict(_records_at(candidate, rows_after))
    flips: list[Flip] = []
    for key, metric, first, second in wanted:
        old, _ = records_before[before.rows[key]]
        new, explanations = records_after[after.rows[key]]
        flips.append(
            Flip(
                record_id=key[0],
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


def _warnings(baseline: GradedRun, candidate: GradedRun, before: RunValues, after: RunValues, shared: int) -> list[str]:
    found: list[str] = []
    if not shared:
        found.append("the runs share no record id, so there is nothing to compare")
    elif shared < max(before.count, after.count):
        found.append(
            f"{before.count - shared} records are only in the baseline and {after.count - shared} only in the "
            "candidate; they are left out"
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
