"""`evalsi dataset upload`, `versions`, `publish` and the rest: datasets of a server, with every part of a version its own argument.

Its own module because these are the long names, for scripts: they take names, versions, digests and pages one by one, where
`put`, `list`, `show`, `fetch` and `diff` read NAME@VERSION as a person writes it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click

from evalsi.cli.dataset_answers import (
    LOOKED_AT,
    Naming,
    check_digest,
    difference_of_versions,
    digest_of_file,
    fail_on_change_option,
    fetch_version,
    print_difference,
    print_version,
    print_versions,
    say_stored,
    store_file,
    store_pieces,
    warn_of_columns,
)
from evalsi.cli.format_option import format_option
from evalsi.cli.map_option import map_option
from evalsi.cli.server_options import client_and_project, server_options
from evalsi.cli.table import number, print_table, text, whole
from evalsi.cli.terminal import as_json, say, when

F = TypeVar("F", bound=Callable[..., Any])

_PIECE = 1 << 20
_NAME = click.option("--name", required=True, metavar="NAME", help="Name of the dataset.")
_SHA256 = click.option("--sha256", required=True, metavar="HEX", help="Digest that the version must have.")
_DATA_FORMAT = click.option(
    "--format",
    "data_format",
    type=click.Choice(["jsonl", "json", "csv", "tsv", "parquet"]),
    help="Form of the data; by default told by its content.",
)


def _paged(command: F) -> F:
    for option in (
        click.option("--page-token", default="", metavar="TOKEN", help="Where the page begins, as the last one said."),
        click.option("--page-size", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many."),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("source", type=click.Path(dir_okay=False, path_type=Path))
@_NAME
@_DATA_FORMAT
@map_option
@server_options
def upload(source: Path, name: str, data_format: str | None, mappings: tuple[str, ...]) -> None:
    """Store the file SOURCE as a version of a dataset, as `evalsi dataset put` does."""
    store_file(source, Naming(name=name), mappings=mappings, form=data_format or "")


@click.command(name="import")
@click.argument("source")
@_NAME
@_DATA_FORMAT
@map_option
@server_options
def import_(source: str, name: str, data_format: str | None, mappings: tuple[str, ...]) -> None:
    """Store the records of SOURCE as a version of a dataset: whatever `evalsi eval --data` reads, hf:// too.

    It is read here, and its records are sent.
    """
    from itertools import islice

    from evalsi.datasets import DatasetOptions, mapping_of_flags, open_dataset

    dataset = open_dataset(source, options=DatasetOptions(mapping=mapping_of_flags(mappings), format=data_format))
    dataset.scan()
    store_pieces(_lines(dataset), Naming(name=name), form="jsonl")
    warn_of_columns(islice(dataset.records(), LOOKED_AT))


def _lines(dataset: Any) -> Iterator[bytes]:
    from evalsi.schema.json_codec import encode_file

    waiting = bytearray()
    for record in dataset.records():
        waiting += encode_file(record).rstrip(b"\n") + b"\n"
        if len(waiting) >= _PIECE:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


@click.command()
@_NAME
@click.option("--version", required=True, metavar="VERSION", help="Name of the version.")
@click.option("--owner", required=True, metavar="NAME", help="Who answers for it.")
@click.option(
    "--split",
    type=click.Choice(["tuning", "held-out"]),
    default="held-out",
    show_default=True,
    help="Whether anything may be tuned on it.",
)
@click.option("--tag", "tags", multiple=True, metavar="WORD", help="A tag of the version. Repeatable.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label of the version. Repeatable.")
@click.option("--description", default="", metavar="TEXT", help="What it is.")
@click.option(
    "--records", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="File with the records."
)
@click.option(
    "--failure",
    "failures",
    multiple=True,
    metavar="FAILURE[@REVISION]",
    help="An approved failure that becomes a record of it. Repeatable.",
)
@click.option("--sha256", default="", metavar="HEX", help="Digest that the file of records must have.")
@format_option()
@server_options
def publish(records: Path | None, failures: tuple[str, ...], sha256: str, output_format: str, **given: Any) -> None:
    """Store records, or approved failures, as a named version that says who answers for it.

    \b
    evalsi dataset publish --name refunds --version 2026-07 --owner ana --records refunds.jsonl
    """  # noqa: D301
    from evalsi.cli.eval import labels_of
    from evalsi.cli.failures import selection_of
    from evalsi.core.errors import NotFoundError, UsageError
    from evalsi.core.nearest_file import nearest_file
    from evalsi.datasets import open_dataset
    from evalsi.schema import DatasetVersionContent, PublishDatasetVersionRequest

    if records is None and not failures:
        raise UsageError("nothing is to be published", hint="name a file with --records, or a failure with --failure")
    if records is not None and not records.is_file():
        raise NotFoundError(f"there is no file {records}", hint=nearest_file(records))
    if sha256:
        if records is None:
            raise UsageError("--sha256 concerns the file of --records, and none is named", hint="leave it out")
        check_digest(digest_of_file(records), sha256, str(records))
    opened, project = client_and_project()
    content = DatasetVersionContent(
        project=project,
        name=given["name"],
        version=given["version"],
        owner=given["owner"],
        split=given["split"],
        tags=list(given["tags"]),
        labels=labels_of(given["labels"]),
        description=given["description"],
        records=list(open_dataset(records).records()) if records is not None else [],
    )
    chosen = [selection_of(each) for each in failures]
    with opened as client:
        stored = client.publish_dataset_version(PublishDatasetVersionRequest(content=content, failures=chosen)).dataset
    if output_format == "json":
        print(as_json(stored))
        return
    say_stored(stored)


@click.command()
@click.option("--name", default="", metavar="NAME", help="Only versions of this dataset.")
@click.option("--owner", default="", metavar="NAME", help="Only those that NAME answers for.")
@click.option("--state", type=click.Choice(["draft", "approved", "retired"]), help="Only those that stand so.")
@_paged
@format_option()
@server_options
def versions(name: str, owner: str, state: str | None, page_size: int, page_token: str, output_format: str) -> None:
    """List versions of datasets page by page, newest first."""
    from evalsi.schema import DatasetVersionState, ListDatasetVersionsRequest

    opened, project = client_and_project()
    request = ListDatasetVersionsRequest(
        project=project,
        name=name,
        owner=owner,
        state=DatasetVersionState(state or "unspecified"),
        page_size=page_size,
        page_token=page_token,
    )
    with opened as client:
        page = client.list_dataset_versions(request)
    if output_format == "json":
        print(as_json(page))
        return
    print_versions(page.datasets)
    _say_next(page.next_page_token)


@click.command()
@click.argument("name")
@click.argument("version")
@format_option()
@server_options
def version(name: str, version: str, output_format: str) -> None:
    """Show what is known of the version VERSION of the dataset NAME."""
    from evalsi.schema import GetDatasetVersionRequest

    opened, project = client_and_project()
    with opened as client:
        request = GetDatasetVersionRequest(project=project, name=name, version=version, without_records=True)
        print_version(client.get_dataset_version(request).dataset, output_format)


@click.command(name="review-version")
@click.argument("name")
@click.argument("version")
@_SHA256
@click.option("--revision", type=click.IntRange(min=0), required=True, metavar="N", help="Revision that you looked at.")
@click.option("--decision", type=click.Choice(["approved", "retired"]), required=True, help="What is decided.")
@click.option("--note", required=True, metavar="TEXT", help="Why.")
@format_option()
@server_options
def review_version(name: str, version: str, output_format: str, **given: Any) -> None:
    """Decide about the version VERSION of the dataset NAME: approved, it may decide about releases; retired, no longer."""
    from evalsi.schema import DatasetVersionState, ReviewDatasetVersionRequest

    opened, project = client_and_project()
    request = ReviewDatasetVersionRequest(
        project=project,
        name=name,
        version=version,
        sha256=given["sha256"].removeprefix("sha256:").lower(),
        expected_revision=given["revision"],
        decision=DatasetVersionState(given["decision"]),
        note=given["note"],
    )
    with opened as client:
        found = client.review_dataset_version(request).dataset
    if output_format == "json":
        print(as_json(found))
        return
    say(f"{name}@{version} is {found.state} now, revision {found.revision}")


@click.command(name="version-history")
@click.argument("name")
@click.argument("version")
@_paged
@format_option()
@server_options
def version_history(name: str, version: str, page_size: int, page_token: str, output_format: str) -> None:
    """List what happened to the version VERSION of the dataset NAME, oldest first."""
    from evalsi.schema import ListDatasetVersionEventsRequest

    opened, project = client_and_project()
    request = ListDatasetVersionEventsRequest(
        project=project, name=name, version=version, page_size=page_size, page_token=page_token
    )
    with opened as client:
        page = client.list_dataset_version_events(request)
    if output_format == "json":
        print(as_json(page))
        return
    rows = [(f"{one.revision}", when(one.time), str(one.state), one.actor, one.sha256[:12]) for one in page.events]
    columns = (number("revision", short="rev"), whole("when"), whole("state"), text("who"), whole("sha256"))
    print_table(columns, rows)
    _say_next(page.next_page_token)


@click.command(name="version-diff")
@click.argument("name")
@click.argument("before")
@click.argument("after")
@click.option("--before-sha256", required=True, metavar="HEX", help="Digest that the version BEFORE must have.")
@click.option("--after-sha256", required=True, metavar="HEX", help="Digest that the version AFTER must have.")
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="How many records to name.")
@fail_on_change_option
@format_option()
@server_options
def version_diff(name: str, before: str, after: str, **given: Any) -> int:
    """Show what differs between the versions BEFORE and AFTER of the dataset NAME, if they are those that are meant."""
    found = difference_of_versions(name, (before, given["before_sha256"]), (after, given["after_sha256"]))
    return print_difference(
        found,
        limit=given["limit"],
        output_format=given["output_format"],
        fail_on_change=given["fail_on_change"],
    )


@click.command(name="fetch-version")
@click.argument("name")
@click.argument("version")
@_SHA256
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True),
    required=True,
    metavar="PATH",
    help="Where the records go, as JSON Lines; - is standard output.",
)
@server_options
def fetch_version_(name: str, version: str, sha256: str, output: str) -> None:
    """Write the records of the version VERSION of the dataset NAME, if it is the one that is meant."""
    fetch_version(name, version, output, sha256)


def _say_next(token: str) -> None:
    if token:
        say(f"there are more: --page-token {token}")


VERSION_COMMANDS = (
    upload,
    import_,
    publish,
    versions,
    version,
    review_version,
    version_history,
    version_diff,
    fetch_version_,
)
