"""One run as one file: how a run travels between stores.

A zip that any tool opens: `run.json`, `manifest.json`, `summaries.json`, and per segment `records.jsonl` and
`results.bin`. Works through the port, so any store can give and take. The same run gives the same bytes.
"""

import os
import zipfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from evalsi.core.canonical import canonical_json
from evalsi.core.errors import EvalsiError, InvalidDataError, NotFoundError, StoreError, UsageError
from evalsi.infra.store.archive_damage import DAMAGE, check_packing
from evalsi.infra.store.sound_contents import check_places, check_row
from evalsi.ports.run_store import RunRow, RunStore, Segment
from evalsi.schema import MetricSummary, RunManifest

T = TypeVar("T")

FORMAT_VERSION = 1
_LARGEST_ENTRY_BYTES = 1 << 30
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNREADABLE = (OSError, *DAMAGE)
_HOW_TO_BRING = (
    "write the run with 'evalsi runs export RUN FILE.zip' where it is and import that; a results file (.json) needs no "
    "import, its name stands wherever a run is named"
)


class _Contents(msgspec.Struct, frozen=True, kw_only=True):
    """`run.json`: what the other entries are read by. `segments` holds (index, first_row, rows)."""

    evalsi_run: int
    run: RunRow
    segments: list[tuple[int, int, int]]


def export_run(store: RunStore, run_id: str, path: Path) -> None:
    """Writes a run and all there is of it to `path`, whole or not at all.

    A run that is still being written is exported as far as it is.

    Raises: NotFoundError: no such run. StoreError: the file cannot be written.
    """
    run = store.find(run_id)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with zipfile.ZipFile(partial, "w") as archive:
            stored: list[tuple[int, int, int]] = []
            for segment in store.segments(run.id):
                _put(archive, f"segments/{segment.index}/records.jsonl", segment.records)
                _put(archive, f"segments/{segment.index}/results.bin", segment.results)
                stored.append((segment.index, segment.first_row, segment.rows))
            _put(archive, "manifest.json", canonical_json(store.manifest(run.id)))
            _put(archive, "summaries.json", canonical_json(store.summaries(run.id)))
            _put(archive, "run.json", canonical_json(_Contents(evalsi_run=FORMAT_VERSION, run=run, segments=stored)))
        partial.replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}", hint="name another file") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def import_run(store: RunStore, path: Path, check_segment: Callable[[Segment], None]) -> RunRow:
    """Reads a file of `export_run` into `store` and returns the run as it is there, under the id it had.

    A run that was not finished arrives as interrupted and can be continued.

    Args:
        check_segment: Asked of each segment before it is stored; raises InvalidDataError for one that cannot be read later.

    Raises:
        NotFoundError: There is no such file.
        InvalidDataError: It is no exported run, damaged, from a later version, or holds other than it announces; nothing
            stays behind.
        UsageError: The store has this run already.
    """
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise NotFoundError(f"no file {path}") from error
    except _UNREADABLE as error:
        why = "it is no zip file" if isinstance(error, zipfile.BadZipFile) else str(error)
        raise InvalidDataError(f"not an exported run: {why}", where=str(path), hint=_HOW_TO_BRING) from error
    with archive:
        contents = _contents(archive, path)
        run = contents.run
        with _located(f"{path}:run.json"):
            check_row(run)
            check_places(contents.segments)
        manifest = _read(archive, path, "manifest.json", RunManifest)
        summaries = _read(archive, path, "summaries.json", list[MetricSummary])
        if any(stored.id == run.id for stored in store.runs()):
            raise UsageError(f"the store has run {run.id} already", hint=f"remove it first: evalsi runs rm {run.id}")
        store.create(run, manifest)
        try:
            for index, first_row, rows in contents.segments:
                records = _bytes(archive, path, f"segments/{index}/records.jsonl")
                results = _bytes(archive, path, f"segments/{index}/results.bin")
                segment = Segment(index=index, first_row=first_row, rows=rows, records=records, results=results)
                with _located(f"{path}:segments/{index}"):
                    check_segment(segment)
                store.append(run.id, segment)
            status = "interrupted" if run.status in ("waiting", "running") else run.status
            store.finish(msgspec.structs.replace(run, status=status), manifest, summaries)
        except BaseException:
            with suppress(EvalsiError):
                store.delete(run.id)
            raise
    return store.find(run.id)


def _contents(archive: zipfile.ZipFile, path: Path) -> _Contents:
    version = _read(archive, path, "run.json", dict[str, Any]).get("evalsi_run")
    if not isinstance(version, int):
        raise InvalidDataError("not an exported run: run.json names no format", where=str(path))
    if version > FORMAT_VERSION:
        raise InvalidDataError(
            f"exported by a later version of evalsi (format {version}, known: {FORMAT_VERSION})",
            where=str(path),
            hint="upgrade evalsi to import it",
        )
    return _read(archive, path, "run.json", _Contents)


@contextmanager
def _located(where: str) -> Generator[None]:
    """Says of what is found to be wrong inside where it is."""
    try:
        yield
    except InvalidDataError as error:
        raise InvalidDataError(f"not an exported run: {error}", where=where) from error


def _put(archive: zipfile.ZipFile, name: str, body: bytes) -> None:
    # Deflate 1: readable everywhere; the store, not the archive, is where size matters.
    archive.writestr(zipfile.ZipInfo(name, _EPOCH), body, zipfile.ZIP_DEFLATED, 1)


def _read(archive: zipfile.ZipFile, path: Path, name: str, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(_bytes(archive, path, name), type=kind)
    except msgspec.MsgspecError as error:
        raise InvalidDataError(str(error), where=f"{path}:{name}") from error


def _bytes(archive: zipfile.ZipFile, path: Path, name: str) -> bytes:
    try:
        entry = archive.getinfo(name)
        if entry.file_size > _LARGEST_ENTRY_BYTES:
            raise InvalidDataError("unpacks to more than 1 GiB: no exported run does", where=f"{path}:{name}")
        check_packing(entry)
        return archive.read(entry)  # never more than `file_size`, and checked against its CRC
    except KeyError as error:
        raise InvalidDataError(f"not an exported run: {name} is missing", where=str(path)) from error
    except _UNREADABLE as error:
        raise InvalidDataError(f"damaged: {error}", where=f"{path}:{name}") from error
