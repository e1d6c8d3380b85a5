"""PostgreSQL as the stores ask for a database: implements `SqlDatabase` with psycopg.

What always holds: a change is one transaction, tried again when PostgreSQL asks for it (a conflict, a connection that a
restart cut); what PostgreSQL fails with leaves here as a typed error without the address's password.
"""

import os
import random
import re
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.rows import tuple_row

from evalsi.core.errors import EvalsiError, StoreError, UsageError
from evalsi.infra.store.database import StoreOptions
from evalsi.infra.store.transactions import Cursor, Transaction

T = TypeVar("T")

_ALONE = 0x45767369
"""The advisory lock of changes that must be alone."""
_PASSING = (errors.SerializationFailure, errors.DeadlockDetected, errors.LockNotAvailable)
_GONE = (psycopg.OperationalError, errors.AdminShutdown, errors.CannotConnectNow, psycopg.InterfaceError)
_PASSWORD = re.compile(r"(://[^:/@]+:)[^@]*@|(password=)\S+")
MOST_IDLE = 8
"""Connections that are kept for the next call."""
CLOSE_S = 5.0
"""Seconds that calls under way have to end when the store is closed; a PostgreSQL that cannot be reached may never answer."""


class PostgresDatabase:
    """Implements `SqlDatabase`. A thread uses a connection of its own for the time of a call."""

    read_only = False
    hold = " FOR UPDATE"

    def __init__(self, address: str, options: StoreOptions | None = None) -> None:
        self.options = options or StoreOptions()
        self._address = address
        self._idle: list[psycopg.Connection[tuple[Any, ...]]] = []
        self._used: set[psycopg.Connection[tuple[Any, ...]]] = set()
        self._lock = threading.Lock()
        self._all_back = threading.Condition(self._lock)
        self._pid = os.getpid()
        self._closed = False
        self._tries_once = False

    @property
    def name(self) -> str:
        return _without_password(self._address)

    @property
    def compression_level(self) -> int:
        return self.options.compression_level

    @property
    def writer_timeout_s(self) -> float:
        return self.options.writer_timeout_s

    @property
    def is_open(self) -> bool:
        return not self._closed and self._pid == os.getpid()

    def read(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        def fetch(connection: psycopg.Connection[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
            return connection.execute(_translated(statement), parameters, binary=True).fetchall()

        return self._patiently(fetch)

    def write(self, change: Callable[[Transaction], T], *, sync: bool = False, alone: bool = False) -> T:
        def run(connection: psycopg.Connection[tuple[Any, ...]]) -> T:
            with connection.transaction():
                if sync or self.options.synchronous == "full":
                    connection.execute("SET LOCAL synchronous_commit = on")
                else:
                    connection.execute("SET LOCAL synchronous_commit = off")
                if alone:
                    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_ALONE,))
                return change(_Translating(connection))

        return self._patiently(run)

    def give_space_back(self) -> None:
        """PostgreSQL's autovacuum does it by itself."""

    def try_once(self) -> None:
        """From now on what fails is not tried again: whoever closes the store does not wait for PostgreSQL to come back."""
        self._tries_once = True

    def close(self) -> None:
        """Lets calls under way end, those that wait for PostgreSQL longer than `CLOSE_S` with an error."""
        if self._pid != os.getpid():  # and the lock may never be free
            return
        with self._lock:
            self._begin_no_more()
            if self._all_back.wait_for(lambda: not self._used, CLOSE_S):
                return
        self.cut_off()

    def cut_off(self) -> None:
        """Closes at once: calls under way end with an error, and whether PostgreSQL has carried them out is not known."""
        with self._lock:
            self._begin_no_more()
            for connection in self._used:
                with suppress(psycopg.Error, OSError), socket.socket(fileno=os.dup(connection.fileno())) as wire:
                    wire.shutdown(socket.SHUT_RDWR)

    def _begin_no_more(self) -> None:
        self._closed = True
        for connection in self._idle:
            with suppress(psycopg.Error):
                connection.close()
        self._idle.clear()

    def _patiently(self, action: Callable[[psycopg.Connection[tuple[Any, ...]]], T]) -> T:
        deadline_s = time.monotonic() + self.options.busy_timeout_s
        while True:
            try:
                with self._connection() as connection:
                    return action(connection)
            except errors.ProgramLimitExceeded as error:  # it is among those that may pass, but never does
                raise self._refused(error) from error
            except (*_PASSING, *_GONE) as error:
                if self._tries_once or time.monotonic() > deadline_s or _is_lasting(error):
                    raise postgres_fault(self._address, error) from error
            except psycopg.DataError as error:
                raise self._refused(error) from error
            except psycopg.Error as error:
                raise postgres_fault(self._address, error) from error
            except UnicodeEncodeError as error:
                raise UsageError(
                    f"the text {error.object[:80]!a} cannot be stored: it holds half a surrogate pair",
                    hint="give names, labels and paths as valid Unicode",
                ) from error
            time.sleep(random.uniform(0.02, 0.2))

    @contextmanager
    def _connection(self) -> Generator[psycopg.Connection[tuple[Any, ...]]]:
        if self._pid != os.getpid():
            raise StoreError(f"the store {self.name} was opened before a fork", hint="open it again in this process")
        if self._closed:
            raise StoreError(f"the store {self.name} is closed", hint="open it again")
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = psycopg.connect(
                self._address, autocommit=True, row_factory=tuple_row, connect_timeout=5, application_name="evalsi"
            )
        with self._lock:
            self._used.add(connection)
        is_sound = False
        try:
            yield connection
            is_sound = True
        except EvalsiError:
            is_sound = not connection.closed
            raise
        finally:
            self._give_back(connection, is_sound=is_sound)

    def _give_back(self, connection: psycopg.Connection[tuple[Any, ...]], *, is_sound: bool) -> None:
        with self._lock:
            self._used.discard(connection)
            self._all_back.notify_all()
            if is_sound and not self._closed and len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _refused(self, error: psycopg.Error) -> UsageError:
        reason = str(error).partition("\n")[0]
        return UsageError(
            f"a text cannot be stored: {reason}",
            hint="leave out characters that no text holds, as U+0000, or shorten it",
        )


def postgres_fault(address: str, error: psycopg.Error) -> StoreError:
    """The sentence for what PostgreSQL at `address` failed with."""
    name = _without_password(address)
    reason = _PASSWORD.sub(r"\1\2…@", str(error)).strip().partition("\n")[0]
    if isinstance(error, errors.DiskFull):
        return StoreError(f"the store {name} cannot grow: {reason}", hint="free some space; what is stored is safe")
    return StoreError(
        f"the store {name} cannot be used (PostgreSQL: {reason})",
        hint="check that the database runs, its address and its rights; nothing acknowledged is lost",
    )


def _without_password(address: str) -> str:
    return _PASSWORD.sub(r"\1\2…@" if "://" in address else r"\2…", address)


class _Translating:
    """Implements `Transaction` in PostgreSQL's way of writing parameters."""

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        self._connection = connection

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> Cursor:
        return self._connection.execute(_translated(statement), parameters, binary=True)

    def executemany(self, statement: str, parameters: Iterable[Sequence[Any]], /) -> object:
        with self._connection.cursor() as cursor:
            cursor.executemany(_translated(statement), parameters)
        return None


@cache
def _translated(statement: str) -> Any:
    """`?` as psycopg writes it. No statement of the stores holds a question mark or percent sign otherwise."""
    statement = statement.replace("%", "%%")
    # Bytes in a list travel as they are: written as text they take nine times as long here, and as long again over there.
    return statement.replace("?::bytea[]", "%b::bytea[]").replace("?", "%s").encode()


def _is_lasting(error: psycopg.Error) -> bool:
    """Whether waiting cannot help: the address or its rights are wrong."""
    return isinstance(
        error, (errors.InvalidPassword, errors.InvalidCatalogName, errors.InvalidAuthorizationSpecification)
    )
