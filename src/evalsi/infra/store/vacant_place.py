"""The place that a restored store goes to: found empty, had alone, and given a store whole or not at all.

Its own module because all the parts of a store arrive in one step, whichever database they go into. What always holds:
files are made in a folder of their own, so that nothing that a death left there (a journal, half a file) is ever taken for
a part of what is made; a place is empty only when nothing of a store is left in it, a log as little as a file.
"""

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from evalsi.core.errors import UsageError
from evalsi.infra.store.database import make_folder, open_database
from evalsi.infra.store.database_copy import check_emptiness, check_soundness, connected, move_into_postgres
from evalsi.infra.store.migrations import MIGRATIONS
from evalsi.infra.store.open_stores import TRACES_FILE, is_postgres
from evalsi.infra.store.trace_copy import move_traces_into_postgres
from evalsi.infra.store.trace_migrations import TRACE_MIGRATIONS

_STAGE = ".evalsi-restore"
_BESIDE = ("", "-wal", "-shm", "-journal")
"""What SQLite keeps of a database: a log beside a file is read with the file, whosever it was."""
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS})


@contextmanager
def vacant_place(address: str, database: str) -> Generator[tuple[Path, Callable[[], None]]]:
    """A folder to write the files of a store to, and what makes them the store at `address`, all or none.

    Args:
        database: The name of the file that becomes the database; that of traces is `TRACES_FILE`, which need not be there.

    Raises:
        UsageError: There is a store already, or another restore into this place is under way.
        StoreError: What was written is no sound store, or the place cannot be written.
        OSError: The folder cannot be written.
    """
    if is_postgres(address):
        check_emptiness(address)
        with tempfile.TemporaryDirectory(prefix="evalsi-restore-") as folder:
            yield Path(folder), lambda: _into_postgres(Path(folder) / database, address)
        return
    store = Path(address)
    _check_absence(store)
    make_folder(store.parent)
    with _alone_in(store.parent):
        stage = store.parent / _STAGE
        traces = store.with_name(TRACES_FILE)
        with suppress(FileNotFoundError):
            if traces.samefile(stage / TRACES_FILE):  # a restore died between its two files
                traces.unlink()
        shutil.rmtree(stage, ignore_errors=True)
        _check_absence(traces)
        stage.mkdir(mode=0o700)
        try:
            yield stage, lambda: _into_folder(stage, database, store)
        finally:
            shutil.rmtree(stage, ignore_errors=True)


def bring_file_up_to_date(file: Path) -> None:
    """Applies the steps of the schema that a file of a store or of traces has not seen. Raises: StoreError."""
    open_database(file, migrations=TRACE_MIGRATIONS if file.name == TRACES_FILE else MIGRATIONS).close()


def _check_absence(path: Path) -> None:
    for end in _BESIDE:
        beside = path.with_name(path.name + end)
        if beside.exists():
            raise UsageError(
                f"there is a store {beside} already",
                hint="restore into an empty folder, or move the store away with its -wal and -shm files",
            )


@contextmanager
def _alone_in(folder: Path) -> Generator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"another restore into {folder} is under way", hint="wait for it, or name another folder"
            ) from error
        yield
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _into_folder(stage: Path, database: str, store: Path) -> None:
    """The database comes last: where it is, all is."""
    files = [(stage / TRACES_FILE, store.with_name(TRACES_FILE)), (stage / database, store)]
    made = [(file, place) for file, place in files if file.exists()]
    for file, _ in made:
        check_soundness(file)
    for file, place in made:
        _check_absence(place)
        try:
            place.hardlink_to(file)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            file.rename(place)


def _into_postgres(database: Path, address: str) -> None:
    from evalsi.infra.store.postgres_schema import bring_up_to_date

    traces = database.with_name(TRACES_FILE)
    made = [file for file in (traces, database) if file.exists()]
    for file in made:
        check_soundness(file)
        bring_file_up_to_date(file)
    bring_up_to_date(address)
    with connected(address) as connection:
        if traces in made:
            move_traces_into_postgres(traces, connection)
        move_into_postgres(database, connection)
