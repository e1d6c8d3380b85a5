"""`evalsi mappings`: how spans are read, checked before anything depends on it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalsi.cli.format_option import format_option
from evalsi.cli.server_options import server_here, server_options

if TYPE_CHECKING:
    from evalsi.schema import Record
    from evalsi.traces import Tracing

MOST_OF_SESSION = 50


@click.group()
def mappings() -> None:
    """Check a mapping of spans and see what it reads."""


@mappings.command()
@click.argument("file", metavar="MAPPING")
@click.option("--traces", "source", metavar="FILE", help="OTLP to read with it, as a preview.")
@click.option("--trace", "trace_id", metavar="ID", help="A stored trace to read with it: its id, or the begin of it.")
@click.option("--session", "session_id", metavar="ID", help="A session whose stored traces to read with it.")
@format_option()
@server_options
def check(file: str, source: str | None, trace_id: str | None, session_id: str | None, output_format: str) -> None:
    """Check a mapping, and show what it makes of the traces in a file, or of traces that are stored.

    A span that no mapping tells the kind of is shown as a generic step: it is kept, and not judged.
    """
    from evalsi.cli.terminal import as_json, say
    from evalsi.cli.traces import tracing_of
    from evalsi.core.errors import UsageError

    tracing = tracing_of((file,))
    mapping = tracing.mappers.mappings[0]
    given = [each for each in (source, trace_id, session_id) if each is not None]
    if len(given) > 1:
        raise UsageError("one of --traces, --trace and --session is enough", hint="leave the others out")
    if not given:
        say(f"{mapping.name} revision {mapping.revision} is sound; --traces FILE or --trace ID shows what it reads")
        return
    records = _in_file(source, tracing) if source is not None else _stored(trace_id, session_id, tracing)
    if output_format == "json":
        print(as_json(records))
        return
    from evalsi.cli.table import excerpt, print_table, text, whole
    from evalsi.core.content import text_of
    from evalsi.traces.step_of_span import FLAGS, MAPPING

    columns = (
        whole("trace"),
        whole("step"),
        text("name"),
        text("read by"),
        whole("tokens"),
        excerpt("output"),
        text("odd"),
    )
    rows: list[tuple[str, ...]] = []
    for record in records:
        assert record.trajectory is not None
        for step in record.trajectory.steps:
            usage = step.usage
            tokens = f"{usage.input_tokens}/{usage.output_tokens}" if usage is not None else ""
            cells = (
                record.id[:8],
                step.type.name.lower(),
                step.name,
                step.attributes.get(MAPPING, "-"),
                tokens,
                text_of(step.output),
                ", ".join(step.attributes.get(FLAGS, [])),
            )
            rows.append(tuple(map(str, cells)))
    print_table(columns, rows)


def _in_file(source: str, tracing: "Tracing") -> "list[Record]":
    from evalsi.datasets.imports import ImportedSample, samples_of_otlp

    samples = samples_of_otlp(Path(source.removeprefix("otlp://")), tracing)
    return [sample.record for sample in samples if isinstance(sample, ImportedSample)]


def _stored(trace_id: str | None, session_id: str | None, tracing: "Tracing") -> "list[Record]":
    from evalsi.cli.terminal import say
    from evalsi.core.errors import NotFoundError
    from evalsi.schema import TraceFilter
    from evalsi.settings import Settings
    from evalsi.traces.record_of_trace import record_of_trace
    from evalsi.wiring.trace_libraries import trace_library

    settings = Settings.from_environment()
    with trace_library(settings, server_here(settings)) as library:
        names = [(trace_id, "")] if trace_id is not None else []
        if session_id is not None:
            found = list(library.traces(TraceFilter(session_id=session_id), limit=MOST_OF_SESSION + 1))
            names = [(each.trace_id, each.project) for each in found[:MOST_OF_SESSION]][::-1]
            if len(found) > MOST_OF_SESSION:
                say(f"the newest {MOST_OF_SESSION} traces of the session are read; --trace ID reads any other")
        if not names:
            raise NotFoundError(
                f"no stored trace is of the session {session_id!r}", hint="'evalsi traces list' shows them"
            )
        return [record_of_trace(library.spans(name, project=project), tracing) for name, project in names]
