"""Where it is remembered what a first pass over a large dataset found, so that the same files are not read through again."""

from typing import Protocol


class ScanMemory(Protocol):
    """Maps a digest to bytes. A lost entry costs time, never truth; several processes may use one memory at once."""

    def get(self, key: str) -> bytes | None:
        """The stored bytes, or None, also where they cannot be read."""
        ...

    def put(self, key: str, value: bytes) -> None:
        """Keeps the value, if it can."""
        ...
