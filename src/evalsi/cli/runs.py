"""`evalsi runs`: what the store of this machine, or a server, holds."""

import click

from evalsi.cli.metric_table import FORMATS, print_summaries
from evalsi.cli.run_again import rerun, resume
from evalsi.cli.run_watch import cancel, watch
from evalsi.cli.server_options import server_here, server_options
from evalsi.cli.terminal import as_json, console, say


@click.group()
def runs() -> None:
    """List, show, follow, stop, continue and repeat runs."""


for command in (resume, rerun, watch, cancel):
    runs.add_command(command)


@runs.command(name="list")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many, newest first.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="Only runs with this label. Repeatable.")
@click.option("--format", "output_format", type=click.Choice(["table", "json"]), default="table", show_default=True)
@server_options
def list_runs(limit: int, labels: tuple[str, ...], output_format: str) -> None:
    """List runs, newest first."""
    from evalsi.cli.eval import labels_of
    from evalsi.settings import Settings
    from evalsi.wiring.run_libraries import run_library

    settings = Settings.from_environment()
    with run_library(settings, server_here(settings)) as library:
        found = library.runs(labels=labels_of(labels), limit=limit)
    if output_format == "json":
        print(as_json(found))
        return
    if not found:
        say("no runs yet; make one with: evalsi eval --data outputs.jsonl --evaluators exact-match")
        return
    from rich.table import Table
    from rich.text import Text

    from evalsi.core.inert import printable

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column, widest in (
        ("run", 8),
        ("when", 16),
        ("status", 11),
        ("records", 9),
        ("name", 18),
        ("first metric", 34),
    ):
        right = "right" if column == "records" else "left"
        table.add_column(column, justify=right, no_wrap=True, overflow="ellipsis", max_width=widest)
    for row in found:
        when = row.created_at[:16].replace("T", " ")
        table.add_row(
            row.id[:8],
            when,
            row.status,
            f"{row.rows:,}",
            Text(printable(row.name, one_line=True)),
            Text(printable(row.headline, one_line=True)),
        )
    console().print(table)


@runs.command()
@click.argument("run", default="latest")
@click.option("--format", "output_format", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option("--manifest", is_flag=True, help="Print what it takes to repeat the run, as JSON.")
@server_options
def show(run: str, output_format: str, manifest: bool) -> None:
    """Show the metrics of RUN: an id or its beginning, a name, latest, latest~1 or a results file."""
    from evalsi.settings import Settings
    from evalsi.wiring import reading_run

    settings = Settings.from_environment()
    with reading_run(run, settings, server_here(settings)) as graded:
        if manifest:
            print(as_json(graded.manifest))
            return
        if output_format == "table":
            about = graded.manifest
            dataset = about.dataset
            records = f"{dataset.records:,} records of {dataset.source}" if dataset is not None else ""
            say(f"{about.run_id} {about.name} · {records} · evalsi {about.evalsi_version}".replace("  ", " "))
        print_summaries(graded.summaries, output_format)


@runs.command(name="rm")
@click.argument("names", nargs=-1, required=True, metavar="RUN…")
@server_options
def remove(names: tuple[str, ...]) -> None:
    """Remove runs from the store of this machine, or from a server."""
    from evalsi.settings import Settings
    from evalsi.wiring.run_libraries import run_library

    settings = Settings.from_environment()
    with run_library(settings, server_here(settings)) as library:
        found = {row.id: row for row in map(library.find, names)}
        for row in found.values():
            library.delete(row.id)
            say(f"removed {row.id} {row.name}".rstrip())


@runs.command()
@click.argument("run")
@click.argument("path", type=click.Path(dir_okay=False))
@server_options
def export(run: str, path: str) -> None:
    """Write RUN to PATH: .json (everything), .jsonl, .csv or .parquet; .zip is the whole run for another store.

    \b
    evalsi runs export latest nightly.evalsi.zip
    evalsi runs import nightly.evalsi.zip
    """  # noqa: D301
    from pathlib import Path

    from evalsi.core.errors import UsageError
    from evalsi.results.save import check_path, save
    from evalsi.settings import Settings
    from evalsi.wiring import export_archive, reading_run

    settings = Settings.from_environment()
    server = server_here(settings)
    if Path(path).suffix.lower() == ".zip":
        if server is not None:
            raise UsageError(
                "a server gives results, not archives of its store", hint="write .json, .jsonl, .csv or .parquet"
            )
        export_archive(run, Path(path), settings)
    else:
        check_path(Path(path))
        with reading_run(run, settings, server) as graded:
            save(graded, Path(path))
    say(f"wrote {path}")


@runs.command(name="import")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE…")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="Kept with runs of logs. Repeatable.")
@click.option("--skip-invalid", is_flag=True, help="Leave out samples of logs that cannot be read.")
@click.option("--format", "output_format", type=click.Choice(["table", "json"]), default="table", show_default=True)
def import_(sources: tuple[str, ...], labels: tuple[str, ...], skip_invalid: bool, output_format: str) -> None:
    """Take runs into the local store.

    SOURCE is a file of `evalsi runs export RUN FILE.zip`, or a log of another tool: inspect://PATH, lm-eval://PATH,
    promptfoo://PATH, deepeval://PATH or openai-evals://PATH, each a file or a folder. Traces, otlp://PATH and atif://PATH,
    come in without scores.
    """
    from pathlib import Path

    from evalsi.cli.eval import labels_of
    from evalsi.settings import Settings
    from evalsi.wiring import import_archive, import_logs

    settings, given = Settings.from_environment(), labels_of(labels)
    archives = [source for source in sources if "://" not in source]
    logs = [source for source in sources if "://" in source]
    imported = import_logs(logs, settings, labels=given, on_invalid="skip" if skip_invalid else "stop") if logs else []
    kept = [row for row, _ in imported] + [import_archive(Path(source), settings) for source in archives]
    for _, warnings in imported:
        for warning in warnings:
            say(f"warning: {warning}")
    if output_format == "json":
        print(as_json(kept))
        return
    for row in kept:
        say(f"imported {row.id} {row.name}: {row.rows:,} records, {row.status}".replace("  ", " "))
