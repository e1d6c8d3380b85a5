"""`evalsi dataset`: the datasets of a server: stored in versions, listed, fetched, compared."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click

from evalsi.cli.server_options import server_needed, server_options
from evalsi.cli.terminal import as_json, say

_FORMAT = click.option(
    "--format", "output_format", type=click.Choice(["table", "json"]), default="table", show_default=True
)
_PIECE = 1 << 20


@click.group()
def dataset() -> None:
    """Keep datasets on a server, in versions that never change."""


def _server() -> tuple[AbstractContextManager[Any], str]:
    """The client of the server, to be opened, and the project."""
    from evalsi.client.client import Client
    from evalsi.settings import Settings

    server = server_needed(Settings.from_environment())
    return Client(server.url, api_key=server.api_key, proxy=server.proxy), server.project


@dataset.command()
@click.argument("name")
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--version", default="", metavar="NAME", help="Name of the version; by default the next number.")
@click.option(
    "--map",
    "mappings",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="Where a record field comes from: a column or a path. Repeatable.",
)
@click.option(
    "--data-format",
    type=click.Choice(["jsonl", "json", "csv", "tsv", "parquet"]),
    help="Form of the file; by default told by its content.",
)
@click.option("--description", default="", metavar="TEXT", help="What it is.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label of the version. Repeatable.")
@_FORMAT
@server_options
def put(
    name: str,
    path: Path,
    version: str,
    mappings: tuple[str, ...],
    data_format: str | None,
    description: str,
    labels: tuple[str, ...],
    output_format: str,
) -> None:
    """Store the file PATH as a version of the dataset NAME.

    \b
    evalsi dataset put questions questions.jsonl
    evalsi dataset put questions answers.csv --map input=question --map reference=answer

    What is there already is not stored twice.
    """  # noqa: D301 - click's mark for lines that stay as they are
    from evalsi.cli.eval import labels_of
    from evalsi.core.errors import NotFoundError
    from evalsi.datasets import mapping_of_flags
    from evalsi.schema import DatasetUploadConfig

    if not path.is_file():
        raise NotFoundError(f"there is no file {path}")
    opened, project = _server()
    about = DatasetUploadConfig(
        project=project,
        name=name,
        version=version,
        format=data_format or "",
        mapping=dict(mapping_of_flags(mappings)),
        description=description,
        labels=labels_of(labels),
    )
    with opened as client:
        answer = client.upload_dataset_version(about, _pieces(path))
    if output_format == "json":
        print(as_json(answer))
        return
    stored = answer.dataset
    was = "was there already" if answer.existed else "stored"
    say(
        f"{stored.content.name}@{stored.content.version} {was}: {stored.records:,} records, sha256 {stored.sha256[:12]}…"
    )


@dataset.command(name="list")
@click.argument("name", default="")
@click.option(
    "--limit", type=click.IntRange(min=1, max=1000), default=50, show_default=True, help="How many, newest first."
)
@_FORMAT
@server_options
def list_datasets(name: str, limit: int, output_format: str) -> None:
    """List versions of datasets, newest first; only those of NAME where one is given."""
    from evalsi.cli.auth_tables import print_rows, when
    from evalsi.schema import ListDatasetVersionsRequest

    opened, project = _server()
    with opened as client:
        found = client.list_dataset_versions(
            ListDatasetVersionsRequest(project=project, name=name, page_size=limit)
        ).datasets
    if output_format == "json":
        print(as_json(found))
        return
    rows = [
        (
            each.content.name,
            each.content.version,
            f"{each.records:,}",
            each.sha256[:12],
            str(each.state),
            when(each.published_at),
            each.content.description,
        )
        for each in found
    ]
    print_rows(
        ("dataset", "version", "records", "sha256", "state", "stored", "what it is"), rows, nothing="no datasets"
    )


@dataset.command()
@click.argument("name")
@_FORMAT
@server_options
def show(name: str, output_format: str) -> None:
    """Show what is known of the version NAME[@VERSION] of a dataset; by default of its latest."""
    from evalsi.cli.auth_tables import when
    from evalsi.schema import GetDatasetVersionRequest

    dataset_name, version = _named(name)
    opened, project = _server()
    with opened as client:
        found = client.get_dataset_version(
            GetDatasetVersionRequest(project=project, name=dataset_name, version=version, without_records=True)
        ).dataset
    if output_format == "json":
        print(as_json(found))
        return
    content = found.content
    print(f"{content.name}@{content.version}: {found.records:,} records, {found.state}")
    print(f"sha256 {found.sha256}")
    print(f"stored {when(found.published_at)} by {found.published_by or 'somebody'}")
    if content.description:
        print(content.description)


@dataset.command()
@click.argument("name")
@click.argument("path", type=click.Path(dir_okay=False, allow_dash=True))
@server_options
def fetch(name: str, path: str) -> None:
    """Write the records of the version NAME[@VERSION] to PATH as JSON Lines; - is standard output."""
    import sys

    from evalsi.core.whole_file import whole_file
    from evalsi.schema import FetchDatasetVersionRequest

    dataset_name, version = _named(name)
    opened, project = _server()
    request = FetchDatasetVersionRequest(project=project, name=dataset_name, version=version)
    with opened as client:
        pieces = client.fetch_dataset_version(request)
        if path == "-":
            for piece in pieces:
                sys.stdout.buffer.write(piece)
            return
        with whole_file(Path(path)) as unfinished, unfinished.open("wb") as file:
            for piece in pieces:
                file.write(piece)
    say(f"wrote {path}")


@dataset.command()
@click.argument("name")
@click.argument("before")
@click.argument("after", default="latest")
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="How many records to name.")
@_FORMAT
@server_options
def diff(name: str, before: str, after: str, limit: int, output_format: str) -> int:
    """Show what differs between the versions BEFORE and AFTER of the dataset NAME.

    Exit status: 0 nothing differs, 1 something does.
    """
    from evalsi.schema import DiffDatasetVersionsRequest

    opened, project = _server()
    with opened as client:
        found = client.diff_dataset_versions(
            DiffDatasetVersionsRequest(project=project, name=name, before_version=before, after_version=after)
        )
    differs = bool(found.added or found.removed or found.changed or found.order_changed or found.metadata_changed)
    if output_format == "json":
        print(as_json(found))
        return int(differs)
    lines = [f"+ {each}" for each in found.added] + [f"- {each}" for each in found.removed]
    lines += [f"~ {each.id}: {', '.join(each.fields)}" for each in found.changed]
    for line in lines[:limit]:
        _print_plainly(line)
    if len(lines) > limit:
        say(f"and {len(lines) - limit:,} more records")
    if found.order_changed:
        say("the records that both hold stand in another order")
    if found.metadata_changed:
        say(f"other fields that differ: {', '.join(found.metadata_changed)}")
    say(
        f"{len(found.added):,} added, {len(found.removed):,} removed, {len(found.changed):,} changed, "
        f"{found.unchanged:,} the same"
    )
    return int(differs)


def _named(name: str) -> tuple[str, str]:
    dataset_name, _, version = name.partition("@")
    return dataset_name, version or "latest"


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def _print_plainly(line: str) -> None:
    from evalsi.core.inert import printable

    print(printable(line, one_line=True))
