"""`evalsi runs watch` and `evalsi runs cancel`: a run that another process or a server works on, seen and stopped from here."""

import sys
from collections.abc import Iterable
from typing import Any

import click

from evalsi.cli.server_options import server_here, server_options
from evalsi.cli.terminal import say


@click.command()
@click.argument("run", default="latest")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.05),
    default=1.0,
    show_default=True,
    help="Seconds between looks at the store of this machine.",
)
@server_options
def watch(run: str, interval: float) -> int:
    """Follow RUN while another process writes it or a server works on it: rows done, the first metric with its interval.

    Exit status: 0 it succeeded, 1 it did not.
    """
    from evalsi.settings import Settings
    from evalsi.wiring.run_libraries import run_library

    settings = Settings.from_environment()
    with run_library(settings, server_here(settings)) as library:
        row = library.find(run)
        seen = show_progress(library.follow(row.id, interval_s=interval))
    short = row.id[:8]
    if seen.status == "succeeded":
        say(f"run {short} succeeded; next: evalsi report {short} -o report.html")
        return 0
    say(f"run {short} is {seen.status}; continue with: evalsi runs resume {short}")
    return 1


def show_progress(looks: Iterable[Any]) -> Any:
    """Shows how far a run is, as one line that changes on a terminal, else as lines; the last look."""
    live = sys.stderr.isatty()
    shown, seen = "", None
    for seen in looks:
        share = f" {100 * seen.done / seen.total:3.0f}%" if seen.total else ""
        text = f"{seen.done:,}/{seen.total:,}{share}" + (f" · {seen.headline}" if seen.headline else "")
        if live:
            sys.stderr.write("\r" + text.ljust(len(shown)))
            sys.stderr.flush()
        elif text != shown:
            say(text)
        shown = text
    if live:
        sys.stderr.write("\n")
    assert seen is not None
    return seen


@click.command()
@click.argument("run", default="latest")
@server_options
def cancel(run: str) -> int:
    """Ask whoever works on RUN to stop, as Ctrl-C does: what is in flight and ends within seconds is saved."""
    from evalsi.settings import Settings
    from evalsi.wiring.run_libraries import run_library

    settings = Settings.from_environment()
    with run_library(settings, server_here(settings)) as library:
        row = library.find(run)
        done = library.stop(row)
    say(f"{done}; follow it with: evalsi runs watch {row.id[:8]}")
    return 0
