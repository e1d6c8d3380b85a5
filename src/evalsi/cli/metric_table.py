"""Summaries for people: one row a metric, its interval as numbers and as a bar, what did not count beside it."""

import csv
import io
import sys
from collections.abc import Sequence

from evalsi.cli.table import number, plot, print_table, text, whole
from evalsi.cli.terminal import as_json, say
from evalsi.core.figure import counted, figure, interval_heading
from evalsi.core.inert import inert_cell, markdown_text, printable
from evalsi.schema import MetricKind, MetricSummary

BAR_WIDTH = 21
LABEL_WIDTH = 24
"""An evaluator may give any text as a label; a table shows its beginning."""
FORMATS = ("table", "json", "csv", "md")


def interval_bar(summary: MetricSummary, *, width: int = BAR_WIDTH) -> str:
    """The mean and its interval on a line from 0 to 1; "" for metrics that do not live there."""
    mean, interval = summary.mean, summary.ci
    low = interval.low if interval is not None else mean
    high = interval.high if interval is not None else mean
    if mean is None or low is None or high is None or low < 0 or high > 1:
        return ""
    left, right, whisker, dot, rail = "├┤─●·"
    places = [round(value * (width - 1)) for value in (low, high, mean)]
    cells = [rail] * width
    if interval is not None:
        for place in range(places[0], places[1] + 1):
            cells[place] = whisker
        cells[places[0]], cells[places[1]] = left, right
    cells[places[2]] = dot
    return "".join(cells)


def interval_text(summary: MetricSummary) -> str:
    if summary.ci is None:
        return figure(None)
    return f"[{figure(summary.ci.low)}, {figure(summary.ci.high)}]"


def mean_text(summary: MetricSummary) -> str:
    """The mean; of labels, the counts of the commonest."""
    if summary.kind is MetricKind.LABEL:
        common = sorted(summary.labels.items(), key=lambda item: -item[1])[:3]
        return " ".join(
            f"{label if len(label) <= LABEL_WIDTH else label[: LABEL_WIDTH - 1] + '…'}:{count}"
            for label, count in common
        )
    unit = f" {summary.unit}" if summary.unit and summary.mean is not None else ""
    return figure(summary.mean) + unit


def mean_in_words(summary: MetricSummary) -> str:
    """The mean of a number in one line, with what it is the mean of and how sure it is: `mean 0.5 [0.1, 0.9] of n=12`."""
    if summary.mean is None:
        return "no mean"
    clustered = f" in {counted(summary.clusters, 'cluster')}" if summary.clusters is not None else ""
    of = f"of n={summary.n:,}{clustered}"
    if summary.ci is None:
        return f"mean {mean_text(summary)} {of} (no interval: {'; '.join(summary.notes)})"
    return f"mean {mean_text(summary)} {interval_text(summary)} at {100 * summary.ci.level:g}%, {of}"


def print_summaries(summaries: Sequence[MetricSummary], output_format: str) -> None:
    """Writes the summaries to standard output as a table, JSON, CSV or Markdown."""
    if output_format == "json":
        print(as_json(summaries))
    elif output_format == "csv":
        sys.stdout.write(as_csv(summaries))
    elif output_format == "md":
        print(as_markdown(summaries))
    else:
        _print_table(summaries)


def _print_table(summaries: Sequence[MetricSummary]) -> None:
    from rich.text import Text

    level = interval_heading(summary.ci.level for summary in summaries if summary.ci is not None)
    columns = (
        text("metric"),
        number("n"),
        number("mean"),
        whole(level),
        plot("0" + " " * (BAR_WIDTH - 2) + "1", style="cyan"),
        number("skipped", short="skip"),
        number("errors", short="err"),
        number("coverage", short="cover"),
    )
    rows = [
        (
            summary.metric,
            f"{summary.n:,}",
            Text(printable(mean_text(summary), one_line=True), style="bold"),
            interval_text(summary),
            interval_bar(summary),
            Text(f"{summary.skipped:,}", style="" if summary.skipped else "dim"),
            Text(f"{summary.errors:,}", style="red" if summary.errors else "dim"),
            figure(None) if summary.coverage is None else f"{100 * summary.coverage:.0f}%",
        )
        for summary in summaries
    ]
    print_table(columns, rows)
    for summary in summaries:
        if summary.n and summary.ci is None and summary.kind is not MetricKind.LABEL:
            for note in summary.notes:
                say(f"{summary.metric}: no interval: {note}")


COLUMNS = ("metric", "n", "mean", "ci_low", "ci_high", "ci_method", "skipped", "errors", "cancelled", "coverage")


def cells(summary: MetricSummary) -> list[str | int | float | None]:
    interval = summary.ci
    return [
        summary.metric,
        summary.n,
        summary.mean,
        interval.low if interval else None,
        interval.high if interval else None,
        interval.method if interval else "",
        summary.skipped,
        summary.errors,
        summary.cancelled,
        summary.coverage,
    ]


def as_csv(summaries: Sequence[MetricSummary]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for summary in summaries:
        writer.writerow(
            ["" if cell is None else inert_cell(cell) if isinstance(cell, str) else cell for cell in cells(summary)]
        )
    return buffer.getvalue()


def as_markdown(summaries: Sequence[MetricSummary]) -> str:
    lines = ["| metric | n | mean | interval | skipped | errors | coverage |", "|---|--:|--:|:-:|--:|--:|--:|"]
    for summary in summaries:
        coverage = "–" if summary.coverage is None else f"{100 * summary.coverage:.0f}%"
        lines.append(
            f"| {markdown_text(summary.metric)} | {summary.n} | {markdown_text(mean_text(summary))} | {interval_text(summary)} "
            f"| {summary.skipped} | {summary.errors} | {coverage} |"
        )
    return "\n".join(lines)
