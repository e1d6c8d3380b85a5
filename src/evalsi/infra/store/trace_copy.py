"""Traces copied whole: out of a store into a SQLite file of the form of `trace_migrations`, and from such a file into a store.

Its own module beside `database_copy` because the two databases find words in ways of their own: the index of words is
not copied but made again from the words that each keeps.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from evalsi.infra.store.database import open_database
from evalsi.infra.store.database_copy import (
    Table,
    connected,
    copy_tables_in,
    copy_tables_out,
    copy_to_file,
    rows_of_postgres,
    tables_of,
)
from evalsi.infra.store.open_stores import TRACES_FILE, is_postgres
from evalsi.infra.store.sqlite_faults import sqlite_faults
from evalsi.infra.store.trace_migrations import TRACE_MIGRATIONS
from evalsi.infra.store.trace_postgres import ADD_TEXT as ADD_TEXT_TO_POSTGRES
from evalsi.infra.store.trace_rows import unpacked
from evalsi.infra.store.trace_sqlite import index_words, indexed_words

if TYPE_CHECKING:
    from evalsi.infra.store.database_copy import Connection

FIND_TEXTS = "SELECT trace, project, start_ns, tsvector_to_array(words) FROM trace_texts"
FIND_WORDS = "SELECT x.trace, t.project, t.start_ns, x.words FROM trace_texts x JOIN traces t ON t.key = x.trace"
NUMBERED = ("traces", "trace_parts", "trace_projects")
"""Tables whose keys PostgreSQL gives by itself."""


def copy_traces(address: str, copy: Path) -> bool:
    """Copies the traces of the store at `address` to a file that is not there yet; False where there are none to copy.

    Raises: StoreError: they cannot be read.
    """
    if not is_postgres(address):
        traces = Path(address).with_name(TRACES_FILE)
        if traces.exists():
            copy_to_file(str(traces), copy, TRACE_MIGRATIONS)
        return traces.exists()
    open_database(copy, migrations=TRACE_MIGRATIONS).close()
    with (
        sqlite_faults(copy),
        closing(sqlite3.connect(copy, isolation_level=None)) as target,
        connected(address) as connection,
    ):
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        target.execute("BEGIN")
        copy_tables_out(connection, target, _tables(target))
        for trace, project, start_ns, words in rows_of_postgres(connection, FIND_TEXTS):
            index_words(target, trace, start_ns, indexed_words(project, words))
        target.execute("COMMIT")
    with sqlite_faults(copy), closing(sqlite3.connect(copy)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    return True


def move_traces_into_postgres(file: Path, connection: "Connection") -> None:
    """Puts what a file of this version holds into a database of this version, within the transaction of a connection."""
    add_text = ADD_TEXT_TO_POSTGRES.replace("?", "%s").encode()
    with sqlite_faults(file), closing(sqlite3.connect(file)) as source:
        copy_tables_in(source, connection, _tables(source))
        for trace, project, start_ns, packed in source.execute(FIND_WORDS):
            _, *words = unpacked(packed).decode().split(" ")  # the first is the mark of the project
            connection.execute(add_text, (trace, project, start_ns, words))
    for table in NUMBERED:
        connection.execute(
            f"SELECT setval(pg_get_serial_sequence('{table}', 'key'), coalesce(max(key), 0) + 1, false) "  # noqa: S608
            f"FROM {table}".encode()
        )


def _tables(connection: sqlite3.Connection) -> Iterator[Table]:
    """Every table that both databases have, with its columns."""
    return (each for each in tables_of(connection) if not each[0].startswith(("trace_words", "trace_texts")))
