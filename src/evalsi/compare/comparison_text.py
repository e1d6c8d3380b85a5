"""A comparison as plain text, for `print` in Python: a log or a notebook, without the command line's console."""

from typing import TYPE_CHECKING

from evalsi.core.figure import figure, signed
from evalsi.core.inert import printable
from evalsi.results.text_table import aligned

if TYPE_CHECKING:
    from evalsi.compare.comparison import Comparison

_COLUMNS = ("metric", "pairs", "baseline", "candidate", "difference", "interval", "p", "+/-", "verdict")


def as_text(comparison: "Comparison") -> str:
    """The verdict, a table of the metrics, and what a reader should know."""
    rows = [
        (
            printable(titled(metric.metric, metric.unit), one_line=True),
            f"{metric.pairs:,}",
            figure(metric.baseline_mean),
            figure(metric.candidate_mean),
            signed(metric.difference),
            "–" if metric.interval is None else f"[{signed(metric.interval.low)}, {signed(metric.interval.high)}]",
            figure(metric.p_adjusted),
            f"{metric.better}/{metric.worse}",
            str(metric.verdict),
        )
        for metric in comparison.metrics
    ]
    names = printable(f"{comparison.candidate} against {comparison.baseline}", one_line=True)
    head = f"{comparison.verdict}  {names}, {comparison.shared:,} shared records"
    notes = [f"note: {printable(warning, one_line=True)}" for warning in comparison.warnings]
    return "\n".join([head, aligned([_COLUMNS, *rows]), *notes])


def titled(metric: str, unit: str) -> str:
    """The metric with its unit, once for the whole row."""
    return f"{metric} ({unit})" if unit else metric
