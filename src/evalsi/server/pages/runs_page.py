"""The list of runs: verdict, shared metrics drawn on one axis per column, the trend of each series, filters.

Its own module because of its columns: which metrics most runs on the page share, and which runs are one series.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from evalsi.core.errors import UsageError
from evalsi.report import plot
from evalsi.report.metric_view import MetricView, headline_metrics
from evalsi.schema import ListRunsRequest, ListRunsResponse, Run, RunStatus
from evalsi.server.pages.project_choice import visible_names
from evalsi.server.pages.run_verdict import RunVerdict, run_metrics, run_verdict, trouble_of
from evalsi.server.pages.visit import Page, Visit

ROWS = 40
HISTORY = 160
"""Older runs that are read for the trends."""
METRIC_COLUMNS = 2
TREND_POINTS = 24
STATUSES = {str(status): status for status in RunStatus if status is not RunStatus.UNSPECIFIED}


@dataclass(frozen=True, kw_only=True)
class MetricColumn:
    """A metric that runs on the page share, and the ends of its axis."""

    name: str
    low: float
    high: float

    def place(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)

    def plot(self, view: MetricView) -> Markup:
        summary = view.summary
        if summary.mean is None:
            return Markup("")
        ends = (self.place(summary.ci.low), self.place(summary.ci.high)) if summary.ci is not None else None
        return plot.interval_plot(self.place(summary.mean), ends)


@dataclass(frozen=True, kw_only=True)
class RunLine:
    """A row of the list."""

    run: Run
    verdict: RunVerdict
    cells: list[MetricView | None]
    others: Sequence[str]
    """Metrics without a column."""
    trend: Markup
    errors: int
    skipped: int
    is_under_way: bool


def runs_request(visit: Visit) -> ListRunsRequest:
    """What the filters of the address ask for. Raises: UsageError."""
    query = visit.query
    labels: dict[str, str] = {}
    for text in query.all("label"):
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UsageError(f"{text[:60]!r} is no label", where="label", hint="write key=value")
        labels[key] = value
    return ListRunsRequest(
        project=query.get("project"),
        search=query.get("search"),
        labels=labels,
        statuses=[STATUSES[word] for word in query.all("status") if word in STATUSES],
        include_archived=query.get("archived") == "yes",
        page_size=ROWS,
        page_token=query.get("page_token"),
    )


async def runs_page(visit: Visit) -> Page:
    request = runs_request(visit)
    found = await visit.call("RunService.ListRuns", request, ListRunsResponse)
    older: Sequence[Run] = ()
    if found.next_page_token:
        history = ListRunsRequest(
            project=request.project,
            search=request.search,
            labels=request.labels,
            statuses=request.statuses,
            include_archived=request.include_archived,
            page_size=HISTORY,
            page_token=found.next_page_token,
        )
        older = (await visit.call("RunService.ListRuns", history, ListRunsResponse)).runs
    runs = [*found.runs, *older]
    metrics = {run.id: run_metrics(run) for run in runs}
    columns = _columns([metrics[run.id] for run in found.runs])
    by = visit.query.get("trend")
    lines = [_line(run, metrics, columns, _trend(run, runs, metrics, by)) for run in found.runs]
    return Page(
        template="runs.html.jinja",
        values={
            "lines": lines,
            "shows_others": any(line.others for line in lines),
            "shows_labels": any(run.labels for run in found.runs),
            "cli": ["evalsi runs list"],
            "columns": columns,
            "projects": await visible_names(visit),
            "statuses": list(STATUSES),
            "label_keys": sorted({key for run in runs for key in run.labels if not key.startswith("evals.si/")}),
            "next_token": found.next_page_token,
            "is_filtered": bool(request.search or request.labels or request.statuses or request.project),
            "shows_projects": len({run.project for run in found.runs}) > 1,
        },
    )


def _line(run: Run, metrics: Mapping[str, list[MetricView]], columns: Sequence[MetricColumn], trend: Markup) -> RunLine:
    by_name = {view.name: view for view in metrics[run.id]}
    errors, skipped = trouble_of(run)
    shown = {column.name for column in columns}
    return RunLine(
        run=run,
        verdict=run_verdict(run),
        cells=[by_name.get(column.name) for column in columns],
        others=[name for name in by_name if name not in shown],
        trend=trend,
        errors=errors,
        skipped=skipped,
        is_under_way=run.status in (RunStatus.PENDING, RunStatus.RUNNING),
    )


def _columns(metrics: Sequence[Sequence[MetricView]]) -> list[MetricColumn]:
    """The metrics that most runs have, on an axis that holds all of them."""
    amounts = Counter[str]()
    for views in metrics:
        # The order of a run's own headline breaks ties.
        amounts.update(view.name for view in headline_metrics(list(views), METRIC_COLUMNS))
    columns: list[MetricColumn] = []
    for name, _ in amounts.most_common(METRIC_COLUMNS):
        same = [view for views in metrics for view in views if view.name == name]
        columns.append(
            MetricColumn(name=name, low=min(view.low for view in same), high=max(view.high for view in same))
        )
    return columns


def _trend(run: Run, runs: Sequence[Run], metrics: Mapping[str, list[MetricView]], by: str) -> Markup:
    """The first headline metric of the run, over the runs of its series up to this one; runs without a name are none."""
    headline = headline_metrics(metrics[run.id], 1)
    series = _series(run, by)
    if not headline or not series[1]:
        return Markup("")
    name = headline[0].name
    values: list[float] = []
    for other in runs[runs.index(run) :]:  # the newest is first
        if _series(other, by) == series:
            values += [
                view.summary.mean for view in metrics[other.id] if view.name == name and view.summary.mean is not None
            ]
        if len(values) == TREND_POINTS:
            break
    if len(values) < 2:
        return Markup("")
    low, high = min(values), max(values)
    span = high - low
    return plot.sparkline([(value - low) / span if span else 0.5 for value in reversed(values)])


def _series(run: Run, by: str) -> tuple[str, str]:
    return (run.project, run.labels.get(by, "")) if by else (run.project, run.name)
