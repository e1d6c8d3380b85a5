"""Traces copied whole: out of a store into a SQLite file of the form of `trace_migrations`, and from such a file into a store.

Its own module beside `database_copy` because the two databases find words in ways of their own: the index of words is
not copied but made again from the words that each keeps.
"""

import sqlite3
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from evalsi.infra.store.database import open_database
from evalsi.infra.store.database_copy import (
    Table,
    check_soundness,
    connected,
    copy_tables_in,
    copy_tables_out,
    copy_to_file,
    move_in,
    rows_of_postgres,
    tables_of,
)
from evalsi.infra.store.open_stores import TRACES_FILE, is_postgres
from evalsi.infra.store.sqlite_faults import sqlite_faults
from evalsi.infra.store.trace_migrations import TRACE_MIGRATIONS
from evalsi.infra.store.trace_postgres import ADD_TEXT as ADD_TEXT_TO_POSTGRES
from evalsi.infra.store.trace_rows import unpacked
from evalsi.infra.store.trace_sqlite import index_words, indexed_words

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
            copy_to_file(str(traces), copy)
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


@contextmanager
def move_traces_in(address: str) -> Generator[tuple[Path, Callable[[], None]]]:
    """A file to write a copy to, and what makes it the traces of the store at `address`, whole or not at all.

    Raises: StoreError: what was written is no sound store, or the database cannot be written.
    """
    if not is_postgres(address):
        with move_in(str(Path(address).with_name(TRACES_FILE))) as both:
            yield both
        return
    with tempfile.TemporaryDirectory(prefix="evalsi-restore-") as folder:
        file = Path(folder) / TRACES_FILE
        yield file, lambda: _copy_into_postgres(file, address)


def _copy_into_postgres(file: Path, address: str) -> None:
    from evalsi.infra.store.postgres_schema import bring_up_to_date

    check_soundness(file)
    open_database(file, migrations=TRACE_MIGRATIONS).close()  # brings it up to date
    bring_up_to_date(address)
    add_text = ADD_TEXT_TO_POSTGRES.replace("?", "%s").encode()
    with sqlite_faults(file), closing(sqlite3.connect(file)) as source, connected(address) as connection:
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
