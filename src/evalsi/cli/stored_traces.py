"""`evalsi traces list`, `show`, `tail`, `export`, `delete` and `import`: traces in the store of this machine or of a server."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from evalsi.cli.confirmation import ask
from evalsi.cli.format_option import format_option
from evalsi.cli.server_options import server_here, server_options
from evalsi.cli.terminal import as_json, say, when
from evalsi.cli.trace_options import choice_of, moment_ago, trace_choice_options
from evalsi.core.figure import counted

if TYPE_CHECKING:
    from evalsi.schema import DeleteTracesRequest, Record, TraceSummary
    from evalsi.traces import Span


@click.command(name="list")
@trace_choice_options
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many, newest first.")
@format_option()
@server_options
def list_traces(limit: int, output_format: str, **given: Any) -> None:
    """List traces, newest first.

    \b
    evalsi traces list --since 24h --errors
    evalsi traces list --text refund --score 'tone<0.5'
    """  # noqa: D301
    from evalsi.settings import Settings
    from evalsi.wiring.trace_libraries import trace_library

    settings = Settings.from_environment()
    with trace_library(settings, server_here(settings)) as library:
        found = list(library.traces(choice_of(given), limit=limit + 1))
    has_more = len(found) > limit
    del found[limit:]
    if output_format == "json":
        print(as_json(found))
    elif not found:
        say(_nothing_listed(given))
    else:
        from evalsi.cli.trace_text import print_traces

        print_traces(found)
    if has_more:
        say(f"more traces match; --limit takes more than the newest {limit:,}")


def _nothing_listed(given: Mapping[str, Any]) -> str:
    """Why a list is empty."""
    if not any(given.values()):
        return "no traces yet; 'evalsi traces import FILE' takes some in, and apps send theirs to 'evalsi serve'"
    return "no traces match" + ("; --failed-steps finds those in which a step failed" if given["errors"] else "")


@click.command()
@click.argument("trace")
@format_option()
@server_options
def show(trace: str, output_format: str) -> None:
    """Show TRACE, an id or its beginning: its steps, what policies found, what was said about it."""
    from evalsi.settings import Settings
    from evalsi.wiring.trace_libraries import trace_library

    settings = Settings.from_environment()
    with trace_library(settings, server_here(settings)) as library:
        found = library.get(trace)
    if output_format == "json":
        print(as_json(found))
        return
    from evalsi.cli.trace_text import print_trace

    print_trace(found)


@click.command()
@click.argument("trace", default="")
@click.option("--session", "session_id", default="", metavar="ID", help="Of this session, in place of a trace.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many, newest first.")
@format_option()
@server_options
def feedback(trace: str, session_id: str, limit: int, output_format: str) -> None:
    """List what was said about TRACE, an id or its beginning, or about a session; newest first."""
    from itertools import islice

    from evalsi.core.errors import UsageError
    from evalsi.settings import Settings
    from evalsi.wiring.trace_libraries import trace_library

    if bool(trace) == bool(session_id):
        raise UsageError("feedback is listed of one trace or of one session", hint="give TRACE, or --session ID")
    settings = Settings.from_environment()
    with trace_library(settings, server_here(settings)) as library:
        found = list(islice(library.feedback(trace_id=trace, session_id=session_id, limit=limit + 1), limit + 1))
    shown = found[:limit]
    if output_format == "json":
        print(as_json(shown))
    elif not shown:
        say("nothing was said about it")
    else:
        from evalsi.cli.trace_text import print_feedback

        print_feedback(shown)
    if len(found) > limit:
        say(f"there is more; --limit shows more than {limit:,}")


@click.command()
@trace_choice_options
@click.option("--limit", type=click.IntRange(min=1), help="Stop after that many; else at Ctrl-C.")
@format_option(("text", "json"))
@server_options
def tail(limit: int | None, output_format: str, **given: Any) -> None:
    """Follow traces as they become complete, one line each."""
    from evalsi.cli.trace_text import cells_of
    from evalsi.core.inert import printable
    from evalsi.schema.json_codec import encode_file
    from evalsi.settings import Settings
    from evalsi.wiring.trace_libraries import trace_library

    settings = Settings.from_environment()
    with trace_library(settings, server_here(settings)) as library:
        for number, trace in enumerate(library.follow(choice_of(given), interval_s=0.5), 1):
            if output_format == "json":
                print(encode_file(trace).decode(), flush=True)
            else:
                print(printable("  ".join(cells_of(trace)), one_line=True), flush=True)
            if number == limit:
                return


@click.command()
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="Where to write.")
@click.option(
    "--to", "form", type=click.Choice(["records", "atif"]), default="records", show_default=True, help="What to write."
)
@trace_choice_options
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="How many, newest first.")
@server_options
def export(output: Path, form: Literal["records", "atif"], limit: int, **given: Any) -> None:
    """Write traces to a file, one per line: as records for `evalsi eval`, or as ATIF trajectories.

    A record carries the scores and feedback of its trace in its metadata.
    """
    from evalsi.cli.trace_text import line_of
    from evalsi.core.whole_file import check_place, whole_file
    from evalsi.settings import Settings
    from evalsi.wiring.trace_libraries import trace_library

    settings = Settings.from_environment()
    check_place(output, [])
    written = 0
    has_more = False
    with ExitStack() as stack:
        library = stack.enter_context(trace_library(settings, server_here(settings)))
        stream = stack.enter_context(stack.enter_context(whole_file(output)).open("wb"))
        for place, trace in enumerate(library.traces(choice_of(given), limit=limit + 1)):
            if place == limit:
                has_more = True
                break
            record = library.get(trace.trace_id, project=trace.project).record
            if record is not None:
                stream.write(line_of(_scored(record, trace), form))
                written += 1
    say(f"wrote {output}: {counted(written, 'trace')}")
    if has_more:
        say(f"more traces match; --limit takes more than the newest {limit:,}")


@click.command()
@click.argument("names", nargs=-1, metavar="[TRACE]…")
@click.option("--session", "session_id", default="", metavar="ID", help="All traces of this session.")
@click.option("--user", "user_id", default="", metavar="ID", help="All traces done for this person.")
@click.option("--before", default="", metavar="TIME", help="All begun before: a time in ISO 8601, or 30m, 12h, 7d ago.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@server_options
def delete(names: tuple[str, ...], session_id: str, user_id: str, before: str, yes: bool) -> None:
    """Remove traces for good, with their scores and feedback: those named, or all that fulfil every condition."""
    from evalsi.core.errors import UsageError
    from evalsi.schema import DeleteTracesRequest
    from evalsi.settings import Settings
    from evalsi.wiring.trace_libraries import trace_library

    if not (names or session_id or user_id or before):
        raise UsageError("nothing says what to remove", hint="name traces, or give --session, --user or --before")
    settings = Settings.from_environment()
    with trace_library(settings, server_here(settings)) as library:
        whole = [library.get(name).summary for name in names]
        request = DeleteTracesRequest(
            trace_ids=[trace.trace_id for trace in whole if trace is not None],
            session_id=session_id,
            user_id=user_id,
            before=moment_ago(before, "--before"),
        )
        if not yes:
            ask(f"Remove {_conditions(request)} for good?")
        count = library.delete(request)
    say(f"removed {counted(count, 'trace')}")


def _conditions(request: "DeleteTracesRequest") -> str:
    """What is to be removed, as a person would say it."""
    said = [f"of session {request.session_id}"] if request.session_id else []
    said += [f"of user {request.user_id}"] if request.user_id else []
    said += [f"begun before {when(request.before)}"] if request.before is not None else []
    named = ", ".join(name[:8] for name in request.trace_ids)
    noun = "the trace" if len(request.trace_ids) == 1 else "the traces" if named else "all traces"
    return " ".join(part for part in (noun, named, " and ".join(said)) if part)


@click.command(name="import")
@click.argument("sources", nargs=-1, required=True, metavar="FILE…")
@click.option("--skip-invalid", is_flag=True, help="Leave out spans that cannot be taken.")
@server_options
def import_traces(sources: tuple[str, ...], skip_invalid: bool) -> None:
    """Take traces in from files: OTLP (JSON, JSON Lines, protobuf; plain, gzip or zstd), atif://FILE, inspect://FILE.

    Importing a file twice changes nothing.
    """
    from evalsi.settings import Settings
    from evalsi.wiring.trace_libraries import trace_library

    settings = Settings.from_environment()
    found: list[Span] = []
    left_out = 0
    for source in sources:
        spans, unsound = _spans_of(source, skip_invalid=skip_invalid)
        found += spans
        left_out += unsound
    with trace_library(settings, server_here(settings), create=True) as library:
        accepted = library.take(found)
    traces = len({span.trace_id for span in found})
    say(f"imported {counted(accepted, 'span')} of {counted(traces, 'trace')}")
    if left_out:
        say(f"left out {counted(left_out, 'span')} that cannot be taken")


def _spans_of(source: str, *, skip_invalid: bool) -> tuple[list["Span"], int]:
    from evalsi.core.errors import InvalidDataError
    from evalsi.datasets.imports import ImportedSample, is_log_address, open_logs, spans_of_file
    from evalsi.traces.spans_of_trajectory import spans_of_record

    spans: list[Span] = []
    left_out = 0
    if is_log_address(source) and not source.startswith("otlp://"):
        for log in open_logs(source):
            for sample in log.read_samples():
                if isinstance(sample, ImportedSample):
                    spans += spans_of_record(sample.record)
                elif skip_invalid:
                    left_out += 1
                else:
                    raise InvalidDataError(sample.reason, where=sample.place, hint="--skip-invalid leaves such out")
        return spans, left_out
    decoded = spans_of_file(Path(source.removeprefix("otlp://")))
    if decoded.rejected and not skip_invalid:
        first = decoded.rejected[0]
        raise InvalidDataError(
            first.reason, where=f"{source}: span {first.where}", hint="--skip-invalid leaves such spans out"
        )
    return decoded.spans, len(decoded.rejected)


def _scored(record: "Record", trace: "TraceSummary") -> "Record":
    import msgspec

    added: dict[str, Any] = {}
    if trace.scores:
        added["scores"] = trace.scores
    if trace.feedback is not None:
        added["feedback"] = trace.feedback
    return msgspec.structs.replace(record, metadata={**record.metadata, **added}) if added else record
