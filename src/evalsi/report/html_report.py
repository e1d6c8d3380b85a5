"""The report as one HTML file that needs nothing else: no network, no script to be read, no text that is not escaped.

Templates are rendered with escaping on for every expression, after `visible_text.plain` has made hidden characters
visible. A content security policy names the digests of our one style sheet and one script and forbids all else, so
text that slipped through could neither run nor load anything.
"""

import hashlib
import shlex
from base64 import b64encode
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from evalsi.core.version import __version__
from evalsi.core.whole_file import whole_file
from evalsi.report import plot
from evalsi.report.case_view import case_view, flip_view
from evalsi.report.comparison import ComparedMetric
from evalsi.report.findings import Findings, gather
from evalsi.report.metric_view import MetricView, directions_of
from evalsi.report.page_environment import page_environment
from evalsi.report.report_options import ReportOptions
from evalsi.report.usage_tally import UsageFigure
from evalsi.report.verdict import opening
from evalsi.results.graded_run import GradedRun
from evalsi.stats import Interval

_OPTIONS = ReportOptions()


def write_html(run: GradedRun, path: Path, *, options: ReportOptions = _OPTIONS) -> None:
    """Writes the report beside `path` and moves it there when it is whole."""
    findings = gather(run, options)
    with whole_file(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(_environment().get_template("report.html.jinja").generate(**_page(findings)))


def html_report(run: GradedRun, options: ReportOptions = _OPTIONS) -> str:
    """The report as text, for who keeps or serves it themselves."""
    return _environment().get_template("report.html.jinja").render(**_page(gather(run, options)))


def _page(findings: Findings) -> dict[str, Any]:
    style, script = _asset("report.css"), _asset("report.js")
    manifest = findings.run.manifest
    started, finished = manifest.started_at, manifest.finished_at
    took = (finished - started).total_seconds() if started and finished else None
    directions = directions_of(findings.metrics)
    cases = [
        (
            found,
            [
                case_view(case, directions, metric=found.metric.name, anchor=f"case-{i}-{j}")
                for j, case in enumerate(found.cases)
            ],
        )
        for i, found in enumerate(findings.worst)
    ]
    return {
        "findings": findings,
        "opening": opening(findings),
        "manifest": manifest,
        "took": took,
        "cases": cases,
        "flips": [flip_view(flip) for flip in findings.comparison.flips] if findings.comparison else [],
        "shown_flips": 2 * findings.options.examples,
        "commands": _commands(findings),
        "style": Markup(style),  # noqa: S704 - our own file
        "script": Markup(script),  # noqa: S704 - our own file
        "style_digest": _digest(style),
        "script_digest": _digest(script),
        "version": __version__,
        "sources": _sources(findings),
        "partial": _partly_scored(findings),
    }


def _commands(findings: Findings) -> list[tuple[str, str]]:
    """What to type to get here again and to go on."""
    manifest = findings.run.manifest
    reference = shlex.quote(manifest.run_id or findings.run.source)
    made = [("run it again", shlex.join(manifest.argv))] if manifest.argv else []
    return [
        *made,
        ("this report", f"evalsi report {reference} -o report.html"),
        ("compare with another run", f"evalsi compare {reference} OTHER-RUN"),
    ]


def _sources(findings: Findings) -> list[tuple[str, list[UsageFigure]]]:
    """Usage by source, the answers first."""
    order = dict.fromkeys(figure.source for figure in findings.usage.figures)
    named = sorted(order, key=lambda source: (source != "", source))
    return [(source, [f for f in findings.usage.figures if f.source == source]) for source in named]


def _partly_scored(findings: Findings) -> list[bool]:
    """For each headline metric, whether a slice has records without a value of it, so that its n stands beside."""
    slices = [one for table in findings.slices.tables for one in table.slices]
    return [any(one.figures[index].estimate.n != one.rows for one in slices) for index in range(len(findings.headline))]


def _asset(name: str) -> str:
    return (files("evalsi.report") / "templates" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """A source expression of a content security policy."""
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    functions = {
        "slice_plot": _slice_plot,
        "histogram": _histogram,
        "change_plot": _change_plot,
        "usage_histogram": _usage_histogram,
    }
    return page_environment(PackageLoader("evalsi.report", "templates"), functions, {})


def _slice_plot(view: MetricView, value: float | None, interval: Interval | None) -> Markup:
    ends = (view.place(interval.low), view.place(interval.high)) if interval is not None else None
    return plot.interval_plot(None if value is None else view.place(value), ends)


def _change_plot(findings: Findings, metric: ComparedMetric) -> Markup:
    """All metrics on the unit axis share one scale, so that their differences can be compared; others have their own."""
    on_unit = {view.name for view in findings.metrics if view.on_unit_axis}
    compared = findings.comparison.metrics if findings.comparison is not None else ()
    group = [one for one in compared if one.metric in on_unit] if metric.metric in on_unit else [metric]
    sizes = [abs(one.difference or 0.0) for one in group]
    sizes += [abs(end) for one in group if one.interval for end in (one.interval.low, one.interval.high)]
    interval = metric.interval
    ends = (interval.low, interval.high) if interval is not None else None
    return plot.difference_plot(metric.difference, ends, max(sizes) or 1.0)


def _histogram(findings: Findings, view: MetricView) -> Markup:
    found = findings.histograms[view.name]
    return plot.histogram_plot(found, label=plot.histogram_label(found))


def _usage_histogram(figure: UsageFigure) -> Markup:
    return plot.histogram_plot(figure.histogram, label=plot.histogram_label(figure.histogram))
