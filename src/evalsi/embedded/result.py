"""What `evalsi.evaluate` returns: summaries, results, tables and files of one graded run."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evalsi.compare.compare_runs import compare_runs
from evalsi.compare.comparison import Comparison
from evalsi.compare.paired_metric import ComparePlan
from evalsi.core.errors import GateFailedError, NothingScoredError, UnknownNameError, UsageError
from evalsi.engine.columns import results
from evalsi.results.flat_table import to_arrow, to_pandas, to_polars
from evalsi.results.graded_run import GradedRun
from evalsi.results.nothing_scored import why_nothing_scored
from evalsi.results.read_document import read_document
from evalsi.results.save import save
from evalsi.results.text_table import as_html, as_text
from evalsi.schema import EvaluationResult, MetricSummary, Record, RunManifest


class EvalResult:
    """One graded run. Printing it prints the table; a notebook shows it as HTML."""

    def __init__(self, run: GradedRun, *, interrupted: bool = False) -> None:
        self.run = run
        self.interrupted = interrupted
        """Whether it was stopped before its end; calling again with the same work continues it."""

    @classmethod
    def load(cls, path: str | Path) -> "EvalResult":
        """A result that was saved as `.json`, by us or by another writer of the format."""
        return cls(read_document(Path(path)))

    @property
    def manifest(self) -> RunManifest:
        return self.run.manifest

    @property
    def summaries(self) -> list[MetricSummary]:
        return self.run.summaries

    def __getitem__(self, metric: str) -> MetricSummary:
        """The summary of `metric`. Raises: UnknownNameError, with the nearest name."""
        summary = self.run.summary(metric)
        if summary is None:
            raise UnknownNameError("metric", metric, [each.metric for each in self.summaries])
        return summary

    def __iter__(self) -> Iterator[MetricSummary]:
        return iter(self.summaries)

    def __str__(self) -> str:
        if any(summary.n for summary in self.summaries):
            return self.table()
        return f"{self.table()}\nnothing was scored; {why_nothing_scored(self.run)}"

    def __repr__(self) -> str:
        parts = [f"{each.metric}={each.mean:.3f}" for each in self.summaries[:4] if each.mean is not None]
        return f"EvalResult({', '.join(parts)})"

    def _repr_html_(self) -> str:
        return as_html(self.summaries)

    def table(self) -> str:
        """The summaries as text, one row a metric."""
        return as_text(self.summaries)

    def records(self) -> Iterator[Record]:
        for rows in self.run.read_rows():
            yield from rows.records

    def results(self) -> Iterator[EvaluationResult]:
        """Every result: per record in the order of the evaluators, then those of whole sessions and datasets."""
        for rows in self.run.read_rows():
            ids = [record.id for record in rows.records]
            lanes = [list(results(columns, ids)) for columns in rows.columns]
            for row in zip(*lanes, strict=True):
                yield from row
        for columns in self.run.whole:
            yield from results(columns, [""] * columns.rows)

    def to_pandas(self) -> Any:
        """A pandas data frame, one row a record. Needs the extra `dataframes`."""
        return to_pandas(self.run)

    def to_polars(self) -> Any:
        """A polars data frame, one row a record. Needs the extra `dataframes`."""
        return to_polars(self.run)

    def to_arrow(self) -> Any:
        """An Arrow table, one row a record. Needs the extra `arrow`."""
        return to_arrow(self.run)

    def save(self, path: str | Path) -> Path:
        """Writes `.json`, `.jsonl`, `.csv` or `.parquet`, by the ending, and returns the path."""
        save(self.run, Path(path))
        return Path(path)

    def compare(
        self, other: "EvalResult | str | Path", *, metrics: Sequence[str] = (), level: float = 0.95, **options: Any
    ) -> Comparison:
        """This result against `other` as its baseline: paired differences, tests, flips."""
        baseline = other if isinstance(other, EvalResult) else EvalResult.load(other)
        return compare_runs(baseline.run, self.run, ComparePlan(level=level), metrics=metrics, **options)

    def require(
        self,
        metric: str,
        *,
        min: float | None = None,  # noqa: A002 - the gate's own words
        max: float | None = None,  # noqa: A002
        stat: str = "mean",
    ) -> MetricSummary:
        """Asserts a gate, for tests: `result.require("exact-match", min=0.8, stat="ci_low")`.

        Args:
            metric: Name of the metric.
            min, max: Bounds the figure must keep, at least one of them.
            stat: "mean", "ci_low", "ci_high", "coverage" or "error_rate".

        Raises:
            NothingScoredError: there is no figure: no data is never a pass.
            GateFailedError: the figure is out of bounds.
        """
        __tracebackhide__ = True  # pytest shows the caller's line, not ours
        if min is None and max is None:
            raise UsageError("a gate needs a bound", hint="give min or max")
        summary = self[metric]
        value = _statistic(summary, stat)
        if value is None:
            raise NothingScoredError(f"{metric} has no {stat}: {summary.n} of {summary.total} scored")
        interval = summary.ci if stat in ("mean", "ci_low", "ci_high") else None
        ends = f" [{interval.low:.4g}, {interval.high:.4g}]" if interval is not None else ""
        of = f" of {summary.total}" if stat in ("coverage", "error_rate") else ""
        shown = f"{metric} {stat} is {value:.4g}{ends}, n {summary.n}{of}"
        if min is not None and value < min:
            raise GateFailedError(f"{shown}; it must be at least {min:g}")
        if max is not None and value > max:
            raise GateFailedError(f"{shown}; it must be at most {max:g}")
        return summary


def _statistic(summary: MetricSummary, stat: str) -> float | None:
    match stat:
        case "mean":
            return summary.mean
        case "ci_low":
            return summary.ci.low if summary.ci is not None else None
        case "ci_high":
            return summary.ci.high if summary.ci is not None else None
        case "coverage":
            return summary.coverage
        case "error_rate":
            tried = summary.n + summary.errors
            return summary.errors / tried if tried else None
        case _:
            raise UnknownNameError("statistic", stat, ["mean", "ci_low", "ci_high", "coverage", "error_rate"])
