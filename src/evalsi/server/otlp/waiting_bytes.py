"""How much of what is received may be in memory at once: what is over it is told to come again, at once.

Its own module because every way in shares the one account. What always holds: bytes are counted before they are kept, and
given back however a request ends.
"""

from collections.abc import Generator
from contextlib import contextmanager

from evalsi.core.errors import OverloadedError

RETRY_AFTER_S = 1.0


class WaitingBytes:
    """The account of a server. Used from the event loop alone."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0

    def check(self, size: int) -> None:
        """Raises: OverloadedError: there is no room for `size` more bytes."""
        if self.held + size > self.most:
            raise OverloadedError(
                f"the server holds {self.held >> 20} MiB of traces that are not stored yet and takes no more just now",
                retry_after_s=RETRY_AFTER_S,
            )

    @contextmanager
    def holding(self) -> Generator["HeldBytes"]:
        """An entry that is given back at the end."""
        held = HeldBytes(self)
        try:
            yield held
        finally:
            self.held -= held.size


class HeldBytes:
    """What one request holds."""

    def __init__(self, account: WaitingBytes) -> None:
        self._account = account
        self.size = 0

    def add(self, size: int) -> None:
        """Raises: OverloadedError: there is no room."""
        self._account.check(size)
        self._account.held += size
        self.size += size
