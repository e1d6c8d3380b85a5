"""Small documents by name, each a file in one folder; writing one replaces what was there, never half."""

from pathlib import Path

from evalsi.core.errors import StoreError


class NamedFiles:
    """The documents of a folder, which is made when the first is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, name: str, content: bytes) -> None:
        """Raises: StoreError: the folder cannot be written."""
        path = self._path(name)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".unfinished")
            unfinished.write_bytes(content)
            unfinished.replace(path)
        except OSError as error:
            raise StoreError(f"it cannot be written: {error.strerror}", where=str(path)) from error

    def read(self, name: str) -> bytes | None:
        """The document, or None."""
        try:
            return self._path(name).read_bytes()
        except OSError:
            return None

    def _path(self, name: str) -> Path:
        safe = "".join(mark if mark.isalnum() or mark in "-." else "_" for mark in name)
        return self._folder / f"{safe}.json"
