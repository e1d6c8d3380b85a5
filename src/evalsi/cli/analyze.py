"""`evalsi analyze`: questions over many runs, in SQL or by metadata."""

from collections.abc import Callable
from typing import Any

import click

from evalsi.cli.answer_table import FORMATS, print_answer
from evalsi.cli.confidence_option import confidence_option
from evalsi.cli.format_option import format_option
from evalsi.cli.server_options import client_of, server_here, server_needed, server_options
from evalsi.cli.terminal import say


@click.group()
def analyze() -> None:
    """Ask many runs at once. Needs the extra `analytics`."""


def _choosing_runs(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that both commands choose runs and their output by."""
    for option in reversed(
        (
            click.option("--run", "runs", multiple=True, metavar="RUN", help="A stored run. Repeatable."),
            click.option(
                "--label", "labels", multiple=True, metavar="KEY=VALUE", help="Only runs with this label. Repeatable."
            ),
            click.option(
                "--limit", type=click.IntRange(min=1), metavar="N", help="The newest N runs; 50 when nothing is chosen."
            ),
            click.option(
                "--results", multiple=True, metavar="FILE", help="A results file, * and ? are expanded. Repeatable."
            ),
            click.option(
                "--db",
                "database",
                metavar="FILE",
                help="Keep the tables in this DuckDB file; runs that are there already are not read again.",
            ),
            format_option(FORMATS),
        )
    ):
        command = option(command)
    return server_options(command)


@analyze.command()
@click.argument("sql")
@_choosing_runs
def query(sql: str, output_format: str, **chosen: Any) -> None:
    """Run one SELECT over the tables runs, metrics, observations and scores.

    \b
    evalsi analyze query "SELECT name, avg(number) FROM scores JOIN runs USING (run_id) GROUP BY name"
    evalsi analyze query "DESCRIBE scores"

    The query reads these tables and nothing else: no file, no network, no change.
    """  # noqa: D301
    with _analysis(**chosen) as (database, _):
        answer = database.ask(sql)
        json_columns = [place for place, type_ in enumerate(answer.types) if type_ == "JSON"]
        print_answer(answer.columns, answer.pieces, output_format, json_columns=json_columns)


@analyze.command(name="slice")
@click.argument("metric")
@click.option("--by", required=True, metavar="KEY[,KEY]", help="Metadata keys to slice by, e.g. metadata.topic.")
@confidence_option("--level", about="Confidence level of the intervals; marks use 1 minus it.")
@click.option(
    "--on-server", is_flag=True, help="Have the server work it out, which sends figures instead of every result."
)
@_choosing_runs
def slice_(metric: str, by: str, confidence: float, on_server: bool, output_format: str, **chosen: Any) -> None:
    """Show METRIC for every value of metadata keys, run by run, with intervals.

    \b
    evalsi analyze slice exact-match --by metadata.topic
    evalsi analyze slice exact-match --by topic,difficulty --results 'nightly-*.json'
    """  # noqa: D301
    if on_server:
        _slice_on_server(metric, by, confidence, output_format, chosen)
        return
    from evalsi.analyze.slice_metric import slice_metric

    keys = [key.strip() for key in by.split(",") if key.strip()]
    with _analysis(**chosen) as (database, run_ids):
        slices = slice_metric(database, metric, keys, run_ids=run_ids, level=confidence)
    if output_format == "table":
        columns = ["run", *slices.keys, "n", "mean", f"{100 * confidence:g}% CI", "skipped", "errors", "mark"]
        rows = [_shown(row) for row in slices.rows]
    else:
        columns = ["run_id", "name", *slices.keys, *_FIGURES]
        rows = [_written(row, confidence) for row in slices.rows]
    print_answer(columns, [rows], output_format)
    for note in slices.notes:
        say(note)


def _slice_on_server(metric: str, by: str, confidence: float, output_format: str, chosen: dict[str, Any]) -> None:
    from evalsi.cli.eval import labels_of
    from evalsi.core.errors import UsageError
    from evalsi.core.figure import figure
    from evalsi.schema import SliceRunsRequest
    from evalsi.settings import Settings
    from evalsi.wiring.run_libraries import server_runs

    if chosen["results"] or chosen["database"]:
        raise UsageError("a server knows neither files nor databases of this machine", where="--on-server")
    settings = Settings.from_environment()
    server = server_needed(settings)
    with client_of(server) as client:
        library = server_runs(client, server.project, settings)
        request = SliceRunsRequest(
            run_ids=[library.find(name).id for name in chosen["runs"]],
            project=server.project,
            labels=labels_of(chosen["labels"]),
            limit=chosen["limit"] or 0,
            metric=metric,
            by=by,
            confidence_level=confidence,
        )
        rows = client.slice_runs(request).rows
    if output_format == "table":
        columns = ["run", by, "n", "mean", f"{100 * confidence:g}% CI"]
        shown = [[row.run_name, row.key, row.n, row.mean, f"[{figure(row.low)}, {figure(row.high)}]"] for row in rows]
    else:
        columns = ["run_id", "name", by, "n", "mean", "ci_low", "ci_high", "level"]
        shown = [[row.run_id, row.run_name, row.key, row.n, row.mean, row.low, row.high, confidence] for row in rows]
    print_answer(columns, [shown], output_format)


_FIGURES = (
    "n", "mean", "ci_low", "ci_high", "level", "method", "clusters", "skipped", "errors", "cancelled", "mark",
    "p_adjusted",
)  # fmt: skip


def _written(row: Any, level: float) -> list[Any]:
    estimate, interval = row.estimate, row.estimate.interval
    low, high, method = (interval.low, interval.high, interval.method) if interval is not None else (None, None, None)
    figures = [estimate.n, estimate.value, low, high, level, method, estimate.clusters]
    counts = [row.skipped, row.errors, row.cancelled]
    return [row.run_id, row.name, *row.group, *figures, *counts, row.mark or None, row.p_adjusted]


def _shown(row: Any) -> list[Any]:
    from evalsi.core.figure import figure

    estimate, interval = row.estimate, row.estimate.interval
    bounds = None if interval is None else f"[{figure(interval.low)}, {figure(interval.high)}]"
    return [row.name, *row.group, estimate.n, estimate.value, bounds, row.skipped, row.errors, row.mark]


def _analysis(
    *, runs: tuple[str, ...], labels: tuple[str, ...], limit: int | None, results: tuple[str, ...], database: str | None
) -> Any:
    """A context with the filled database and the ids of the chosen runs (none where the file is asked as it is)."""
    from contextlib import contextmanager
    from pathlib import Path

    from evalsi.analyze.choose_runs import RunChoice
    from evalsi.analyze.run_database import run_database
    from evalsi.cli.eval import labels_of
    from evalsi.settings import Settings
    from evalsi.wiring.choosing_runs import chosen_runs

    choice = RunChoice(runs=runs, labels=labels_of(labels), limit=limit, results=results)
    settings = Settings.from_environment()
    server = server_here(settings)
    path = Path(database) if database is not None and database != ":memory:" else None

    @contextmanager
    def opened() -> Any:
        with run_database(path) as made:
            as_it_is = (
                path is not None
                and path.is_file()
                and not choice.is_made
                and server is None
                and not settings.database.is_file()
            )
            if as_it_is:
                yield made, []
                return
            loaded = made.load(chosen_runs(choice, settings, server))
            if path is not None:
                say(f"{path}: {len(loaded.run_ids) - len(loaded.kept)} runs read, {len(loaded.kept)} already there")
            yield made, loaded.run_ids

    return opened()
