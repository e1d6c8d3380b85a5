"""One HTTP/1.1 connection: a question goes out, its answer comes in, then the next one's.

Written on asyncio's protocols and httptools' parser because asking is most of what a run costs beside the model's own
time (decision 0002 has the figures). How connections are opened and kept is `http_client`. What always holds: an answer is
as long as its headers say or it is a failure; a connection is used again only when its last answer was read whole, nothing
came behind it, and both sides wanted to keep it.
"""

import asyncio
import time
import zlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, cast

import httptools

LARGEST_BODY_BYTES = 64 * 1024 * 1024
_LARGEST_HEAD_BYTES = 64 * 1024
_MOST_UNREAD_BYTES = 1024 * 1024
RECEIVED_BYTES = 256 * 1024
"""What is read at once, at most."""
NEVER_S = float("inf")
_ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})


class Failing(Enum):
    """Where an exchange failed, which decides what to do about it."""

    UNREACHABLE = auto()
    """No connection: refused, no such host, no route, or a proxy that does not let us through."""
    NOT_IN_TIME = auto()
    """No connection within the time for it."""
    UNTRUSTED = auto()
    """The certificate, or the lack of one."""
    DROPPED = auto()
    """The connection ended before anything of an answer was there: mostly a kept one that the server had closed."""
    BROKEN_OFF = auto()
    """The answer ended early or is no HTTP."""


class HttpError(Exception):
    """There is no answer. Its text says why, without the host."""

    def __init__(self, failing: Failing, reason: str) -> None:
        super().__init__(reason)
        self.failing = failing


class Response:
    """An answer under way: status and headers are there, the body may still be coming.

    `headers` has lower-case names; the values of a repeated one are joined by commas.
    """

    __slots__ = (
        "_connection",
        "_failure",
        "_inflate",
        "_unread",
        "_unread_bytes",
        "_waiter",
        "headers",
        "is_whole",
        "size",
        "status",
    )

    def __init__(self, connection: "HttpConnection") -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.is_whole = False
        self.size = 0
        """Bytes of the body so far, as they will be read."""
        self._connection = connection
        self._failure: Exception | None = None
        self._inflate: Any = None
        self._unread: list[bytes] = []
        self._unread_bytes = 0
        self._waiter: asyncio.Future[None] | None = None

    async def read(self) -> bytes:
        """The whole body. Raises: HttpError, TimeoutError; ValueError: it is larger than anything sensible."""
        if self.is_whole and self._failure is None:
            unread, self._unread = self._unread, []
            return unread[0] if len(unread) == 1 else b"".join(unread)
        return b"".join([piece async for piece in self.pieces()])

    async def pieces(self) -> AsyncGenerator[bytes]:
        """The body as it arrives. Raises as `read` does, after the pieces that came before."""
        while True:
            if self._unread:
                unread, self._unread, self._unread_bytes = self._unread, [], 0
                self._connection.resume()
                yield b"".join(unread)
            elif self._failure is not None:
                raise self._failure
            elif self.is_whole:
                return
            else:
                self._waiter = self._connection.loop.create_future()
                try:
                    await self._waiter
                finally:
                    self._waiter = None

    def release(self) -> None:
        """The body was read; the connection may serve somebody else."""
        self._connection.release()

    def close(self) -> None:
        """The rest is of no interest."""
        self._connection.give_up(self)

    def take(self, piece: bytes) -> bool:
        """Adds a piece of the body, decoded if need be. Whether reading should pause, because nobody keeps up."""
        if self._inflate is not None:
            try:
                piece = self._inflate.decompress(piece, LARGEST_BODY_BYTES + 1)
            except zlib.error:
                self.fail(HttpError(Failing.BROKEN_OFF, "its compression cannot be undone"))
                return False
        self.size += len(piece)
        if self.size > LARGEST_BODY_BYTES:
            self.fail(ValueError(f"a body of more than {LARGEST_BODY_BYTES} bytes"))
            return False
        self._unread.append(piece)
        self._unread_bytes += len(piece)
        self._wake()
        return self._unread_bytes > _MOST_UNREAD_BYTES

    def begin(self) -> None:
        """The headers are complete. Raises: HttpError: the body has a form that was not asked for."""
        encoding = self.headers.get("content-encoding")
        if encoding is None or encoding.lower() == "identity":
            return
        if encoding.lower() not in _ENCODINGS:
            raise HttpError(Failing.BROKEN_OFF, f"its body is encoded as {encoding[:40]}, which was not asked for")
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def end(self) -> None:
        """The body is complete."""
        if self._inflate is not None and self.size and not self._inflate.eof:
            self.fail(HttpError(Failing.BROKEN_OFF, "its compressed body is cut off"))
            return
        self.is_whole = True
        self._wake()

    def fail(self, failure: Exception) -> None:
        """Nothing more will come."""
        if not self.is_whole and self._failure is None:
            self._failure = failure
            self._wake()

    @property
    def has_failed(self) -> bool:
        return self._failure is not None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Deadlines:
    """Ends the exchanges that take longer than they may, each at its time.

    One timer for all connections of a client, never later than the earliest deadline: most exchanges end long before theirs,
    and a timer for each would be made only to be cancelled.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, connections: "set[HttpConnection]") -> None:
        self._loop = loop
        self._connections = connections
        self._timer: asyncio.TimerHandle | None = None
        self._at_s = NEVER_S

    def begin(self, timeout_s: float) -> float:
        """The deadline of an exchange that begins now and may take `timeout_s` seconds, on the clock of the loop."""
        deadline_s = self._loop.time() + timeout_s
        if deadline_s < self._at_s:
            self._look_at(deadline_s)
        return deadline_s

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer, self._at_s = None, NEVER_S

    def _look_at(self, at_s: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._at_s, self._timer = at_s, self._loop.call_at(at_s, self._look)

    def _look(self) -> None:
        # The loop may call a little early, by the resolution of its clock; what this look was for is due all the same.
        now_s = max(self._loop.time(), self._at_s)
        self._timer, self._at_s = None, NEVER_S
        next_s = NEVER_S
        for connection in list(self._connections):
            if connection.deadline_s <= now_s:
                connection.out_of_time()
            else:
                next_s = min(next_s, connection.deadline_s)
        if next_s < self._at_s:
            self._look_at(next_s)


@dataclass(frozen=True, slots=True)
class Shared:
    """What the connections of one client to one origin have in common."""

    loop: asyncio.AbstractEventLoop
    received: memoryview
    """Where they read to, `RECEIVED_BYTES` long: what was read is parsed before another reads, and a buffer of its own
    for every read would cost more than the parsing.
    """
    open: "set[HttpConnection]"
    """Those that are open, in use or not."""
    free: "list[HttpConnection]"
    """Those that wait for a question, the one that was used last at the end."""
    deadlines: Deadlines


class HttpConnection(asyncio.BufferedProtocol):
    """The connection. `ask` once, read the response, `release` it; then again."""

    def __init__(self, shared: Shared) -> None:
        self.free_since_s = 0.0
        """Since when it is free, on the clock of `time.monotonic`."""
        self.deadline_s = NEVER_S
        """Until when the exchange under way must be done, on the clock of the loop."""
        self.loop = shared.loop
        self._shared = shared
        self._received = shared.received
        self._transport: asyncio.Transport | None = None
        self._parser: Any = httptools.HttpResponseParser(self)
        self._response: Response | None = None
        self._head: asyncio.Future[Response] | None = None
        self._head_bytes = 0
        self._is_body_expected = True
        self._keeps = False
        self._paused = False

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    async def ask(self, message: bytes, timeout_s: float, *, is_body_expected: bool = True) -> Response:
        """Sends a whole request and waits for the head of the answer.

        Args:
            timeout_s: Seconds until the whole answer must be there.
            is_body_expected: False where an answer ends with its headers, whatever these say (HEAD, CONNECT).
        Raises: HttpError, TimeoutError.
        """
        assert self._transport is not None
        self._response = None
        self._head_bytes = 0
        self._keeps = False
        self._is_body_expected = is_body_expected
        self._head = self.loop.create_future()
        self.deadline_s = self._shared.deadlines.begin(timeout_s)
        self._transport.write(message)
        try:
            return await self._head
        except BaseException:
            self.close()
            if self._head.done() and not self._head.cancelled():
                self._head.exception()  # Seen, also by whoever was cancelled at the same moment.
            raise

    def out_of_time(self) -> None:
        """The exchange took longer than it may."""
        self._fail(TimeoutError())

    def release(self) -> None:
        """Free for another question, or closed when it cannot be."""
        if self._keeps and self.is_open:
            self._keeps = False
            self._response = None
            self.free_since_s = time.monotonic()
            self._shared.free.append(self)
        else:
            self.close()

    def close(self) -> None:
        """Ends it at once. What waits for it is not told: close what you have asked yourself."""
        self.deadline_s = NEVER_S
        self._keeps = False
        if self._transport is not None:
            self._transport.abort()

    def give_up(self, response: Response) -> None:
        """Ends it, if it is still this answer's."""
        if self._response is response:
            self.close()

    def over_tls(self, transport: asyncio.Transport) -> None:
        """Goes on over another transport that stands on its own one: behind a proxy's CONNECT."""
        self._transport = transport
        self._shared.open.add(self)

    @property
    def transport(self) -> asyncio.Transport:
        assert self._transport is not None
        return self._transport

    def resume(self) -> None:
        """Somebody has read what was there."""
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._shared.open.add(self)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - the protocol's signature
        return self._received

    def buffer_updated(self, nbytes: int) -> None:
        if self._head is None:
            self.close()  # Nobody asked.
            return
        if self._response is None or not self._head.done():
            self._head_bytes += nbytes
        try:
            self._parser.feed_data(self._received[:nbytes])
        except httptools.HttpParserCallbackError as error:
            self._fail(_cause_of(error))
        except httptools.HttpParserUpgrade:
            self._fail(HttpError(Failing.BROKEN_OFF, "it changes to another protocol, which was not asked for"))
        except httptools.HttpParserError:
            self._fail(HttpError(Failing.BROKEN_OFF, "it is no valid HTTP"))
        if not self._head_is_there and self._head_bytes > _LARGEST_HEAD_BYTES:
            self._fail(HttpError(Failing.BROKEN_OFF, f"its headers are larger than {_LARGEST_HEAD_BYTES} bytes"))

    def eof_received(self) -> None:
        return

    def connection_lost(self, exc: Exception | None) -> None:
        response = self._response
        if exc is None and response is not None and self._head_is_there and _ends_with_connection(response):
            self.deadline_s = NEVER_S
            response.end()
        elif self._head_is_there:
            self._fail(HttpError(Failing.BROKEN_OFF, "the connection ended before the answer did"))
        else:
            self._fail(HttpError(Failing.DROPPED, "the connection was closed"))
        self._transport = None
        self._keeps = False
        self._shared.open.discard(self)

    # The parser calls what follows.

    def on_message_begin(self) -> None:
        if self._response is not None and self._response.is_whole:
            self._keeps = False  # Something comes behind the answer; whose it is cannot be known.
            self.close()
            return
        self._response = Response(self)

    def on_header(self, name: bytes, value: bytes) -> None:
        assert self._response is not None
        headers = self._response.headers
        key = name.decode("latin-1").lower()
        text = value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text

    def on_headers_complete(self) -> None:
        response = self._response
        assert response is not None
        response.status = self._parser.get_status_code()
        if response.status < 200 or response.is_whole:
            return
        response.begin()
        if not self._is_body_expected:
            self.deadline_s = NEVER_S
            response.end()
        assert self._head is not None
        if not self._head.done():
            self._head.set_result(response)

    def on_body(self, piece: bytes) -> None:
        response = self._response
        assert response is not None
        if response.is_whole:
            return
        if response.take(piece) and self._transport is not None and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        if response.has_failed:
            self.close()

    def on_message_complete(self) -> None:
        response = self._response
        assert response is not None
        if response.status < 200:
            self._response = None  # A word on the way, such as 103 Early Hints; the answer is still to come.
            return
        if not response.is_whole:
            self.deadline_s = NEVER_S
            self._keeps = self._parser.should_keep_alive()
            response.end()

    @property
    def _head_is_there(self) -> bool:
        return self._head is not None and self._head.done()

    def _fail(self, failure: Exception) -> None:
        if self._head is not None and not self._head.done():
            self._head.set_exception(failure)
        elif self._response is not None:
            self._response.fail(failure)
        self.close()


def _ends_with_connection(response: Response) -> bool:
    """Whether the body has no length of its own (RFC 9112, section 6.3)."""
    return "content-length" not in response.headers and "chunked" not in response.headers.get("transfer-encoding", "")


def _cause_of(error: BaseException) -> Exception:
    """What a callback of ours raised within the parser."""
    cause = error.__context__ or error.__cause__
    return cause if isinstance(cause, HttpError) else HttpError(Failing.BROKEN_OFF, "it is no valid HTTP")
