"""One port for every protocol: the first bytes of a connection decide who speaks on it.

HTTP/2 opens with a preface that nothing else begins with; where its first call is gRPC's, the connection is a pipe to gRPC's
own socket. All others, HTTP/2 and HTTP/1.1, are served in this process. Decision 0015 says why. What always holds: a client that is slow to say what it
wants is cut off, so connections that only sit there do not add up, and no connection is given to either before it calls.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from evalsi.server.exchange import Receive, Scope, Send
from evalsi.server.first_frames import GOAWAY, PREFACE, SETTINGS, FirstFrames, WithoutFirstAcknowledgement
from evalsi.server.gathered_writes import GatheredWrites
from evalsi.server.pipe_names import PipeNames

HEAD_S = 10.0
"""Seconds a client may take for the head of a request, from its first byte; and for its first byte on a new connection."""
SILENT_S = 30.0
"""Seconds a client that has opened HTTP/2 may call nobody. Clients wait a minute for SETTINGS to be acknowledged, which who
takes the connection over does."""
_LAST_WORDS_S = 5.0
"""Seconds a client has to hear that its connection is at an end."""
KEEP_ALIVE_S = 75
HEAD_BYTES = 64 << 10
"""Longest head of a request."""
_PIPE_BYTES = 1 << 20

App = Callable[[Scope, Receive, Send], Any]


class OnePort:
    """Listens, and hands each connection to who speaks its protocol.

    Args:
        app: The ASGI application for HTTP/1.1.
        grpc_socket: Path of the unix socket that gRPC listens on.
        names: Names of the pipes to it.
    """

    def __init__(self, app: App, grpc_socket: str, names: PipeNames, *, most_connections: int = 20_000) -> None:
        self._config = Config(
            app,  # pyright: ignore[reportArgumentType]
            http="httptools",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_S,
        )
        self._app = app
        self._config.load()
        # What it says about malformed requests would stand between the lines of our own log.
        logging.getLogger("uvicorn.error").addHandler(logging.NullHandler())
        self._state = ServerState()
        self._grpc_socket = grpc_socket
        self._names = names
        self._most_connections = most_connections
        self._pipes: set[asyncio.Transport] = set()
        self._server: asyncio.Server | None = None
        self._dating: asyncio.Task[None] | None = None

    async def listen(self, host: str, port: int, tls: ssl.SSLContext | None) -> tuple[str, int]:
        """Listens and returns the address with the port that was given. Raises: OSError."""
        loop = asyncio.get_running_loop()
        self._dating = loop.create_task(self._date())
        self._server = await loop.create_server(
            self._connection, host, port, ssl=tls, backlog=2048, ssl_handshake_timeout=HEAD_S if tls else None
        )
        name = self._server.sockets[0].getsockname()
        return name[0], name[1]

    async def close(self, grace_s: float) -> None:
        """Takes no more connections, lets requests under way end within `grace_s` seconds, cuts off the rest."""
        if self._server is None:
            return
        self._server.close()
        for connection in list(self._state.connections):
            connection.shutdown()
        if self._state.tasks:
            await asyncio.wait(list(self._state.tasks), timeout=grace_s)
        for task in list(self._state.tasks):
            task.cancel()
        for connection in list(self._state.connections):
            connection.transport.abort()
        for pipe in list(self._pipes):
            pipe.abort()
        if self._dating is not None:
            self._dating.cancel()

    def _connection(self) -> asyncio.Protocol:
        # A pipe to gRPC has two ends.
        if len(self._state.connections) + len(self._pipes) // 2 >= self._most_connections:
            return _Refused()
        return _Undecided(self)

    async def _date(self) -> None:
        """Keeps the date that every answer bears."""
        from email.utils import formatdate

        while True:
            self._state.default_headers = [(b"date", formatdate(usegmt=True).encode())]
            await asyncio.sleep(1)

    def speak_http(self, transport: asyncio.Transport, first: bytes) -> None:
        loop = asyncio.get_running_loop()
        protocol = _PatientHttp(self._config, self._state, {}, _loop=loop)
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        protocol.data_received(first)

    def speak_http2(self, transport: asyncio.Transport, first: bytes) -> None:
        from evalsi.server.http2 import Http2

        protocol = Http2(self._app, self._state)
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        protocol.data_received(first)

    async def pipe_to_grpc(self, transport: asyncio.Transport, first: bytes) -> None:
        down = _Pipe(transport, self._pipes)
        down.passing = WithoutFirstAcknowledgement()
        first = down.passing.pass_on(first)
        transport.set_protocol(down)
        client = transport.get_extra_info("peername")
        try:
            connected, name = await self._names.connect(self._grpc_socket, client[0] if client else "")
        except OSError:
            transport.abort()
            return
        up, _ = await asyncio.get_running_loop().create_unix_connection(
            lambda: _Pipe(None, self._pipes, transport, lambda: self._names.forget(name)), sock=connected
        )
        if transport.is_closing():
            up.abort()
            return
        down.peer = up
        up.write(first)
        transport.resume_reading()

    def know(self, connection: Any) -> None:
        self._state.connections.add(connection)

    def forget(self, connection: Any) -> None:
        self._state.connections.discard(connection)


class _Refused(asyncio.Protocol):
    """A connection more than there may be."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast("asyncio.Transport", transport).abort()


class _Undecided(asyncio.Protocol):
    """A connection of which it is not known yet what it speaks."""

    def __init__(self, port: OnePort) -> None:
        self._port = port
        self._first = b""
        self.transport: asyncio.Transport | None = None
        self._frames: FirstFrames | None = None
        """What HTTP/2 has said so far; None for a connection that does not speak it, or not yet."""
        self._head: asyncio.TimerHandle | None = None
        """Ends a connection whose client is slow in the middle of what it says."""
        self._silence: asyncio.TimerHandle | None = None
        """Ends one of HTTP/2 whose client says nothing."""
        self._is_over = False
        self._opening: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._port.know(self)
        self._head = self._after(HEAD_S, self.shutdown)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._decided()

    def data_received(self, data: bytes) -> None:
        if self._is_over:
            return
        if self._frames is not None:
            self._frames.add(data)
            self._choose(self._frames)
            return
        self._first += data
        if len(self._first) < len(PREFACE) and PREFACE.startswith(self._first):
            return
        assert self.transport is not None
        if not self._first.startswith(PREFACE):
            self._decided()
            self._port.speak_http(self.transport, self._first)
            return
        self.transport.write(SETTINGS)
        self._frames = FirstFrames(self._first)
        self._silence = self._after(SILENT_S, self._say_goodbye)
        self._choose(self._frames)

    def _choose(self, frames: FirstFrames) -> None:
        speaker = frames.speaker()
        assert self.transport is not None
        if answers := frames.answers():
            self.transport.write(answers)
        if speaker == "http":
            self._decided()
            self._port.speak_http2(self.transport, bytes(frames.received))
        elif speaker == "grpc":
            self._pipe(frames)
        elif not frames.is_within_a_call:
            self._head = _cancelled(self._head)
        elif self._head is None:
            self._head = self._after(HEAD_S, self.shutdown)

    def _pipe(self, frames: FirstFrames) -> None:
        self._decided()
        assert self.transport is not None
        self.transport.pause_reading()
        opening = self._port.pipe_to_grpc(self.transport, bytes(frames.received))
        self._opening = asyncio.get_running_loop().create_task(opening)

    def _say_goodbye(self) -> None:
        """Ends a connection on which nobody was called, so that its client opens another one when it calls: given to gRPC,
        it would answer nobody else, and the other way round.
        """
        if self.transport is None or self.transport.is_closing():
            return
        self._head = _cancelled(self._head)
        self._is_over = True
        self.transport.write(GOAWAY)
        # What may be on its way is read: a connection that is closed before loses what it said last.
        self._silence = self._after(_LAST_WORDS_S, self.transport.close)

    def shutdown(self) -> None:
        if self.transport is not None:
            self.transport.abort()

    def _decided(self) -> None:
        self._port.forget(self)
        self._head, self._silence = _cancelled(self._head), _cancelled(self._silence)

    def _after(self, seconds: float, act: Callable[[], None]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, act)


def _cancelled(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class _PatientHttp(HttpToolsProtocol):
    """uvicorn's HTTP/1.1, with a limit on how long and how large the head of a request may be."""

    _head_timer: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _in_head = False
    _requests = 0
    """Requests whose head has come and whose answer has not gone."""
    _writes: GatheredWrites

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._writes = GatheredWrites(transport, self.loop)
        super().connection_made(cast("asyncio.Transport", self._writes))

    def data_received(self, data: bytes) -> None:
        if not self._in_head and not self._requests:
            self._in_head = True
            self._head_bytes = 0
            self._head_timer = self.loop.call_later(HEAD_S, self._too_slow)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES and b"\r\n\r\n" not in data[:HEAD_BYTES]:
                self.send_400_response("The head of the request is too large.")
                return
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self._head_done()
        self._requests += 1
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        self._requests -= 1
        self._writes.flush()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_done()
        super().connection_lost(exc)

    def _head_done(self) -> None:
        self._in_head = False
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _too_slow(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()


class _Pipe(asyncio.Protocol):
    """One end of a byte pipe; what comes in goes to the peer, and a peer that is full stops this end from reading."""

    def __init__(
        self,
        transport: asyncio.Transport | None,
        pipes: set[asyncio.Transport],
        peer: asyncio.Transport | None = None,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        self._pipes = pipes
        self._ended = ended
        self._transport = transport
        self.peer = peer
        self.passing: WithoutFirstAcknowledgement | None = None
        """What of the data is not for the peer; None for all of it to be."""
        if transport is not None:
            self._begin(transport)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._begin(cast("asyncio.Transport", transport))

    def _begin(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._pipes.add(transport)
        transport.set_write_buffer_limits(high=_PIPE_BYTES)

    def data_received(self, data: bytes) -> None:
        if self.passing is not None:
            data = self.passing.pass_on(data)
        if self.peer is not None:
            self.peer.write(data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._ended()
        if self._transport is not None:
            self._pipes.discard(self._transport)
        if self.peer is not None and not self.peer.is_closing():
            self.peer.close()

    def pause_writing(self) -> None:
        if self.peer is not None:
            with suppress(RuntimeError):  # closing already
                self.peer.pause_reading()

    def resume_writing(self) -> None:
        if self.peer is not None:
            with suppress(RuntimeError):
                self.peer.resume_reading()
