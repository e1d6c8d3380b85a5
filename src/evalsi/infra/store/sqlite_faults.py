"""What SQLite can fail with, as sentences a person can act on.

Its own module because both opening and using the file need it, and because the table of causes is worth reading as one.
"""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from evalsi.core.errors import StoreError, UsageError

_CORRUPT = (
    "is damaged",
    "move it and its -wal and -shm files away, then use a backup or what 'sqlite3 FILE .recover' can save of it",
)
_CAUSES: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_BUSY: (
        "is held by another process that does not let go",
        "see which process writes to it (fuser, lsof) and try again: nothing acknowledged is lost",
    ),
    sqlite3.SQLITE_LOCKED: ("is locked by this process", "this is our mistake, please report it"),
    sqlite3.SQLITE_FULL: (
        "cannot grow: the disk or the quota is full",
        "free some space: what is stored is safe, and a run goes on after its last stored segment",
    ),
    sqlite3.SQLITE_IOERR: (
        "cannot be read or written: the disk reports an error, is full, or a limit on file size was reached",
        "check free space and the disk: what is stored is safe, and a run goes on after its last stored segment",
    ),
    sqlite3.SQLITE_READONLY: ("cannot be written", "make the file and its folder writable, or name another store"),
    sqlite3.SQLITE_PERM: ("may not be opened", "check the permissions of the file and its folder"),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "check that its folder exists and that both may be read and written"),
    sqlite3.SQLITE_CORRUPT: _CORRUPT,
    sqlite3.SQLITE_NOTADB: (
        "is no SQLite file, or its beginning is damaged",
        "name another store, or move the file away and take a backup",
    ),
    sqlite3.SQLITE_TOOBIG: ("refuses a value above 1 GB", "use smaller segments"),
    sqlite3.SQLITE_NOMEM: ("needs more memory than there is", "use smaller segments or give the process more memory"),
}
_WITHOUT_ROOM = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN})
_PASSING = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})


@contextmanager
def sqlite_faults(path: Path) -> Generator[None, None, None]:
    """Types every error of SQLite inside as StoreError about the file at `path`.

    Raises: UsageError: a text cannot be stored since it is no Unicode.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise store_error(path, error) from error
    except UnicodeEncodeError as error:
        raise UsageError(
            f"the text {error.object[:80]!a} cannot be stored: it holds half a surrogate pair",
            hint="give names, labels and paths as valid Unicode",
        ) from error


def store_error(path: Path, error: sqlite3.Error) -> StoreError:
    """The sentence for `error`: what is wrong with the file, and what to do."""
    what, hint = _CAUSES.get(_primary_code(error), ("cannot be used", "run 'evalsi doctor'"))
    return StoreError(f"the store {path} {what} (SQLite: {error})", hint=hint)


def is_passing(error: sqlite3.Error) -> bool:
    """Whether the same statement may succeed in a moment: somebody else holds a lock."""
    return _primary_code(error) in _PASSING


def is_lack_of_room(error: sqlite3.Error) -> bool:
    """Whether the disk is full for certain."""
    return _primary_code(error) == sqlite3.SQLITE_FULL


def may_lack_room(error: BaseException | None) -> bool:
    """Whether a file beside the store may not have been made because the disk is full; a file that is there can be read."""
    return isinstance(error, sqlite3.Error) and _primary_code(error) in _WITHOUT_ROOM


def _primary_code(error: sqlite3.Error) -> int:
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return -1 if code is None else code & 0xFF
