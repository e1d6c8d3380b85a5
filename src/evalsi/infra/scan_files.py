"""What first passes over datasets found, in files of a folder, one each. Implements `ports.scan_memory.ScanMemory`.

Its own module because it may be lost at any time: whoever deletes the folder waits once for a pass, no more. What always
holds: a file is whole or not there, and only the newest ones are kept.
"""

import contextlib
from pathlib import Path

from evalsi.core.whole_file import whole_file

MOST_FILES = 32


class ScanFiles:
    """Keeps each value in a file of `folder`, which is made when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> bytes | None:
        """See `ports.scan_memory.ScanMemory.get`."""
        try:
            return self._path(key).read_bytes()
        except OSError:
            return None

    def put(self, key: str, value: bytes) -> None:
        """See `ports.scan_memory.ScanMemory.put`."""
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            with whole_file(self._path(key)) as unfinished:
                unfinished.write_bytes(value)
            newest_first = sorted(self._folder.glob("*.scan"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
            for path in newest_first[MOST_FILES:]:
                path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key.removeprefix('sha256:')}.scan"
