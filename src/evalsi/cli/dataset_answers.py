"""What the commands about datasets share: files sent and fetched, versions and differences shown.

Its own module because several commands do each of these, under the names that people know them by.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalsi.cli.server_options import client_and_project
from evalsi.cli.table import excerpt, number, print_table, text, whole
from evalsi.cli.terminal import as_json, say, when
from evalsi.core.figure import counted

if TYPE_CHECKING:
    from evalsi.schema import DatasetVersion, DiffDatasetVersionsResponse, Record

_PIECE = 1 << 20
FAILED = 3
"""Exit status of a check that did not pass."""

fail_on_change_option = click.option(
    "--fail-on-change", is_flag=True, help="Exit with 3 where anything differs, for a build that must not go on then."
)


LOOKED_AT = 20
"""Records that are looked at for a warning."""


@dataclass(frozen=True, kw_only=True)
class Naming:
    """What a version of a dataset is called and what is said of it, as flags give it."""

    name: str
    version: str = ""
    owner: str = ""
    description: str = ""
    labels: tuple[str, ...] = ()


def store_file(
    path: Path, naming: Naming, *, mappings: tuple[str, ...] = (), form: str = "", output_format: str = "table"
) -> None:
    """Has the server store a file as a version. Raises: NotFoundError: there is no such file."""
    from evalsi.core.errors import EvalsiError, NotFoundError
    from evalsi.core.nearest_file import nearest_file

    if not path.is_file():
        raise NotFoundError(f"there is no file {path}", hint=nearest_file(path))
    try:
        store_pieces(_pieces(path), naming, mappings=mappings, form=form, output_format=output_format)
    except EvalsiError as error:  # the server calls the file by the name of the dataset
        error.message = _in_file(error.message, naming.name, path)
        error.where = error.where and _in_file(error.where, naming.name, path)
        raise
    from contextlib import suppress

    from evalsi.datasets import DatasetOptions, mapping_of_flags, open_dataset

    options = DatasetOptions(mapping=mapping_of_flags(mappings), format=form or None, limit=LOOKED_AT)
    with suppress(EvalsiError):  # what the server has taken is not ours to refuse
        warn_of_columns(open_dataset(path, options=options).records())


def _in_file(text: str, name: str, path: Path) -> str:
    """The text with places in the dataset `name`, such as `cases:3`, as places in the file."""
    return re.sub(rf"(?<![\w./-]){re.escape(name)}:(?=\d)", lambda _: f"{path}:", text)


def warn_of_columns(records: "Iterable[Record]") -> None:
    """Says so where the first records have none of what records have, but columns of other names."""
    from evalsi.datasets.likely_columns import what_to_map

    if advice := what_to_map(records):
        say(f"warning: {advice}")


def store_pieces(
    pieces: Iterable[bytes],
    naming: Naming,
    *,
    mappings: tuple[str, ...] = (),
    form: str = "",
    output_format: str = "table",
) -> None:
    """Has the server store what the pieces of a file hold."""
    from evalsi.cli.eval import labels_of
    from evalsi.datasets import mapping_of_flags
    from evalsi.schema import DatasetUploadConfig

    opened, project = client_and_project()
    about = DatasetUploadConfig(
        project=project,
        name=naming.name,
        version=naming.version,
        owner=naming.owner,
        format=form,
        mapping=dict(mapping_of_flags(mappings)),
        description=naming.description,
        labels=labels_of(naming.labels),
    )
    with opened as client:
        answer = client.upload_dataset_version(about, pieces)
    if output_format == "json":
        print(as_json(answer))
        return
    say_stored(answer.dataset, existed=answer.existed)


def say_stored(stored: "DatasetVersion", *, existed: bool = False) -> None:
    was = "was already there" if existed else "stored"
    content = stored.content
    assert content is not None
    say(f"{content.name}@{content.version} {was}: {counted(stored.records, 'record')}, sha256 {stored.sha256[:12]}…")


def fetch_version(name: str, version: str, path: str, sha256: str = "") -> None:
    """Writes the records of a version to `path`; "-" is standard output.

    Args:
        sha256: The digest that the version must have; "" for any.
    """
    import sys

    from evalsi.core.whole_file import whole_file
    from evalsi.schema import FetchDatasetVersionRequest, GetDatasetVersionRequest

    opened, project = client_and_project()
    with opened as client:
        if sha256:
            asked = GetDatasetVersionRequest(project=project, name=name, version=version, without_records=True)
            check_digest(client.get_dataset_version(asked).dataset.sha256, sha256, f"{name}@{version}")
        pieces = client.fetch_dataset_version(FetchDatasetVersionRequest(project=project, name=name, version=version))
        if path == "-":
            for piece in pieces:
                sys.stdout.buffer.write(piece)
            return
        with whole_file(Path(path)) as unfinished, unfinished.open("wb") as file:
            for piece in pieces:
                file.write(piece)
    say(f"wrote {path}")


def check_digest(found: str, wanted: str, what: str) -> None:
    """Raises: ConflictError: it has another one."""
    from evalsi.core.errors import ConflictError

    if found != wanted.removeprefix("sha256:").lower():
        raise ConflictError(f"{what} has the digest {found}", where="--sha256", hint="is it the one that was meant?")


def digest_of_file(path: Path) -> str:
    """SHA-256 of its bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def difference_of_versions(name: str, before: tuple[str, str], after: tuple[str, str]) -> "DiffDatasetVersionsResponse":
    """Args: before, after: a version, and the digest that it must have, "" for any."""
    from evalsi.schema import DiffDatasetVersionsRequest

    opened, project = client_and_project()
    request = DiffDatasetVersionsRequest(
        project=project,
        name=name,
        before_version=before[0],
        after_version=after[0],
        before_sha256=before[1],
        after_sha256=after[1],
    )
    with opened as client:
        return client.diff_dataset_versions(request)


def difference_of_files(before: str, after: str) -> "DiffDatasetVersionsResponse":
    """The same of two files, read as `--data` is. Raises: UsageError: one of them cannot be read."""
    from evalsi.datasets.difference import record_difference
    from evalsi.schema import DiffDatasetVersionsResponse

    found = record_difference(lambda: _records_of(before), lambda: _records_of(after))
    return DiffDatasetVersionsResponse(
        before_sha256=digest_of_file(Path(before)),
        after_sha256=digest_of_file(Path(after)),
        added=list(found.added),
        removed=list(found.removed),
        changed=list(found.changed),
        unchanged=found.unchanged,
        order_changed=found.order_changed,
    )


def print_difference(
    found: "DiffDatasetVersionsResponse", *, limit: int, output_format: str, fail_on_change: bool
) -> int:
    """Prints it; the exit status."""
    from evalsi.core.inert import printable

    differs = bool(found.added or found.removed or found.changed or found.order_changed or found.metadata_changed)
    status = FAILED if differs and fail_on_change else 0
    if output_format == "json":
        print(as_json(found))
        return status
    lines = [f"+ {each}" for each in found.added] + [f"- {each}" for each in found.removed]
    lines += [f"~ {each.id}: {', '.join(each.fields)}" for each in found.changed]
    for line in lines[:limit]:
        print(printable(line, one_line=True))
    if len(lines) > limit:
        say(f"and {len(lines) - limit:,} more records")
    if found.order_changed:
        say("the records that both have are in a different order")
    if found.metadata_changed:
        say(f"other fields that differ: {', '.join(found.metadata_changed)}")
    say(
        f"{len(found.added):,} added, {len(found.removed):,} removed, {len(found.changed):,} changed, "
        f"{found.unchanged:,} the same"
    )
    return status


def print_versions(found: "Sequence[DatasetVersion]") -> None:
    rows = [
        (
            content.name,
            content.version,
            f"{each.records:,}",
            each.sha256[:12],
            str(each.state),
            when(each.published_at),
            content.description,
        )
        for each in found
        if (content := each.content) is not None
    ]
    columns = (
        text("dataset"),
        text("version"),
        number("records"),
        *(whole(each) for each in ("sha256", "state", "stored")),
        excerpt("what it is"),
    )
    print_table(columns, rows, nothing="no datasets")


def print_version(found: "DatasetVersion", output_format: str) -> None:
    if output_format == "json":
        print(as_json(found))
        return
    content = found.content
    assert content is not None
    print(f"{content.name}@{content.version}: {counted(found.records, 'record')}, {found.state}")
    print(f"sha256 {found.sha256}")
    print(f"stored {when(found.published_at)} by {found.published_by or 'somebody'}")
    if content.description:
        print(content.description)


def _records_of(path: str) -> "Iterator[Record]":
    from evalsi.datasets import open_dataset

    return open_dataset(path).records()


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece
