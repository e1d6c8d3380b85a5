"""Repeated trials: pass@k and pass^k over scored trials, and how much trials of one record differ.

A trial that errored leaves the count of its record: it is neither a pass nor a failure. A record with fewer than k
scored trials has no value for k, is left out, and is counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from evalsi.engine.columns import SCORED, EvaluatorColumns
from evalsi.engine.summary import confidence_interval
from evalsi.schema import MetricKind, MetricSummary, Record
from evalsi.stats import pass_rate


@dataclass(slots=True)
class _Metric:
    evaluator: str
    ref: str
    records: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """By record: scored trials, passed trials."""


class TrialTally:
    """Counts the verdicts of every record over its trials."""

    def __init__(self, trials: int, *, level: float) -> None:
        self._trials = trials
        self._level = level
        self._metrics: dict[str, _Metric] = {}
        self._binary: dict[str, bool] = {}

    @property
    def counts_trials(self) -> bool:
        """Whether there is anything to count: records that are asked once have no trials to compare."""
        return self._trials > 1

    def add(self, records: Sequence[Record], columns: Sequence[EvaluatorColumns]) -> None:
        """Takes a graded batch."""
        if not self.counts_trials:
            return
        for evaluator in columns:
            for output, column in evaluator.columns.items():
                name = evaluator.metric(output)
                self._binary[name] = self._binary.get(name, True) and column.kind == "passed"
                if column.kind != "passed":
                    continue
                metric = self._metrics.setdefault(name, _Metric(evaluator.evaluator, evaluator.ref))
                for row, record in enumerate(records):
                    scored, passed = metric.records.get(record.id, (0, 0))
                    if evaluator.outcomes[row] == SCORED:
                        scored, passed = scored + 1, passed + (column.values[row] == 1.0)
                    metric.records[record.id] = (scored, passed)

    def counts(self, metric: str) -> list[tuple[int, int]]:
        """(scored trials, passed trials) of every record; [] for a metric that is no verdict."""
        return list(self._metrics[metric].records.values()) if metric in self._metrics else []

    def completed(self, summaries: Sequence[MetricSummary]) -> list[MetricSummary]:
        """The summaries with a note on how much trials differ, then those of pass@k and pass^k."""
        return [*(_with_spread(each, self.counts(each.metric)) for each in summaries), *self.summaries()]

    def summaries(self) -> list[MetricSummary]:
        """`metric.pass@k` and `metric.pass^k` for k = the number of trials, of every verdict."""
        found: list[MetricSummary] = []
        for name, metric in self._metrics.items():
            if not self._binary[name]:
                continue
            for sign, kind in (("@", "any"), ("^", "all")):
                rate = pass_rate(list(metric.records.values()), self._trials, kind, self._level)  # pyright: ignore[reportArgumentType]
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
                        total=len(metric.records),
                        skipped=rate.records_short,
                        coverage=rate.estimate.n / len(metric.records) if metric.records else None,
                        higher_is_better=True,
                        notes=notes,
                    )
                )
        return found


def _with_spread(summary: MetricSummary, counts: Sequence[tuple[int, int]]) -> MetricSummary:
    """The summary with a note on how much trials of one record differ: the share of records that pass and fail."""
    mixed = sum(0 < passed < scored for scored, passed in counts)
    several = sum(scored > 1 for scored, _ in counts)
    if not several:
        return summary
    note = f"{mixed} of {several} records with several scored trials both passed and failed"
    return msgspec.structs.replace(summary, notes=[*summary.notes, note])


def trial_of(record: Record) -> int:
    """The repetition a record belongs to, from 0."""
    provenance = record.provenance
    return provenance.run.trial if provenance is not None and provenance.run is not None else 0
