"""Summaries as plain text and as HTML, for a notebook or a log, without the command line's console."""

from collections.abc import Sequence
from html import escape

from evalsi.core.inert import printable
from evalsi.schema import MetricKind, MetricSummary

COLUMNS = ("metric", "n", "mean", "95% CI", "skipped", "errors", "coverage")


def as_text(summaries: Sequence[MetricSummary]) -> str:
    """An aligned table."""
    rows = [_header(summaries), *(_cells(summary) for summary in summaries)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def as_html(summaries: Sequence[MetricSummary]) -> str:
    """A table element; every text is escaped."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in _header(summaries))
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:{"left" if column == 0 else "right"}">{escape(cell)}</td>'
            for column, cell in enumerate(_cells(summary))
        )
        + "</tr>"
        for summary in summaries
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _header(summaries: Sequence[MetricSummary]) -> tuple[str, ...]:
    levels = {summary.ci.level for summary in summaries if summary.ci is not None}
    level = f"{100 * levels.pop():g}% CI" if len(levels) == 1 else "CI"
    return tuple(level if column == "95% CI" else column for column in COLUMNS)


def _cells(summary: MetricSummary) -> tuple[str, ...]:
    interval = summary.ci
    mean = "–" if summary.mean is None else f"{summary.mean:.4g}"
    if summary.kind is MetricKind.LABEL:
        mean = " ".join(f"{label}:{count}" for label, count in sorted(summary.labels.items()))
    return (
        printable(summary.metric, one_line=True),
        str(summary.n),
        printable(mean, one_line=True),
        "–" if interval is None else f"[{interval.low:.4g}, {interval.high:.4g}]",
        str(summary.skipped),
        str(summary.errors),
        "–" if summary.coverage is None else f"{100 * summary.coverage:.0f}%",
    )
