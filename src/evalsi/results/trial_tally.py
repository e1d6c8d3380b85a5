"""Repeated trials: pass@k and pass^k over scored trials, and how much trials of one record differ beside the records.

A trial that errored leaves the count of its record: it is neither a pass nor a failure. A record with fewer than k
scored trials has no value for k, is left out, and is counted.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from evalsi.engine.columns import SCORED, EvaluatorColumns
from evalsi.engine.summary import cluster_key, confidence_interval
from evalsi.schema import MetricKind, MetricSummary, Record, TrialVariance

if TYPE_CHECKING:
    from evalsi.stats import VarianceComponents

_OVER_TRIALS = re.compile(r".\.pass[@^]\d+\Z", re.ASCII | re.DOTALL)


def is_over_trials(metric: str) -> bool:
    """Whether this names a metric that `TrialTally` adds, which looks at all trials of a record together."""
    return _OVER_TRIALS.search(metric) is not None


@dataclass(slots=True)
class _Trials:
    """The scored trials of one record in one metric: how many, their mean, and the squared deviations from it."""

    scored: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        """One more trial. Source: Welford (1962)."""
        self.scored += 1
        step = value - self.mean
        self.mean += step / self.scored
        self.squares += step * (value - self.mean)

    @property
    def passed(self) -> int:
        """Of a verdict: the trials that passed."""
        return round(self.mean * self.scored)


@dataclass(slots=True)
class _Metric:
    evaluator: str
    ref: str
    records: dict[str, _Trials] = field(default_factory=dict[str, _Trials])
    is_verdict: bool = True

    def counts(self) -> list[tuple[int, int]]:
        return [(each.scored, each.passed) for each in self.records.values()]


class TrialTally:
    """Counts the values of every record over its trials."""

    def __init__(self, trials: int, *, level: float, cluster_by: str = "") -> None:
        self._trials = trials
        self._level = level
        self._cluster_by = cluster_by
        self._clusters: dict[str, str] = {}
        """By record, the group it belongs to, where records are grouped."""
        self._metrics: dict[str, _Metric] = {}

    @property
    def counts_trials(self) -> bool:
        """Whether there is anything to count: records that are asked once have no trials to compare."""
        return self._trials > 1

    def add(self, records: Sequence[Record], columns: Sequence[EvaluatorColumns]) -> None:
        """Takes a graded batch."""
        if not self.counts_trials:
            return
        if self._cluster_by:
            self._clusters.update((record.id, cluster_key(record, self._cluster_by)) for record in records)
        for evaluator in columns:
            for output, column in evaluator.columns.items():
                if column.kind not in ("passed", "number"):
                    continue
                name = evaluator.metric(output)
                metric = self._metrics.setdefault(name, _Metric(evaluator.evaluator, evaluator.ref))
                metric.is_verdict &= column.kind == "passed"
                for record, value, outcome in zip(records, column.values, evaluator.outcomes, strict=True):
                    trials = metric.records.setdefault(record.id, _Trials())
                    if outcome == SCORED and value == value:  # not NaN: scored, but without this output
                        trials.add(value)

    def counts(self, metric: str) -> list[tuple[int, int]]:
        """(scored trials, passed trials) of every record; [] for a metric that is no verdict."""
        found = self._metrics.get(metric)
        return found.counts() if found is not None and found.is_verdict else []

    def completed(self, summaries: Sequence[MetricSummary]) -> list[MetricSummary]:
        """The summaries with how much trials differ, then those of pass@k and pass^k."""
        return [*(self._with_spread(each) for each in summaries), *self.summaries()]

    def summaries(self) -> list[MetricSummary]:
        """`metric.pass@k` and `metric.pass^k` for k = the number of trials, of every verdict."""
        found: list[MetricSummary] = []
        for name, metric in self._metrics.items():
            if not metric.is_verdict:
                continue
            for sign, kind in (("@", "any"), ("^", "all")):
                from evalsi.stats import pass_rate

                clusters = [self._clusters[record] for record in metric.records] if self._cluster_by else None
                rate = pass_rate(metric.counts(), self._trials, kind, self._level, clusters=clusters)  # pyright: ignore[reportArgumentType]
                notes = [rate.estimate.reason] if rate.estimate.reason else []
                if rate.records_short:
                    notes.append(f"{rate.records_short} records have fewer than {self._trials} scored trials")
                found.append(
                    MetricSummary(
                        metric=f"{name}.pass{sign}{self._trials}",
                        evaluator=metric.evaluator,
                        evaluator_ref=metric.ref,
                        kind=MetricKind.NUMBER,
                        n=rate.estimate.n,
                        mean=rate.estimate.value,
                        ci=confidence_interval(rate.estimate.interval),
                        clusters=rate.estimate.clusters,
                        total=len(metric.records),
                        skipped=rate.records_short,
                        coverage=rate.estimate.n / len(metric.records) if metric.records else None,
                        higher_is_better=True,
                        notes=notes,
                    )
                )
        return found

    def _with_spread(self, summary: MetricSummary) -> MetricSummary:
        """The summary with the variance of trials beside that of records, and what both say in words."""
        metric = self._metrics.get(summary.metric)
        if metric is None:
            return summary
        import numpy as np

        from evalsi.stats import variance_components

        scored = [each for each in metric.records.values() if each.scored]
        found = variance_components(
            np.array([each.scored for each in scored], dtype=np.int64),
            np.array([each.mean for each in scored], dtype=np.float64),
            np.array([each.squares for each in scored], dtype=np.float64),
        )
        notes = [*summary.notes]
        if metric.is_verdict and (several := [each for each in scored if each.scored > 1]):
            mixed = sum(0 < each.passed < each.scored for each in several)
            notes.append(f"{mixed} of {len(several)} records with several scored trials both passed and failed")
        if found is None:
            return msgspec.structs.replace(summary, notes=notes)
        notes.append(_in_words(found))
        return msgspec.structs.replace(
            summary,
            notes=notes,
            trial_variance=TrialVariance(
                between_records=found.between,
                within_records=found.within,
                intraclass_correlation=found.intraclass_correlation,
                records=found.records,
                trials=found.trials,
            ),
        )


def _in_words(found: "VarianceComponents") -> str:
    """What the variances say about asking more often and about asking about more."""
    share, by_trials, by_records = found.intraclass_correlation, found.narrowing(trials=2), found.narrowing(records=2)
    if share is None or by_trials is None or by_records is None:
        return "no variance between records or between trials of one record"
    return (
        f"variance {found.between:.3g} between records, {found.within:.3g} between trials of one record "
        f"(intraclass correlation {share:.2f}): twice the trials would narrow the interval by about {by_trials:.0%}, "
        f"twice the records by {by_records:.0%}"
    )


def trial_of(record: Record) -> int:
    """The repetition a record belongs to, from 0."""
    provenance = record.provenance
    return provenance.run.trial if provenance is not None and provenance.run is not None else 0
