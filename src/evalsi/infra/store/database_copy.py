"""A store copied whole: out of a database that is in use into a SQLite file, and from such a file into an empty database.

Its own module because it is the one place that moves rows between SQLite and PostgreSQL. The file is a SQLite store
whatever the database is, so that one form is read, brought up to date by the steps of `migrations`, and opened by any
tool. A copy is of one moment: what SQLite's backup, or one transaction of PostgreSQL, sees.
"""

import errno
import os
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from evalsi.core.errors import NotFoundError, StoreError, UsageError
from evalsi.infra.store.database import connect_to_read, open_database, schema_version
from evalsi.infra.store.migrations import MIGRATIONS, Migration
from evalsi.infra.store.open_stores import is_postgres
from evalsi.infra.store.sqlite_faults import is_lack_of_room, sqlite_faults

if TYPE_CHECKING:
    import psycopg

    Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

Table: TypeAlias = tuple[str, list[str]]
"""Name and columns."""
LIST_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
LIST_KEYS = "SELECT DISTINCT body_key FROM dataset_versions ORDER BY body_key"
LET_GO = (
    """
    UPDATE runs SET status = 'interrupted', writer_token = NULL, writer = NULL
    WHERE status = 'running'""",
    """
    UPDATE run_queue SET state = CASE cancelling WHEN 0 THEN 'waiting' ELSE 'cancelled' END, holder = NULL,
        lease_token = NULL, lease_until_us = NULL
    WHERE state = 'claimed'""",
    "UPDATE audit_places SET due_ms = 0, token = ''",
)
_FROM_THE_START = frozenset({"projects", "audit_head", "trace_marks", "policy_generation"})
"""Tables in which a new database has rows already."""
ROWS_AT_ONCE = 50
"""A row of `segments` may hold a megabyte."""


def copy_to_file(address: str, copy: Path, migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """Copies the database at `address` to a file that is not there yet, and brings the copy up to date.

    Args:
        migrations: The schema; that of a store, or of a file of traces.

    Returns: The last step of the schema.

    Raises:
        NotFoundError: There is no database.
        StoreTooNewError: A later version wrote it.
        StoreError: It cannot be read, or, in PostgreSQL, has not the schema of this version.
        OSError: The file cannot be written.
    """
    if is_postgres(address):
        _copy_out_of_postgres(address, copy)
    else:
        _copy_sqlite(Path(address), copy, migrations)
        open_database(copy, migrations=migrations).close()
    with sqlite_faults(copy), closing(sqlite3.connect(copy)) as connection:
        # One file, without a log beside it.
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        (step,) = connection.execute("PRAGMA user_version").fetchone()
    return step


def object_keys(copy: Path) -> list[str]:
    """The objects that the database in a file names."""
    with sqlite_faults(copy), closing(sqlite3.connect(copy)) as connection:
        return [key for (key,) in connection.execute(LIST_KEYS)]


def let_go_of_everything(copy: Path) -> None:
    """Takes every run, and the way of the audit log to each sink, out of the hands that had it: they work on the database that this is a copy of."""
    with sqlite_faults(copy), closing(sqlite3.connect(copy)) as connection, connection:
        for statement in LET_GO:
            connection.execute(statement)


def check_emptiness(address: str) -> None:
    """Raises: UsageError: a database of PostgreSQL has something in it already."""
    with connected(address) as connection:
        there = {name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
        for table in sorted(there - _FROM_THE_START - {"schema_revisions"}):
            if connection.execute(f'SELECT 1 FROM "{table}" LIMIT 1'.encode()).fetchone() is not None:  # noqa: S608
                raise UsageError(
                    f"the database holds something already, in its table {table}", hint="restore into an empty database"
                )


def _copy_sqlite(path: Path, copy: Path, migrations: Sequence[Migration]) -> None:
    if not path.exists():
        raise NotFoundError(f"no store at {path}", hint="name the folder of the store with --data-dir, or --config")
    with sqlite_faults(path), closing(connect_to_read(path)) as source, closing(sqlite3.connect(copy)) as target:
        schema_version(source, path, migrations[-1].version)
        try:
            source.backup(target)
        except sqlite3.OperationalError as error:
            if is_lack_of_room(error):  # where it is copied to; the store itself does not grow
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(copy)) from error
            raise


def _copy_out_of_postgres(address: str, copy: Path) -> None:
    from evalsi.infra.store.postgres_schema import check_is_up_to_date

    check_is_up_to_date(address)
    open_database(copy).close()
    with (
        sqlite_faults(copy),
        closing(sqlite3.connect(copy, isolation_level=None)) as target,
        connected(address) as connection,
    ):
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        target.execute("BEGIN")
        copy_tables_out(connection, target, tables_of(target))
        target.execute("COMMIT")


def move_into_postgres(file: Path, connection: "Connection") -> None:
    """Puts what a file of this version holds into a database of this version, within the transaction of a connection."""
    with sqlite_faults(file), closing(sqlite3.connect(file)) as source:
        copy_tables_in(source, connection, tables_of(source))


def copy_tables_out(connection: "Connection", target: sqlite3.Connection, tables: Iterable[Table]) -> None:
    """Puts the rows of PostgreSQL's tables in place of those that SQLite's of the same names and columns have."""
    for table, columns in tables:
        names, places = ", ".join(columns), ", ".join("?" * len(columns))
        target.execute(f"DELETE FROM {table}")  # noqa: S608 - names of our own schema
        insert = f"INSERT INTO {table} ({names}) VALUES ({places})"  # noqa: S608
        target.executemany(insert, rows_of_postgres(connection, f"SELECT {names} FROM {table}"))  # noqa: S608


def copy_tables_in(source: sqlite3.Connection, connection: "Connection", tables: Iterable[Table]) -> None:
    """As `copy_tables_out`, the other way."""
    for table, columns in tables:
        names = ", ".join(columns)
        connection.execute(f"DELETE FROM {table}".encode())  # noqa: S608 - names of our own schema
        with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN".encode()) as copy:
            for row in source.execute(f"SELECT {names} FROM {table}"):  # noqa: S608
                copy.write_row(row)


def rows_of_postgres(connection: "Connection", statement: str) -> Iterator[tuple[Any, ...]]:
    """What a query finds, fetched a few rows at a time."""
    with connection.cursor(name="copy", binary=True) as rows:
        rows.itersize = ROWS_AT_ONCE
        rows.execute(statement.encode())
        yield from rows


def check_soundness(file: Path) -> None:
    """Raises: StoreError: the database in a file is damaged."""
    with sqlite_faults(file), closing(sqlite3.connect(file)) as connection:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise StoreError(f"the database in the backup is damaged: {verdict}", hint="use another backup")


def tables_of(connection: sqlite3.Connection) -> Iterator[Table]:
    """Every table of a store with its columns."""
    for (table,) in connection.execute(LIST_TABLES).fetchall():
        yield table, [row[1] for row in connection.execute(f"PRAGMA table_info({table})").fetchall()]


@contextmanager
def connected(address: str) -> Generator["Connection"]:
    """One transaction of PostgreSQL. Raises: StoreError, without the password."""
    import psycopg

    from evalsi.infra.store.postgres import postgres_fault

    try:
        with psycopg.connect(address, application_name="evalsi", connect_timeout=5) as connection:
            yield connection
    except psycopg.Error as error:
        raise postgres_fault(address, error) from error
