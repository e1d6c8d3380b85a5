"""The way from a method and a message to a server and back: one HTTP client, its retries, its streams.

Its own module because nothing else of the client knows HTTP. What always holds: the key goes to the server that was named
and nowhere else (redirects are refused), a stream is read as it comes and never held, and every failure is an error of
the tree.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import uuid4

import aiohttp
import msgspec

from evalsi.client.rest_request import RestRequest, rest_request, upload_request
from evalsi.client.retrying import RetryPlan, may_pass, told_wait_s
from evalsi.client.server_address import ServerAddress, checked_url
from evalsi.client.told_error import error_of_answer, error_of_body
from evalsi.core.errors import CallDeadlineError, EvalsiError, NotFoundError
from evalsi.core.version import __version__
from evalsi.schema.json_codec import SchemaError, decode_known, encode_file
from evalsi.schema.method import Method

T = TypeVar("T")
ResponseT = TypeVar("ResponseT", bound=msgspec.Struct)

CONNECT_S = 10.0
_STORES_NOTHING = ("EvaluationService",)
"""Services whose calls may be made twice: they answer and keep nothing."""
_LONGEST_EVENT = 64 << 20
_PIECE = 1 << 18


class Connection:
    """Calls to one server. To be used and closed in one event loop."""

    def __init__(self, address: ServerAddress, *, retries: RetryPlan, timeout_s: float) -> None:
        self._url = checked_url(address.url)
        self._proxy = address.proxy or None
        self._retries = retries
        self._timeout_s = timeout_s
        self._headers = {"User-Agent": f"evalsi/{__version__}"}
        if address.api_key:
            self._headers["Authorization"] = f"Bearer {address.api_key}"
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def call(
        self, method: Method, request: msgspec.Struct, kind: type[ResponseT], *, idempotency_key: str = ""
    ) -> ResponseT:
        """Makes a call with one request and one answer.

        It is made again where the reason may pass: always under one key of idempotency, unless it changes nothing.

        Raises: EvalsiError: what the server said, or that there is none.
        """
        sent = rest_request(method, request)
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if idempotency_key or not (method.safe or method.service.rpartition(".")[2] in _STORES_NOTHING):
            headers["Idempotency-Key"] = idempotency_key or uuid4().hex
        timeout = aiohttp.ClientTimeout(total=self._timeout_s, sock_connect=CONNECT_S)
        attempt = 1
        while True:
            told_s: float | None = None
            try:
                async with self._open_session().request(
                    sent.verb,
                    self._url + sent.target,
                    data=sent.body,
                    headers=headers,
                    timeout=timeout,
                    allow_redirects=False,
                    proxy=self._proxy,
                ) as answer:
                    body = await answer.read()
                if answer.status < 300:
                    return self._decoded(body, kind)
                told_s = told_wait_s(answer.headers.get("Retry-After", ""))
                failure = error_of_answer(answer.status, body, self._url)
                again = may_pass(answer.status, told_s)
            except TimeoutError:
                raise CallDeadlineError(f"{self._url} gave no answer within {self._timeout_s:g} s") from None
            except aiohttp.ClientError as error:
                failure, again = self._unreachable(error), True
            wait_s = self._retries.wait_s(attempt, told_s) if again else None
            if wait_s is None:
                raise failure
            await asyncio.sleep(wait_s)
            attempt += 1

    async def receive(
        self, method: Method, request: msgspec.Struct, kind: type[ResponseT]
    ) -> AsyncGenerator[ResponseT]:
        """Makes a call with a stream of answers."""
        sent = rest_request(method, request)
        async with self._streamed(sent, sent.body, "application/json") as answer:
            async for event in _events(answer):
                yield self._read(event, kind)

    async def exchange(
        self, method: Method, requests: AsyncIterable[msgspec.Struct], kind: type[ResponseT]
    ) -> AsyncGenerator[ResponseT]:
        """Makes a call with a stream of requests and a stream of answers, both at once.

        What `requests` raises, this raises.
        """
        source = _Source(requests)
        sent = RestRequest(method.verb, method.path)
        with source.failure_first():
            async with self._streamed(sent, source.lines(), "application/x-ndjson") as answer:
                async for event in _events(answer):
                    yield self._read(event, kind)

    async def download(self, method: Method, request: msgspec.Struct) -> AsyncGenerator[bytes]:
        """Makes a call whose answer is a file, in pieces."""
        async with self._streamed(rest_request(method, request), None, "") as answer:
            async for piece in answer.content.iter_chunked(_PIECE):
                yield piece

    async def upload(
        self, method: Method, about: msgspec.Struct, pieces: AsyncIterable[bytes], kind: type[ResponseT]
    ) -> ResponseT:
        """Makes a call whose request is a file. It is not repeated: the pieces are gone once they are sent."""
        sent = upload_request(method, about)
        source = _Source(pieces)
        with source.failure_first():
            async with self._streamed(sent, source.items(), "application/octet-stream") as answer:
                return self._decoded(await answer.read(), kind)

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(headers=self._headers, read_bufsize=_PIECE)
        return self._session

    @asynccontextmanager
    async def _streamed(
        self, sent: RestRequest, body: bytes | AsyncIterable[bytes] | None, content_type: str
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        headers = {"Accept": "text/event-stream, application/json"}
        if content_type:
            headers["Content-Type"] = content_type
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=self._timeout_s)
        try:
            async with self._open_session().request(
                sent.verb,
                self._url + sent.target,
                data=body,
                headers=headers,
                timeout=timeout,
                allow_redirects=False,
                proxy=self._proxy,
            ) as answer:
                if answer.status >= 300:
                    raise error_of_answer(answer.status, await answer.read(), self._url)
                yield answer
        except TimeoutError:
            raise CallDeadlineError(f"nothing came from {self._url} for {self._timeout_s:g} s") from None
        except aiohttp.ClientPayloadError as error:
            raise self._broken_off(error) from None
        except aiohttp.ClientError as error:
            raise self._unreachable(error) from None

    def _read(self, event: "_Event", kind: type[ResponseT]) -> ResponseT:
        if event.name == "error":
            raise error_of_body(msgspec.json.decode(event.data), self._url)
        return self._decoded(event.data, kind)

    def _decoded(self, body: bytes, kind: type[ResponseT]) -> ResponseT:
        try:
            return decode_known(body, kind)
        except SchemaError as error:
            hint = "is it a server of evalsi?"
            raise EvalsiError(f"{self._url} answered what this version cannot read: {error}", hint=hint) from None

    def _unreachable(self, error: aiohttp.ClientError) -> EvalsiError:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return NotFoundError(f"no server answers at {self._url}: {reason}", hint="start one with: evalsi serve")

    def _broken_off(self, error: aiohttp.ClientError) -> EvalsiError:
        return EvalsiError(f"{self._url} broke the answer off: {error}", hint="its log may say more")


@dataclass(frozen=True, slots=True)
class _Event:
    name: str
    data: bytes


async def _events(answer: aiohttp.ClientResponse) -> AsyncGenerator[_Event]:
    """The server-sent events of an answer; comments, which are signs of life, are left out."""
    held = bytearray()
    async for piece in answer.content.iter_any():
        held += piece
        while (end := held.find(b"\n\n")) >= 0:
            block = bytes(held[:end])
            del held[: end + 2]
            name, data = "message", b""
            for line in block.split(b"\n"):
                label, _, value = line.partition(b":")
                if label == b"event":
                    name = value.strip().decode()
                elif label == b"data":
                    data += value.removeprefix(b" ")
            if data:
                yield _Event(name, data)
        if len(held) > _LONGEST_EVENT:
            raise EvalsiError("an answer of the server has no end", hint="is it a server of evalsi?")


class _Source(Generic[T]):
    """What is sent in a stream. The HTTP client swallows what its source raises, so it is kept here."""

    def __init__(self, given: AsyncIterable[T]) -> None:
        self._given = given
        self._failure: Exception | None = None

    async def items(self) -> AsyncGenerator[T]:
        try:
            async for item in self._given:
                yield item
        except Exception as error:
            self._failure = error
            raise

    async def lines(self: "_Source[msgspec.Struct]") -> AsyncGenerator[bytes]:
        """The messages as JSON Lines."""
        async for item in self.items():
            yield encode_file(item) + b"\n"

    @contextmanager
    def failure_first(self) -> Generator[None]:
        """Raises what the source raised in place of what became of the call for it."""
        try:
            yield
        except EvalsiError:
            if self._failure is not None:
                raise self._failure from None
            raise
