"""The host's end of a cell's way out: numbered connections of programs, each served by the proxy.

Its own module because what comes here is hostile twice over: numbers, amounts and order are checked, and a cell that
breaks the rules loses its sandbox. The other end is `guest.forwarder`, whose header has the messages.
"""

import asyncio
from collections.abc import Awaitable, Callable

from evalsi.core.errors import SandboxError
from evalsi.guest import wire
from evalsi.guest.forwarder import MOST_CONNECTIONS, WINDOW_BYTES
from evalsi.infra.sandbox.egress.proxy import EgressProxy

_PIECE_BYTES = 1 << 15
_LAST_WORDS_S = 5.0
Send = Callable[[wire.Value], Awaitable[None]]


class EgressRelay:
    """Serves one command: made when it starts, closed when it has ended. Belongs to the running event loop.

    Args:
        send: Sends a message to the cell; called by one task at a time.
    """

    def __init__(self, proxy: EgressProxy, send: Send) -> None:
        self._proxy = proxy
        self._outgoing: asyncio.Queue[wire.Value | None] = asyncio.Queue()
        self._sender = asyncio.ensure_future(self._send_all(send))
        self._ends: dict[int, _ProgramEnd] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def hear(self, message: list[wire.Value]) -> None:
        """Takes a message of the cell's. Raises: SandboxError: it is none, or more than the rules allow."""
        match message:
            case ["egress", int(number), "open", bytes()]:
                if number in self._ends or len(self._tasks) > MOST_CONNECTIONS * 2:
                    raise SandboxError("the sandbox opened a connection that it may not have")
                end = self._ends[number] = _ProgramEnd(number, self._outgoing)
                task = asyncio.ensure_future(self._serve(end))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            case ["egress", int(number), ("data" | "end" | "took" | "gone") as word, (bytes() | int()) as value]:
                if number in self._ends:
                    self._ends[number].hear(word, value)
            case _:
                raise SandboxError("the sandbox answered what was not asked")

    async def close(self) -> None:
        """Ends every connection. What was begun to be said to the cell is said to its end."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._outgoing.put_nowait(None)
        await asyncio.wait([self._sender], timeout=_LAST_WORDS_S)
        self._sender.cancel()
        await asyncio.gather(self._sender, return_exceptions=True)

    async def _serve(self, end: "_ProgramEnd") -> None:
        try:
            await self._proxy.serve(end)
        finally:
            del self._ends[end.number]
            self._outgoing.put_nowait(["egress", end.number, "gone" if not end.is_ended else "end", b""])

    async def _send_all(self, send: Send) -> None:
        while (message := await self._outgoing.get()) is not None:
            await send(message)


class _ProgramEnd:
    """See `proxy.Client`."""

    def __init__(self, number: int, outgoing: "asyncio.Queue[wire.Value | None]") -> None:
        self.number = number
        self.is_ended = False
        self._outgoing = outgoing
        self._incoming = bytearray()
        self._unread = 0
        """Bytes that came and were not yet passed on: more than the window is against the rules."""
        self._has_said_all = False
        self._is_gone = False
        self._under_way = 0
        self._changed = asyncio.Event()

    def hear(self, word: str, value: bytes | int) -> None:
        match word, value:
            case "data", bytes():
                self._unread += len(value)
                if self._unread > WINDOW_BYTES or self._has_said_all:
                    raise SandboxError("the sandbox sent more on a connection than it may")
                self._incoming += value
            case "end", _:
                self._has_said_all = True
            case "took", int() if 0 <= value <= self._under_way:
                self._under_way -= value
            case "gone", _:
                self._is_gone = self._has_said_all = True
            case _:
                raise SandboxError("the sandbox answered what was not asked")
        self._changed.set()

    async def read(self) -> bytes:
        while not self._incoming:
            if self._has_said_all:
                return b""
            await self._change()
        data = bytes(self._incoming)
        self._incoming.clear()
        self._unread -= len(data)
        self._outgoing.put_nowait(["egress", self.number, "took", len(data)])
        return data

    async def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            if self._is_gone:
                raise ConnectionError("the program has left")
            room = min(WINDOW_BYTES - self._under_way, _PIECE_BYTES)
            if room <= 0:
                await self._change()
                continue
            piece, view = view[:room], view[room:]
            self._under_way += len(piece)
            self._outgoing.put_nowait(["egress", self.number, "data", bytes(piece)])

    async def end(self) -> None:
        self.is_ended = True

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()
