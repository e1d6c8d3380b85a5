"""`evalsi runs`: what the store of this machine, or a server, holds."""

from collections.abc import Sequence
from typing import Any

import click

from evalsi.cli.format_option import format_option
from evalsi.cli.metric_table import FORMATS, print_summaries
from evalsi.cli.run_again import rerun, resume
from evalsi.cli.run_watch import cancel, watch
from evalsi.cli.server_options import server_here, server_options
from evalsi.cli.table import number, print_table, text, whole
from evalsi.cli.terminal import as_json, say
from evalsi.core.figure import counted


@click.group()
def runs() -> None:
    """List, show, follow, stop, continue and repeat runs."""


for command in (resume, rerun, watch, cancel):
    runs.add_command(command)


@runs.command(name="list")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many, newest first.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="Only runs with this label. Repeatable.")
@format_option()
@server_options
def list_runs(limit: int, labels: tuple[str, ...], output_format: str) -> None:
    """List runs, newest first."""
    from evalsi.cli.eval import labels_of
    from evalsi.settings import Settings
    from evalsi.wiring.run_libraries import run_library

    settings = Settings.from_environment()
    server = server_here(settings)
    with run_library(settings, server) as library:
        found = library.runs(labels=labels_of(labels), limit=limit)
    if output_format == "json":
        print(as_json(found))
        return
    if not found:
        say(_nothing_listed(labels, is_sent=server is not None))
        return
    columns = (
        whole("run"),
        whole("when"),
        whole("state"),
        whole("gates"),
        number("records"),
        text("name"),
        text("first metric"),
    )
    shown = _told_apart([row.id for row in found])
    rows = [
        (
            row.id[:shown],
            row.created_at[:16].replace("T", " "),
            row.status,
            row.verdict or "–",
            f"{row.rows:,}/{row.total:,}" if row.total else f"{row.rows:,}",
            row.name,
            row.headline,
        )
        for row in found
    ]
    print_table(columns, rows)


def _told_apart(ids: Sequence[str], least: int = 8) -> int:
    """How many characters of these ids tell them apart: runs of one import begin alike."""
    whole = max(map(len, ids))
    return next((length for length in range(least, whole) if len({each[:length] for each in ids}) == len(ids)), whole)


def _nothing_listed(labels: Sequence[str], *, is_sent: bool) -> str:
    """Why a list is empty."""
    where = " on the server" if is_sent else ""
    if labels:
        return f"no run{where} is labelled {', '.join(labels)}; without --label all are listed"
    if is_sent:
        return "no runs on the server yet; 'evalsi run' makes one there, and --server local lists those of this machine"
    return "no runs yet; make one with: evalsi eval --data outputs.jsonl --evaluators exact-match"


@runs.command()
@click.argument("run", default="latest")
@format_option(FORMATS)
@click.option("--manifest", is_flag=True, help="Print what it takes to repeat the run, as JSON.")
@click.option("--errors", is_flag=True, help="List the results that are errors, and why, instead of metrics.")
@click.option("--failed", is_flag=True, help="List the verdicts that did not pass, instead of metrics.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many of them, in the run's order."
)
@server_options
def show(run: str, output_format: str, manifest: bool, errors: bool, failed: bool, limit: int) -> None:
    """Show the metrics of RUN: an id or its beginning, a name, latest, latest~1 or a results file.

    \b
    evalsi runs show latest --errors --failed
    """  # noqa: D301
    from evalsi.cli.bad_records import mishaps_of, print_bad_records, say_errors
    from evalsi.cli.run_ending import gate_line
    from evalsi.cli.slice_table import print_slices, slices_of
    from evalsi.results.fence_words import fence_words
    from evalsi.settings import Settings
    from evalsi.wiring.reading_runs import reading_run

    settings = Settings.from_environment()
    with reading_run(run, settings, server_here(settings)) as graded:
        if manifest:
            print(as_json(graded.manifest))
            return
        if errors or failed:
            print_bad_records(graded, errors=errors, failed=failed, most=limit)
            return
        if output_format == "table":
            about = graded.manifest
            dataset = about.dataset
            records = f"{counted(dataset.records, 'record')} of {dataset.source}" if dataset is not None else ""
            say(f"{about.run_id} {about.name} · {records} · evalsi {about.evalsi_version}".replace("  ", " "))
            _say_what_is_missing(graded)
            for fence in about.sandboxes:
                say(f"programs ran in {fence_words(fence)}")
        print_summaries(graded.summaries, output_format)
        if output_format == "table":
            print_slices(graded, slices_of(graded, output_format))
            for warning in graded.manifest.warnings:
                say(f"warning: {warning}")
            say_errors(graded, mishaps_of(graded).example)
            for gate in graded.gates:
                say(gate_line(gate))


def _say_what_is_missing(graded: Any) -> None:
    """How far a run that was stopped, was killed or is under way has come."""
    from evalsi.schema import RunStatus

    about = graded.manifest
    if about.stopped_early:
        say(f"stopped early: {about.stopped_early}; what was not asked is CANCELLED")
    if about.status not in (RunStatus.RUNNING, RunStatus.CANCELLED) or about.dataset is None:
        return
    answers = graded.kept_answers() if graded.kept_answers is not None else 0
    kept = f", {answers:,} answers are kept" if answers else ""
    rows = about.dataset.records * max(1, about.trials)
    say(f"not finished: {graded.count_records():,} of {rows:,} rows are graded{kept}")


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
@click.argument("names", nargs=-1, required=True, metavar="RUN…")
@click.option("--restore", is_flag=True, help="Take them back: they stand in lists again.")
@server_options
def archive(names: tuple[str, ...], *, restore: bool) -> None:
    """Put runs of a server away: they stay as they are, and are out of its lists."""
    from evalsi.cli.server_options import client_of, server_needed
    from evalsi.schema import ArchiveRunRequest
    from evalsi.settings import Settings
    from evalsi.wiring.run_libraries import server_runs

    settings = Settings.from_environment()
    server = server_needed(settings)
    with client_of(server) as client:
        library = server_runs(client, server.project, settings)
        for row in [library.find(name) for name in names]:
            client.archive_run(ArchiveRunRequest(id=row.id, restore=restore))
            say(f"{'took back' if restore else 'archived'} {row.id} {row.name}".rstrip())


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

    from evalsi.results.save import check_path, save
    from evalsi.settings import Settings
    from evalsi.wiring.moving_runs import export_archive
    from evalsi.wiring.reading_runs import reading_run

    settings = Settings.from_environment()
    server = server_here(settings)
    if Path(path).suffix.lower() == ".zip":
        export_archive(run, Path(path), settings, server)
    else:
        check_path(Path(path), also=".zip, the whole run for 'evalsi runs import'")
        with reading_run(run, settings, server) as graded:
            save(graded, Path(path))
    say(f"wrote {path}")


@runs.command(name="import")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE…")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="Kept with runs of logs. Repeatable.")
@click.option("--skip-invalid", is_flag=True, help="Leave out samples of logs that cannot be read.")
@format_option()
@server_options
def import_(sources: tuple[str, ...], labels: tuple[str, ...], skip_invalid: bool, output_format: str) -> None:
    """Take runs into the store of this machine, or of a server.

    SOURCE is a file of `evalsi runs export RUN FILE.zip`, or a log of another tool: inspect://PATH, lm-eval://PATH,
    promptfoo://PATH, deepeval://PATH or openai-evals://PATH, each a file or a folder. Traces, otlp://PATH and atif://PATH,
    come in without scores. A server gives a run an id of its own.
    """
    from evalsi.cli.eval import labels_of
    from evalsi.settings import Settings
    from evalsi.wiring.moving_runs import import_runs

    settings = Settings.from_environment()
    kept = import_runs(
        sources,
        settings,
        labels=labels_of(labels),
        on_invalid="skip" if skip_invalid else "stop",
        server=server_here(settings),
    )
    for _, warnings in kept:
        for warning in warnings:
            say(f"warning: {warning}")
    rows = [row for row, _ in kept]
    if output_format == "json":
        print(as_json(rows))
        return
    for row in rows:
        say(f"imported {row.id} {row.name}: {counted(row.rows, 'record')}, {row.standing}".replace("  ", " "))
