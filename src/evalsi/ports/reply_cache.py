"""Where replies of judges are kept so that the same question is not paid for twice."""

from typing import Protocol


class ReplyCache(Protocol):
    """Maps a digest to bytes. Several processes may use one cache at once; a lost entry costs money, never truth."""

    def get(self, key: str) -> bytes | None:
        """The stored bytes, or None."""
        ...

    def put(self, key: str, value: bytes) -> None:
        """Keeps the first value of a key; putting again changes nothing."""
        ...

    def close(self) -> None:
        """Returns when everything that was put is kept. Calling it twice is fine."""
        ...
