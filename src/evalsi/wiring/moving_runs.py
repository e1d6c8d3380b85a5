"""Runs into the store of this machine and out of it: archives of other stores, and the logs of other tools."""

import tempfile
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec

from evalsi.client.server_address import ServerAddress
from evalsi.core.clock import SystemClock
from evalsi.core.errors import UsageError
from evalsi.core.whole_file import whole_file
from evalsi.infra.store import open_run_store
from evalsi.ports.run_store import RunRow, RunStore
from evalsi.results.graded_run import GradedRun, stored_run
from evalsi.results.sound_segment import check_segment
from evalsi.schema import ExportRunRequest
from evalsi.settings import Settings
from evalsi.wiring.reading_runs import local_store

_PIECE_BYTES = 1 << 18


def export_archive(reference: str, path: Path, settings: Settings, server: ServerAddress | None = None) -> None:
    """Writes a stored run to `path` as one file that another store can take in.

    Args:
        server: Where the run is looked for; None for the store of this machine.

    Raises:
        NotFoundError: no run is called so.
        UsageError: a results file was named, which is no run of the store.
        StoreError: the file cannot be written.
    """
    from evalsi.infra.store.run_archive import export_run

    if Path(reference).is_file():
        raise UsageError(f"{reference} is a file, and only runs of the store become archives", hint="name a run")
    if server is not None:
        _fetch_archive(reference, path, settings, server)
        return
    with local_store(settings) as store:
        export_run(store, store.find(reference).id, path)


def _fetch_archive(reference: str, path: Path, settings: Settings, server: ServerAddress) -> None:
    from evalsi.client.client import Client
    from evalsi.wiring.run_libraries import server_runs

    with Client.at(server) as client:
        run_id = server_runs(client, server.project, settings).find(reference).id
        with whole_file(path) as unfinished, unfinished.open("wb") as file:
            file.writelines(client.export_run(ExportRunRequest(run_id=run_id)))


def archived_run(store: RunStore, run_id: str) -> Generator[bytes]:
    """The file of `export_archive`, in pieces, for whoever sends it on. It is made whole before the first one.

    Raises: NotFoundError: no such run. StoreError: there is no room for it in the folder of temporary files.
    """
    from evalsi.infra.store.run_archive import export_run

    with tempfile.TemporaryDirectory(prefix="evalsi-export-") as folder:
        path = Path(folder) / "run.zip"
        export_run(store, run_id, path)
        with path.open("rb") as file:
            while piece := file.read(_PIECE_BYTES):
                yield piece


def import_runs(
    sources: Sequence[str],
    settings: Settings,
    *,
    labels: Mapping[str, str],
    on_invalid: Literal["stop", "skip"],
    server: ServerAddress | None = None,
) -> list[tuple[RunRow, list[str]]]:
    """Takes runs in, each with what a reader of it should know: archives, and logs of other tools (`inspect://path`).

    Args:
        labels: Kept with the runs of logs.
        server: Where they go; None for the store of this machine.

    Raises: as `import_archive` and `import_logs`; of a server, TooLargeError too.
    """
    archives = [Path(source) for source in sources if "://" not in source]
    logs = [source for source in sources if "://" in source]
    if server is not None:
        return _send_runs(archives, logs, labels, on_invalid, server)
    kept = import_logs(logs, settings, labels=labels, on_invalid=on_invalid) if logs else []
    return kept + [(import_archive(path, settings), []) for path in archives]


def _send_runs(
    archives: Sequence[Path],
    logs: Sequence[str],
    labels: Mapping[str, str],
    on_invalid: Literal["stop", "skip"],
    server: ServerAddress,
) -> list[tuple[RunRow, list[str]]]:
    """All sources are read before anything is sent."""
    from evalsi.client.client import Client
    from evalsi.client.run_row import run_row
    from evalsi.infra.store.run_archive import import_run
    from evalsi.results.imported_run import imported_runs
    from evalsi.results.run_request import import_request

    with tempfile.TemporaryDirectory(prefix="evalsi-import-") as folder:
        store = open_run_store(Path(folder) / "runs.db")
        try:
            runs = [run for source in logs for run in imported_runs(source, on_invalid=on_invalid)]
            runs = [_labelled(run, labels) for run in runs]
            runs += [stored_run(store, import_run(store, path, check_segment).id) for path in archives]
            with Client.at(server) as client:
                sent = [client.import_run(import_request(run, server.project)).run for run in runs]
        finally:
            store.close()
    return [(run_row(made), run.manifest.warnings) for made, run in zip(sent, runs, strict=True) if made is not None]


def _labelled(run: GradedRun, labels: Mapping[str, str]) -> GradedRun:
    return replace(run, manifest=msgspec.structs.replace(run.manifest, labels={**run.manifest.labels, **labels}))


def import_archive(path: Path, settings: Settings) -> RunRow:
    """Takes the run in the file into the local store, which is made where there is none.

    Raises: NotFoundError, InvalidDataError: no such file, or no exported run. UsageError: the store has the run already.
    """
    from evalsi.infra.store.run_archive import import_run

    store = open_run_store(settings.database)
    try:
        return import_run(store, path, check_segment)
    finally:
        store.close()


def import_logs(
    sources: Sequence[str], settings: Settings, *, labels: Mapping[str, str], on_invalid: Literal["stop", "skip"]
) -> list[tuple[RunRow, list[str]]]:
    """Takes the runs in logs of other tools into the local store: each with what a reader of it should know.

    All sources are read before anything is stored; a run that is there already stays as it is.

    Raises: NotFoundError, UnknownNameError, InvalidDataError: a source is no log, or a sample of it cannot be read.
    """
    from evalsi.results.imported_run import imported_runs, keep_imported

    runs = [run for source in sources for run in imported_runs(source, on_invalid=on_invalid)]
    store = open_run_store(settings.database)
    kept: list[tuple[RunRow, list[str]]] = []
    try:
        for run in runs:
            kept.append((keep_imported(_labelled(run, labels), store, SystemClock()), run.manifest.warnings))
        return kept
    finally:
        store.close()
