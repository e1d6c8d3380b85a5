"""Objects on a disk or in a bucket: implements `ports.ObjectStore` with obstore.

`file:///folder` lies on this machine; `s3://bucket/prefix`, `gs://…` and `az://…` in a cloud, with the credentials that
their own variables hold.
"""

import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evalsi.core.errors import MissingExtraError, NotFoundError, StoreError, UsageError

SCHEMES = ("file", "s3", "gs", "az")


def open_objects(address: str, *, cache: Path, options: Mapping[str, Any] | None = None) -> "Objects":
    """The objects at `address`.

    Args:
        cache: A folder for copies of objects that lie elsewhere, made when needed.
        options: Settings of the place, e.g. `endpoint` and `region` of S3; none of them is printed.
    Raises: UsageError: no such kind of place. MissingExtraError: obstore is not installed.
    """
    scheme, separator, rest = address.partition("://")
    if not separator or scheme not in SCHEMES:
        raise UsageError(
            f"{address!r} is no place for objects",
            hint="write file:///folder, s3://bucket, gs://bucket or az://container",
        )
    try:
        from obstore.store import LocalStore, from_url
    except ImportError as error:
        raise MissingExtraError("storing objects", "server") from error
    if scheme == "file":
        folder = Path(rest)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise StoreError(f"the folder {folder} cannot be made: {problem.strerror}") from problem
        return Objects(LocalStore(folder), address, folder=folder, cache=cache)
    return Objects(from_url(address, **(dict(options or {}))), address, folder=None, cache=cache)


class Objects:
    """Implements `ObjectStore`."""

    def __init__(self, store: Any, address: str, *, folder: Path | None, cache: Path) -> None:
        self._store = store
        self._address = address
        self._folder = folder
        self._cache = cache

    def put(self, key: str, file: Path) -> None:
        with self._faults(key):
            self._store.put(key, file)

    def read(self, key: str) -> Iterator[bytes]:
        with self._faults(key):
            stream = self._store.get(key).stream(min_chunk_size=256 << 10)
        return self._pieces(key, stream)

    def local_path(self, key: str) -> Path:
        if self._folder is not None:
            path = self._folder / key
            if not path.is_file():
                raise NotFoundError(f"there is no object {key}")
            return path
        return fetched(self._cache / key, lambda: self.read(key))

    def delete(self, key: str) -> None:
        try:
            with self._faults(key):
                self._store.delete(key)
        except NotFoundError:
            return

    def _pieces(self, key: str, stream: Any) -> Iterator[bytes]:
        with self._faults(key):
            for piece in stream:
                yield bytes(piece)

    @contextmanager
    def _faults(self, key: str) -> Generator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except FileNotFoundError as error:
            raise NotFoundError(f"there is no object {key}") from error
        except (BaseError, OSError) as error:
            raise StoreError(
                f"the objects at {self._address} cannot be used: {_first_line(error)}",
                hint="check that the place is there, has room and lets this server in",
            ) from error


def fetched(path: Path, read: Callable[[], Iterator[bytes]]) -> Path:
    """`path`, which holds what `read` gives; written, whole, where it is not there yet. Several may do so at once.

    Raises: StoreError: it cannot be written. Also what `read` raises.
    """
    if path.is_file():
        return path
    content = read()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as partial:
            try:
                partial.writelines(content)
            except BaseException:
                Path(partial.name).unlink()
                raise
        Path(partial.name).replace(path)
    except OSError as error:
        raise StoreError(
            f"the copy {path} cannot be written: {error.strerror}", hint="make room, or see who may write there"
        ) from error
    return path


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
