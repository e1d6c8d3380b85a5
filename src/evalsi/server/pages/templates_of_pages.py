"""The templates of the pages, rendered with what every page shows around its own content.

Its own module because templates are loaded once, with the pieces of the report among them.
"""

from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup

from evalsi.core.content import json_text
from evalsi.core.version import __version__
from evalsi.report import plot
from evalsi.report.metric_view import MetricView
from evalsi.report.page_environment import page_environment
from evalsi.schema import SliceRow
from evalsi.server.pages.assets_of_pages import asset_address
from evalsi.server.pages.visit import Page, Visit

NAVIGATION = (
    ("runs", "Runs", "RunService"),
    ("compare", "Compare", "RunService"),
    ("traces", "Traces", "TraceService"),
    ("policies", "Policies", "MonitorService"),
    ("failures", "Failures", "FailureService"),
    ("datasets", "Datasets", "DatasetCatalogService"),
    ("catalog", "Catalog", "CatalogService"),
    ("settings", "Settings", "AuthService"),
)
"""Address below the root, title, and the service without which the page has nothing to show."""


def rendered(visit: Visit, page: Page) -> bytes:
    values: dict[str, Any] = {
        "query": visit.query,
        "path": visit.exchange.path,
        "section": visit.exchange.path.removeprefix("/ui/").partition("/")[0],
        "navigation": [(name, title) for name, title, service in NAVIGATION if visit.serves(service)],
        "form_token": visit.form_token,
        "signed_in": visit.session is not None,
        "asks_who": visit.asks_who,
        "commands": visit.commands,
        "origin": visit.origin,
        "version": __version__,
        "cli": (),
        **page.values,
    }
    return _environment().get_template(page.template).render(**values).encode()


def compile_templates() -> None:
    """Compiles all, so that no page has to wait for that."""
    environment = _environment()
    for name in environment.list_templates(extensions=["jinja"]):
        environment.get_template(name)


@cache
def _environment() -> Environment:
    loader = ChoiceLoader(
        [PackageLoader("evalsi.server.pages", "templates"), PackageLoader("evalsi.report", "templates")]
    )
    functions = {"asset": asset_address, "slice_plot": _slice_plot}
    return page_environment(loader, functions, {"part": _part, "json": json_text})


def _slice_plot(view: MetricView, row: SliceRow) -> Markup:
    ends = None if row.low is None or row.high is None else (view.place(row.low), view.place(row.high))
    return plot.interval_plot(view.place(row.mean), ends)


def _part(text: str) -> str:
    """A text as one part of an address."""
    return quote(text, safe="")
