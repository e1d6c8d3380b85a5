"""Everything that a server keeps as one file, and back: its database and the objects that the database names.

The file is a zip that any tool opens: `backup.json` (what is in it, each with its digest), `evalsi.db` (a SQLite store,
whatever the database is), `traces.db` (traces, policies and failures, in the form of their SQLite file), `objects/<key>`,
and `promoted/<project>/<dataset>.jsonl` (the files of promoted cases). What always holds: a backup is of one moment, is
whole or not there, and is read to its end and found right before a restore makes anything.
"""

import hashlib
import os
import re
import struct
import tempfile
import zipfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from evalsi.core.errors import InvalidDataError, NotFoundError, StoreError, StoreTooNewError, UsageError
from evalsi.core.version import __version__
from evalsi.core.whole_file import sync_folder
from evalsi.datasets.promoted_path import FOLDER as PROMOTED
from evalsi.datasets.promoted_path import promoted_path
from evalsi.infra.promoted_files import PromotedFiles
from evalsi.infra.store.archive_damage import DAMAGE, check_packing
from evalsi.infra.store.database_copy import copy_to_file, let_go_of_everything, object_keys
from evalsi.infra.store.migrations import APPLICATION_ID, MIGRATIONS
from evalsi.infra.store.open_stores import TRACES_FILE
from evalsi.infra.store.trace_copy import copy_traces
from evalsi.infra.store.trace_migrations import TRACE_MIGRATIONS
from evalsi.infra.store.vacant_place import bring_file_up_to_date, vacant_place
from evalsi.ports.object_store import ObjectStore

FORMAT = 1
DATABASE = "evalsi.db"
_ABOUT = "backup.json"
_OBJECTS = "objects/"
_CASES = f"{PROMOTED}/"
_CASES_FILE = re.compile(rf"{PROMOTED}/(?!\.)[^/\x00-\x1f\x7f\\]+/(?!\.)[^/\x00-\x1f\x7f\\]+\.jsonl\Z")
_KEY = re.compile(r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*\Z")
_EPOCH = (1980, 1, 1, 0, 0, 0)
_PIECE_BYTES = 1 << 20
_MOST_ABOUT_BYTES = 1 << 30


class BackupPart(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the file."""

    bytes: int
    sha256: str


class BackupAccount(msgspec.Struct, frozen=True, kw_only=True):
    """`backup.json`: what a backup holds."""

    evalsi_backup: int
    """Number of the format."""
    evalsi_version: str
    """Of the program that wrote it."""
    schema_step: int
    """The last step of the schema that its database has seen."""
    created_at: str
    """ISO 8601, UTC."""
    parts: dict[str, BackupPart]
    """By the name of the entry."""

    @property
    def objects(self) -> int:
        return sum(name.startswith(_OBJECTS) for name in self.parts)

    @property
    def size_bytes(self) -> int:
        return sum(part.bytes for part in self.parts.values())


class _Format(msgspec.Struct, frozen=True):
    """What every format says of itself."""

    evalsi_backup: int | None = None


@dataclass(frozen=True, kw_only=True)
class KeptPlaces:
    """Where a server keeps what it keeps."""

    database: str
    """Path of the SQLite file, or address of PostgreSQL."""
    objects: ObjectStore
    cases: PromotedFiles


def write_backup(places: KeptPlaces, path: Path) -> BackupAccount:
    """Writes what `places` hold to `path`, while others go on working with it.

    Needs the room of the database twice beside `path`. The file can be read by its owner alone.

    Raises:
        UsageError: There is a file already.
        NotFoundError: There is no database.
        StoreError: The database cannot be read, is not of this version, or the file cannot be written.
    """
    if path.exists():
        raise UsageError(f"there is a file {path} already", hint="name another; a backup never replaces anything")
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with tempfile.TemporaryDirectory(prefix=".evalsi-backup-", dir=path.parent) as folder:
            copy = Path(folder) / DATABASE
            step = copy_to_file(places.database, copy)
            descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            with os.fdopen(descriptor, "w+b") as file:
                with zipfile.ZipFile(file, "w") as archive:
                    parts = {DATABASE: _put(archive, DATABASE, _pieces_of(copy))}
                    traces = Path(folder) / TRACES_FILE
                    if copy_traces(places.database, traces):
                        parts[TRACES_FILE] = _put(archive, TRACES_FILE, _pieces_of(traces))
                    for key in object_keys(copy):
                        parts[_OBJECTS + key] = _put(archive, _OBJECTS + key, places.objects.read(key))
                    for grown in places.cases.grown():
                        name = promoted_path(grown.project, grown.dataset)
                        parts[name] = _put(archive, name, _pieces_of(grown.path))
                    account = BackupAccount(
                        evalsi_backup=FORMAT,
                        evalsi_version=__version__,
                        schema_step=step,
                        created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
                        parts=parts,
                    )
                    _put(archive, _ABOUT, [msgspec.json.encode(account)])
                file.flush()
                os.fsync(file.fileno())
        partial.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise StoreError(
            f"the backup {path} cannot be written: {error.strerror}",
            hint="name a file in a folder that can be written and has the room",
        ) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return account


def restore_backup(path: Path, places: KeptPlaces) -> BackupAccount:
    """Puts what `path` holds into a database that is empty or not there yet, and its objects and cases beside.

    Runs that somebody had in hand when the backup was made are waiting or interrupted afterwards: nobody has them here.
    A restore that was killed is done again by the same call.

    Raises:
        NotFoundError: There is no such file.
        InvalidDataError: It is no backup, or damaged. Nothing was made.
        StoreTooNewError: A later version wrote it. Nothing was made.
        UsageError: The place holds something already. Nothing was made.
        StoreError: The database or the objects cannot be written.
    """
    with _opened(path) as archive:
        account = _checked(archive, path)
        for name, part in account.parts.items():
            if name.startswith(_CASES):
                places.cases.check_absence(*_project_and_dataset(name), part.sha256)
        try:
            with vacant_place(places.database, DATABASE) as (folder, finish):
                for name in (DATABASE, TRACES_FILE):
                    if name in account.parts:
                        bring_file_up_to_date(_written_out(archive, path, name, folder / name))
                let_go_of_everything(folder / DATABASE)
                for name in account.parts:
                    if name.startswith(_OBJECTS):
                        places.objects.put(
                            name.removeprefix(_OBJECTS), _written_out(archive, path, name, folder / "object")
                        )
                    elif name.startswith(_CASES):
                        places.cases.restore(
                            *_project_and_dataset(name), _written_out(archive, path, name, folder / "cases")
                        )
                finish()
        except OSError as error:
            raise StoreError(
                f"the backup {path} cannot be restored: {error.filename or tempfile.gettempdir()}: {error.strerror}",
                hint="make room, or name a folder that can be written; nothing that was restored counts until all is",
            ) from error
    return account


def _written_out(archive: zipfile.ZipFile, path: Path, name: str, file: Path) -> Path:
    try:
        with file.open("wb") as out:
            out.writelines(_read(archive, path, name))
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
    return file


def _project_and_dataset(name: str) -> tuple[str, str]:
    _, project, file = name.split("/")
    return project, file.removesuffix(".jsonl")


@contextmanager
def _opened(path: Path) -> Generator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise NotFoundError(f"no file {path}") from error
    except (OSError, *DAMAGE) as error:
        raise InvalidDataError(f"not a backup: {error}", where=str(path)) from error
    with archive:
        yield archive


def _checked(archive: zipfile.ZipFile, path: Path) -> BackupAccount:
    """What the file says of itself, with every entry read and compared."""
    about = b"".join(_read(archive, path, _ABOUT, most_bytes=_MOST_ABOUT_BYTES))
    try:
        format_number = msgspec.json.decode(about, type=_Format).evalsi_backup
    except msgspec.MsgspecError as error:
        raise InvalidDataError(f"not a backup: {error}", where=f"{path}:{_ABOUT}") from error
    if format_number is None:
        raise InvalidDataError("not a backup: it names no format", where=f"{path}:{_ABOUT}")
    if format_number > FORMAT:
        raise StoreTooNewError(
            f"the backup {path} has format {format_number}; this version of evalsi reads up to {FORMAT}",
            hint="restore it with the version that wrote it, or a later one",
        )
    try:
        account = msgspec.json.decode(about, type=BackupAccount)
    except msgspec.MsgspecError as error:
        raise InvalidDataError(str(error), where=f"{path}:{_ABOUT}") from error
    if DATABASE not in account.parts:
        raise InvalidDataError("not a backup: it holds no database", where=str(path))
    for name, part in account.parts.items():
        if not _is_ours(name):
            raise InvalidDataError(f"not a backup: it holds {name!r}", where=str(path))
        _check_part(archive, path, name, part)
    _check_schema(archive, path, DATABASE, MIGRATIONS[-1].version)
    if TRACES_FILE in account.parts:
        _check_schema(archive, path, TRACES_FILE, TRACE_MIGRATIONS[-1].version)
    return account


def _is_ours(name: str) -> bool:
    if name.startswith(_OBJECTS):
        return _KEY.match(name.removeprefix(_OBJECTS)) is not None
    return name in (DATABASE, TRACES_FILE) or _CASES_FILE.match(name) is not None


def _check_part(archive: zipfile.ZipFile, path: Path, name: str, part: BackupPart) -> None:
    sha256, size_bytes = hashlib.sha256(), 0
    for piece in _read(archive, path, name, most_bytes=part.bytes):
        sha256.update(piece)
        size_bytes += len(piece)
    if (size_bytes, sha256.hexdigest()) != (part.bytes, part.sha256):
        raise InvalidDataError("damaged: its content is not what was written", where=f"{path}:{name}")


def _check_schema(archive: zipfile.ZipFile, path: Path, name: str, newest: int) -> None:
    """By the header of a SQLite file, which has `user_version` and `application_id` at fixed places."""
    header = next(_read(archive, path, name), b"")
    step, application = struct.unpack_from(">I4xI", header, 60) if len(header) >= 100 else (0, 0)
    if application != APPLICATION_ID:
        raise InvalidDataError("not a backup: its database is none of evalsi", where=f"{path}:{name}")
    if step > newest:
        raise StoreTooNewError(
            f"the database in the backup {path} has format {step}; this version of evalsi reads up to {newest}",
            hint="restore it with the version that wrote it, or a later one",
        )


def _put(archive: zipfile.ZipFile, name: str, pieces: Iterable[bytes]) -> BackupPart:
    """Bodies are compressed already, so they are stored as they are."""
    sha256, size_bytes = hashlib.sha256(), 0
    with archive.open(zipfile.ZipInfo(name, _EPOCH), "w", force_zip64=True) as entry:
        for piece in pieces:
            entry.write(piece)
            sha256.update(piece)
            size_bytes += len(piece)
    return BackupPart(bytes=size_bytes, sha256=sha256.hexdigest())


def _pieces_of(file: Path) -> Iterator[bytes]:
    with file.open("rb") as opened:
        while piece := opened.read(_PIECE_BYTES):
            yield piece


def _read(archive: zipfile.ZipFile, path: Path, name: str, *, most_bytes: int | None = None) -> Iterator[bytes]:
    try:
        entry = archive.getinfo(name)
        if most_bytes is not None and entry.file_size > most_bytes:
            raise InvalidDataError("damaged: it is larger than it says", where=f"{path}:{name}")
        check_packing(entry)
        with archive.open(entry) as opened:
            while piece := opened.read(_PIECE_BYTES):
                yield piece
    except KeyError as error:
        raise InvalidDataError(f"not a backup: {name} is missing", where=str(path)) from error
    except (OSError, *DAMAGE) as error:
        raise InvalidDataError(f"damaged: {error}", where=f"{path}:{name}") from error
