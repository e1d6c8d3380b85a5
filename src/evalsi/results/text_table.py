"""Summaries as plain text and as HTML, for a notebook or a log, without the command line's console."""

from collections.abc import Sequence
from html import escape

from evalsi.core.figure import figure, interval_heading
from evalsi.core.inert import printable
from evalsi.schema import MetricKind, MetricSummary

COLUMNS = ("metric", "n", "mean", "95% CI", "skipped", "errors", "coverage")


def as_text(summaries: Sequence[MetricSummary]) -> str:
    """An aligned table."""
    return aligned([_header(summaries), *(_cells(summary) for summary in summaries)])


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows with their first column to the left and all others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


_TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums"
_CELL = "padding:0.25em 0.75em;border-bottom:1px solid #8884;text-align:{}"
"""A notebook brings no style of its own to a table, or one for tables of any content."""


def as_html(summaries: Sequence[MetricSummary]) -> str:
    """A table element; every text is escaped."""
    styles = [_CELL.format("left" if column == 0 else "right") for column in range(len(COLUMNS))]
    head = "".join(
        f'<th style="{style}">{escape(cell)}</th>' for style, cell in zip(styles, _header(summaries), strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{style}">{escape(cell)}</td>' for style, cell in zip(styles, _cells(summary), strict=True)
        )
        + "</tr>"
        for summary in summaries
    )
    return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _header(summaries: Sequence[MetricSummary]) -> tuple[str, ...]:
    level = interval_heading(summary.ci.level for summary in summaries if summary.ci is not None)
    return tuple(level if column == "95% CI" else column for column in COLUMNS)


def _cells(summary: MetricSummary) -> tuple[str, ...]:
    interval = summary.ci
    mean = f"{figure(summary.mean)} {summary.unit}".rstrip() if summary.mean is not None else figure(None)
    if summary.kind is MetricKind.LABEL:
        mean = " ".join(f"{label}:{count}" for label, count in sorted(summary.labels.items()))
    return (
        printable(summary.metric, one_line=True),
        f"{summary.n:,}",
        printable(mean, one_line=True),
        "–" if interval is None else f"[{figure(interval.low)}, {figure(interval.high)}]",
        str(summary.skipped),
        str(summary.errors),
        "–" if summary.coverage is None else f"{100 * summary.coverage:.0f}%",
    )
