"""Traces in PostgreSQL: a call's parts go there in a few statements of whole columns, words as `tsvector`.

What always holds: each call is a transaction of its own, which PostgreSQL commits together with others by itself; two calls
that bring parts of one trace wait for each other at its row.
"""

from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import BoundedSemaphore, Timer
from typing import Any

from evalsi.core.errors import StoreError
from evalsi.infra.store.postgres import CLOSE_S, PostgresDatabase
from evalsi.infra.store.trace_completing import MOVE_SESSION
from evalsi.infra.store.trace_query import Lead
from evalsi.infra.store.trace_rows import TRACE_COLUMNS, Arrived, label_of, trace_row
from evalsi.infra.store.trace_store import ARRIVED, SqlTraceStore
from evalsi.infra.store.trace_tables import ADD_LABEL
from evalsi.infra.store.transactions import Transaction
from evalsi.ports.trace_store import Appended
from evalsi.traces.search_words import search_words

_WRITERS = 8
"""Calls that are written at the same time, each by a connection of its own."""
_MOST_WAITING = 256
"""Calls that are written or wait for it; further ones wait before they may wait."""
_NUMBERS = "?::bigint[]"
_TEXTS = "?::text[]"
_TYPES = {
    "trace_id": "?::bytea[]",
    "service": _TEXTS,
    "session_id": _TEXTS,
    "user_id": _TEXTS,
    "name": _TEXTS,
    "labels": _TEXTS,
}
ADD_TRACES = (
    f"INSERT INTO traces ({', '.join(TRACE_COLUMNS)}) SELECT * FROM unnest("  # noqa: S608 - names of our own
    f"{', '.join(f'{_TYPES.get(name, _NUMBERS)}' for name in TRACE_COLUMNS)}) "
    "ON CONFLICT (project, trace_id) DO NOTHING RETURNING trace_id, key"
)
FIND_ARRIVED = f"SELECT {ARRIVED} FROM traces WHERE project = ? AND trace_id = ANY(?) ORDER BY key FOR UPDATE"  # noqa: S608
ADD_PARTS = """
    INSERT INTO trace_parts (trace, digest, body) SELECT * FROM unnest(?::bigint[], ?::bytea[], ?::bytea[])
    ON CONFLICT (trace, digest) DO NOTHING RETURNING trace, digest"""
ADD_TEXT = "INSERT INTO trace_texts (trace, project, start_ns, words) VALUES (?, ?, ?, array_to_tsvector(?::text[]))"
DROP_TEXT = "DELETE FROM trace_texts WHERE trace = ?"


class PostgresTraceStore(SqlTraceStore):
    """Implements `TraceStore`."""

    SKIP_HELD = " FOR UPDATE SKIP LOCKED"

    def __init__(self, database: PostgresDatabase) -> None:
        super().__init__(database)
        self._postgres = database
        self._writing = ThreadPoolExecutor(_WRITERS, thread_name_prefix="evalsi-traces")
        self._room = BoundedSemaphore(_MOST_WAITING)
        self._closing = False
        self._refusal: StoreError | None = None
        """What something failed with that waited when the store was closed."""

    def close(self) -> None:
        """Writes what waits. It is refused once something of it could not be written: nothing is tried again."""
        if not self._database.is_open:
            return
        self._closing = True
        self._postgres.try_once()
        patience = Timer(CLOSE_S, self._postgres.cut_off)
        patience.start()
        self._writing.shutdown()
        patience.cancel()
        super().close()

    def _begin_writing(self, arrived: Arrived) -> "Future[Appended]":
        self._check_open()  # in a child made by a fork, nobody would give room or write
        self._room.acquire()
        try:
            self._check_open()
            begun = self._writing.submit(self._write_waiting, arrived)
        except BaseException as error:
            self._room.release()
            if isinstance(error, RuntimeError):  # it was shut down just now
                self._check_open()
            raise
        begun.add_done_callback(lambda _: self._room.release())
        return begun

    def _check_open(self) -> None:
        if self._closing or not self._database.is_open:
            raise StoreError(f"the store {self._database.name} is closed", hint="open it again")

    def _write_waiting(self, arrived: Arrived) -> Appended:
        if self._refusal is not None:
            raise self._refusal
        try:
            return self._write_arrivals(arrived)
        except StoreError as error:
            if self._closing:
                self._refusal = error
            raise

    def _write_arrivals(self, arrived: Arrived) -> Appended:
        project, told = self._database.write(lambda locked: self._write_call(locked, arrived), alone=False)
        self._keys[arrived.project] = project
        return told

    def _write_call(self, locked: Transaction, arrived: Arrived) -> tuple[int, Appended]:
        """The project's number and what is new."""
        project = self._made_key(locked, arrived.project)
        names = sorted(arrived.traces)
        rows = [trace_row(project, arrived.traces[name], arrived.now_ms, arrived.waiting) for name in names]
        new = {bytes(row[0]): row[1] for row in locked.execute(ADD_TRACES, _columns(rows)).fetchall()}
        left = [name for name in names if name not in new]
        found = locked.execute(FIND_ARRIVED, (project, left)).fetchall() if left else []
        known = {bytes(row[0]): row[1:] for row in found}
        keys = {**new, **{name: row[0] for name, row in known.items()}}
        parts = [(keys[name], row.digest, row.body) for name in names for row, _, _ in arrived.traces[name].parts]
        stored = {(row[0], bytes(row[1])) for row in locked.execute(ADD_PARTS, _columns(parts)).fetchall()}
        spans = 0
        sessions: set[str] = set()
        labels: list[tuple[Any, ...]] = []
        for name in names:
            arrival, key = arrived.traces[name], keys[name]
            pieces = [(own, failed) for row, own, failed in arrival.parts if (key, row.digest) in stored]
            spans += sum(own for own, _ in pieces)
            if name in new:
                sessions.add(arrival.session_id)
                labels += [(project, label_of(*each), arrival.start_ns, key) for each in arrival.labels.items()]
            elif pieces:
                sessions.add(self._grow(locked, project, arrival, known[name], pieces, arrived))
        if labels:
            locked.executemany(ADD_LABEL, labels)
        due = arrived.now_ms + arrived.waiting.session_ms
        moved = [(project, session, due) for session in sorted(sessions) if session]
        if moved:
            locked.executemany(MOVE_SESSION, moved)
        return project, Appended(traces=len(new), spans=spans)

    def words_lead(self, project: int, words: Sequence[str]) -> Lead:
        # Words hold letters and digits alone, so that nothing in them is an operator.
        asked = " & ".join(f"'{word}'" for word in words)
        conditions = ("x.project = ?", "x.words @@ ?::tsquery")
        return Lead("trace_texts x", "x.trace", ("x.start_ns", "x.trace"), conditions, (project, asked))

    def says_words(self, project: int, words: Sequence[str]) -> tuple[str, str]:
        del project
        asked = " & ".join(f"'{word}'" for word in words)
        return "EXISTS (SELECT 1 FROM trace_texts x WHERE x.trace = t.key AND x.words @@ ?::tsquery)", asked

    def _read_text(self, project: int, text: str) -> Any:
        del project
        return search_words(text) or None

    def _index_text(self, change: Transaction, project: int, trace: int, start_ns: int, text: Any) -> None:
        change.execute(ADD_TEXT, (trace, project, start_ns, text))

    def _forget_text(self, change: Transaction, trace: int) -> None:
        change.execute(DROP_TEXT, (trace,))

    @contextmanager
    def _erasing(self) -> Generator[None]:
        """PostgreSQL overwrites what was deleted when it vacuums; when that is, its operator decides."""
        yield


def _columns(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]
