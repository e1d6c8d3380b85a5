"""Runs that are there already, opened for reading: from the store of this machine, a server, or files."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from evalsi.client.server_address import ServerAddress
from evalsi.infra.store import open_run_store
from evalsi.ports.run_store import RunStore
from evalsi.results.empty_run import Need, refuse_empty_run
from evalsi.results.graded_run import GradedRun, stored_run
from evalsi.results.read_document import read_document
from evalsi.results.stored_rows import GradedRows
from evalsi.settings import Settings
from evalsi.wiring.run_libraries import run_library


@contextmanager
def local_store(settings: Settings) -> Generator[RunStore]:
    """The local store, where there is one. Raises: NotFoundError: there is none here yet."""
    store = open_run_store(settings.database, create=False)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def reading_run(
    reference: str, settings: Settings, server: ServerAddress | None = None, *, need: Need = ""
) -> Generator[GradedRun]:
    """A run by id, name, `latest`, as a results file, or as the log of another tool (`inspect://path`).

    Args:
        server: Where runs are looked for; None for the store of this machine.
        need: What a run of a store must have. A file is taken as it is.

    Raises:
        NotFoundError: neither a file nor a run is called so.
        NothingScoredError: the run has not what is needed; names an older one of the same name that has.
    """
    if "://" in reference:
        from evalsi.results.imported_run import imported_run

        yield imported_run(reference)
        return
    path = Path(reference)
    if path.suffix.lower() == ".json" or path.is_file():
        yield read_document(path)
        return
    with run_library(settings, server) as library:
        row = library.find(reference)
        refuse_empty_run(library, row, reference, need)
        yield library.open(row.id)


def kept_run(run_id: str, settings: Settings) -> GradedRun:
    """A run of the local store that opens it anew for every pass, so that it may be held for long."""

    def read() -> Generator[GradedRows]:
        with local_store(settings) as store:
            yield from stored_run(store, run_id).read_rows()

    with local_store(settings) as store:
        return replace(stored_run(store, run_id), read_rows=read)
