"""Objects on a disk or in a bucket: implements `ports.ObjectStore` with obstore.

`file:///folder` lies on this machine; `s3://bucket/prefix`, `gs://…` and `az://…` in a cloud, with the credentials that
their own variables hold.
"""

import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from evalsi.core.errors import MissingExtraError, NotFoundError, StoreError, UsageError

SCHEMES = ("file", "s3", "gs", "az")
ALLOW_HTTP = "allow_http"
"""The option that lets objects travel unencrypted."""
_RANGE_BYTES = 4 << 20
"""Fetched by one request, so that no reader, however slow, keeps one open."""
_PIECE_BYTES = 256 << 10


def open_objects(address: str, *, cache: Path, options: Mapping[str, Any] | None = None) -> "Objects":
    """The objects at `address`.

    Args:
        cache: A folder for copies of objects that lie elsewhere, made when needed.
        options: Settings of the place, e.g. `endpoint` and `region` of S3, and whether to `ALLOW_HTTP`; none is printed.
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
    settings: Any = dict(options or {})
    client: Any = {"connect_timeout": "5s", "timeout": "60s", "allow_http": bool(settings.pop(ALLOW_HTTP, ""))}
    retries: Any = {"max_retries": 4, "retry_timeout": timedelta(seconds=20)}
    # pyright sees a form for each kind of place, and the kind is known when it runs.
    store = cast("Any", from_url)(address, config=settings, client_options=client, retry_config=retries)
    return Objects(store, address, folder=None, cache=cache)


class Objects:
    """Implements `ObjectStore`."""

    def __init__(self, store: Any, address: str, *, folder: Path | None, cache: Path) -> None:
        self._store = store
        self._address = address
        self._folder = folder
        self._cache = cache

    def put(self, key: str, file: Path) -> None:
        try:
            with self._faults(key):
                self._store.put(key, file)
        except NotFoundError as error:
            raise self._fault("the place is not there") from error

    def read(self, key: str) -> Iterator[bytes]:
        with self._faults(key):
            size_bytes: int = self._store.head(key)["size"]
        return self._pieces(key, size_bytes)

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

    def _pieces(self, key: str, size_bytes: int) -> Iterator[bytes]:
        for start in range(0, size_bytes, _RANGE_BYTES):
            with self._faults(key):
                part = memoryview(self._store.get_range(key, start=start, end=min(start + _RANGE_BYTES, size_bytes)))
            yield from (bytes(part[at : at + _PIECE_BYTES]) for at in range(0, len(part), _PIECE_BYTES))

    @contextmanager
    def _faults(self, key: str) -> Generator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except FileNotFoundError as error:
            raise NotFoundError(f"there is no object {key}") from error
        except (BaseError, OSError) as error:
            raise self._fault(_first_line(error)) from error

    def _fault(self, reason: str) -> StoreError:
        return StoreError(
            f"the objects at {self._address} cannot be used: {reason}",
            hint="check that the place is there, has room and lets this server in",
        )


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
