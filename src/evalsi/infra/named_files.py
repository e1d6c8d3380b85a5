"""Small documents by name, each a file in one folder; writing one replaces what was there, never half."""

from pathlib import Path

from evalsi.core.errors import StoreError
from evalsi.core.whole_file import whole_file


class NamedFiles:
    """The documents of a folder, which is made when the first is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, name: str, content: bytes) -> None:
        """Raises: StoreError: the folder cannot be written."""
        path = self._path(name)
        try:
            with whole_file(path) as unfinished:
                unfinished.write_bytes(content)
        except OSError as error:
            raise StoreError(f"it cannot be written: {error.strerror}", where=str(path)) from error

    def read(self, name: str) -> bytes | None:
        """The document of that name; None where there is none. Raises: StoreError: it cannot be read."""
        path = self._path(name)
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"it cannot be read: {error.strerror}", where=str(path)) from error

    def _path(self, name: str) -> Path:
        safe = "".join(mark if mark.isalnum() or mark in "-." else "_" for mark in name)
        return self._folder / f"{safe}.json"
