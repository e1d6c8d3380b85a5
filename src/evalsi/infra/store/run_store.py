"""Runs in a SQL database: implements `ports.RunStore` for SQLite and PostgreSQL alike.

Every statement is a constant below and names its project, so that no query can reach across projects. Bodies are
compressed before the write lock is taken and read a few segments at a time.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import msgspec

from evalsi.core.canonical import canonical_json
from evalsi.core.clock import Clock, SystemClock, microseconds, moment_of, moment_of_text
from evalsi.core.errors import NotFoundError, StoreError, StoreTooNewError, UsageError
from evalsi.core.run_reference import RunIdentity, newest_labelled, resolve_run
from evalsi.infra.store.database import StoreOptions, open_database
from evalsi.infra.store.run_list import list_runs
from evalsi.infra.store.stored_run import COLUMNS, SOURCE, StoredRun, stored_run_of
from evalsi.infra.store.transactions import SqlDatabase, Transaction
from evalsi.infra.store.writer import is_alive, this_process
from evalsi.ports.run_store import RunPage, RunQuery, RunRow, RunWriter, Segment, SegmentZones
from evalsi.schema import MetricSummary, RunManifest

if TYPE_CHECKING:
    from zstandard import ZstdCompressor

T = TypeVar("T")

LIST_RUNS = f"SELECT {COLUMNS} FROM {SOURCE} WHERE runs.project_id = ? ORDER BY created_us DESC, id DESC LIMIT ?"  # noqa: S608
READ_RUN = f"SELECT {COLUMNS} FROM {SOURCE} WHERE runs.project_id = ? AND id = ?"  # noqa: S608
LIST_IDENTITIES = "SELECT id, name, created_at FROM runs WHERE project_id = ? ORDER BY created_us DESC, id DESC"
LIST_RESUMABLE = f"""
    SELECT {COLUMNS} FROM {SOURCE}
    WHERE runs.project_id = ? AND fingerprint = ? AND status IN ('running', 'interrupted', ?, ?)
    ORDER BY created_us DESC, id DESC"""  # noqa: S608
INSERT_RUN = """
    INSERT INTO runs (project_id, id, name, status, created_at, created_us, dataset, dataset_digest, fingerprint, labels,
        headline, writer_token, writer, heartbeat_us)
    VALUES (?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING"""
CLEAR_LABELS = "DELETE FROM run_labels WHERE run_id = ?"
PUT_LABEL = "INSERT INTO run_labels (run_id, key, value) VALUES (?, ?, ?)"
DESCRIBE = """
    UPDATE runs SET name = ?, dataset = ?, dataset_digest = ?, fingerprint = ?, labels = ?
    WHERE project_id = ? AND id = ? AND writer_token = ?"""
PUT_MANIFEST = "UPDATE run_documents SET manifest = ? WHERE run_id = ?"
ARCHIVE = "UPDATE runs SET archived_at = ? WHERE project_id = ? AND id = ?"
INSERT_DOCUMENTS = "INSERT INTO run_documents (run_id, manifest, summaries) VALUES (?, ?, '[]')"
TAKE_OVER = """
    UPDATE runs SET status = 'running', finished_at = NULL, writer_token = ?, writer = ?, heartbeat_us = ?
    WHERE project_id = ? AND id = ? AND coalesce(writer_token, '') = ? AND status IN ('running', 'interrupted', ?, ?)"""
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
    UPDATE runs SET status = ?, finished_at = ?, dataset_digest = ?, labels = ?, headline = ?, verdict = ?,
        writer = NULL, heartbeat_us = ?
    WHERE project_id = ? AND id = ? AND writer_token = ?"""
PUT_DOCUMENTS = "UPDATE run_documents SET manifest = ?, summaries = ? WHERE run_id = ?"
LET_GO = """
    UPDATE runs SET status = 'interrupted', writer_token = NULL, writer = NULL, heartbeat_us = ?
    WHERE writer_token = ? AND status = 'running'"""
READ_DOCUMENT = {
    "manifest": "SELECT manifest FROM run_documents WHERE run_id = ?",
    "summaries": "SELECT summaries FROM run_documents WHERE run_id = ?",
}
LIST_SEGMENTS = "SELECT idx, first_row, rows FROM segments WHERE run_id = ? ORDER BY idx"
READ_SEGMENTS = """
    SELECT idx, first_row, rows, results, records FROM segments WHERE run_id = ? AND idx BETWEEN ? AND ? ORDER BY idx"""
READ_RESULTS = """
    SELECT idx, first_row, rows, results, NULL FROM segments WHERE run_id = ? AND idx BETWEEN ? AND ? ORDER BY idx"""
SEGMENTS_AT_ONCE, RESULTS_AT_ONCE = 4, 64
"""How many are read together: a question to the database takes longer than a few segments."""
PUT_ANSWER = "INSERT INTO answers (run_id, row, body) VALUES (?, ?, ?) ON CONFLICT (run_id, row) DO NOTHING"
PUT_ZONES = """
    INSERT INTO segment_zones (run_id, idx, zones) VALUES (?, ?, ?)
    ON CONFLICT (run_id, idx) DO UPDATE SET zones = excluded.zones"""
LIST_ZONES = """
    SELECT segments.idx, first_row, rows, zones
    FROM segments LEFT JOIN segment_zones ON segment_zones.run_id = segments.run_id AND segment_zones.idx = segments.idx
    WHERE segments.run_id = ? ORDER BY segments.idx"""
COUNT_ANSWERS = "SELECT count(*) FROM answers WHERE run_id = ?"
READ_ANSWERS = "SELECT row, body FROM answers WHERE run_id = ? AND row >= ? AND row < ? ORDER BY row LIMIT 1000"
DELETE_RUN = (
    "DELETE FROM answers WHERE run_id = ?",
    "DELETE FROM segment_zones WHERE run_id = ?",
    "DELETE FROM segments WHERE run_id = ?",
    "DELETE FROM run_labels WHERE run_id = ?",
    "DELETE FROM run_queue WHERE run_id = ?",
    "DELETE FROM run_documents WHERE run_id = ?",
    "DELETE FROM runs WHERE id = ?",
)

_MOST_ROWS = 1 << 62
_ENDINGS = ("succeeded", "interrupted", "error")


_FINISHED = ("succeeded", "error")
"""How runs end of which some rows may be done again; an error is what their budget, say, ended them with."""


def _taken_up(*, finished: bool) -> tuple[str, ...]:
    return ("interrupted", *_FINISHED) if finished else ("interrupted",)


def _more_statuses(*, finished: bool) -> tuple[str, str]:
    """What a statement adds to 'running' and 'interrupted': two more, or one of them again."""
    return _FINISHED if finished else ("interrupted", "interrupted")


def open_run_store(
    path: Path, options: StoreOptions | None = None, *, project: str = "default", create: bool = True
) -> "SqlRunStore":
    """The runs of one project in the store at `path`.

    Raises: NotFoundError: there is no store and `create` is false. StoreError: see `open_database`.
    """
    return SqlRunStore(open_database(path, options, create=create), project=project)


class SqlRunStore:
    """Implements `RunStore` on one project of a database."""

    def __init__(self, database: SqlDatabase, *, project: str = "default", clock: Clock | None = None) -> None:
        self._database = database
        self._project = project
        self._clock = clock or SystemClock()
        self._token = os.urandom(16).hex()
        """Tells this store object from every other: what a run's writer is known by."""

    def create(self, run: RunRow, manifest: RunManifest) -> None:
        created_us = microseconds(moment_of_text(run.created_at, "created_at"))
        document = _encode(manifest, RunManifest, "manifest")
        values = (
            *(self._project, run.id, run.name, run.created_at, created_us, run.dataset, run.dataset_digest),
            *(run.fingerprint, _encode(run.labels, dict[str, str], "labels").decode(), run.headline),
            *self._signature(),
        )

        def insert(connection: Transaction) -> bool:
            if not connection.execute(INSERT_RUN, values).rowcount:
                return False
            connection.execute(INSERT_DOCUMENTS, (run.id, document.decode()))
            put_labels(connection, run.id, run.labels)
            return True

        if not self._database.write(insert):
            raise UsageError(f"a run with the id {run.id} exists already", hint="give the run a new id")

    def describe(self, run: RunRow, manifest: RunManifest) -> None:
        document = _encode(manifest, RunManifest, "manifest").decode()
        labels = _encode(run.labels, dict[str, str], "labels").decode()

        def put(connection: Transaction) -> None:
            values = (run.name, run.dataset, run.dataset_digest, run.fingerprint, labels)
            if not connection.execute(DESCRIBE, (*values, self._project, run.id, self._token)).rowcount:
                self._refuse(connection, run.id)
            connection.execute(PUT_MANIFEST, (document, run.id))
            put_labels(connection, run.id, run.labels)

        self._database.write(put)

    def append(self, run_id: str, segment: Segment) -> None:
        results, records = self._compress(segment.results), self._compress(segment.records)

        def put(connection: Transaction) -> None:
            self._touch(connection, run_id)
            connection.execute(COUNT_SEGMENT, (segment.rows, segment.index, run_id))
            connection.execute(PUT_SEGMENT, (run_id, segment.index, segment.first_row, segment.rows, results, records))
            if segment.zones:
                connection.execute(PUT_ZONES, (run_id, segment.index, segment.zones))

        self._database.write(put)

    def keep_answers(self, run_id: str, answers: Sequence[tuple[int, bytes]]) -> None:
        compressor = self._compressor()  # One for all: making one costs more than a short answer does.
        packed = [(run_id, row, compressor.compress(body)) for row, body in answers]

        def put(connection: Transaction) -> None:
            self._touch(connection, run_id)
            connection.executemany(PUT_ANSWER, packed)

        self._database.write(put)

    def count_answers(self, run_id: str) -> int:
        self.run(run_id)
        return self._database.read(COUNT_ANSWERS, (run_id,))[0][0]

    def answers(self, run_id: str, rows: range | None = None) -> Iterator[tuple[int, bytes]]:
        self.run(run_id)
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

        def end(connection: Transaction) -> None:
            values = (
                run.status,
                run.finished_at,
                run.dataset_digest,
                labels,
                run.headline,
                run.verdict,
                self._now_us(),
            )
            if not connection.execute(FINISH, (*values, self._project, run.id, self._token)).rowcount:
                self._refuse(connection, run.id)
            connection.execute(PUT_DOCUMENTS, (*documents, run.id))
            put_labels(connection, run.id, run.labels)

        self._database.write(end, sync=True)

    def runs(self, *, limit: int | None = None) -> list[RunRow]:
        found = self._database.read(LIST_RUNS, (self._project, _MOST_ROWS if limit is None else limit))
        return [self._shown(stored_run_of(values)) for values in found]

    def page(self, query: RunQuery, *, size: int, token: str = "") -> RunPage:
        return list_runs(self._database, [self._project], query, size=size, token=token)

    def archive(self, run_id: str, *, at: str | None) -> RunRow:
        if at is not None:
            moment_of_text(at, "at")
        self._database.write(lambda connection: connection.execute(ARCHIVE, (at, self._project, run_id)))
        return self.run(run_id)

    def run(self, run_id: str) -> RunRow:
        return self._shown(self._stored(run_id))

    def find(self, reference: str) -> RunRow:
        labelled = newest_labelled(
            reference, lambda labels: self.page(RunQuery(labels=labels, archived=None), size=1).runs
        )
        if labelled is not None:
            return labelled
        identities = [RunIdentity._make(values) for values in self._database.read(LIST_IDENTITIES, (self._project,))]
        return self.run(resolve_run(reference, identities))

    def resumable(self, fingerprint: str, *, finished: bool = False) -> RunRow | None:
        candidates = (
            self._shown(stored_run_of(values))
            for values in self._database.read(
                LIST_RESUMABLE, (self._project, fingerprint, *_more_statuses(finished=finished))
            )
        )
        return next((run for run in candidates if run.status in _taken_up(finished=finished)), None)

    def take_over(self, run_id: str, *, finished: bool = False) -> RunRow:
        def take(connection: Transaction) -> bool:
            run = self._read(connection, run_id)
            status = self._status(run)
            if status == "running":
                raise UsageError(
                    f"run {run_id} is being written by {run.writer_in_words}", hint="wait for it or stop it"
                )
            if status not in _taken_up(finished=finished):
                hint = "start a new run"
                if status == "error":
                    hint += ", or ask again what is left or failed with --retry-errors"
                raise UsageError(f"run {run_id} is finished ({status})", hint=hint)
            if run.is_promised:
                raise UsageError(f"run {run_id} is a server's work", hint="wait for it, or cancel it there")
            values = (
                *self._signature(),
                self._project,
                run_id,
                run.writer_token or "",
                *_more_statuses(finished=finished),
            )
            return bool(connection.execute(TAKE_OVER, values).rowcount)

        while not self._database.write(take):
            """Somebody was quicker: what the run is now decides what is said."""
        return self.run(run_id)

    def writer(self, run_id: str) -> RunWriter | None:
        run = self._stored(run_id)
        writer = run.named_writer
        if writer is None or self._status(run) != "running":
            return None
        return RunWriter(pid=writer.pid, host=writer.place.partition(" ")[0], is_here=is_alive(writer) is True)

    def seen_at(self, run_id: str) -> datetime | None:
        heartbeat_us = self._stored(run_id).heartbeat_us
        return None if heartbeat_us is None else moment_of(heartbeat_us)

    def manifest(self, run_id: str) -> RunManifest:
        return self._document(run_id, "manifest", RunManifest)

    def summaries(self, run_id: str) -> list[MetricSummary]:
        return self._document(run_id, "summaries", list[MetricSummary])

    def segments(self, run_id: str, *, with_records: bool = True) -> Iterator[Segment]:
        indices = [index for index, _, _ in self.segment_rows(run_id)]
        return self._segments(run_id, indices, with_records=with_records)

    def segment(self, run_id: str, index: int, *, with_records: bool = True) -> Segment:
        self.run(run_id)
        return next(self._segments(run_id, [index], with_records=with_records))

    def segment_rows(self, run_id: str) -> list[tuple[int, int, int]]:
        self.run(run_id)
        return [(index, first, rows) for index, first, rows in self._database.read(LIST_SEGMENTS, (run_id,))]

    def zones(self, run_id: str) -> list[SegmentZones]:
        self.run(run_id)
        return [
            SegmentZones(index=index, first_row=first_row, rows=rows, zones=b"" if zones is None else bytes(zones))
            for index, first_row, rows, zones in self._database.read(LIST_ZONES, (run_id,))
        ]

    def delete(self, run_id: str, *, gives_space_back: bool = True) -> None:
        def remove(connection: Transaction) -> None:
            run = self._read(connection, run_id)
            touch = (self._now_us(), self._project, run_id, self._token)
            if self._status(run) == "running" and not connection.execute(TOUCH, touch).rowcount:
                raise UsageError(f"run {run_id} is still being written by {run.writer_in_words}", hint="stop it first")
            if run.queue_state == "claimed":
                raise UsageError(f"run {run_id} is in the hands of a server", hint="cancel it first")
            for statement in DELETE_RUN:
                connection.execute(statement, (run_id,))

        self._database.write(remove)
        if gives_space_back:
            self._database.give_space_back()

    def let_go(self) -> None:
        """Makes the runs this object writes interrupted, and leaves the database open."""
        if self._database.is_open and not self._database.read_only:
            self._database.write(lambda connection: connection.execute(LET_GO, (self._now_us(), self._token)))

    def close(self) -> None:
        if self._database.is_open:
            try:
                self.let_go()
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
        return microseconds(self._clock.now())

    def _touch(self, connection: Transaction, run_id: str) -> None:
        if not connection.execute(TOUCH, (self._now_us(), self._project, run_id, self._token)).rowcount:
            self._refuse(connection, run_id)

    def _refuse(self, connection: Transaction, run_id: str) -> NoReturn:
        run = self._read(connection, run_id)
        status = self._status(run)
        if status == "running":
            raise StoreError(
                f"run {run_id} was taken over by {run.writer_in_words}, so nothing more is written to it here",
                hint="let that process finish it",
            )
        raise StoreError(f"run {run_id} is not being written here: it is {status}", hint="take it over first")

    def _read(self, connection: Transaction, run_id: str) -> StoredRun:
        values = connection.execute(READ_RUN, (self._project, run_id)).fetchone()
        if values is None:
            raise _missing(run_id)
        return stored_run_of(values)

    def _stored(self, run_id: str) -> StoredRun:
        found = self._database.read(READ_RUN, (self._project, run_id))
        if not found:
            raise _missing(run_id)
        return stored_run_of(found[0])

    def _shown(self, run: StoredRun) -> RunRow:
        return run.shown(self._now_us(), self._database.writer_timeout_s)

    def _status(self, run: StoredRun) -> str:
        return run.own_status(self._now_us(), self._database.writer_timeout_s)

    def _document(self, run_id: str, which: str, kind: type[T]) -> T:
        self.run(run_id)
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

    def _segments(self, run_id: str, indices: list[int], *, with_records: bool) -> Iterator[Segment]:
        """The segments `indices`, which are in order. Raises: NotFoundError, when it comes to one that is not there."""
        statement, most = (READ_SEGMENTS, SEGMENTS_AT_ONCE) if with_records else (READ_RESULTS, RESULTS_AT_ONCE)
        start, size = 0, 1  # who wants the first alone waits for no other
        while portion := indices[start : start + size]:
            start, size = start + size, min(2 * size, most)
            found = {row[0]: row for row in self._database.read(statement, (run_id, portion[0], portion[-1]))}
            for index in portion:
                row = found.pop(index, None)
                if row is None:
                    raise NotFoundError(
                        f"run {run_id} has no segment {index} (any more)", hint="'evalsi runs list' shows runs"
                    )
                yield self._segment(run_id, row)

    def _segment(self, run_id: str, values: Sequence[Any]) -> Segment:
        index, first_row, rows, results, records = values
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
            f"{what} in the store {self._database.name} is damaged: {error}",
            hint="delete the run and make it again, or take a backup",
        )

    def _compress(self, body: bytes) -> bytes:
        return self._compressor().compress(body)

    def _compressor(self) -> "ZstdCompressor":
        """For one thread at a time."""
        import zstandard

        return zstandard.ZstdCompressor(level=self._database.compression_level, write_checksum=True)


_OF_THREAD = threading.local()


def _decompress(body: bytes) -> bytes:
    """Raises: ValueError: the body is damaged, by its checksum."""
    import zstandard

    # One for each thread: making one takes longer than what it does here, and two threads may not share one.
    decompressor = getattr(_OF_THREAD, "decompressor", None)
    if decompressor is None:
        decompressor = _OF_THREAD.decompressor = zstandard.ZstdDecompressor()
    try:
        return decompressor.decompress(body)
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


def put_labels(connection: Transaction, run_id: str, labels: dict[str, str]) -> None:
    """Makes `labels` the ones that the run is found by."""
    connection.execute(CLEAR_LABELS, (run_id,))
    if labels:
        connection.executemany(PUT_LABEL, [(run_id, key, value) for key, value in labels.items()])


def _missing(run_id: str) -> NotFoundError:
    return NotFoundError(f"no run {run_id}", hint="'evalsi runs list' shows all")
