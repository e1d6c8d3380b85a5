"""From columns to summaries: n, mean and an honest interval per metric, with what did not count beside it.

Batches are tallied as they are finished and merged in the order of their rows, so a summary does not depend on which
batch was finished first. What is kept does not grow with the number of records, except where that is asked for: a
bootstrap keeps the values, clustering keeps one total per cluster.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

from evalsi.core.content import json_text
from evalsi.engine.columns import CANCELLED, ERROR, SCORED, SKIPPED, Column, EvaluatorColumns
from evalsi.schema import (
    ConfidenceInterval,
    MetricKind,
    MetricSpec,
    MetricSummary,
    Record,
    RunManifest,
    Scope,
    ScoreType,
)

if TYPE_CHECKING:
    from evalsi.engine.metric_tally import MetricTally
    from evalsi.stats import Estimate, Interval, Moments

LOADED_LATER = ("numpy", "evalsi.stats", "evalsi.engine.metric_tally")
"""What counting needs: loaded when the first batch is counted, or before, by who has nothing else to do."""
RECORD_ID = "record.id"
"""Cluster path that groups rows by the record they repeat."""
MAX_REASONS = 20
"""Distinct skip reasons a summary lists; the rest are counted together."""


class Summarized(Protocol):
    """What a summary needs to know of an evaluator. A bound one knows it, and so does the manifest of a stored run."""

    @property
    def name(self) -> str:
        """What its metrics are called."""
        ...

    @property
    def own_name(self) -> str:
        """Its name in its pack, whatever a run calls it."""
        ...

    @property
    def ref(self) -> str: ...

    @property
    def scope(self) -> Scope: ...

    @property
    def outputs(self) -> Sequence[MetricSpec]: ...


@dataclass(frozen=True, kw_only=True)
class SummaryPlan:
    """How summaries are computed."""

    level: float = 0.95
    cluster_by: str | None = None
    """Metadata key (dots go deeper) whose value groups records that are not independent."""
    method: Literal["auto", "bootstrap"] = "auto"
    seed: int = 0

    @property
    def cluster_key(self) -> str:
        """The metadata key that groups records; "" where only the trials of a record belong together, or nothing does."""
        return "" if self.cluster_by in (None, RECORD_ID) else self.cluster_by

    def of_trials(self) -> "SummaryPlan":
        """The plan for repeated trials, which are not independent: without another grouping, the record is the cluster."""
        return self if self.cluster_by else replace(self, cluster_by=RECORD_ID)


@dataclass(slots=True)
class _Counts:
    """What became of the rows of one evaluator."""

    outcomes: list[int] = field(default_factory=lambda: [0] * 5)
    """Rows by outcome code."""
    error_kinds: dict[str, int] = field(default_factory=dict[str, int])
    skip_reasons: dict[str, int] = field(default_factory=dict[str, int])


class SummaryBuilder:
    """Tallies the columns of one run.

    Args:
        evaluators: The panel's evaluators, for declared outputs and directions.
        plan: How to compute intervals.
    """

    def __init__(self, evaluators: Sequence[Summarized], plan: SummaryPlan) -> None:
        self._plan = plan
        self._evaluators = {evaluator.name: evaluator for evaluator in evaluators}
        self._counts: dict[str, _Counts] = {}
        self._tallies: dict[tuple[str, str], MetricTally] = {}
        self._waiting: dict[int, tuple[int, list[EvaluatorColumns], list[str] | None]] = {}
        self._next_row = 0

    @property
    def level(self) -> float:
        """The level of the intervals."""
        return self._plan.level

    @property
    def cluster_key(self) -> str:
        """See `SummaryPlan.cluster_key`."""
        return self._plan.cluster_key

    @property
    def reads_records(self) -> bool:
        """Whether the records are looked at, beside the results."""
        return self._plan.cluster_by is not None

    def add(
        self, first_row: int, rows: int, columns: list[EvaluatorColumns], records: Callable[[], Sequence[Record]]
    ) -> None:
        """Takes a finished batch; batches may come in any order. `records` is called only where records are clustered."""
        path = self._plan.cluster_by
        clusters = [cluster_key(record, path) for record in records()] if path else None
        self._waiting[first_row] = (rows, columns, clusters)
        while self._next_row in self._waiting:
            rows, ready, keys = self._waiting.pop(self._next_row)
            self._next_row += rows
            for evaluator in ready:
                self._tally(evaluator, keys)

    def finish(self, whole: Sequence[EvaluatorColumns] = ()) -> list[MetricSummary]:
        """The summaries, in the panel's order. `whole` holds the results of dataset and session scope."""
        for first_row in sorted(self._waiting):
            _, ready, keys = self._waiting.pop(first_row)
            for evaluator in ready:
                self._tally(evaluator, keys)
        wholes = {columns.evaluator: columns for columns in whole}
        summaries: list[MetricSummary] = []
        for name, evaluator in self._evaluators.items():
            if evaluator.scope is Scope.DATASET:
                if name in wholes:
                    summaries += _dataset_summaries(evaluator, wholes[name], self._plan)
                continue
            if evaluator.scope is Scope.SESSION and name in wholes:
                self._tally(wholes[name], None)
            summaries += self._summaries(evaluator)
        return summaries

    def headline(self) -> str:
        """The first metric so far with its interval, for a progress line; "" before anything was scored."""
        for (name, output), tally in self._tallies.items():
            evaluator = self._evaluators[name]
            estimate = self._estimate(evaluator, output, tally, tally.moments())
            if estimate.value is not None:
                interval = estimate.interval
                bounds = f" [{interval.low:.3f}, {interval.high:.3f}]" if interval is not None else ""
                return f"{metric_name(evaluator, output)} {estimate.value:.3f}{bounds}"
        return ""

    def outcome_totals(self) -> dict[str, int]:
        """Results so far by outcome, over all evaluators."""
        total = [sum(counts.outcomes[code] for counts in self._counts.values()) for code in range(5)]
        names = {"scored": SCORED, "skipped": SKIPPED, "errors": ERROR, "cancelled": CANCELLED}
        return {name: total[code] for name, code in names.items()}

    def _tally(self, columns: EvaluatorColumns, clusters: list[str] | None) -> None:
        counts = self._counts.setdefault(columns.evaluator, _Counts())
        for code in range(5):
            counts.outcomes[code] += columns.outcomes.count(code)
        for row, note in columns.notes.items():
            if columns.outcomes[row] == ERROR:
                _count(counts.error_kinds, str(note.error_kind))
            elif columns.outcomes[row] == SKIPPED:
                _count(counts.skip_reasons, note.reason)
        from evalsi.engine.metric_tally import MetricTally

        for output, column in columns.columns.items():
            tally = self._tallies.setdefault((columns.evaluator, output), MetricTally(kind=column.kind))
            self._tally_column(tally, column, clusters)

    def _tally_column(self, tally: "MetricTally", column: Column, clusters: list[str] | None) -> None:
        if column.kind in ("label", "structured"):
            tally.kind = column.kind
            for held in column.objects or ():
                if held is not None and column.kind == "label":
                    tally.labels[held] = tally.labels.get(held, 0) + 1
            return
        if column.kind == "number":
            tally.kind = "number"
        import numpy as np

        array = column.array()
        there = ~np.isnan(array)
        values = array[there]
        if not values.size:
            return
        tally.take(values, keep_all=self._plan.method == "bootstrap")
        if clusters is not None:
            for value, present, key in zip(array.tolist(), there.tolist(), clusters, strict=True):
                if present:
                    total, count = tally.clusters.get(key, (0.0, 0))
                    tally.clusters[key] = (total + value, count + 1)

    def _summaries(self, evaluator: Summarized) -> list[MetricSummary]:
        counts = self._counts.get(evaluator.name, _Counts())
        outputs = [output for name, output in self._tallies if name == evaluator.name]
        if not outputs:
            outputs = [spec.name for spec in evaluator.outputs] or [evaluator.own_name]
        return [self._summary(evaluator, output, counts) for output in outputs]

    def _summary(self, evaluator: Summarized, output: str, counts: _Counts) -> MetricSummary:
        from evalsi.engine.metric_tally import MetricTally

        tally = self._tallies.get((evaluator.name, output)) or MetricTally(kind="number")
        spec = spec_of(evaluator, output)
        moments = tally.moments()
        estimate = self._estimate(evaluator, output, tally, moments)
        total = sum(counts.outcomes)
        scored = sum(tally.labels.values()) if tally.kind == "label" else moments.n
        if tally.kind == "structured":
            scored = counts.outcomes[SCORED]
        missing = counts.outcomes[SCORED] - scored
        notes = [f"{missing} scored without this output"] if missing else []
        if estimate.reason and tally.kind in ("number", "passed"):
            notes.append(estimate.reason)
        if tally.sampled_step > 1:
            notes.append(f"the median is read off every {tally.sampled_step}th value")
        return MetricSummary(
            metric=metric_name(evaluator, output),
            evaluator=evaluator.name,
            evaluator_ref=evaluator.ref,
            kind=_KINDS.get(tally.kind, MetricKind.UNSPECIFIED),
            n=scored,
            mean=estimate.value,
            std=moments.std,
            ci=confidence_interval(estimate.interval, spec),
            skipped=counts.outcomes[SKIPPED],
            errors=counts.outcomes[ERROR],
            cancelled=counts.outcomes[CANCELLED],
            total=total,
            coverage=scored / total if total else None,
            labels=dict(sorted(tally.labels.items())),
            clusters=estimate.clusters,
            # What nobody declared is read as most evaluators mean it: more is better.
            higher_is_better=spec.higher_is_better if spec is not None else True,
            unit=spec.unit if spec is not None else "",
            error_kinds=dict(sorted(counts.error_kinds.items())),
            skip_reasons=dict(sorted(counts.skip_reasons.items())),
            min=moments.min,
            median=tally.median(),
            max=moments.max,
            notes=notes,
        )

    def _estimate(self, evaluator: Summarized, output: str, tally: "MetricTally", moments: "Moments") -> "Estimate":
        import numpy as np

        from evalsi.stats import (
            ClusterTotals,
            Estimate,
            Resampling,
            bootstrap_mean,
            cluster_robust_t,
            mean_estimate,
            wilson,
        )

        plan = self._plan
        if tally.kind in ("label", "structured"):
            return Estimate(None, sum(tally.labels.values()))
        bounds = (0.0, 1.0) if tally.kind == "passed" else bounds_of(spec_of(evaluator, output))
        if tally.clusters:
            totals = np.array(list(tally.clusters.values()))
            return cluster_robust_t(ClusterTotals(totals[:, 0], totals[:, 1].astype(np.int64)), plan.level, bounds)
        if plan.method == "bootstrap" and moments.n:
            return bootstrap_mean(tally.kept_values(), Resampling(seed=plan.seed, level=plan.level), bounds=bounds)
        if tally.kind == "passed":
            n = moments.n
            interval = wilson(round(moments.mean_or_zero * n), n, plan.level)
            return Estimate(moments.mean, n, interval, reason=None if n else "nothing was scored")
        return mean_estimate(moments, plan.level, bounds)


_KINDS = {"number": MetricKind.NUMBER, "passed": MetricKind.PROPORTION, "label": MetricKind.LABEL}


def metric_name(evaluator: Summarized, output: str) -> str:
    """The evaluator's name for its primary output, `evaluator.output` for the others."""
    names = [spec.name for spec in evaluator.outputs]
    primary = output == evaluator.own_name or names == [output]
    return evaluator.name if primary else f"{evaluator.name}.{output}"


def spec_of(evaluator: Summarized, output: str) -> MetricSpec | None:
    return next((spec for spec in evaluator.outputs if spec.name == output), None)


def bounds_of(spec: MetricSpec | None) -> tuple[float, float] | None:
    """The range of a declared output, if it has both ends."""
    if spec is None or spec.min is None or spec.max is None or spec.min >= spec.max:
        return None
    return spec.min, spec.max


def confidence_interval(interval: "Interval | None", spec: MetricSpec | None = None) -> ConfidenceInterval | None:
    """The interval, cut off where the output's range ends: what cannot be is no part of it."""
    if interval is None:
        return None
    low = interval.low if spec is None or spec.min is None else max(interval.low, spec.min)
    high = interval.high if spec is None or spec.max is None else min(interval.high, spec.max)
    return ConfidenceInterval(low=low, high=high, level=interval.level, method=interval.method)


class Grouped(Protocol):
    """What a record's group is read from."""

    @property
    def id(self) -> str: ...
    @property
    def metadata(self) -> Mapping[str, Any]: ...


def cluster_path(manifest: RunManifest) -> str | None:
    """What groups the rows of a run that are not independent: the key it was made with, else the record where each was
    asked several times; None where every row stands for itself.
    """
    key = manifest.summary.cluster_by if manifest.summary is not None else ""
    return key or (RECORD_ID if manifest.trials > 1 else None)


def cluster_key(record: Grouped, path: str) -> str:
    """The value that groups a record, as text; "" for records without it, which then form one group."""
    if path == RECORD_ID:
        return record.id
    value: Any = record.metadata
    for part in path.removeprefix("metadata.").split("."):
        value = value.get(part) if isinstance(value, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return "" if value is None else json_text(value)


def _dataset_summaries(evaluator: Summarized, columns: EvaluatorColumns, plan: SummaryPlan) -> list[MetricSummary]:
    """A dataset metric's own value, with the interval it computed and the records it rests on."""
    note = columns.notes[0]
    counts = note.details.get("", {})
    broken = columns.outcomes[0] == ERROR
    taken, skipped, failed = (int(counts.get(name, 0)) for name in ("n", "skipped", "errors"))
    total = taken + skipped + failed
    base = MetricSummary(
        evaluator=evaluator.name,
        evaluator_ref=evaluator.ref,
        kind=MetricKind.NUMBER,
        skipped=skipped,
        errors=failed + (taken if broken else 0),
        skip_reasons=dict(counts.get("skip_reasons", {})),
        error_kinds={str(note.error_kind): 1} if broken else {},
        total=total,
        coverage=0.0 if total else None,
    )
    if columns.outcomes[0] != SCORED:
        outputs = [spec.name for spec in evaluator.outputs] or [evaluator.own_name]
        return [
            msgspec.structs.replace(
                base,
                metric=metric_name(evaluator, output),
                higher_is_better=getattr(spec_of(evaluator, output), "higher_is_better", None),
                notes=[note.reason] if note.reason else [],
            )
            for output in outputs
        ]
    return [
        _dataset_summary(evaluator, column, note.details.get(output, {}), plan.level, base, taken)
        for output, column in columns.columns.items()
        if column.kind in ("number", "passed") and column.values[0] == column.values[0]
    ]


def _dataset_summary(
    evaluator: Summarized, column: Column, detail: Mapping[str, Any], level: float, base: MetricSummary, taken: int
) -> MetricSummary:
    spec = spec_of(evaluator, column.output)
    interval = detail.get("ci")
    n = int(detail.get("n", taken))
    proportion = spec is not None and spec.type is ScoreType.PASSED
    return msgspec.structs.replace(
        base,
        metric=metric_name(evaluator, column.output),
        kind=MetricKind.PROPORTION if proportion else MetricKind.NUMBER,
        n=n,
        mean=column.values[0],
        ci=ConfidenceInterval(
            low=interval["low"], high=interval["high"], level=level, method=interval.get("method", "bootstrap")
        )
        if interval
        else None,
        coverage=n / base.total if base.total else None,
        higher_is_better=spec.higher_is_better if spec is not None else True,
        unit=spec.unit if spec is not None else "",
        notes=[] if interval else [str(detail.get("reason", "this metric computes no interval"))],
    )


def _count(counts: dict[str, int], key: str) -> None:
    if key not in counts and len(counts) >= MAX_REASONS:
        key = "other reasons"
    counts[key] = counts.get(key, 0) + 1
