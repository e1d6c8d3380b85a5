"""The runs' tables in a DuckDB file: filled in one transaction a run, then asked read-only and shut off.

Its own module because it is the only one that speaks with DuckDB, and because two phases must not mix. While runs are
loaded nobody's SQL is run. While SQL is run the file is open read-only, without access to files, network, extensions or
this process's variables, and none of that can be switched back on. What always holds: memory is bounded by
`MEMORY_LIMIT`, whatever does not fit goes to a folder beside the file.
"""

import importlib
import re
import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsi.analyze.choose_runs import ChosenRun
from evalsi.analyze.run_tables import TABLES, RowBatches, metric_batch, run_batch, run_key
from evalsi.analyze.sql_fault import sql_fault
from evalsi.core.errors import MissingExtraError, StoreError, UsageError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY_LIMIT = "512MB"
"""What DuckDB may hold in memory, in its own words."""
INSERTED_ROWS = 16_384
"""Rows that are gathered before they are inserted: DuckDB works best on batches far above its 2,048 rows a vector."""
ANSWERED_ROWS = 1024
_SHUT = {  # in this order: what is locked comes first
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "errors_as_json": "true",
    "lock_configuration": "true",
}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a query gave. `pieces` holds rows in lists of at most `ANSWERED_ROWS`, read as they are taken."""

    columns: list[str]
    types: list[str]
    """DuckDB's types, e.g. VARCHAR, DOUBLE, JSON."""
    pieces: Iterator[list[tuple[Any, ...]]]


@dataclass(kw_only=True)
class Loaded:
    """What loading did, by `run_id`. `kept` were in the database already and are finished runs, which never change."""

    run_ids: list[str] = field(default_factory=list[str])
    kept: list[str] = field(default_factory=list[str])


class RunDatabase:
    """Runs in one DuckDB file. Made by `run_database`, which closes it."""

    def __init__(self, path: Path, spill: Path) -> None:
        self._path = path
        self._spill = spill
        self._reader: DuckDBPyConnection | None = None

    def load(self, runs: Iterable[ChosenRun]) -> Loaded:
        """Fills the tables; a run that is there already is kept when it is finished, else read again.

        Raises: StoreError: the file cannot be written, or is in use. UsageError: it holds other tables.
        """
        loaded = Loaded()
        with self._writing() as connection:
            for chosen in runs:
                key = run_key(chosen.run)
                if key in loaded.run_ids:
                    continue
                loaded.run_ids.append(key)
                if _is_kept(connection, key, chosen):
                    loaded.kept.append(key)
                else:
                    _insert(connection, key, chosen)
        return loaded

    def ask(self, sql: str) -> Answer:
        """Runs one SELECT of a person.

        Raises: UsageError: it is no single SELECT, is wrong, or wants what a query may not have; with line and column.
        """
        duckdb, connection = _duckdb(), self.reading()
        try:
            statements = connection.extract_statements(sql)
            if len(statements) != 1:
                raise UsageError(
                    f"a query is one SELECT, and here are {len(statements)} statements",
                    hint="write one, without a semicolon inside",
                )
            if str(statements[0].type).rpartition(".")[2] not in ("SELECT", "EXPLAIN"):
                raise UsageError(
                    f"a query is one SELECT, not {_first_word(sql)}",
                    hint="the runs' tables can be read and nothing else; DESCRIBE, SUMMARIZE and EXPLAIN work too",
                )
            connection.execute(statements[0])
            described = connection.description or []
            first = connection.fetchmany(ANSWERED_ROWS)
        except duckdb.Error as error:
            raise sql_fault(error, sql) from error
        return Answer(
            columns=[str(column[0]) for column in described],
            types=[str(column[1]) for column in described],
            pieces=self._pieces(first, sql),
        )

    def reading(self) -> "DuckDBPyConnection":
        """The connection for questions: read-only, shut off, its settings locked."""
        if self._reader is None:
            self._reader = self._connect(read_only=True, settings=_SHUT)
        return self._reader

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _pieces(self, first: list[tuple[Any, ...]], sql: str) -> Iterator[list[tuple[Any, ...]]]:
        piece = first
        try:
            while piece:
                yield piece
                piece = self.reading().fetchmany(ANSWERED_ROWS)
        except _duckdb().Error as error:
            raise sql_fault(error, sql) from error

    @contextmanager
    def _writing(self) -> Generator["DuckDBPyConnection"]:
        self.close()
        connection = self._connect(
            read_only=False, settings={"python_enable_replacements": "false", "preserve_insertion_order": "false"}
        )
        try:
            _make_tables(connection, self._path)
            yield connection
        except _duckdb().Error as error:
            raise StoreError(f"{self._path} cannot be written: {_one_line(error)}") from error
        finally:
            connection.close()

    def _connect(self, *, read_only: bool, settings: dict[str, str]) -> "DuckDBPyConnection":
        duckdb = _duckdb()
        config = {"memory_limit": MEMORY_LIMIT, "temp_directory": str(self._spill)}
        try:
            connection = duckdb.connect(str(self._path), read_only=read_only, config=config)
            for name, value in settings.items():
                connection.execute(f"SET {name} = {value}")
            return connection
        except duckdb.Error as error:
            message = _one_line(error)
            if "lock" in message.lower():
                raise StoreError(f"{self._path} is in use by another process", hint="close it there first") from error
            raise StoreError(f"{self._path} is no database that can be opened: {message}") from error


@contextmanager
def run_database(path: Path | None) -> Generator[RunDatabase]:
    """A database at `path`, which stays, or in a temporary folder, which goes with everything in it.

    Raises: MissingExtraError: without the extra `analytics`. UsageError: the folder of `path` is not there.
    """
    _duckdb()
    if path is not None and not path.parent.is_dir():
        raise UsageError(f"there is no folder {str(path.parent)!r}", hint="make it first")
    with tempfile.TemporaryDirectory(prefix="evalsi-analyze-") as folder:
        database = RunDatabase(path or Path(folder) / "runs.duckdb", Path(folder) / "spill")
        try:
            yield database
        finally:
            database.close()


def _duckdb() -> Any:
    try:
        importlib.import_module("pyarrow")
        return importlib.import_module("duckdb")
    except ImportError:
        raise MissingExtraError("analysing many runs", "analytics") from None


def _make_tables(connection: "DuckDBPyConnection", path: Path) -> None:
    found = connection.execute(
        "SELECT table_name, list(column_name ORDER BY column_index) FROM duckdb_columns() "
        "WHERE schema_name = 'main' AND NOT internal GROUP BY 1"
    ).fetchall()
    there = {name: columns for name, columns in found if name in TABLES}
    for table, columns in TABLES.items():
        if there.get(table, [c.name for c in columns]) != [c.name for c in columns]:
            raise UsageError(
                f"{path} holds a table {table!r} with other columns than ours", hint="name another file with --db"
            )
    connection.begin()
    for table, columns in TABLES.items():
        if table not in there:
            body = ", ".join(f'"{column.name}" {column.type}' for column in columns)
            connection.execute(f"CREATE TABLE {table} ({body})")
            for column in columns:
                meaning = column.meaning.replace("'", "''")
                connection.execute(f"COMMENT ON COLUMN {table}.\"{column.name}\" IS '{meaning}'")
    connection.commit()


def _is_kept(connection: "DuckDBPyConnection", key: str, chosen: ChosenRun) -> bool:
    """Whether the run is in the tables and cannot have changed since."""
    found = connection.execute("SELECT status, records FROM runs WHERE run_id = ?", [key]).fetchone()
    if found is None or chosen.row is None:
        return False
    return chosen.row.status == "succeeded" and found == ("succeeded", chosen.row.rows)


def _insert(connection: "DuckDBPyConnection", key: str, chosen: ChosenRun) -> None:
    """Puts one run in, whole or not at all."""
    connection.begin()
    try:
        for table in TABLES:
            connection.execute(f"DELETE FROM {table} WHERE run_id = ?", [key])  # noqa: S608 - a name of ours
        waiting: dict[str, list[Any]] = {"observations": [], "scores": []}
        records = 0
        for table, batch in RowBatches(chosen.run):
            waiting[table].append(batch)
            records += batch.num_rows if table == "observations" else 0
            if sum(one.num_rows for one in waiting[table]) >= INSERTED_ROWS:
                _append(connection, table, waiting[table])
        for table, batches in waiting.items():
            _append(connection, table, batches)
        status = chosen.row.status if chosen.row is not None else None
        _append(connection, "runs", [run_batch(chosen.run, status=status, records=records)])
        _append(connection, "metrics", [metric_batch(chosen.run)])
        _number_trials(connection, key)
        connection.commit()
    except BaseException:
        with suppress(_duckdb().Error):
            connection.rollback()
        raise


def _append(connection: "DuckDBPyConnection", table: str, batches: list[Any]) -> None:
    """Inserts the batches and empties the list."""
    if not batches:
        return
    # A relation, no registered view: views that are dropped inside a transaction keep their data until its end.
    connection.from_arrow(importlib.import_module("pyarrow").Table.from_batches(batches)).insert_into(table)
    batches.clear()


def _number_trials(connection: "DuckDBPyConnection", key: str) -> None:
    """Numbers observations of one record by place, where nothing told their trials apart."""
    alike = connection.execute(
        "SELECT count(*) > count(DISTINCT (record_id, trial)) FROM observations WHERE run_id = ?", [key]
    ).fetchone()
    if alike is None or not alike[0]:
        return
    numbered = (
        'SELECT "row", row_number() OVER (PARTITION BY record_id ORDER BY "row") - 1 AS trial '
        "FROM observations WHERE run_id = $key"
    )
    for table in ("observations", "scores"):
        connection.execute(
            f"UPDATE {table} SET trial = numbered.trial FROM ({numbered}) AS numbered "  # noqa: S608 - a name of ours
            f'WHERE {table}.run_id = $key AND {table}."row" = numbered."row"',
            {"key": key},
        )


def _first_word(sql: str) -> str:
    word = re.search(r"[A-Za-z]+", sql)
    return word[0].upper() if word is not None else "this"


def _one_line(error: Exception) -> str:
    lines: Sequence[str] = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
