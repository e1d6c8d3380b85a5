"""Traces in a SQLite file of their own: one thread writes what all callers appended meanwhile in one transaction.

What always holds: a call returns after the transaction that holds its parts is committed; the parts of a call are stored
all or none; one call that cannot be stored fails alone. Reading uses connections of its own, so that no list waits for a
write.
"""

import queue
import re
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from evalsi.core.errors import EvalsiError, NotFoundError, StoreError
from evalsi.infra.store.database import Database, StoreOptions, open_database
from evalsi.infra.store.trace_completing import MOVE_SESSION
from evalsi.infra.store.trace_migrations import TRACE_MIGRATIONS
from evalsi.infra.store.trace_query import Lead
from evalsi.infra.store.trace_rows import (
    TRACE_COLUMNS,
    Arrived,
    label_of,
    packed_text,
    trace_row,
    unpacked,
)
from evalsi.infra.store.trace_store import ARRIVED, SqlTraceStore
from evalsi.infra.store.trace_tables import ADD_LABEL
from evalsi.infra.store.transactions import Transaction
from evalsi.ports.trace_store import Appended
from evalsi.traces.search_words import search_words

_MOST_WAITING = 256
"""Calls that wait to be written; further ones wait before they may wait."""
_MOST_AT_ONCE = 64
"""Calls in one transaction."""
_READERS = 4
_WRITER_CACHE_KIB = 160 * 1024
"""Holds the inner pages of the indexes of a few million traces: ids are random, so that any page may be the next.
Measured at 1,000,000 traces: 142 us CPU for a trace of 10 spans, where 64 MiB take 190."""
_READER_CACHE_KIB = 16 * 1024
_PAGES_OF_LOG = 12_000
"""The longer the log, the more often a page waits in it for several traces before it is written to its place."""
_ROOM = 1 << 11
"""Traces of one microsecond that search tells apart by order."""
_ODD = 0x9E3779B97F4A7C15
"""Whose multiples look like chance (Knuth, The Art of Computer Programming 3, 6.4)."""
_LATE_PLACES = 1 << 62
_LATEST_US = (1 << 52) - 1000
"""What is later, in the year 2112, is found as of then."""
_IDS_AT_ONCE = 500
_ROWS_AT_ONCE = 32
"""In one statement. For each one, this thread gives up Python's lock and has to get it back from those that read requests: with
a statement for each row, a twentieth less was stored in the same time."""
_BYTES_AT_ONCE = 128 << 10
"""In one statement of several rows: SQLite keeps what each of them was last given, one for each number of rows."""
_ROW = re.compile(r"\(\?(?:, \?)*\)")

NEWEST_KEY = "SELECT coalesce(max(key), 0) FROM traces"
FIND_ARRIVED = f"SELECT {ARRIVED} FROM traces WHERE project = ? AND trace_id IN ({{}})"  # noqa: S608
ADD_TRACE = f"INSERT INTO traces (key, {', '.join(TRACE_COLUMNS)}) VALUES (?{', ?' * len(TRACE_COLUMNS)})"  # noqa: S608
ADD_PART = "INSERT INTO trace_parts (trace, digest, body) VALUES (?, ?, ?) ON CONFLICT (trace, digest) DO NOTHING"
ADD_TEXT = "INSERT INTO trace_texts (place, trace, words) VALUES (?, ?, ?) ON CONFLICT (place) DO NOTHING"
ADD_WORDS = "INSERT INTO trace_words (rowid, words) VALUES (?, ?)"
FIND_TEXT = "SELECT place, words FROM trace_texts WHERE trace = ?"
DROP_TEXT = "DELETE FROM trace_texts WHERE place = ?"
MERGE_WORDS = "INSERT INTO trace_words (trace_words, rank) VALUES ('merge', ?)"
_PAGES_AT_ONCE = 500
DROP_WORDS = "INSERT INTO trace_words (trace_words, rowid, words) VALUES ('delete', ?, ?)"


class _Call(NamedTuple):
    """A call that waits for its transaction."""

    arrived: Arrived
    done: "Future[Appended]"


class SqliteTraceStore(SqlTraceStore):
    """Implements `TraceStore`."""

    JOIN = "CROSS JOIN"  # SQLite takes the tables in this order then

    def __init__(self, path: Path, options: StoreOptions | None = None, *, create: bool = True) -> None:
        """Opens the file. Raises: NotFoundError: it is not there and is not to be made. StoreError: it cannot be used."""
        if not create and not path.exists():
            raise NotFoundError(
                f"no traces at {path}",
                hint="'evalsi traces import' takes them in, 'evalsi serve' receives them, and --server URL asks a server",
            )
        self._path = path
        self._options = options
        self._file = self._open(_WRITER_CACHE_KIB)
        super().__init__(self._file)
        self._idle: queue.LifoQueue[Database] = queue.LifoQueue()
        self._readers = threading.BoundedSemaphore(_READERS)
        self._calls: queue.Queue[_Call | None] = queue.Queue(_MOST_WAITING)
        self._lock = threading.Lock()
        self._writer: threading.Thread | None = None
        self._closing = self._closed = False

    def close(self) -> None:
        """Writes what waits, then closes the file. What waits is refused once something of it could not be written."""
        if not self._file.is_open:
            return
        self._closing = True  # before the lock, which who waits for room has
        with self._lock:
            if self._closed:
                return
            self._closed = True
            writer = self._writer
        if writer is not None:
            self._calls.put(None)
            writer.join()
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                break
        self._file.close()

    def _open(self, cache_kib: int) -> Database:
        database = open_database(self._path, self._options, migrations=TRACE_MIGRATIONS)
        database.read(f"PRAGMA cache_size = -{cache_kib}")
        database.read(f"PRAGMA wal_autocheckpoint = {_PAGES_OF_LOG}")
        return database

    def _read(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._readers:
            try:
                database = self._idle.get_nowait()
            except queue.Empty:
                database = self._open(_READER_CACHE_KIB)
            try:
                return database.read(statement, values)
            finally:
                self._idle.put(database)

    # Arrivals

    def _write_arrivals(self, arrived: Arrived) -> Appended:
        return self._begin_writing(arrived).result()

    def _begin_writing(self, arrived: Arrived) -> "Future[Appended]":
        call = _Call(arrived, Future())
        call.done.set_running_or_notify_cancel()  # nobody may cancel what others' parts are written together with
        self._check_open()  # before the lock, which a fork may have left locked
        with self._lock:  # also while this waits for room: nothing may come after what ends the writer
            self._check_open()
            if self._writer is None:
                self._writer = threading.Thread(target=self._write_calls, name="evalsi-traces", daemon=True)
                self._writer.start()
            self._calls.put(call)
        return call.done

    def _check_open(self) -> None:
        if self._closing or not self._file.is_open:
            raise StoreError(f"the store {self._path} is closed", hint="open it again")

    def _write_calls(self) -> None:
        ended = False
        refusal: EvalsiError | None = None
        while not ended:
            calls: list[_Call] = []
            call = self._calls.get()
            while call is not None:
                calls.append(call)
                if len(calls) == _MOST_AT_ONCE:
                    break
                try:
                    call = self._calls.get_nowait()
                except queue.Empty:
                    break
            ended = call is None
            if refusal is not None and self._closing:  # it would be tried for a minute, again and again
                for call in calls:
                    call.done.set_exception(refusal)
            elif calls:
                refusal = self._write_together(calls)

    def _write_together(self, calls: Sequence[_Call]) -> StoreError | None:
        """What the store failed with for all of them; None where they are stored, or cannot be stored for what they hold."""
        try:
            told = self._file.write(lambda locked: [self._write_call(locked, call.arrived) for call in calls])
        except Exception as error:
            if len(calls) == 1 or isinstance(error, StoreError):
                for call in calls:
                    call.done.set_exception(_typed(error, self._path))
                return error if isinstance(error, StoreError) else None
            refusals = [self._write_together([call]) for call in calls]
            return refusals[-1]
        for call, (project, appended) in zip(calls, told, strict=True):
            self._keys[call.arrived.project] = project
            call.done.set_result(appended)
        return None

    def _write_call(self, locked: Transaction, arrived: Arrived) -> tuple[int, Appended]:
        """The project's number and what is new."""
        project = self._made_key(locked, arrived.project)
        known: dict[bytes, tuple[Any, ...]] = {}
        names = list(arrived.traces)
        for at in range(0, len(names), _IDS_AT_ONCE):
            some = names[at : at + _IDS_AT_ONCE]
            statement = FIND_ARRIVED.format(", ".join("?" * len(some)))
            known.update({row[0]: row[1:] for row in locked.execute(statement, (project, *some)).fetchall()})
        (newest,) = locked.execute(NEWEST_KEY).fetchone()
        traces: list[tuple[Any, ...]] = []
        parts: list[tuple[Any, ...]] = []
        labels: list[tuple[Any, ...]] = []
        spans = 0
        sessions: set[str] = set()
        for name, arrival in arrived.traces.items():
            if name in known:
                trace = known[name][0]
                new = [
                    (own, failed)
                    for row, own, failed in arrival.parts
                    if locked.execute(ADD_PART, (trace, row.digest, row.body)).rowcount
                ]
                if new:
                    sessions.add(self._grow(locked, project, arrival, known[name], new, arrived))
                    spans += sum(own for own, _ in new)
                continue
            newest += 1
            traces.append((newest, *trace_row(project, arrival, arrived.now_ms, arrived.waiting)))
            parts += [(newest, row.digest, row.body) for row, _, _ in arrival.parts]
            labels += [
                (project, label_of(key, value), arrival.start_ns, newest) for key, value in arrival.labels.items()
            ]
            sessions.add(arrival.session_id)
            spans += arrival.spans
        _insert(locked, ADD_TRACE, traces)
        _insert(locked, ADD_PART, parts)
        _insert(locked, ADD_LABEL, labels)
        due = arrived.now_ms + arrived.waiting.session_ms
        locked.executemany(MOVE_SESSION, [(project, session, due) for session in sessions if session])
        return project, Appended(traces=len(traces), spans=spans)

    # Words

    def words_lead(self, project: int, words: Sequence[str]) -> Lead:
        asked = " ".join(f'"{word}"' for word in (_mark(project), *words))
        condition = ("trace_words MATCH ?",)
        table = f"trace_words {self.JOIN} trace_texts x ON x.place = trace_words.rowid"
        return Lead(table, "x.trace", ("trace_words.rowid", "0"), condition, (asked,))

    def says_words(self, project: int, words: Sequence[str]) -> tuple[str, str]:
        asked = " ".join(f'"{word}"' for word in (_mark(project), *words))
        return (
            "EXISTS (SELECT 1 FROM trace_texts x CROSS JOIN trace_words ON trace_words.rowid = x.place "
            "WHERE x.trace = t.key AND trace_words MATCH ?)",
            asked,
        )

    def _read_text(self, project: int, text: str) -> Any:
        return indexed_words(project, search_words(text))

    def _index_text(self, change: Transaction, project: int, trace: int, start_ns: int, text: Any) -> None:
        del project
        index_words(change, trace, start_ns, text)

    def _forget_text(self, change: Transaction, trace: int) -> None:
        found = change.execute(FIND_TEXT, (trace,)).fetchone()
        if found is not None:
            change.execute(DROP_WORDS, (found[0], unpacked(found[1]).decode()))
            change.execute(DROP_TEXT, (found[0],))

    @contextmanager
    def _erasing(self) -> Generator[None]:
        self._file.read("PRAGMA secure_delete = ON")
        try:
            yield
            self._file.write(lambda locked: locked.execute(MERGE_WORDS, (-_PAGES_AT_ONCE,)))
            while self._file.write(_merge_some):
                pass
            self._file.read("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._file.read("PRAGMA secure_delete = FAST")


def _merge_some(locked: Transaction) -> bool:
    """Goes on merging the index of words, which is what takes deleted words out of it; whether there is more to do."""
    before = locked.execute("SELECT total_changes()").fetchone()[0]
    locked.execute(MERGE_WORDS, (_PAGES_AT_ONCE,))
    return locked.execute("SELECT total_changes()").fetchone()[0] - before > 1


class IndexedWords(NamedTuple):
    """Words as the index takes them, and as they are kept to take them out again."""

    whole: str
    packed: bytes


def indexed_words(project: int, words: Sequence[str]) -> IndexedWords:
    whole = " ".join((_mark(project), *words))
    return IndexedWords(whole, packed_text(whole))


def index_words(change: Transaction, trace: int, start_ns: int, words: IndexedWords) -> None:
    """Makes a trace known by these words."""
    first = min(start_ns // 1000, _LATEST_US) * _ROOM
    place, room, odd = first + trace % _ROOM, _ROOM, _ODD
    while not change.execute(ADD_TEXT, (place, trace, words.packed)).rowcount:
        # Many begin at one moment where a sender has no clock: somewhere in twice the room, until there is a place.
        room, odd = 2 * room, odd + 2
        away = (trace * odd >> 24) % room
        place = first + away if first < _LATE_PLACES else first - away
    change.execute(ADD_WORDS, (place, words.whole))


def _mark(project: int) -> str:
    """A word that no text holds, so that a search meets only the texts of its project."""
    return f"\u00a7{project}"


def _typed(error: Exception, path: Path) -> EvalsiError:
    if isinstance(error, EvalsiError):
        return error
    fault = StoreError(
        f"spans cannot be written to {path}: {type(error).__name__}: {error}",
        hint="this is our mistake, please report it",
    )
    fault.__cause__ = error
    return fault


def _insert(locked: Transaction, statement: str, rows: Sequence[Sequence[Any]]) -> None:
    """Executes a statement that inserts one row for many of them."""
    some: list[Sequence[Any]] = []
    some_bytes = 0
    for row in rows:
        row_bytes = sum(len(value) for value in row if isinstance(value, bytes | str))
        if some and (len(some) == _ROWS_AT_ONCE or some_bytes + row_bytes > _BYTES_AT_ONCE):
            locked.execute(_for_rows(statement, len(some)), list(chain.from_iterable(some)))
            some, some_bytes = [], 0
        some.append(row)
        some_bytes += row_bytes
    if some:
        locked.execute(_for_rows(statement, len(some)), list(chain.from_iterable(some)))


@cache
def _for_rows(statement: str, count: int) -> str:
    return _ROW.sub(lambda row: ", ".join([row.group()] * count), statement)
