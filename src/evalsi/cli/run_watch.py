"""`evalsi runs watch` and `evalsi runs cancel`: a run that another process writes, seen and stopped from here."""

import sys
import time

import click

from evalsi.cli.terminal import say


@click.command()
@click.argument("run", default="latest")
@click.option(
    "--interval", type=click.FloatRange(min=0.05), default=1.0, show_default=True, help="Seconds between looks."
)
def watch(run: str, interval: float) -> int:
    """Follow RUN while another process writes it: rows done, the first metric with its interval.

    Exit status: 0 it succeeded, 1 it was interrupted.
    """
    from evalsi.results.rebuilt_summaries import StoredProgress
    from evalsi.settings import Settings
    from evalsi.wiring import local_store

    live = sys.stderr.isatty()
    with local_store(Settings.from_environment()) as store:
        progress = StoredProgress(store, store.find(run).id)
        shown = ""
        while True:
            seen = progress.look()
            share = f" {100 * seen.done / seen.total:3.0f}%" if seen.total else ""
            text = f"{seen.done:,}/{seen.total:,}{share}" + (f" · {seen.headline}" if seen.headline else "")
            if live:
                sys.stderr.write("\r" + text.ljust(len(shown)))
                sys.stderr.flush()
            elif text != shown:
                say(text)
            shown = text
            if seen.status != "running":
                break
            time.sleep(interval)
    if live:
        sys.stderr.write("\n")
    short = progress.run_id[:8]
    if seen.status == "succeeded":
        say(f"run {short} succeeded; next: evalsi report {short} -o report.html")
        return 0
    say(f"run {short} is {seen.status}; continue with: evalsi runs resume {short}")
    return 1


@click.command()
@click.argument("run", default="latest")
def cancel(run: str) -> int:
    """Ask the process that writes RUN to stop, as Ctrl-C does: what is in flight and ends within seconds is saved."""
    import os
    import signal

    from evalsi.core.errors import UsageError
    from evalsi.settings import Settings
    from evalsi.wiring import local_store

    with local_store(Settings.from_environment()) as store:
        row = store.find(run)
        writer = store.writer(row.id)
    if writer is None:
        raise UsageError(f"run {row.id[:8]} is not being written: it is {row.status}", hint="there is nothing to stop")
    if not writer.is_here:
        raise UsageError(
            f"run {row.id[:8]} is written by process {writer.pid} on {writer.host}, which cannot be reached from here",
            hint=f"on that machine: kill -INT {writer.pid}",
        )
    os.kill(writer.pid, signal.SIGINT)
    say(f"asked process {writer.pid} to stop; follow it with: evalsi runs watch {row.id[:8]}")
    return 0
