"""How templates of ours are rendered: every expression escaped, hidden characters made visible, numbers as people read them.

Its own module because the report and the pages of the server must look and behave alike: a filter, a plot and a rule about
text of others exist once. What always holds: an expression that nobody marked as markup is escaped, after
`visible_text.plain` has made hidden characters visible; a name that a template was not given is an error.
"""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined
from markupsafe import Markup

from evalsi.report import figures, plot
from evalsi.report.metric_view import MetricView
from evalsi.report.verdict_word import verdict_word
from evalsi.report.visible_text import marked_up, one_line, plain
from evalsi.schema import MetricSummary


def page_environment(
    loader: BaseLoader, functions: Mapping[str, Callable[..., Any]], filters: Mapping[str, Callable[..., Any]]
) -> Environment:
    """An environment for the templates that `loader` finds, with more functions and filters than all templates have."""
    environment: Any = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        finalize=plain,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=figures.number,
        signed=figures.signed,
        tick=figures.tick,
        in_unit=figures.in_unit,
        signed_in_unit=figures.signed_in_unit,
        count=figures.count,
        plural=figures.plural,
        bounds=figures.bounds,
        money=figures.money,
        seconds=figures.seconds,
        date=figures.date,
        text=marked_up,
        one_line=one_line,
        measured=_measured,
        **filters,
    )
    environment.globals.update(
        percent=figures.percent,
        mean_plot=mean_plot,
        coverage_bar=_coverage_bar,
        verdict_word=verdict_word,
        **functions,
    )
    return environment


def mean_plot(view: MetricView) -> Markup:
    """The metric's mean with its interval, on the metric's axis; an empty axis where there is no mean."""
    summary = view.summary
    if summary.mean is None or not view.is_numeric:
        return plot.interval_plot(None, None)
    ends = (view.place(summary.ci.low), view.place(summary.ci.high)) if summary.ci is not None else None
    return plot.interval_plot(view.place(summary.mean), ends)


def _measured(value: float | None, measure: str) -> str:
    """A figure of usage in its unit."""
    if measure in ("latency", "time_to_first_token"):
        return figures.seconds(value)
    if measure == "cost_usd":
        return figures.money(value)
    return figures.NONE if value is None else figures.count(round(value))


def _coverage_bar(summary: MetricSummary) -> Markup:
    total = summary.total or 1
    parts = (("scored", summary.n), ("skipped", summary.skipped), ("errors", summary.errors + summary.cancelled))
    return plot.share_bar([(name, amount / total) for name, amount in parts if amount])
