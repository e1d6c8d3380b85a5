"""The file of the store: opening it, bringing it up to date, and transactions that survive neighbours.

What always holds: a write is one transaction that holds the write lock from its first statement (BEGIN IMMEDIATE), so
it never fails half-way for a lock; whatever SQLite fails with leaves here as a typed error; a file is never changed
before it is known to be a store, and never brought up to date without a copy of what it was.
"""

import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from evalsi.core.errors import NotFoundError, StoreError, StoreTooNewError
from evalsi.infra.store.migrations import APPLICATION_ID, MIGRATIONS, Migration
from evalsi.infra.store.sqlite_faults import is_passing, may_lack_room, sqlite_faults, store_error
from evalsi.infra.store.transactions import Transaction

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class StoreOptions:
    """How the embedded store treats its file; the operator's settings `store.*`."""

    synchronous: Literal["full", "normal"] = "full"
    """"full": what was acknowledged survives a power failure. "normal": it survives the death of the process; after a
    power failure the last segments of an unfinished run may be missing, finished runs are not."""
    busy_timeout_s: float = 60.0
    """How long to wait for other processes that write before giving up."""
    writer_timeout_s: float = 300.0
    """How long after its last sign of life a writer that cannot be seen from here counts as gone."""
    compression_level: int = 1
    """Of zstd. Measured on 51 MB: level 1 takes 0.18 s of CPU and leaves 15.4 MB, level 3 takes 0.26 s and 13.6 MB."""


class Database:
    """One connection to the file, shared by the threads of one process. Implements `SqlDatabase`."""

    hold = ""
    """Whoever changes the file has it to itself."""

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        options: StoreOptions,
        *,
        read_only: bool = False,
        refusal: StoreError | None = None,
    ) -> None:
        self.path = path
        self.options = options
        self.read_only = read_only
        self._refusal = refusal
        """Why nothing can be written, where the file itself does not say."""
        self._connection = connection
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._closed = False

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def compression_level(self) -> int:
        return self.options.compression_level

    @property
    def writer_timeout_s(self) -> float:
        return self.options.writer_timeout_s

    def read(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Every row that `statement` gives. No lock is held when this has returned."""
        with self._usable() as connection:
            return self._patiently(lambda: connection.execute(statement, parameters).fetchall())

    def write(self, change: Callable[[Transaction], T], *, sync: bool = False, alone: bool = True) -> T:
        """See `SqlDatabase.write`. Every change is alone here: there is one write lock."""
        del alone
        if self._refusal is not None:
            raise self._refusal
        with self._usable() as connection:
            if sync:
                connection.execute("PRAGMA synchronous = FULL")
            try:
                return self._patiently(lambda: _in_transaction(connection, change))
            finally:
                if sync:
                    connection.execute(f"PRAGMA synchronous = {self.options.synchronous}")

    def give_space_back(self, *, pages: int = 2000) -> None:
        """Shrinks the file by its free pages, some at a time so that other writers get their turn.

        Best effort: what could not be given back is used again by later writes.
        """
        with self._usable() as connection, suppress(sqlite3.Error):
            free = _pragma(connection, "freelist_count")
            while free:
                # Not `execute`: it takes one step of this statement, and one step frees one page.
                connection.executescript(f"PRAGMA incremental_vacuum({pages})")
                before, free = free, _pragma(connection, "freelist_count")
                if free >= before:
                    break
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    @property
    def is_open(self) -> bool:
        """Whether this process may use it: false once closed, and in a child made by a fork."""
        return not self._closed and self._pid == os.getpid()

    def close(self) -> None:
        with self._lock:
            if self.is_open:
                self._closed = True
                with sqlite_faults(self.path):
                    self._connection.close()

    @contextmanager
    def _usable(self) -> Generator[sqlite3.Connection, None, None]:
        if self._pid != os.getpid():
            raise StoreError(f"the store {self.path} was opened before a fork", hint="open it again in this process")
        with self._lock:
            if self._closed:
                raise StoreError(f"the store {self.path} is closed", hint="open it again")
            with sqlite_faults(self.path):
                yield self._connection

    def _patiently(self, action: Callable[[], T]) -> T:
        return _patiently(action, self.options.busy_timeout_s)


def open_database(
    path: Path,
    options: StoreOptions | None = None,
    *,
    create: bool = True,
    migrations: Sequence[Migration] = MIGRATIONS,
) -> Database:
    """Opens the store at `path`, makes it if need be, and brings it up to date.

    A file or folder that may not be written is opened for reading, and so is a file on a disk that is full.

    Args:
        path: The file; its folder is made when it is missing.
        options: How to treat it.
        create: Whether to make a store that is not there.
        migrations: The schema.

    Raises:
        NotFoundError: There is no store and none was to be made.
        StoreTooNewError: A later version wrote it.
        StoreError: It is no store, damaged, locked or out of reach.
    """
    options = options or StoreOptions()
    if path.is_dir():
        raise StoreError(f"the store {path} is a folder", hint=f"name a file in it, such as {path / 'evalsi.db'}")
    if not path.exists():
        if not create:
            raise NotFoundError(f"no store at {path}", hint="'evalsi eval' makes one where it runs")
        make_folder(path.parent)
    if path.exists() and not (_may_write(path) and _may_write(path.parent)):
        with sqlite_faults(path):
            return _open_to_read(path, options, migrations)
    had_pages = path.exists() and path.stat().st_size > 0
    try:
        with sqlite_faults(path):
            return _open_to_write(path, options, migrations)
    except StoreError as refusal:
        if not (had_pages and may_lack_room(refusal.__cause__)):
            raise
        # To share a file with other processes, SQLite must make one beside it; a full disk has no room even for that.
        try:
            with sqlite_faults(path):
                return _open_to_read(path, options, migrations, refusal=refusal)
        except StoreError:
            raise refusal from None


def _open_to_write(path: Path, options: StoreOptions, migrations: Sequence[Migration]) -> Database:
    connection = _connect(path, options)
    try:
        _patiently(lambda: _bring_up_to_date(connection, path, migrations), options.busy_timeout_s)
        # Not before the file is known to be ours.
        _patiently(lambda: connection.execute("PRAGMA journal_mode = WAL"), options.busy_timeout_s)
        connection.execute(f"PRAGMA synchronous = {options.synchronous}")
        connection.execute("PRAGMA fullfsync = 1")  # macOS: fsync alone leaves data in the drive's cache
        connection.execute("PRAGMA checkpoint_fullfsync = 1")
        connection.execute("PRAGMA journal_size_limit = 67108864")
    except BaseException:
        connection.close()
        raise
    return Database(path, connection, options)


def _open_to_read(
    path: Path, options: StoreOptions, migrations: Sequence[Migration], *, refusal: StoreError | None = None
) -> Database:
    connection = connect_to_read(path)
    try:
        _check_readable(connection, path, migrations)
    except BaseException:
        connection.close()
        raise
    return Database(path, connection, options, read_only=True, refusal=refusal)


def make_folder(folder: Path) -> None:
    """Makes the folder of a store where there is none. Raises: StoreError: it cannot be made or written."""
    try:
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            if folder.name == ".evalsi":
                # Runs hold prompts and answers: they reach a repository on purpose, not by accident.
                (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"the folder {folder} cannot be made: {error.strerror}", hint="name a store in a folder that can be written"
        ) from error
    if not folder.is_dir():
        raise StoreError(f"{folder} is no folder", hint="name a store in a folder")
    if not _may_write(folder):
        raise StoreError(
            f"no store can be made in {folder}: the folder cannot be written",
            hint="make it writable or name a store elsewhere",
        )


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _connect(path: Path, options: StoreOptions) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=options.busy_timeout_s, isolation_level=None, check_same_thread=False)


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing. Raises: StoreError: somebody wrote to the file, and it cannot be read whole."""
    address = path.absolute().as_uri() + "?mode=ro"
    for form in (address, address + "&immutable=1"):
        connection = sqlite3.connect(form, uri=True, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA application_id").fetchall()
        except sqlite3.Error as error:
            connection.close()
            unread = path.with_name(path.name + "-wal")
            # Without its log, a file that somebody wrote to would show an old state: then refusing is right.
            if form != address or (unread.exists() and unread.stat().st_size > 0):
                raise store_error(path, error) from error
        else:
            return connection
    raise AssertionError(path)


def _check_readable(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration]) -> None:
    newest = migrations[-1].version
    version = schema_version(connection, path, newest)
    if version < newest:
        raise StoreError(
            f"the store {path} has the older format {version} and cannot be written, so it cannot be brought up to date",
            hint="copy it to a folder that can be written and open the copy",
        )


def _bring_up_to_date(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration]) -> None:
    newest = migrations[-1].version
    version = schema_version(connection, path, newest)
    if version == newest:
        return
    if version == 0:  # it counts only before the first page is written; in a file with pages it changes nothing
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA synchronous = FULL")

    def migrate(locked: Transaction) -> None:
        version = schema_version(connection, path, newest)
        if version == newest:
            return  # another process was faster
        if version:
            _back_up(path, version)
        for migration in migrations:
            if migration.version > version:
                for statement in migration.statements:
                    locked.execute(statement)
        locked.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        locked.execute(f"PRAGMA user_version = {newest}")

    _in_transaction(connection, migrate)


def schema_version(connection: sqlite3.Connection, path: Path, newest: int) -> int:
    """The version of the schema in the file, 0 when it is empty.

    Raises: StoreTooNewError: a later version wrote it. StoreError: it is no store.
    """
    version, application, tables = _one_look(connection)
    if application != APPLICATION_ID:
        if application or version or tables:
            raise StoreError(
                f"{path} is a SQLite file of another program",
                hint="name another file for the store; it was not touched",
            )
        return 0
    if version > newest:
        raise StoreTooNewError(
            f"the store {path} has format {version}; this version of evalsi reads up to {newest}",
            hint="upgrade evalsi, or name another store",
        )
    return version


def _one_look(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """`user_version`, `application_id` and the number of tables, all of one moment: another process may be making them."""
    begun = not connection.in_transaction
    if begun:
        connection.execute("BEGIN")
    try:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return _pragma(connection, "user_version"), _pragma(connection, "application_id"), tables
    finally:
        if begun:
            connection.execute("COMMIT")


def _back_up(path: Path, version: int) -> None:
    """Copies the file as it is, whole or not at all. Called while this process holds the write lock."""
    target = path.with_name(f"{path.name}.v{version}.bak")
    attempt = 2
    while target.exists():  # never over an earlier copy
        target = path.with_name(f"{path.name}.v{version}-{attempt}.bak")
        attempt += 1
    partial = path.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as copy:
            source.backup(copy)
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        partial.replace(target)
    except OSError as error:
        raise StoreError(
            f"no copy of the store {path} can be made before bringing it up to date: {error.strerror}",
            hint="make room for a copy beside it and try again",
        ) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _in_transaction(connection: sqlite3.Connection, change: Callable[[Transaction], T]) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = change(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite has ended it already after some errors
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise
    return result


def _patiently(action: Callable[[], T], timeout_s: float) -> T:
    """`action`, tried again while somebody else's lock is in the way.

    SQLite waits by itself in most places, but not where it recovers or removes the log.
    """
    deadline_s = time.monotonic() + timeout_s
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if not is_passing(error) or time.monotonic() > deadline_s:
                raise
        time.sleep(random.uniform(0.002, 0.02))


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return value
