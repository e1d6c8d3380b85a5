"""The proxy that a sandbox's programs reach the network through: it decides by name, port and address, and writes all of it
down.

Its own module because it is the wall. What always holds: nothing is connected to that the allowlist does not name; a name is
resolved once, every address it has is judged, and the one that is connected to is one that was judged; one connection
carries one request; what is decided is recorded even where the program is gone by then. How bytes come here from a sandbox
is none of its business.
"""

import asyncio
import contextlib
import ipaddress
import re
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evalsi.core.address_fence import IpAddress, IpNetwork, why_not_public
from evalsi.infra.sandbox.egress.allowlist import Allowlist, plain_host
from evalsi.infra.sandbox.egress.http_head import LONGEST_HEAD, Head, HeadError, read_head
from evalsi.ports.sandbox import EgressEvent

Resolve = Callable[[str, int], Awaitable[Sequence[IpAddress]]]
_PIECE_BYTES = 1 << 15
_LONGEST_CHUNK_LINE = 64
_LONGEST_TRAILER = 4096
_CHUNK = re.compile(rb"[0-9a-fA-F]{1,8}\Z")
_MOST_EVENTS = 1000
_REASONS = {400: "Bad Request", 403: "Forbidden", 408: "Request Timeout", 431: "Request Header Fields Too Large",
            501: "Not Implemented", 502: "Bad Gateway", 504: "Gateway Timeout"}  # fmt: skip


async def resolve_by_system(host: str, port: int) -> Sequence[IpAddress]:
    """Every address of a name, by this machine's resolver. Raises: OSError: it has none."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]


@dataclass(frozen=True, kw_only=True)
class EgressOptions:
    """An operator's words.

    Args:
        networks: Networks that may be reached although they are not public, a mirror of packages in the house for instance.
        resolve: How names become addresses.
        head_s: Seconds in which the head of a request must have come.
        connect_s: Seconds for resolving and connecting.
        idle_s: Seconds after which a connection that carries nothing is ended.
    """

    networks: tuple[IpNetwork, ...] = ()
    resolve: Resolve = field(default=resolve_by_system)
    head_s: float = 10.0
    connect_s: float = 10.0
    idle_s: float = 60.0


class Client(Protocol):
    """A program's end of one connection."""

    async def read(self) -> bytes:
        """Some of what it says; b"" when it has said all."""
        ...

    async def write(self, data: bytes) -> None: ...

    async def end(self) -> None:
        """Tells it that all was said."""
        ...


class EgressProxy:
    """Serves the programs of one sandbox. `events` grows as connections end."""

    def __init__(self, allowed: Allowlist, options: EgressOptions) -> None:
        self._allowed = allowed
        self._options = options
        self.events: list[EgressEvent] = []

    async def serve(self, client: Client) -> None:
        """One connection, from its first byte to its last. Whatever happens on it is recorded, and nothing is raised."""
        if len(self.events) >= _MOST_EVENTS:
            return  # the record is full, and what is not recorded does not happen
        talk = _Talk(client, time.time())
        try:
            await self._serve(talk)
        except _RefusedError as refused:
            talk.reason = str(refused)
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(self._options.head_s):
                    await _refuse(client, refused)
        except TimeoutError:
            talk.reason = "nothing was carried for too long"
        except OSError as error:
            talk.reason = talk.reason or f"the connection broke: {error.strerror or error}"
        except asyncio.CancelledError:
            talk.reason = talk.reason or "the command ended"
            raise
        finally:
            self.events.append(talk.event())

    async def _serve(self, talk: "_Talk") -> None:
        try:
            async with asyncio.timeout(self._options.head_s):
                head = await _head_of(talk)
        except TimeoutError as error:
            raise _RefusedError("the head of the request did not come in time", 408) from error
        if head is None:
            talk.reason = "nothing was asked"
            return
        talk.host, talk.port = head.host, head.port
        try:
            async with asyncio.timeout(self._options.connect_s):
                address = await self._judged(head)
                talk.address = str(address)
                reader, writer = await asyncio.open_connection(str(address), head.port, limit=_PIECE_BYTES)
        except TimeoutError as error:
            raise _RefusedError(f"{head.host}:{head.port} did not answer in time", 504) from error
        except OSError as error:
            raise _RefusedError(f"{head.host}:{head.port} cannot be reached: {error.strerror or error}", 502) from error
        talk.allowed = True
        try:
            await self._carry(talk, head, reader, writer)
        finally:
            writer.close()
            writer.transport.abort()

    async def _judged(self, head: Head) -> IpAddress:
        """The address to connect to. Raises: _RefusedError; OSError: the name has none."""
        host = plain_host(head.host)
        if host is None:
            raise _RefusedError(f"{head.host!r} is no host that can be told apart from others")
        if not self._allowed.allows(host, head.port):
            raise _RefusedError(f"{host}:{head.port} is not among what this sandbox may reach")
        addresses = await self._options.resolve(host, head.port)
        for address in addresses:
            why = None if self._is_allowed(address) else why_not_public(address)
            if why is not None:
                raise _RefusedError(f"{host} leads to {address}, {why}")
        if not addresses:
            raise _RefusedError(f"{host} has no address", 502)
        return addresses[0]

    def _is_allowed(self, address: IpAddress) -> bool:
        return any(address.version == each.version and address in each for each in self._options.networks)

    async def _carry(
        self, talk: "_Talk", head: Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if head.is_connect:
            await talk.client.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            writer.write(head.passed_on)
        activity = _Activity()

        async def back() -> None:
            while data := await reader.read(_PIECE_BYTES):
                activity.seen()
                talk.received += len(data)
                await talk.client.write(data)
            await talk.client.end()

        async def there() -> None:
            async for data in _body(talk, head):
                activity.seen()
                talk.sent += len(data)
                writer.write(data)
                await writer.drain()
            if head.is_connect and writer.can_write_eof():
                writer.write_eof()

        sending = asyncio.ensure_future(there())
        receiving = asyncio.ensure_future(back())
        try:
            while not receiving.done():
                # Once the far end has said all there is nothing more to carry; what the program still says goes nowhere.
                waiting = {receiving, sending} if not sending.done() else {receiving}
                await asyncio.wait(waiting, timeout=self._options.idle_s, return_when=asyncio.FIRST_COMPLETED)
                if sending.done() and isinstance(sending.exception(), HeadError):
                    break
                if activity.idle_s() > self._options.idle_s:
                    raise TimeoutError
        finally:
            for task in (sending, receiving):
                task.cancel()
            results = await asyncio.gather(sending, receiving, return_exceptions=True)
        for result in results:
            if isinstance(result, HeadError):
                raise _RefusedError(str(result), result.status)
            if isinstance(result, OSError):
                raise result


class _RefusedError(Exception):
    def __init__(self, why: str, status: int = 403) -> None:
        super().__init__(why)
        self.status = status


class _Activity:
    def __init__(self) -> None:
        self._last = time.monotonic()

    def seen(self) -> None:
        self._last = time.monotonic()

    def idle_s(self) -> float:
        return time.monotonic() - self._last


class _Talk:
    """One connection as it will be recorded, and what of it was read ahead."""

    def __init__(self, client: Client, began_s: float) -> None:
        self.client = client
        self.ahead = b""
        self.host, self.port, self.address, self.reason = "", 0, "", ""
        self.allowed = False
        self.sent = self.received = 0
        self._began_s = began_s

    async def read(self) -> bytes:
        if self.ahead:
            data, self.ahead = self.ahead, b""
            return data
        return await self.client.read()

    def event(self) -> EgressEvent:
        return EgressEvent(
            time_s=self._began_s,
            host=self.host[:256],
            port=self.port,
            allowed=self.allowed,
            address=self.address,
            reason=self.reason,
            bytes_sent=self.sent,
            bytes_received=self.received,
        )


async def _head_of(talk: _Talk) -> Head | None:
    """The head of the request; None where there is none. Raises: _RefusedError."""
    data = b""
    while (at := data.find(b"\r\n\r\n")) < 0:
        if len(data) > LONGEST_HEAD:
            raise _RefusedError("the head of the request is too long", 431)
        more = await talk.client.read()
        if not more:
            if not data:
                return None
            raise _RefusedError("the head of the request is cut off", 400)
        data += more
    if at > LONGEST_HEAD:
        raise _RefusedError("the head of the request is too long", 431)
    talk.ahead = data[at + 4 :]
    try:
        return read_head(data[:at])
    except HeadError as error:
        raise _RefusedError(str(error), error.status) from error


async def _body(talk: _Talk, head: Head) -> AsyncGenerator[bytes]:
    """What is sent on after the head: all that comes for CONNECT, else exactly the body. Raises: HeadError."""
    if head.is_connect:
        while data := await talk.read():
            yield data
        return
    if head.length is not None:
        left = head.length
        while left and (data := await talk.read()):
            yield data[:left]
            left -= len(data[:left])
        return
    while True:
        line = await _line(talk, _LONGEST_CHUNK_LINE)
        if not _CHUNK.match(line):
            raise HeadError("a chunk of the body does not say its length")
        left = int(line, 16)
        if left == 0:
            while await _line(talk, _LONGEST_TRAILER):  # fields after the body are not passed on
                pass
            yield b"0\r\n\r\n"
            return
        yield b"%x\r\n" % left
        while left:
            data = await talk.read()
            if not data:
                return
            piece, talk.ahead = data[:left], data[left:] + talk.ahead
            left -= len(piece)
            yield piece
        if await _line(talk, 0):
            raise HeadError("a chunk of the body is longer than it says")
        yield b"\r\n"


async def _line(talk: _Talk, longest: int) -> bytes:
    data = b""
    while (at := data.find(b"\r\n")) < 0:
        if len(data) > longest + 2:
            raise HeadError("a line of the body is too long")
        more = await talk.read()
        if not more:
            raise HeadError("the body is cut off")
        data += more
    talk.ahead = data[at + 2 :] + talk.ahead
    if at > longest:
        raise HeadError("a line of the body is too long")
    return data[:at]


async def _refuse(client: Client, refused: _RefusedError) -> None:
    text = f"evalsi: {refused}\n".encode()
    head = (
        f"HTTP/1.1 {refused.status} {_REASONS[refused.status]}\r\nConnection: close\r\n"
        f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(text)}\r\n\r\n"
    )
    await client.write(head.encode() + text)
    await client.end()
