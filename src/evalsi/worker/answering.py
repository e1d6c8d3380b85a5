"""How a worker answers: a frame in, a frame out, one after the other, until the server lets go of the socket.

Its own module because every worker that is called does it. Single-threaded, so the engine may fork from here. What always
holds: whatever a call does to this process, the server notices by the socket and starts another one.
"""

import asyncio
import signal
import socket
import struct
from collections.abc import Awaitable, Callable

from evalsi.core.parent_process import die_with

_HEADER = struct.Struct("<I")


def answer_calls(
    descriptor: int, parent: int, answer: Callable[[bytes], Awaitable[bytes]], close: Callable[[], Awaitable[None]]
) -> None:
    """Answers what comes over the socket `descriptor`, all on one event loop; `close` is awaited at the end."""
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    async def answered(body: bytes) -> bytes:
        return await answer(body)

    async def closed() -> None:
        await close()

    with socket.socket(fileno=descriptor) as channel, asyncio.Runner() as runner:
        stream = channel.makefile("rb")
        try:
            while header := stream.read(_HEADER.size):
                reply = runner.run(answered(stream.read(_HEADER.unpack(header)[0])))
                channel.sendall(_HEADER.pack(len(reply)) + reply)
        finally:
            runner.run(closed())
