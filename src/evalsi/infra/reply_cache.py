"""The judge cache and the reward cache: replies or values in one SQLite file that several processes may use at once.

Each is its own file (`judge-cache.db`, `reward-cache.db`), so that it can be deleted, shared or kept out of backups without touching results. Reads
are a lookup on the caller's thread (tens of microseconds); writes go to a thread of their own, many to a transaction, and
never wait for the disk on the caller's. What is not written yet is answered from memory. A cache that cannot be used costs
money, never truth: a broken file is set aside, and a disk that is full ends the writing, each with one warning.
"""

import contextlib
import logging
import os
import queue
import sqlite3
import threading
import time
import zlib
from pathlib import Path

from evalsi.core.errors import StoreError

_LOG = logging.getLogger("evalsi.judge_cache")
_APPLICATION_ID = 0x65764A43
_BUSY_S = 10.0
_GATHERING_S = 0.05
"""How long the writer lets replies gather: a transaction for each would cost more than the question."""
_MOST_PER_TRANSACTION = 1000
_COMPRESSED_ABOVE_BYTES = 300
_TABLE = """
CREATE TABLE IF NOT EXISTS replies (
  key TEXT PRIMARY KEY,
  value BLOB NOT NULL,
  created_at REAL NOT NULL
) WITHOUT ROWID
"""


class SqliteReplyCache:
    """Implements `ports.reply_cache.ReplyCache`; safe to use from several threads. `close` writes what is left.

    Raises: StoreError: the folder cannot be written.
    """

    def __init__(self, path: Path, *, name: str = "judge cache") -> None:
        self.path = path
        self._name = name
        self._pending: dict[str, bytes] = {}
        self._queue: queue.SimpleQueue[tuple[str, bytes] | None] = queue.SimpleQueue()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the {self._name} cannot be kept: {error.strerror}", where=str(path)) from error
        self._reading = threading.Lock()
        self._reader = self._opened()
        self._writer: threading.Thread | None = None
        self._ending = threading.Event()
        self._closed = False

    def get(self, key: str) -> bytes | None:
        """See `ports.reply_cache.ReplyCache.get`."""
        pending = self._pending.get(key)
        if pending is not None:
            return pending
        with self._reading:
            if self._closed:
                return None
            try:
                row = self._reader.execute("SELECT value FROM replies WHERE key = ?", (key,)).fetchone()
            except sqlite3.DatabaseError as error:
                if not isinstance(error, sqlite3.OperationalError):
                    self._replace(error)
                return None  # Broken, or busy beyond patience: asking the judge again is always right.
        return None if row is None else _unpacked(row[0])

    def put(self, key: str, value: bytes) -> None:
        """See `ports.reply_cache.ReplyCache.put`. Returns at once; the value is on disk a moment later."""
        if self._closed or key in self._pending:
            return
        self._pending[key] = value
        if self._writer is None:
            self._writer = threading.Thread(target=self._write, name=self._name.replace(" ", "-"), daemon=True)
            self._writer.start()
        self._queue.put((key, value))

    def close(self) -> None:
        """Writes what is left and closes the file. Calling it twice is fine."""
        if self._closed:
            return
        with self._reading:
            self._closed = True
            self._reader.close()
        if self._writer is not None:
            self._queue.put(None)
            self._ending.set()
            self._writer.join()

    def _write(self) -> None:
        """The writer thread: takes whatever has gathered and writes it in one transaction."""
        connection: sqlite3.Connection | None = None
        ended = False
        while not ended:
            batch = [self._queue.get()]
            self._ending.wait(_GATHERING_S)
            with contextlib.suppress(queue.Empty):
                while len(batch) < _MOST_PER_TRANSACTION:
                    batch.append(self._queue.get_nowait())
            ended = None in batch
            rows = [row for row in batch if row is not None]
            try:
                if connection is None:
                    connection = _connected(self.path)
                now = time.time()
                with connection:
                    connection.executemany(
                        "INSERT OR IGNORE INTO replies (key, value, created_at) VALUES (?, ?, ?)",
                        [(key, _packed(value), now) for key, value in rows],
                    )
            except sqlite3.Error as error:
                _LOG.warning("%s: %d entries were not kept in %s: %s", self._name, len(rows), self.path, error)
                if connection is not None:
                    connection.close()
                    connection = None
            for key, _ in rows:
                self._pending.pop(key, None)
        if connection is not None:
            connection.close()

    def _opened(self) -> sqlite3.Connection:
        try:
            return _prepared(self.path)
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"the {self._name} cannot be opened: {error}",
                where=str(self.path),
                hint="choose another folder with EVALSI_CACHE_DIR, or use --no-cache",
            ) from error
        except sqlite3.DatabaseError as error:
            self._set_aside(error)
            return _prepared(self.path)

    def _replace(self, error: sqlite3.DatabaseError) -> None:
        self._reader.close()
        self._set_aside(error)
        self._reader = _prepared(self.path)

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        """Moves a file that is no sound database out of the way; nothing is deleted."""
        aside = self.path.with_name(f"{self.path.name}.broken-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}")
        with contextlib.suppress(FileNotFoundError):
            self.path.rename(aside)
        for suffix in ("-wal", "-shm"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        _LOG.warning("%s: %s could not be read (%s); it was moved to %s", self._name, self.path, error, aside.name)


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_S, check_same_thread=False)
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _prepared(path: Path) -> sqlite3.Connection:
    """A connection to a file that has the table. Raises: sqlite3.DatabaseError: it is something else."""
    connection = _connected(path)
    try:
        [(application,)] = connection.execute("PRAGMA application_id").fetchall()
        if application not in (0, _APPLICATION_ID):
            raise sqlite3.DatabaseError("it belongs to another program")
        connection.execute("PRAGMA journal_mode = WAL")
        with connection:
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute("SELECT key, value, created_at FROM replies LIMIT 1").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _packed(value: bytes) -> bytes:
    """The first byte says how: 0 as it is, 1 with zlib."""
    if len(value) <= _COMPRESSED_ABOVE_BYTES:
        return b"\0" + value
    return b"\1" + zlib.compress(value, 1)


def _unpacked(stored: bytes) -> bytes | None:
    try:
        return zlib.decompress(stored[1:]) if stored[:1] == b"\1" else stored[1:]
    except zlib.error:
        return None
