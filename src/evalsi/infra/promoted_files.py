"""Cases that policies made of traffic and people of runs, as JSON Lines below the root of datasets.

`promoted/<project>/<dataset>.jsonl` is what a specification names as `dataset.path`. What always holds: a line is whole;
the id of a case is in a file once, however many processes add to it and whatever they die of; what cannot be added whole is
not added.
"""

import contextlib
import fcntl
import hashlib
import itertools
import os
import shutil
import tempfile
from collections.abc import Collection, Generator, Iterator, Sequence
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

import msgspec

from evalsi.core.errors import StoreError, UsageError
from evalsi.core.raw_writing import write_all
from evalsi.core.whole_file import whole_file
from evalsi.datasets.confined_path import confined_path
from evalsi.datasets.promoted_path import FOLDER, promoted_path
from evalsi.schema import Record, json_codec


class _Id(msgspec.Struct):
    id: str = ""


_ID = msgspec.json.Decoder(_Id)


class _OfTrace(msgspec.Struct):
    trace_id: str = ""


class _Provenance(msgspec.Struct):
    trace: _OfTrace | None = None


class _From(msgspec.Struct):
    provenance: _Provenance | None = None

    @property
    def trace_id(self) -> str:
        trace = self.provenance.trace if self.provenance is not None else None
        return trace.trace_id if trace is not None else ""


_FROM = msgspec.json.Decoder(_From)


@dataclass(frozen=True, kw_only=True)
class GrownFile:
    """A dataset of cases as it is now."""

    project: str
    dataset: str
    path: Path
    """A copy, which goes with the next one."""
    cases: int
    sha256: str


class PromotedFiles:
    """Args: root: The root of datasets."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._seen: dict[Path, tuple[int, int]] = {}
        """Size and time of change of each file when it was last looked at."""

    def path_of(self, project: str, dataset: str) -> Path:
        """Raises: InvalidSpecError: a name leads out of the root."""
        return confined_path(self._root, promoted_path(project, dataset))

    def add(self, project: str, dataset: str, records: Sequence[Record]) -> int:
        """Adds the records whose ids are not there; gives their number. Raises: StoreError: the file cannot be written."""
        path = self.path_of(project, dataset)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with _held(path) as file:
                known = _known_ids(file)
                lines: list[bytes] = []
                for record in records:
                    if record.id not in known:
                        known.add(record.id)
                        lines.append(json_codec.encode_file(record) + b"\n")
                if lines:
                    _append(file, b"".join(lines))
                return len(lines)
        except OSError as error:
            raise StoreError(f"cases cannot be added to {path}: {error.strerror}") from error

    def forget(self, project: str, trace_ids: Collection[str]) -> int:
        """Removes the cases that were made of these traces of a project, from every dataset; gives their number.

        Raises: StoreError: a file cannot be written; it is as it was.
        """
        removed = 0
        for path in sorted((self._root / FOLDER / project).glob("*.jsonl")) if trace_ids else ():
            try:
                with _held(path) as file:
                    removed += _without(file, path, frozenset(trace_ids))
            except OSError as error:
                raise StoreError(f"cases cannot be removed from {path}: {error.strerror}") from error
        return removed

    def grown(self) -> Generator[GrownFile]:
        """Files that have changed since they were last given; at first all. Raises: StoreError: one cannot be read."""
        with tempfile.TemporaryDirectory(prefix="evalsi-promoted-") as folder:
            for path in sorted((self._root / FOLDER).glob("*/*.jsonl")):
                try:
                    about = path.stat()
                    state = about.st_size, about.st_mtime_ns
                    if self._seen.get(path) == state or not about.st_size:
                        continue
                    yield _copied(path, Path(folder) / "cases.jsonl")
                except OSError as error:
                    raise StoreError(f"cases cannot be read from {path}: {error.strerror}") from error
                self._seen[path] = state

    def restore(self, project: str, dataset: str, file: Path) -> None:
        """Makes the file of a dataset of a copy. Raises: UsageError: there is another already. OSError."""
        path = self.path_of(project, dataset)
        self.check_absence(project, dataset, _sha256_of(file))
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as partial:
            shutil.copyfile(file, partial)
            with partial.open("rb") as written:
                os.fsync(written.fileno())

    def check_absence(self, project: str, dataset: str, sha256: str) -> None:
        """Raises: UsageError: there is a file of the dataset, with another digest."""
        path = self.path_of(project, dataset)
        if path.exists() and _sha256_of(path) != sha256:
            raise UsageError(
                f"there are cases in {path} already", hint="restore into an empty folder, or move them away"
            )


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _held(path: Path) -> Generator[FileIO]:
    """The file at `path`, which is made where there is none, for nobody else meanwhile."""
    while True:
        with path.open("a+b", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            about = os.fstat(file.fileno())
            try:
                there = path.stat()
            except FileNotFoundError:
                continue
            if (about.st_dev, about.st_ino) == (there.st_dev, there.st_ino):  # else another took its place just now
                yield file
                return


def _without(file: FileIO, path: Path, trace_ids: Collection[str]) -> int:
    """Puts a file without the cases of these traces in the place of one that is held; how many there were."""

    def is_gone(line: bytes) -> bool:
        return bool(line.strip()) and _FROM.decode(line).trace_id in trace_ids

    removed = sum(map(is_gone, _whole_lines(file)))
    if removed:
        with whole_file(path) as partial:
            with partial.open("wb") as target:
                target.writelines(line for line in _whole_lines(file) if not is_gone(line))
                target.flush()
                os.fsync(target.fileno())
            shutil.copymode(path, partial)
    return removed


def _whole_lines(file: FileIO) -> Iterator[bytes]:
    """From the beginning to where a death cut a line off."""
    file.seek(0)
    with open(file.fileno(), "rb", closefd=False) as lines:
        yield from itertools.takewhile(lambda line: line.endswith(b"\n"), lines)


def _append(file: FileIO, data: bytes) -> None:
    """Raises: OSError: nothing was added, as far as the disk lets that be taken back."""
    end = file.seek(0, os.SEEK_END)
    try:
        write_all(file, data)
        os.fsync(file.fileno())
    except OSError:
        with contextlib.suppress(OSError):
            file.truncate(end)
        raise


def _copied(path: Path, copy: Path) -> GrownFile:
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        with copy.open("wb") as target:
            shutil.copyfileobj(file, target)
    cases, sha256 = 0, hashlib.sha256()
    with copy.open("rb") as lines:
        for line in lines:
            cases += 1
            sha256.update(line)
    return GrownFile(project=path.parent.name, dataset=path.stem, path=copy, cases=cases, sha256=sha256.hexdigest())


def _known_ids(file: FileIO) -> set[str]:
    """The ids in the file; a line that a death cut off is taken away."""
    file.seek(0)
    known: set[str] = set()
    end = 0
    with open(file.fileno(), "rb", closefd=False) as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                file.truncate(end)
                break
            end += len(line)
            if line.strip():
                known.add(_ID.decode(line).id)
    return known
