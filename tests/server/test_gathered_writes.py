"""What is written in one turn of the loop leaves as one piece, in order, and never after the connection is gone."""

import asyncio
from typing import cast

from evalsi.server.gathered_writes import GatheredWrites


class _Recorded:
    """A transport that keeps what it is given."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        assert not self.closed
        self.pieces.append(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


def _pair() -> tuple[_Recorded, GatheredWrites]:
    transport = _Recorded()
    return transport, GatheredWrites(cast("asyncio.Transport", transport), asyncio.get_running_loop())


def test_a_head_and_a_body_leave_together() -> None:
    async def scene() -> None:
        transport, writes = _pair()
        writes.write(b"head ")
        writes.write(b"body")
        assert transport.pieces == []
        await asyncio.sleep(0)
        assert transport.pieces == [b"head body"]

    asyncio.run(scene())


def test_what_is_written_in_a_later_turn_leaves_by_itself() -> None:
    async def scene() -> None:
        transport, writes = _pair()
        for word in (b"one", b"two"):
            writes.write(word)
            await asyncio.sleep(0)
        assert transport.pieces == [b"one", b"two"]

    asyncio.run(scene())


def test_who_writes_much_without_a_pause_is_not_held_back() -> None:
    async def scene() -> None:
        transport, writes = _pair()
        writes.write(b"x" * 70_000)
        assert len(transport.pieces) == 1
        writes.write(b"after")
        await asyncio.sleep(0)
        assert b"".join(transport.pieces) == b"x" * 70_000 + b"after"

    asyncio.run(scene())


def test_closing_sends_what_is_held_first() -> None:
    async def scene() -> None:
        transport, writes = _pair()
        writes.write(b"goodbye")
        writes.close()
        assert (transport.pieces, transport.closed) == ([b"goodbye"], True)

    asyncio.run(scene())


def test_nothing_is_written_to_a_connection_that_the_client_closed() -> None:
    async def scene() -> None:
        transport, writes = _pair()
        writes.write(b"late")
        transport.closed = True
        await asyncio.sleep(0)
        assert transport.pieces == []

    asyncio.run(scene())
