"""The host's end of a connection to a cell. What comes over it is hostile: sizes are bounded and forms are checked."""

import asyncio
import socket

from evalsi.core.errors import SandboxError
from evalsi.guest import wire

_MOST_BYTES = 400 << 20


class Connection:
    """Whole messages out and in. Belongs to the running event loop."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._socket = end
        self._loop = asyncio.get_running_loop()
        self._buffer = bytearray()

    async def send(self, *requests: wire.Value) -> None:
        """Raises: SandboxError: the cell is gone."""
        try:
            await self._loop.sock_sendall(self._socket, b"".join(wire.frame(request) for request in requests))
        except OSError as error:
            raise SandboxError("the sandbox has died") from error

    async def receive(self) -> list[wire.Value]:
        """The next message. Raises: SandboxError: the cell is gone, or what came is no message."""
        while True:
            if len(self._buffer) >= wire.HEADER.size:
                (length,) = wire.HEADER.unpack_from(self._buffer)
                if length > _MOST_BYTES:
                    raise SandboxError("the sandbox sent more than a message can hold")
                if len(self._buffer) >= wire.HEADER.size + length:
                    return self._take(length)
            try:
                data = await self._loop.sock_recv(self._socket, 1 << 18)
            except OSError:
                data = b""
            if not data:
                raise SandboxError("the sandbox has died")
            self._buffer += data

    def close(self) -> None:
        self._socket.close()

    def _take(self, length: int) -> list[wire.Value]:
        end = wire.HEADER.size + length
        body = bytes(memoryview(self._buffer)[wire.HEADER.size : end])
        del self._buffer[:end]
        try:
            message = wire.parse(body)
        except ValueError as error:
            raise SandboxError("the sandbox sent what is no message") from error
        if not isinstance(message, list) or not message:
            raise SandboxError("the sandbox sent what is no message")
        return message
