"""`evalsi failures`: the inbox of a server: traces that somebody wants to look at, until they are cases or none.

A failure is named by its id; `latest` is the one that was captured last.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalsi.cli.confirmation import ask
from evalsi.cli.format_option import format_option
from evalsi.cli.server_options import client_and_project, server_options
from evalsi.cli.table import excerpt, number, print_table, text, whole
from evalsi.cli.terminal import as_json, say, when
from evalsi.core.figure import counted

if TYPE_CHECKING:
    from evalsi.schema import FailureCase, FailureSelection

_LATEST = "latest"
_DECISIONS = ("approved", "dismissed")
_REVISION = click.option(
    "--revision", type=click.IntRange(min=1), metavar="N", help="Revision that you looked at. By default that of now."
)


@click.group()
def failures() -> None:
    """Turn traces that went wrong into cases of a dataset."""


@failures.command(name="list")
@click.option(
    "--status",
    type=click.Choice(["open", "in-review", "approved", "dismissed"]),
    help="Only those that stand so. By default all.",
)
@click.option("--assignee", default="", metavar="NAME", help="Only those that NAME looks at.")
@click.option(
    "--limit",
    "--page-size",
    "limit",
    type=click.IntRange(min=1, max=1000),
    default=50,
    show_default=True,
    help="How many, newest first.",
)
@click.option("--page-token", default="", metavar="TOKEN", help="Where the page begins, as the last one said.")
@format_option()
@server_options
def list_failures(status: str | None, assignee: str, limit: int, page_token: str, output_format: str) -> None:
    """List failures, newest first."""
    from evalsi.schema import FailureStatus, ListFailuresRequest

    opened, project = client_and_project()
    request = ListFailuresRequest(
        project=project,
        status=FailureStatus(status or "unspecified"),
        assignee=assignee,
        page_size=limit,
        page_token=page_token,
    )
    with opened as client:
        page = client.list_failures(request)
    found = page.failures
    if output_format == "json":
        print(as_json(found))
        return
    rows = [
        (one.id, _standing(one), f"{one.revision}", one.assignee or "-", when(one.created_at), one.title)
        for one in found
    ]
    columns = (
        whole("failure"),
        whole("status"),
        number("revision", short="rev"),
        text("assignee"),
        whole("captured"),
        excerpt("title"),
    )
    print_table(columns, rows, nothing="no failures")
    if page.next_page_token:
        say(f"there are more: --page-token {page.next_page_token}")


@failures.command()
@click.argument("failure_id", metavar="FAILURE")
@format_option()
@server_options
def show(failure_id: str, output_format: str) -> None:
    """Show FAILURE, an id or latest, and the case it is to become."""
    from evalsi.core.content import text_of
    from evalsi.core.inert import printable
    from evalsi.schema import Record

    opened, project = client_and_project()
    with opened as client:
        found = _current(client, project, failure_id)
    if output_format == "json":
        print(as_json(found))
        return
    record = found.record or Record()
    facts = (
        ("title", found.title),
        ("status", f"{_standing(found)}, revision {found.revision}"),
        ("reason", found.reason),
        ("assignee", found.assignee),
        ("trace", found.source.trace_id if found.source else ""),
        ("captured", f"{when(found.created_at)} by {found.created_by}"),
        ("reviewed", f"{when(found.reviewed_at)} by {found.reviewed_by}" if found.reviewed_by else ""),
        ("note", found.review_note),
        ("input", text_of(record.input)),
        ("output", text_of(record.output)),
        ("reference", text_of(record.reference)),
    )
    for name, value in facts:
        if value:
            print(f"{name:<10}{printable(value[:2000], one_line=True)}")


@failures.command()
@click.argument("trace_id", metavar="TRACE")
@click.option("--title", default="", metavar="TEXT", help="What it is about, in a line. By default what was asked.")
@click.option("--reason", default="", metavar="TEXT", help="Why it is a failure.")
@format_option()
@server_options
def capture(trace_id: str, title: str, reason: str, output_format: str) -> None:
    """Put the trace TRACE (its id, or the beginning of it) into the inbox. One that is already in it is not added again.

    \b
    evalsi failures capture 4bf92f35 --reason 'it refunded the wrong order'
    """  # noqa: D301
    from evalsi.schema import CaptureFailureRequest

    opened, project = client_and_project()
    with opened as client:
        answer = client.capture_failure(
            CaptureFailureRequest(project=project, trace_id=trace_id, title=title, reason=reason)
        )
    if output_format == "json":
        print(as_json(answer))
        return
    was = "was already there" if answer.deduplicated else "captured"
    say(f"{answer.failure.id} {was}: {answer.failure.title}")


@failures.command()
@click.argument("failure_id", metavar="FAILURE")
@click.option("--title", default="", metavar="TEXT", help="What it is about, in a line.")
@click.option("--reason", default="", metavar="TEXT", help="Why it is a failure.")
@click.option("--assignee", default="", metavar="NAME", help="Who looks at it.")
@click.option(
    "--status", type=click.Choice(["open", "in-review"]), help="How it stands; open makes a decided one open again."
)
@click.option(
    "-f",
    "--record",
    "--file",
    "record_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="JSON file with the case it is to become, for example with a reference.",
)
@click.option("--input", "asked", default="", metavar="TEXT", help="What was asked, where the trace does not say.")
@click.option("--reference", default="", metavar="TEXT", help="The answer that was wanted.")
@_REVISION
@format_option()
@server_options
def update(
    failure_id: str, record_path: Path | None, asked: str, reference: str, output_format: str, **given: Any
) -> None:
    """Change FAILURE, an id or latest: what it is about, who looks at it, the case it is to become."""
    from evalsi.schema import FailureStatus, UpdateFailureRequest

    opened, project = client_and_project()
    with opened as client:
        before = _current(client, project, failure_id)
        request = UpdateFailureRequest(
            project=project,
            id=before.id,
            expected_revision=given["revision"] or before.revision,
            record=_record(before, record_path, asked, reference),
            title=given["title"],
            reason=given["reason"],
            assignee=given["assignee"],
            status=FailureStatus(given["status"] or "unspecified"),
        )
        _tell(client.update_failure(request).failure, output_format)


@failures.command()
@click.argument("failure_id", metavar="FAILURE")
@click.argument("decided", type=click.Choice(_DECISIONS), metavar="[DECISION]", required=False)
@click.option("--decision", type=click.Choice(_DECISIONS), help="What is decided, where it is not said after FAILURE.")
@click.option("--note", default="", metavar="TEXT", help="Why.")
@_REVISION
@format_option()
@server_options
def review(
    failure_id: str, decided: str | None, decision: str | None, note: str, revision: int | None, output_format: str
) -> None:
    """Decide about FAILURE, an id or latest: approved, it is a case; dismissed, it is none."""
    if (decided is None) == (decision is None):
        raise click.UsageError("say once what is decided: approved or dismissed.")
    from evalsi.schema import FailureStatus, ReviewFailureRequest

    opened, project = client_and_project()
    with opened as client:
        before = _current(client, project, failure_id)
        request = ReviewFailureRequest(
            project=project,
            id=before.id,
            expected_revision=revision or before.revision,
            decision=FailureStatus(decided or decision),
            note=note,
        )
        _tell(client.review_failure(request).failure, output_format)


@failures.command()
@click.argument("failure_id", metavar="FAILURE")
@click.option("--page-size", type=click.IntRange(1, 1000), metavar="N", help="How many. By default all.")
@click.option("--page-token", default="", metavar="TOKEN", help="Where the page begins, as the last one said.")
@format_option()
@server_options
def events(failure_id: str, page_size: int | None, page_token: str, output_format: str) -> None:
    """List what happened to FAILURE, an id or latest, oldest first."""
    from evalsi.schema import FailureEvent, ListFailureEventsRequest

    opened, project = client_and_project()
    found: list[FailureEvent] = []
    token = page_token
    with opened as client:
        name = _current(client, project, failure_id).id
        while True:
            request = ListFailureEventsRequest(project=project, id=name, page_size=page_size or 1000, page_token=token)
            page = client.list_failure_events(request)
            found += page.events
            token = page.next_page_token
            if not token or page_size is not None:
                break
    if output_format == "json":
        print(as_json(found))
        return
    rows = [(f"{one.revision}", when(one.time), one.action, one.actor, one.record_sha256[:12]) for one in found]
    columns = (number("revision", short="rev"), whole("when"), text("what"), text("who"), whole("record"))
    print_table(columns, rows)
    if token:
        say(f"there are more: --page-token {token}")


@failures.command()
@click.argument("chosen", nargs=-1, metavar="[FAILURE[@REVISION]]...")
@click.option("--case", "cases", multiple=True, metavar="FAILURE[@REVISION]", help="One of those named. Repeatable.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), default="-", metavar="PATH", help="Where the JSON Lines go."
)
@click.option(
    "--dataset", default="", metavar="NAME[@VERSION]", help="Store them on the server as a version of this dataset."
)
@server_options
def export(chosen: tuple[str, ...], cases: tuple[str, ...], output: str, dataset: str) -> None:
    """Write approved failures as the records of a dataset: those named, or all.

    \b
    evalsi failures export -o cases.jsonl
    evalsi failures export --dataset refunds
    """  # noqa: D301
    import sys

    from evalsi.core.errors import UsageError
    from evalsi.core.whole_file import whole_file
    from evalsi.schema import ExportFailuresRequest

    if dataset and output != "-":
        raise UsageError("-o and --dataset are two places", hint="give one of them")
    selections = [selection_of(text) for text in (*chosen, *cases)]
    opened, project = client_and_project()
    with opened as client:
        if dataset:
            _publish(client, project, dataset, selections)
            return
        answer = client.export_failures(ExportFailuresRequest(project=project, selections=selections))
    if output == "-":
        sys.stdout.buffer.write(answer.jsonl.encode())
        return
    with whole_file(Path(output)) as unfinished:
        unfinished.write_text(answer.jsonl, encoding="utf-8")
    say(f"wrote {output}: {counted(len(answer.records), 'record')}")


@failures.command()
@click.argument("failure_id", metavar="FAILURE")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_REVISION
@server_options
def delete(failure_id: str, revision: int | None, *, yes: bool) -> None:
    """Remove FAILURE, an id or latest, for good. The trace stays. Asks first, unless a revision was named."""
    from evalsi.schema import DeleteFailureRequest

    opened, project = client_and_project()
    with opened as client:
        before = _current(client, project, failure_id)
        if not yes and revision is None:
            ask(f"Remove the failure {before.id} for good?")
        client.delete_failure(
            DeleteFailureRequest(project=project, id=before.id, expected_revision=revision or before.revision)
        )
    say(f"removed {before.id}")


def _current(client: Any, project: str, failure_id: str) -> "FailureCase":
    """The failure as it stands. Raises: NotFoundError."""
    from evalsi.core.errors import NotFoundError
    from evalsi.schema import GetFailureRequest, ListFailuresRequest

    if failure_id == _LATEST:
        newest = client.list_failures(ListFailuresRequest(project=project, page_size=1)).failures
        if not newest:
            raise NotFoundError("there is no failure yet", hint="'evalsi failures capture' makes one of a trace")
        failure_id, project = newest[0].id, newest[0].project
    return client.get_failure(GetFailureRequest(project=project, id=failure_id)).failure


def _record(before: "FailureCase", path: Path | None, asked: str, reference: str) -> Any:
    """The record as it is to be; None to leave it as it is. Raises: InvalidDataError, NotFoundError."""
    import msgspec

    from evalsi.core.errors import InvalidDataError, NotFoundError
    from evalsi.schema import Content, Record, json_codec
    from evalsi.schema.schema_error import SchemaError

    if path is None and not asked and not reference:
        return None
    record = before.record or Record()
    if path is not None:
        try:
            record = json_codec.decode(path.read_bytes(), Record)
        except OSError as error:
            raise NotFoundError(f"the record cannot be read: {error.strerror}", where=str(path)) from None
        except SchemaError as error:
            raise InvalidDataError(str(error), where=str(path)) from None
    texts = {"input": asked, "reference": reference}
    return msgspec.structs.replace(record, **{name: Content(text=said) for name, said in texts.items() if said})


def selection_of(text: str) -> "FailureSelection":
    from evalsi.core.errors import UsageError
    from evalsi.schema import FailureSelection

    failure_id, at, revision = text.partition("@")
    if at and not (revision.isdecimal() and len(revision) < 10):
        raise UsageError(f"{text!r} names no revision", hint="write FAILURE@NUMBER")
    return FailureSelection(id=failure_id, revision=int(revision or 0))


def _publish(client: Any, project: str, dataset: str, selections: "list[FailureSelection]") -> None:
    from evalsi.core.errors import NotFoundError
    from evalsi.schema import (
        DatasetVersionContent,
        FailureSelection,
        FailureStatus,
        ListFailuresRequest,
        PublishDatasetVersionRequest,
    )

    token = ""
    while not selections or token:
        request = ListFailuresRequest(project=project, status=FailureStatus.APPROVED, page_size=1000, page_token=token)
        page = client.list_failures(request)
        selections = [*selections, *(FailureSelection(id=one.id, revision=one.revision) for one in page.failures)]
        token = page.next_page_token
        if not selections:
            raise NotFoundError("no failure is approved", hint="'evalsi failures review' decides about one")
    name, _, version = dataset.partition("@")
    content = DatasetVersionContent(project=project, name=name, version=version)
    stored = client.publish_dataset_version(PublishDatasetVersionRequest(content=content, failures=selections)).dataset
    say(
        f"{stored.content.name}@{stored.content.version}: {counted(stored.records, 'record')}, sha256 {stored.sha256[:12]}…"
    )


def _tell(failure: "FailureCase", output_format: str) -> None:
    if output_format == "json":
        print(as_json(failure))
        return
    say(f"{failure.id} is {_standing(failure)} now, revision {failure.revision}")


def _standing(failure: "FailureCase") -> str:
    return str(failure.status).replace("_", "-")
