"""The conversation with QEMU about a running machine: commands as lines of JSON over a socket (QEMU Machine Protocol)."""

import asyncio
import json
import socket
from typing import Any

from evalsi.core.errors import SandboxError

_LONGEST_LINE = 1 << 20


class MonitorConnection:
    """One command at a time. Belongs to the running event loop."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._socket = end
        self._buffer = b""

    async def greet(self) -> None:
        """To be called first. The machine's memory stays out of what is written down or read. Raises: SandboxError."""
        await self._message()
        await self.ask("qmp_capabilities")
        ignored = {"capability": "x-ignore-shared", "state": True}
        await self.ask("migrate-set-capabilities", capabilities=[ignored])

    async def ask(self, command: str, **arguments: object) -> Any:
        """What the command returns. Raises: SandboxError: it is refused, or QEMU is gone."""
        words = {"execute": command, "arguments": arguments}
        await asyncio.get_running_loop().sock_sendall(self._socket, json.dumps(words).encode() + b"\n")
        return await self._answer()

    async def give(self, name: str, descriptor: int) -> None:
        """Hands a descriptor over, to be referred to by name. Raises: SandboxError."""
        words = {"execute": "getfd", "arguments": {"fdname": name}}
        socket.send_fds(self._socket, [json.dumps(words).encode() + b"\n"], [descriptor])
        await self._answer()

    async def _answer(self) -> Any:
        while True:
            message = await self._message()
            if "error" in message:
                raise SandboxError(f"QEMU refuses: {message['error'].get('desc', 'it does not say why')}")
            if "return" in message:
                return message["return"]

    async def _message(self) -> dict[str, Any]:
        while b"\n" not in self._buffer:
            data = await asyncio.get_running_loop().sock_recv(self._socket, 1 << 16)
            if not data or len(self._buffer) > _LONGEST_LINE:
                raise SandboxError("QEMU has ended")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(line)
