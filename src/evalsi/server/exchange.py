"""One HTTP request and its answer: bodies within limits, packed and unpacked, over ASGI.

Its own module because REST, Connect and gRPC-Web all stand on it, and limits must hold for each. What always holds: a
body never takes more memory than the limit, also after unpacking; every answer bears the id of its request.
"""

import asyncio
import gzip
import re
import secrets
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, TypeAlias

import zstandard

from evalsi.core.errors import CallDeadlineError, EvalsiError, TooLargeError, UsageError
from evalsi.core.size_text import size_text

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers: TypeAlias = Sequence[tuple[str, str]]

PACKED_FROM_BYTES = 1024
"""Answers shorter than this are not packed: it would cost more than it saves."""
THREAD_FROM_BYTES = 1 << 18
"""Answers longer than this are packed in a thread, so that other calls go on."""
IDLE_S = 30.0
"""Seconds a client may take between two pieces of a body."""
_DRAIN_BYTES = 4 << 20
"""A refused body of this size is read to its end and thrown away, so that the client hears why."""
_DRAIN_S = 5.0
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}\Z")
_STREAM_PIECE = 1 << 16


class ClientGoneError(Exception):
    """The client hung up before its request was whole; nobody is left to be told."""


class Exchange:
    """A request that came in over HTTP, and the way to answer it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, *, most_bytes: int) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._most_bytes = most_bytes
        self.started = False
        """Whether an answer was begun."""
        self.whole = False
        """Whether the request was read to its end."""
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: dict[str, str] = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        self.request_id = request_id_of(self.headers)

    def allow(self, most_bytes: int) -> None:
        """Takes a body up to that size, for somebody who is known by now. Nothing of it may have been read."""
        self._most_bytes = most_bytes

    @cached_property
    def raw_path(self) -> str:
        return self._scope["raw_path"].decode("latin-1")

    @property
    def query(self) -> str:
        return self._scope["query_string"].decode("latin-1")

    @property
    def scheme(self) -> str:
        """Either "http" or "https"."""
        return self._scope.get("scheme", "http")

    @property
    def source(self) -> str:
        client = self._scope.get("client")
        return client[0] if client else ""

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def pieces(self) -> AsyncGenerator[bytes]:
        """The body as it comes, still packed.

        Raises: TooLargeError, CallDeadlineError: the client sent too much, or nothing for too long. ClientGoneError.
        """
        read = 0
        declared = self.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > self._most_bytes:
            raise self._too_large()
        while not self.whole:
            try:
                async with asyncio.timeout(IDLE_S):
                    message = await self._receive()
            except TimeoutError:
                raise CallDeadlineError(f"no byte of the body came for {IDLE_S:g} s") from None
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            self.whole = not message.get("more_body", False)
            piece = message.get("body", b"")
            read += len(piece)
            if read > self._most_bytes:
                raise self._too_large()
            if piece:
                yield piece

    async def body(self) -> bytes:
        """The whole body, unpacked as `content-encoding` says.

        Raises: as `pieces`; UsageError: it cannot be unpacked.
        """
        parts = [piece async for piece in self.pieces()]
        packed = parts[0] if len(parts) == 1 else b"".join(parts)
        return unpacked(packed, self.headers.get("content-encoding", ""), most_bytes=self._most_bytes)

    async def headers_of_refusal(self) -> list[tuple[str, str]]:
        """What an answer to a refused request says of the connection, which cannot be used again where its body was not read.

        A small rest of the body is read first and thrown away: who still sends would see a broken connection, and no answer.
        """
        await self._drain()
        return [] if self.whole else [("connection", "close")]

    async def _drain(self) -> None:
        declared = self.headers.get("content-length", "")
        is_small = declared.isdigit() and int(declared) <= _DRAIN_BYTES
        if not is_small or "expect" in self.headers:  # who asks first has sent nothing yet
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_S):
                while not self.whole:
                    message = await self._receive()
                    if message["type"] == "http.disconnect":
                        return
                    self.whole = not message.get("more_body", False)

    async def until_gone(self) -> None:
        """Returns when the client has hung up. To be called when the request is whole."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def answer(
        self, status: int, body: bytes, content_type: str = "application/json", headers: Headers = ()
    ) -> None:
        """Sends a whole answer, packed where the client takes that and it pays."""
        extra = list(headers)
        coding = self._coding() if len(body) >= PACKED_FROM_BYTES and not _has(extra, "content-encoding") else ""
        if coding:
            body = (
                await asyncio.to_thread(packed, body, coding) if len(body) > THREAD_FROM_BYTES else packed(body, coding)
            )
            extra += [("content-encoding", coding), ("vary", "accept-encoding")]
        extra += [("content-type", content_type), ("content-length", str(len(body)))]
        await self._start(status, extra)
        await self._send({"type": "http.response.body", "body": b"" if self.method == "HEAD" else body})

    async def begin(self, status: int, content_type: str, headers: Headers = ()) -> None:
        """Begins an answer whose pieces follow by `piece`."""
        await self._start(status, [*headers, ("content-type", content_type)])

    async def piece(self, data: bytes) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        await self._send({"type": "http.response.body", "body": b""})

    async def _start(self, status: int, headers: Headers) -> None:
        self.started = True
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        raw.append((b"x-request-id", self.request_id.encode("latin-1")))
        await self._send({"type": "http.response.start", "status": status, "headers": raw})

    def _coding(self) -> str:
        accepted = self.headers.get("accept-encoding", "")
        if not accepted or self.method == "HEAD":
            return ""
        offered = {
            name.strip().lower()
            for name, _, quality in (part.partition(";") for part in accepted.split(","))
            if quality.replace(" ", "") not in ("q=0", "q=0.0")
        }
        return "zstd" if "zstd" in offered else "gzip" if "gzip" in offered else ""

    def _too_large(self) -> EvalsiError:
        return TooLargeError(
            f"the body is larger than the {size_text(self._most_bytes)} that the server takes",
            hint="send less at once, or use a stream",
        )


def request_id_of(headers: Mapping[str, str]) -> str:
    """The id that the caller gave its request, where it can stand in a log; else a new one."""
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.match(given) else secrets.token_hex(8)


def packed(body: bytes, coding: str) -> bytes:
    """The body in a content coding, "gzip" or "zstd"."""
    if coding == "zstd":
        return zstandard.ZstdCompressor(level=1).compress(body)
    return gzip.compress(body, compresslevel=1, mtime=0)


def unpacked(body: bytes, coding: str, *, most_bytes: int) -> bytes:
    """The inverse of `packed`; "" and "identity" leave the body as it is.

    Raises: UsageError: another coding, or a body that is not in it. TooLargeError: it unpacks to too much.
    """
    match coding.strip().lower():
        case "" | "identity":
            return body
        case "gzip":
            return _gunzipped(body, most_bytes)
        case "zstd":
            return _unzstd(body, most_bytes)
        case other:
            raise UsageError(f"the content encoding {other[:40]!r} is not known", hint="use gzip, zstd or none")


def _gunzipped(body: bytes, most_bytes: int) -> bytes:
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        found = unpacker.decompress(body, most_bytes + 1)
    except zlib.error:
        raise UsageError("the body is not in gzip, as its content encoding says") from None
    if len(found) > most_bytes:
        raise TooLargeError(f"the body unpacks to more than the {size_text(most_bytes)} that the server takes")
    if not unpacker.eof:
        raise UsageError("the body in gzip ends too early")
    return found


def _unzstd(body: bytes, most_bytes: int) -> bytes:
    found = bytearray()
    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(body) as reader:
            while piece := reader.read(_STREAM_PIECE):
                found += piece
                if len(found) > most_bytes:
                    raise TooLargeError(
                        f"the body unpacks to more than the {size_text(most_bytes)} that the server takes"
                    )
    except zstandard.ZstdError:
        raise UsageError("the body is not in zstd, as its content encoding says") from None
    return bytes(found)


def _has(headers: Headers, name: str) -> bool:
    return any(known == name for known, _ in headers)


async def while_there(exchange: Exchange, work: Awaitable[Any]) -> Any:
    """What `work` gives, or ClientGoneError as soon as the client hangs up; then the work is cancelled.

    Looking costs a task, so it begins only when the work has taken a moment.
    """
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    watchers: list[asyncio.Task[None]] = []
    gone = False

    async def watch() -> None:
        nonlocal gone
        await exchange.until_gone()
        gone = True
        task.cancel()

    timer = loop.call_later(0.02, lambda: watchers.append(loop.create_task(watch())))
    try:
        return await work
    except asyncio.CancelledError:
        if gone and task.uncancel() == 0:
            raise ClientGoneError from None
        raise
    finally:
        timer.cancel()
        for watcher in watchers:
            watcher.cancel()
