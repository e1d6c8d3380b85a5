"""Everything a report says, gathered in one pass over the run.

The page and the comment are two ways of showing `Findings`, so they cannot disagree. Batches are looked at and let go:
what is kept are counts, moments and the few records that are shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from evalsi.engine.columns import EvaluatorColumns
from evalsi.engine.summary import RECORD_ID, cluster_key, cluster_path
from evalsi.report.comparison import Comparison
from evalsi.report.distribution import Histogram, histogram_between
from evalsi.report.error_groups import FailureGroup, FailureTally
from evalsi.report.metric_view import MetricView, headline_metrics, metric_views
from evalsi.report.report_options import ReportOptions
from evalsi.report.slice_tally import SliceTables, SliceTally
from evalsi.report.trial_grid import TrialGrid, TrialTally
from evalsi.report.usage_tally import UsageFigures, UsageTally
from evalsi.report.worst_cases import WorstCases, WorstTally
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import GradedRows
from evalsi.results.told_trial import ToldProvenance
from evalsi.schema import Usage


class _Glance(msgspec.Struct):
    """The little of a record that every record is asked for."""

    id: str = ""
    metadata: dict[str, Any] = {}
    usage: Usage | None = None
    provenance: ToldProvenance | None = None

    @property
    def trial(self) -> int:
        return (self.provenance.trial if self.provenance is not None else None) or 0


_GLANCES = msgspec.json.Decoder(_Glance)


@dataclass(frozen=True, kw_only=True)
class Findings:
    """The facts of a report."""

    run: GradedRun
    options: ReportOptions
    metrics: list[MetricView]
    headline: list[MetricView]
    histograms: Mapping[str, Histogram]
    """By metric; absent for labels and for metrics of the whole dataset."""
    trials: list[TrialGrid]
    slices: SliceTables
    worst: list[WorstCases]
    failures: list[FailureGroup]
    usage: UsageFigures
    records: int
    level: float

    @property
    def comparison(self) -> Comparison | None:
        return self.options.comparison

    @property
    def title(self) -> str:
        return self.options.title or self.run.title

    @property
    def scored(self) -> int:
        """Scored values over all metrics."""
        return sum(view.summary.n for view in self.metrics)


def gather(run: GradedRun, options: ReportOptions) -> Findings:
    """Reads the run once."""
    metrics = metric_views(run)
    headline = headline_metrics(metrics)
    level = _level(run)
    histograms = {view.name: histogram_between(view.low, view.high) for view in metrics if view.is_numeric}
    path = cluster_path(run.manifest) or (RECORD_ID if any(v.summary.clusters is not None for v in metrics) else None)
    slices = SliceTally(headline, sliced_by(run, options), grouped=path is not None)
    trials = TrialTally(headline, run.manifest.trials)
    worst = WorstTally(headline, options.examples)
    failures = FailureTally(min(5, options.examples))
    usage = UsageTally()
    records = 0
    for rows in run.read_rows():
        glances = rows.decoded(_GLANCES)
        values = _values(rows, histograms)
        chosen = [values.get(view.name, np.full(len(glances), np.nan)) for view in headline]
        groups = [cluster_key(glance, path) for glance in glances] if path is not None else ()
        slices.add([glance.metadata for glance in glances], chosen, groups)
        if trials.counts_trials:
            trials.add([(glance.id, glance.trial) for glance in glances], chosen)
        worst.add(rows, chosen)
        usage.add_answers(glance.usage for glance in glances)
        for columns in rows.columns:
            failures.add(columns, lambda row, glances=glances: glances[row].id)
            usage.add_evaluator(columns)
        records += len(glances)
    for columns in run.whole:
        _count(columns, histograms)
        failures.add(columns, lambda row, columns=columns: columns.notes[row].session_id)
        usage.add_evaluator(columns)
    return Findings(
        run=run,
        options=options,
        metrics=metrics,
        headline=headline,
        histograms={name: histogram for name, histogram in histograms.items() if histogram.n > 1},
        slices=slices.finish(level),
        trials=trials.finish(),
        worst=[found for found in worst.finish() if found.cases],
        failures=failures.finish(),
        usage=usage.finish(level, independent=path is None),
        records=records,
        level=level,
    )


def sliced_by(run: GradedRun, options: ReportOptions) -> Sequence[str] | None:
    """The keys to slice by: those that the caller chose, else those that the run's specification names; None for neither."""
    if options.slices is not None:
        return options.slices
    return (run.manifest.spec.slices if run.manifest.spec is not None else None) or None


def _values(rows: GradedRows, histograms: Mapping[str, Histogram]) -> dict[str, npt.NDArray[np.float64]]:
    """The numeric columns of a batch by metric, counted into the histograms on the way."""
    values: dict[str, npt.NDArray[np.float64]] = {}
    for columns in rows.columns:
        values |= _count(columns, histograms)
    return values


def _count(columns: EvaluatorColumns, histograms: Mapping[str, Histogram]) -> dict[str, npt.NDArray[np.float64]]:
    values: dict[str, npt.NDArray[np.float64]] = {}
    for output, column in columns.columns.items():
        name = columns.metric(output)
        if name in histograms and column.kind in ("number", "passed"):
            values[name] = array = column.array()
            histograms[name].add(array[~np.isnan(array)])
    return values


def _level(run: GradedRun) -> float:
    levels = [summary.ci.level for summary in run.summaries if summary.ci is not None]
    chosen = run.manifest.summary.confidence_level if run.manifest.summary is not None else None
    return next((level for level in (chosen, *levels) if level is not None and 0 < level < 1), 0.95)
