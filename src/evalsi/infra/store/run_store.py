"""Runs in SQLite: implements `ports.RunStore`.

Every statement is a constant below and names its project, so that no query can reach across projects. Bodies are
compressed before the write lock is taken and read one segment at a time.
"""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from sqlite3 import Connection, IntegrityError
from typing import Any, NoReturn, TypeVar

import msgspec

from evalsi.core.canonical import canonical_json
from evalsi.core.clock import Clock, SystemClock
from evalsi.core.errors import NotFoundError, StoreError, StoreTooNewError, UsageError
from evalsi.core.run_reference import RunIdentity, resolve_run
from evalsi.infra.store.database import Database, StoreOptions, open_database
from evalsi.infra.store.writer import Writer, is_alive, this_process
from evalsi.ports.run_store import RunRow, RunWriter, Segment
from evalsi.schema import MetricSummary, RunManifest

T = TypeVar("T")

_RUN = (
    "id, name, status, created_at, finished_at, dataset, dataset_digest, fingerprint, rows, labels, headline, "
    "writer, heartbeat_us"
)

LIST_RUNS = f"SELECT {_RUN} FROM runs WHERE project_id = ? ORDER BY created_us DESC, id DESC LIMIT ?"  # noqa: S608
READ_RUN = f"SELECT {_RUN} FROM runs WHERE project_id = ? AND id = ?"  # noqa: S608
LIST_IDENTITIES = "SELECT id, name, created_at FROM runs WHERE project_id = ? ORDER BY created_us DESC, id DESC"
LIST_UNFINISHED = f"""
    SELECT {_RUN} FROM runs
    WHERE project_id = ? AND fingerprint = ? AND status IN ('running', 'interrupted')
    ORDER BY created_us DESC, id DESC"""  # noqa: S608
INSERT_RUN = """
    INSERT INTO runs (project_id, id, name, status, created_at, created_us, dataset, dataset_digest, fingerprint, labels,
        headline, writer_token, writer, heartbeat_us)
    VALUES (?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_DOCUMENTS = "INSERT INTO run_documents (run_id, manifest, summaries) VALUES (?, ?, '[]')"
TAKE_OVER = """
    UPDATE runs SET status = 'running', finished_at = NULL, writer_token = ?, writer = ?, heartbeat_us = ?
    WHERE project_id = ? AND id = ?"""
TOUCH = """
    UPDATE runs SET heartbeat_us = ?
    WHERE project_id = ? AND id = ? AND writer_token = ? AND status = 'running'"""
COUNT_SEGMENT = """
    UPDATE runs SET rows = rows + ? - coalesce((SELECT rows FROM segments WHERE run_id = runs.id AND idx = ?), 0)
    WHERE id = ?"""
PUT_SEGMENT = """
    INSERT INTO segments (run_id, idx, first_row, rows, results, records) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (run_id, idx) DO UPDATE SET
        first_row = excluded.first_row, rows = excluded.rows, results = excluded.results, records = excluded.records"""
FINISH = """
    UPDATE runs SET status = ?, finished_at = ?, dataset_digest = ?, labels = ?, headline = ?, writer = NULL, heartbeat_us = NULL
    WHERE project_id = ? AND id = ? AND writer_token = ?"""
PUT_DOCUMENTS = "UPDATE run_documents SET manifest = ?, summaries = ? WHERE run_id = ?"
LET_GO = """
    UPDATE runs SET status = 'interrupted', writer_token = NULL, writer = NULL, heartbeat_us = NULL
    WHERE writer_token = ? AND status = 'running'"""
READ_DOCUMENT = {
    "manifest": "SELECT manifest FROM run_documents WHERE run_id = ?",
    "summaries": "SELECT summaries FROM run_documents WHERE run_id = ?",
}
LIST_SEGMENTS = "SELECT idx, first_row, rows FROM segments WHERE run_id = ? ORDER BY idx"
READ_SEGMENT = "SELECT idx, first_row, rows, results, records FROM segments WHERE run_id = ? AND idx = ?"
READ_RESULTS = "SELECT idx, first_row, rows, results, NULL FROM segments WHERE run_id = ? AND idx = ?"
PUT_ANSWER = "INSERT OR IGNORE INTO answers (run_id, row, body) VALUES (?, ?, ?)"
READ_ANSWERS = "SELECT row, body FROM answers WHERE run_id = ? AND row >= ? AND row < ? ORDER BY row LIMIT 1000"
DELETE_RUN = (
    "DELETE FROM answers WHERE run_id = ?",
    "DELETE FROM segments WHERE run_id = ?",
    "DELETE FROM run_documents WHERE run_id = ?",
    "DELETE FROM runs WHERE id = ?",
)

_MOST_ROWS = 1 << 62
_ENDINGS = ("succeeded", "interrupted", "error")
_LABELS = msgspec.json.Decoder(dict[str, str])
_WRITER = msgspec.json.Decoder(Writer)
_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def open_run_store(
    path: Path, options: StoreOptions | None = None, *, project: str = "default", create: bool = True
) -> "SqliteRunStore":
    """The runs of one project in the store at `path`.

    Raises: NotFoundError: there is no store and `create` is false. StoreError: see `open_database`.
    """
    return SqliteRunStore(open_database(path, options, create=create), project=project)


class SqliteRunStore:
    """Implements `RunStore` on one SQLite file."""

    def __init__(self, database: Database, *, project: str = "default", clock: Clock | None = None) -> None:
        self._database = database
        self._project = project
        self._clock = clock or SystemClock()
        self._token = os.urandom(16).hex()
        """Tells this store object from every other: what a run's writer is known by."""

    def create(self, run: RunRow, manifest: RunManifest) -> None:
        created_us = _microseconds(run.created_at)
        document = _encode(manifest, RunManifest, "manifest")
        values = (
            *(self._project, run.id, run.name, run.created_at, created_us, run.dataset, run.dataset_digest),
            *(run.fingerprint, _encode(run.labels, dict[str, str], "labels").decode(), run.headline),
            *self._signature(),
        )

        def insert(connection: Connection) -> bool:
            try:
                connection.execute(INSERT_RUN, values)
            except IntegrityError:
                return False
            connection.execute(INSERT_DOCUMENTS, (run.id, document.decode()))
            return True

        if not self._database.write(insert):
            raise UsageError(f"a run with the id {run.id} exists already", hint="give the run a new id")

    def append(self, run_id: str, segment: Segment) -> None:
        results, records = self._compress(segment.results), self._compress(segment.records)

        def put(connection: Connection) -> None:
            self._touch(connection, run_id)
            connection.execute(COUNT_SEGMENT, (segment.rows, segment.index, run_id))
            connection.execute(PUT_SEGMENT, (run_id, segment.index, segment.first_row, segment.rows, results, records))

        self._database.write(put)

    def keep_answers(self, run_id: str, answers: Sequence[tuple[int, bytes]]) -> None:
        packed = [(run_id, row, self._compress(body)) for row, body in answers]

        def put(connection: Connection) -> None:
            self._touch(connection, run_id)
            connection.executemany(PUT_ANSWER, packed)

        self._database.write(put)

    def answers(self, run_id: str, rows: range | None = None) -> Iterator[tuple[int, bytes]]:
        self._run(run_id)
        return self._answers(run_id, rows if rows is not None else range(_MOST_ROWS))

    def touch(self, run_id: str) -> None:
        self._database.write(lambda connection: self._touch(connection, run_id))

    def finish(self, run: RunRow, manifest: RunManifest, summaries: list[MetricSummary]) -> None:
        if run.status not in _ENDINGS:
            raise UsageError(f"a run cannot finish as {run.status!r}", hint="known: " + ", ".join(_ENDINGS))
        labels = _encode(run.labels, dict[str, str], "labels").decode()
        documents = (
            _encode(manifest, RunManifest, "manifest").decode(),
            _encode(summaries, list[MetricSummary], "summaries").decode(),
        )

        def end(connection: Connection) -> None:
            values = (run.status, run.finished_at, run.dataset_digest, labels, run.headline)
            if not connection.execute(FINISH, (*values, self._project, run.id, self._token)).rowcount:
                self._refuse(connection, run.id)
            connection.execute(PUT_DOCUMENTS, (*documents, run.id))

        self._database.write(end, sync=True)

    def runs(self, *, limit: int | None = None) -> list[RunRow]:
        found = self._database.read(LIST_RUNS, (self._project, -1 if limit is None else limit))
        return [self._row(values) for values in found]

    def find(self, reference: str) -> RunRow:
        identities = [RunIdentity._make(values) for values in self._database.read(LIST_IDENTITIES, (self._project,))]
        return self._run(resolve_run(reference, identities))

    def resumable(self, fingerprint: str) -> RunRow | None:
        unfinished = map(self._row, self._database.read(LIST_UNFINISHED, (self._project, fingerprint)))
        return next((run for run in unfinished if run.status == "interrupted"), None)

    def take_over(self, run_id: str) -> RunRow:
        def take(connection: Connection) -> None:
            values = connection.execute(READ_RUN, (self._project, run_id)).fetchone()
            if values is None:
                raise _missing(run_id)
            row = self._row(values)
            if row.status == "running":
                raise UsageError(f"run {run_id} is being written by {_named(values)}", hint="wait for it or stop it")
            if row.status != "interrupted":
                raise UsageError(f"run {run_id} is finished ({row.status})", hint="start a new run")
            connection.execute(TAKE_OVER, (*self._signature(), self._project, run_id))

        self._database.write(take)
        return self._run(run_id)

    def writer(self, run_id: str) -> RunWriter | None:
        found = self._database.read(READ_RUN, (self._project, run_id))
        if not found:
            raise _missing(run_id)
        if self._row(found[0]).status != "running":
            return None
        writer = _WRITER.decode(found[0][11])
        return RunWriter(pid=writer.pid, host=writer.place.partition(" ")[0], is_here=is_alive(writer) is True)

    def manifest(self, run_id: str) -> RunManifest:
        return self._document(run_id, "manifest", RunManifest)

    def summaries(self, run_id: str) -> list[MetricSummary]:
        return self._document(run_id, "summaries", list[MetricSummary])

    def segments(self, run_id: str, *, with_records: bool = True) -> Iterator[Segment]:
        statement = READ_SEGMENT if with_records else READ_RESULTS
        indices = [index for index, _, _ in self.segment_rows(run_id)]
        return (self._segment(statement, run_id, index) for index in indices)

    def segment(self, run_id: str, index: int) -> Segment:
        self._run(run_id)
        return self._segment(READ_SEGMENT, run_id, index)

    def segment_rows(self, run_id: str) -> list[tuple[int, int, int]]:
        self._run(run_id)
        return [(index, first, rows) for index, first, rows in self._database.read(LIST_SEGMENTS, (run_id,))]

    def delete(self, run_id: str) -> None:
        def remove(connection: Connection) -> None:
            values = connection.execute(READ_RUN, (self._project, run_id)).fetchone()
            if values is None:
                raise _missing(run_id)
            if (
                self._row(values).status == "running"
                and not connection.execute(TOUCH, (self._now_us(), self._project, run_id, self._token)).rowcount
            ):
                raise UsageError(f"run {run_id} is still being written by {_named(values)}", hint="stop it first")
            for statement in DELETE_RUN:
                connection.execute(statement, (run_id,))

        self._database.write(remove)
        self._database.give_space_back()

    def close(self) -> None:
        if self._database.is_open:
            try:
                if not self._database.read_only:
                    self._database.write(lambda connection: connection.execute(LET_GO, (self._token,)))
            finally:
                self._database.close()

    def _answers(self, run_id: str, rows: range) -> Iterator[tuple[int, bytes]]:
        following = rows.start
        while found := self._database.read(READ_ANSWERS, (run_id, following, rows.stop)):
            for row, body in found:
                try:
                    yield row, _decompress(body)
                except ValueError as error:
                    raise self._damaged(f"answer {row} of run {run_id}", error) from error
            following = found[-1][0] + 1

    def _signature(self) -> tuple[str, str, int]:
        return (self._token, msgspec.json.encode(this_process()).decode(), self._now_us())

    def _now_us(self) -> int:
        return (self._clock.now() - _EPOCH) // _MICROSECOND

    def _touch(self, connection: Connection, run_id: str) -> None:
        if not connection.execute(TOUCH, (self._now_us(), self._project, run_id, self._token)).rowcount:
            self._refuse(connection, run_id)

    def _refuse(self, connection: Connection, run_id: str) -> NoReturn:
        values = connection.execute(READ_RUN, (self._project, run_id)).fetchone()
        if values is None:
            raise _missing(run_id)
        row = self._row(values)
        if row.status == "running":
            raise StoreError(
                f"run {run_id} was taken over by {_named(values)}, so nothing more is written to it here",
                hint="let that process finish it",
            )
        raise StoreError(f"run {run_id} is not being written here: it is {row.status}", hint="take it over first")

    def _run(self, run_id: str) -> RunRow:
        found = self._database.read(READ_RUN, (self._project, run_id))
        if not found:
            raise _missing(run_id)
        return self._row(found[0])

    def _row(self, values: tuple[Any, ...]) -> RunRow:
        (id_, name, status, created_at, finished_at, dataset, digest, fingerprint, rows, labels, headline, *_) = values
        writer, heartbeat_us = values[11:]
        if status == "running" and not self._is_written(writer, heartbeat_us):
            status = "interrupted"
        return RunRow(
            id=id_,
            name=name,
            status=status,
            created_at=created_at,
            finished_at=finished_at,
            dataset=dataset,
            dataset_digest=digest,
            fingerprint=fingerprint,
            rows=rows,
            labels={} if labels == "{}" else _LABELS.decode(labels),
            headline=headline,
        )

    def _is_written(self, writer: str | None, heartbeat_us: int | None) -> bool:
        if writer is None or heartbeat_us is None:
            return False
        alive = is_alive(_WRITER.decode(writer))
        if alive is None:
            return self._now_us() - heartbeat_us < self._database.options.writer_timeout_s * 1e6
        return alive

    def _document(self, run_id: str, which: str, kind: type[T]) -> T:
        self._run(run_id)
        found = self._database.read(READ_DOCUMENT[which], (run_id,))
        if not found:
            raise _missing(run_id)
        try:
            return msgspec.json.decode(found[0][0], type=kind)
        except msgspec.ValidationError as error:
            raise StoreTooNewError(
                f"the {which} of run {run_id} holds what this version of evalsi does not know: {error}",
                hint="upgrade evalsi to read this run",
            ) from error
        except msgspec.DecodeError as error:
            raise self._damaged(f"the {which} of run {run_id}", error) from error

    def _segment(self, statement: str, run_id: str, index: int) -> Segment:
        found = self._database.read(statement, (run_id, index))
        if not found:
            raise NotFoundError(f"run {run_id} has no segment {index} (any more)", hint="'evalsi runs list' shows runs")
        _, first_row, rows, results, records = found[0]
        try:
            return Segment(
                index=index,
                first_row=first_row,
                rows=rows,
                records=b"" if records is None else _decompress(records),
                results=_decompress(results),
            )
        except ValueError as error:
            raise self._damaged(f"segment {index} of run {run_id}", error) from error

    def _damaged(self, what: str, error: Exception) -> StoreError:
        return StoreError(
            f"{what} in the store {self._database.path} is damaged: {error}",
            hint="delete the run and make it again, or take a backup",
        )

    def _compress(self, body: bytes) -> bytes:
        import zstandard

        level = self._database.options.compression_level
        return zstandard.ZstdCompressor(level=level, write_checksum=True).compress(body)


def _decompress(body: bytes) -> bytes:
    """Raises: ValueError: the body is damaged, by its checksum."""
    import zstandard

    try:
        return zstandard.ZstdDecompressor().decompress(body)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


def _encode(value: object, kind: Any, what: str) -> bytes:
    """JSON that is known to read back. Raises: UsageError: it would not."""
    try:
        encoded = canonical_json(value)
        msgspec.json.decode(encoded, type=kind)
    except (ValueError, msgspec.MsgspecError) as error:
        raise UsageError(
            f"the {what} cannot be stored: {error}", hint="store finite numbers and valid Unicode"
        ) from error
    return encoded


def _microseconds(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"created_at {text!r} is no ISO 8601 time", hint="write e.g. 2026-01-31T12:00:00Z") from error
    if moment.tzinfo is None:
        raise UsageError(f"created_at {text!r} names no time zone", hint="write e.g. 2026-01-31T12:00:00Z")
    return (moment - _EPOCH) // _MICROSECOND


def _missing(run_id: str) -> NotFoundError:
    return NotFoundError(f"no run {run_id}", hint="'evalsi runs list' shows all")


def _named(values: tuple[Any, ...]) -> str:
    writer = _WRITER.decode(values[11])
    return f"process {writer.pid} on {writer.place.partition(' ')[0]}"
