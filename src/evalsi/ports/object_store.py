"""Where large files lie: on this machine's disk, or in a bucket."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol


class ObjectStore(Protocol):
    """Objects by key; a key is made by us, of digests and plain words, and never holds what a user wrote.

    An object that was put is there, whole, until it is deleted. Methods block; any thread may call them. They raise
    StoreError when the place cannot be used, and NotFoundError where a key has no object.
    """

    def put(self, key: str, file: Path) -> None:
        """Stores the file's content. The same key again replaces it."""
        ...

    def read(self, key: str) -> Iterator[bytes]:
        """The content in pieces of some hundred kilobytes."""
        ...

    def local_path(self, key: str) -> Path:
        """A file of this machine with the content, fetched first where the object lies elsewhere. Not to be changed."""
        ...

    def delete(self, key: str) -> None:
        """Removes it; nothing happens when it is not there."""
        ...
