"""`evalsi dataset`: the datasets of a server: stored in versions, listed, fetched, compared."""

from pathlib import Path

import click

from evalsi.cli.dataset_answers import Naming, fail_on_change_option, print_version, print_versions
from evalsi.cli.dataset_versions import VERSION_COMMANDS
from evalsi.cli.format_option import format_option
from evalsi.cli.map_option import map_option
from evalsi.cli.server_options import client_and_project, server_options
from evalsi.cli.terminal import as_json


@click.group()
def dataset() -> None:
    """Keep datasets on a server, in versions that never change."""


@dataset.command()
@click.argument("name")
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--version", default="", metavar="NAME", help="Name of the version; by default the next number.")
@map_option
@click.option(
    "--data-format",
    type=click.Choice(["jsonl", "json", "csv", "tsv", "parquet"]),
    help="Form of the file; by default told by its content.",
)
@click.option("--description", default="", metavar="TEXT", help="What it is.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label of the version. Repeatable.")
@format_option()
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

    Content that is already stored is not stored again.
    """  # noqa: D301 - click's mark for lines that stay as they are
    from evalsi.cli.dataset_answers import store_file

    store_file(
        path,
        Naming(name=name, version=version, description=description, labels=labels),
        mappings=mappings,
        form=data_format or "",
        output_format=output_format,
    )


@dataset.command(name="list")
@click.argument("name", default="")
@click.option(
    "--limit", type=click.IntRange(min=1, max=1000), default=50, show_default=True, help="How many, newest first."
)
@format_option()
@server_options
def list_datasets(name: str, limit: int, output_format: str) -> None:
    """List versions of datasets, newest first; only those of NAME where one is given."""
    from evalsi.schema import ListDatasetVersionsRequest

    opened, project = client_and_project()
    with opened as client:
        found = client.list_dataset_versions(
            ListDatasetVersionsRequest(project=project, name=name, page_size=limit)
        ).datasets
    if output_format == "json":
        print(as_json(found))
        return
    print_versions(found)


@dataset.command()
@click.argument("name")
@format_option()
@server_options
def show(name: str, output_format: str) -> None:
    """Show what is known of the version NAME[@VERSION] of a dataset; by default of its latest."""
    from evalsi.schema import GetDatasetVersionRequest

    dataset_name, version = _named(name)
    opened, project = client_and_project()
    with opened as client:
        found = client.get_dataset_version(
            GetDatasetVersionRequest(project=project, name=dataset_name, version=version, without_records=True)
        ).dataset
    print_version(found, output_format)


@dataset.command()
@click.argument("name")
@click.argument("path", type=click.Path(dir_okay=False, allow_dash=True))
@server_options
def fetch(name: str, path: str) -> None:
    """Write the records of the version NAME[@VERSION] to PATH as JSON Lines; - is standard output."""
    from evalsi.cli.dataset_answers import fetch_version

    fetch_version(*_named(name), path)


@dataset.command()
@click.argument("named", nargs=-1, required=True, metavar="[NAME] BEFORE [AFTER]")
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="How many records to name.")
@fail_on_change_option
@format_option()
@server_options
def diff(named: tuple[str, ...], limit: int, fail_on_change: bool, output_format: str) -> int:
    """Show what differs between two versions of a dataset on a server, or between two files.

    \b
    evalsi dataset diff questions 1
    evalsi dataset diff questions 1 2 --fail-on-change
    evalsi dataset diff before.jsonl after.jsonl

    NAME is a dataset, BEFORE and AFTER its versions; AFTER is the latest by default. Two arguments that are files are
    compared here.
    """  # noqa: D301
    from evalsi.cli.dataset_answers import difference_of_files, difference_of_versions, print_difference

    if len(named) == 2 and all(Path(each).is_file() for each in named):
        found = difference_of_files(*named)
    elif len(named) in (2, 3):
        name, before, *after = named
        found = difference_of_versions(name, (before, ""), (after[0] if after else "latest", ""))
    else:
        raise click.UsageError("name a dataset and one or two of its versions, or two files.")
    return print_difference(found, limit=limit, output_format=output_format, fail_on_change=fail_on_change)


def _named(name: str) -> tuple[str, str]:
    dataset_name, _, version = name.partition("@")
    return dataset_name, version or "latest"


for _command in VERSION_COMMANDS:
    dataset.add_command(_command)
