"""What must be closed when a job is done with it, on the event loop that used it."""

from typing import Protocol


class Closable(Protocol):
    """A judge, a sandbox host, a connection. Calling `close` twice is fine."""

    async def close(self) -> None: ...
