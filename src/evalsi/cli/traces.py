"""`evalsi traces`: traces in files, and those that were received."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from copy import copy
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

import click

from evalsi.cli.stored_traces import delete, export, feedback, import_traces, list_traces, show, tail
from evalsi.cli.terminal import say

if TYPE_CHECKING:
    from evalsi.datasets.imports import ImportedSample, UnreadableSample
    from evalsi.traces import Tracing


@click.group()
def traces() -> None:
    """List, show, follow, export, import and remove traces; turn traces in files into records."""


for command in (list_traces, show, feedback, tail, export, delete, import_traces):
    traces.add_command(command)
_get = copy(show)  # the name that other tools call it by
_get.hidden = True
traces.add_command(_get, name="get")


@traces.command()
@click.argument("source", metavar="FILE")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Where to write; the terminal otherwise."
)
@click.option(
    "--to", "form", type=click.Choice(["records", "atif"]), default="records", show_default=True, help="What to write."
)
@click.option(
    "--mapping", "mappings", multiple=True, metavar="FILE", help="A mapping of your own, in JSON. Repeatable."
)
@click.option("--skip-invalid", is_flag=True, help="Leave out spans that cannot be taken.")
def convert(
    source: str, output: Path | None, form: Literal["records", "atif"], mappings: tuple[str, ...], skip_invalid: bool
) -> None:
    """Write each trace of a file as a record for `evalsi eval`, or as an ATIF trajectory, one per line.

    FILE holds OTLP: JSON, JSON Lines or protobuf, plain, gzip or zstd. atif://FILE holds ATIF trajectories.
    """
    from evalsi.cli.trace_text import line_of
    from evalsi.core.errors import InvalidDataError
    from evalsi.core.whole_file import check_place, whole_file
    from evalsi.datasets.imports import ImportedSample

    left_out = written = 0
    with ExitStack() as stack:
        if output is not None:
            check_place(output, [source.partition("://")[2] or source, *mappings])
            unfinished = stack.enter_context(whole_file(output))
            stream: IO[bytes] = stack.enter_context(unfinished.open("wb"))
        else:
            stream = sys.stdout.buffer
        for sample in _samples(source, mappings):
            if isinstance(sample, ImportedSample):
                stream.write(line_of(sample.record, form))
                written += 1
            elif skip_invalid:
                left_out += 1
            else:
                raise InvalidDataError(sample.reason, where=sample.place, hint="--skip-invalid leaves such spans out")
    if output is not None:
        one, more = ("record", "records") if form == "records" else ("trajectory", "trajectories")
        say(f"wrote {output}: {written} {one if written == 1 else more}")
    if left_out:
        say(f"left out {left_out} spans that cannot be taken")


def tracing_of(paths: tuple[str, ...]) -> "Tracing":
    """The conventions and prices that are shipped, the mappings of these files before them."""
    from evalsi.wiring.span_mappings import tracing_with

    return tracing_with(paths)


def _samples(source: str, mappings: tuple[str, ...]) -> "Iterator[ImportedSample | UnreadableSample]":
    from evalsi.core.errors import UsageError
    from evalsi.datasets.imports import open_logs, samples_of_otlp

    if source.startswith("atif://"):
        if mappings:
            raise UsageError("--mapping is for spans, and ATIF has none")
        for log in open_logs(source):
            yield from log.read_samples()
        return
    yield from samples_of_otlp(Path(source.removeprefix("otlp://")), tracing_of(mappings))
