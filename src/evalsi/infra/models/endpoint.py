"""One HTTP endpoint: sends a question and reads the answer, with limits, retries and a circuit breaker in between.

What all protocols share is here, so that a limit, a pause or a redaction cannot differ between them. How an answer is read
(a JSON object, a stream of events, anything) is a function that the protocol hands in; when it breaks off or cannot be
read, the whole question is asked again. What always holds:
the key is in one header and nowhere else (not in errors, representations or results); TLS is verified; redirects are not
followed, because they could carry the key elsewhere; proxies are those the settings name, never the environment's.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar, cast
from urllib.parse import parse_qsl, urlsplit

import msgspec

from evalsi.core.address_fence import AddressFence
from evalsi.core.errors import InvalidSpecError, ProviderError
from evalsi.core.lone_surrogates import without_surrogates
from evalsi.infra.models.http_client import HttpClient
from evalsi.infra.models.http_connection import Failing, HttpError, Response
from evalsi.infra.models.limits import Limiter, LimiterPool, Limits
from evalsi.infra.models.payload import words_of_error
from evalsi.infra.models.retries import CircuitBreaker, RetryPolicy, retry_after_s
from evalsi.schema import ErrorKind

T = TypeVar("T")

CHECK_S = 4.5
"""Seconds within which `Endpoint.check` knows whether there is anybody."""

_SHOWN_CHARACTERS = 400
_SHORTEST_SECRET = 4
_KEY_LIKE = re.compile(r"\b(?:sk|pk|key|api)[-_][A-Za-z0-9_\-*]{8,}|\bBearer\s+\S{8,}", re.IGNORECASE)
_SECRET_PARAMETERS = frozenset({"key", "api_key", "api-key", "apikey", "token", "access_token"})
_BROKEN_STATUS = frozenset({408, 409, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_PAGE = re.compile(rb"\s*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_CROWDED_STATUS = frozenset({429, 503, 529})


@dataclass(frozen=True, kw_only=True)
class Access:
    """Where a model is and how to get in.

    Args:
        base_url: `http` or `https`, without credentials.
        api_key: The key itself, as read by whoever reads the environment; None sends none.
        proxy: Address of an HTTP proxy; None connects directly, whatever the environment says.
        ca_file: Certificates to trust instead of the system's.
        headers: More headers for every request.
        secrets: What is blacked out in errors beside the key, such as values of headers.
        fence: Where the address may lead, when it is not the operator who wrote it; None for anywhere.
    Raises: InvalidSpecError: the base URL is no http address, holds credentials, or is beyond the fence.
    """

    base_url: str
    api_key: str | None = field(default=None, repr=False)
    limits: Limits = field(default_factory=Limits)
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    proxy: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    fence: AddressFence | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidSpecError(
                f"{_KEY_LIKE.sub('***', self.base_url)!r} is no http address",
                where="base_url",
                hint="write it as https://host/v1",
            )
        if (
            parts.username
            or parts.password
            or _SECRET_PARAMETERS & {name.lower() for name, _ in parse_qsl(parts.query)}
        ):
            raise InvalidSpecError(
                f"the address of {parts.hostname} holds credentials",
                where="base_url",
                hint="put the key into an environment variable and name it: api_key_env, or --judge-api-key-env",
            )
        if self.is_fenced:
            assert self.fence is not None
            self.fence.check_url(self.base_url, where="base_url")

    @property
    def is_fenced(self) -> bool:
        """Whether it is judged where the address leads: not for one that the operator wrote."""
        return self.fence is not None and self.base_url not in self.fence.allow_urls

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).netloc

    def url(self, path: str) -> str:
        """The address of a path below the base URL; a query of the base URL stays at the end."""
        parts = urlsplit(self.base_url)
        return parts._replace(path=parts.path.rstrip("/") + path).geturl()


class Answer(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A good answer: what was read, how long that took, and how many attempts failed before it."""

    body: T
    latency_s: float
    retries: int
    request_id: str


class Unreadable(Exception):
    """Raised by a reader: the answer is not what it should be. Its text completes "HOST ..."; asked again.

    Args:
        content: What came, as evidence.
        kind: What the provider itself said, where it did.
    """

    def __init__(self, message: str, content: bytes, *, kind: ErrorKind = ErrorKind.PROVIDER) -> None:
        super().__init__(message)
        self.message = message
        self.content = content
        self.kind = kind


class Incoming:
    """An answer under way, its status good. For one reader, once."""

    def __init__(self, response: Response, start_s: float) -> None:
        self._response = response
        self.headers: Mapping[str, str] = response.headers
        """By name in lower case."""
        self.start_s = start_s
        """When the question was sent, on the clock of `time.perf_counter`."""

    async def content(self) -> bytes:
        """The whole body. Raises: ValueError: it is larger than anything sensible."""
        return await self._response.read()

    def pieces(self) -> AsyncGenerator[bytes]:
        """The body as it arrives. Raises: ValueError: it is larger than anything sensible."""
        return self._response.pieces()


Reader: TypeAlias = Callable[[Incoming], Awaitable[T]]


async def read_object(incoming: Incoming) -> dict[str, Any]:
    """The body as a JSON object. Raises: Unreadable."""
    return object_of(await incoming.content())


def object_of(content: bytes) -> dict[str, Any]:
    """A body as a JSON object. Raises: Unreadable."""
    try:
        decoded = decode_json(content)
    except ValueError as error:
        raise Unreadable("answered with a body that is no JSON object", content) from error
    if not isinstance(decoded, dict):
        raise Unreadable("answered with a body that is no JSON object", content)
    return cast("dict[str, Any]", decoded)


def decode_json(content: bytes) -> Any:
    """A provider's JSON. Halves of surrogate pairs, which models write now and then, become their escapes.

    Raises: ValueError: it is none.
    """
    try:
        try:
            return msgspec.json.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError):
            value, _ = without_surrogates(json.loads(content, parse_constant=_refuse_constant))
            return value
    except RecursionError:
        raise ValueError("nested too deep") from None


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


class Outgoing(msgspec.Struct, frozen=True, kw_only=True):
    """A question: whose limits apply, what is sent, and an estimate of the tokens it will use (see `settle`).

    `url`, already percent-encoded, stands in place of the endpoint's own address.
    """

    model: str
    body: bytes | None
    tokens: float = 0.0
    method: str = "POST"
    url: str | None = None


class _Failure(Exception):
    """One attempt failed; `error` is what to raise when it was the last."""

    def __init__(self, error: ProviderError, *, at_once: bool = False, asked: bool = True) -> None:
        super().__init__(error.message)
        self.error = error
        self.at_once = at_once
        self.asked = asked


class Endpoint:
    """Posts questions to one provider, for one event loop at a time. Connections open with the first question; `close`
    ends them.

    Args:
        access: Where and how.
        provider: Its name in errors.
        headers: Headers that carry the key and the protocol's version.
        pool: Limiters shared with other endpoints of the process.
    """

    def __init__(
        self, access: Access, *, provider: str, path: str, headers: Mapping[str, str], pool: LimiterPool | None = None
    ) -> None:
        self.access = access
        self.provider = provider
        self._url = access.url(path)
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "evalsi",
            **access.headers,
            **headers,
        }
        self._pool = pool or LimiterPool()
        self._breaker = CircuitBreaker(access.host, access.retries)
        self._limiters: dict[str, Limiter] = {}
        self._client: HttpClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"Endpoint({self.provider!r}, {self.access.host!r})"

    async def post(self, model: str, body: bytes, *, tokens: float) -> Answer[dict[str, Any]]:
        """The JSON object that answers one question. See `ask`."""
        return await self.ask(Outgoing(model=model, body=body, tokens=tokens), read_object)

    async def ask(self, question: Outgoing, read: Reader[T]) -> Answer[T]:
        """The answer to one question, as `read` reads it.

        Raises: ProviderError: by kind. RATE_LIMITED, TIMEOUT, PROVIDER and CIRCUIT_OPEN may succeed later;
            PROVIDER_AUTH and PROVIDER_REJECTED will not. `detail` holds the provider's words, without the key;
            `requests` how often was asked. What `read` raises besides Unreadable passes.
        """
        limiter = self._limiter(question.model)
        policy = self.access.retries
        give_up_s = time.monotonic() + policy.deadline_s
        attempt = 0
        last: ProviderError | None = None
        while True:
            try:
                while wait_s := self._breaker.admit_s():
                    await self._pause(wait_s, give_up_s)
            except ProviderError as error:
                error.requests = attempt
                # Who was asked before is told what the provider answered, not that nobody was asked.
                raise error if last is None else last from None
            attempt += 1
            try:
                return await self._attempt(limiter, question, read, attempt, give_up_s)
            except _Failure as failure:
                error, at_once = failure.error, failure.at_once
                error.requests = attempt if failure.asked else attempt - 1
                last = error
            hope_s = self._breaker.hope_s()
            if not error.may_retry or attempt >= policy.attempts or hope_s <= 0:
                raise error
            pause_s = 0.0 if at_once and attempt == 1 else policy.pause_s(attempt, error.retry_after_s)
            if time.monotonic() + pause_s >= give_up_s:
                raise error
            await asyncio.sleep(min(pause_s, hope_s))

    def settle(self, model: str, estimated_tokens: float, used_tokens: float | None) -> None:
        """Tells the limit per minute what an answered question really used."""
        self._limiter(model).answered(estimated_tokens, used_tokens)

    async def check(self, url: str, *, method: str = "GET") -> str:
        """Whether there is somebody at `url` who lets us in, within `CHECK_S` seconds.

        Any answer will do, except one that says that the key is not accepted. (403 to a HEAD may only mean the method.)

        Returns: "" or, when the connection was taken but nothing came back in time, a sentence that says so.
        Raises: ProviderError: not reached, not trusted, or the key was not accepted.
        """
        try:
            response = await self._client_here().send(method, url, None, timeout_s=CHECK_S, connect_s=CHECK_S - 0.5)
            try:
                content = await response.read() if response.status in (401, 403) else b""
            finally:
                response.release()
        except (HttpError, TimeoutError, ValueError) as error:
            failure = self._no_answer(error)
            if failure.error.kind is ErrorKind.TIMEOUT:
                return f"{self.access.host} took the connection but did not answer within {CHECK_S:g} s"
            if isinstance(error, HttpError) and error.failing in (Failing.DROPPED, Failing.BROKEN_OFF):
                # Somebody was there to say so; some servers do that at requests they do not know.
                return failure.error.message
            raise failure.error from error
        if response.status == 401 or (response.status == 403 and method == "GET"):
            raise self._refused(response.status, response.headers, content).error
        return ""

    async def close(self) -> None:
        """Closes the connections; the next question opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _attempt(
        self, limiter: Limiter, question: Outgoing, read: Reader[T], attempt: int, give_up_s: float
    ) -> Answer[T]:
        try:
            if not limiter.enter_at_once():
                async with asyncio.timeout(give_up_s - time.monotonic()):
                    await limiter.enter(question.tokens)
        except TimeoutError:
            self._breaker.abandoned()
            raise _Failure(
                ProviderError(
                    f"{self.access.host} was not asked within {self.access.retries.deadline_s:g} s because of its rate limit",
                    kind=ErrorKind.RATE_LIMITED,
                ),
                asked=False,
            ) from None
        except BaseException:
            self._breaker.abandoned()
            raise
        asked_at_s = time.monotonic()
        try:
            answer = await self._exchange(question, read, attempt, give_up_s - asked_at_s)
        except _Failure as failure:
            if failure.at_once and attempt == 1:
                self._breaker.abandoned()
            else:
                self._note(limiter, failure.error, asked_at_s)
            raise
        except BaseException:
            self._breaker.abandoned()
            raise
        else:
            self._breaker.reached()
            return answer
        finally:
            limiter.leave()

    async def _exchange(self, question: Outgoing, read: Reader[T], attempt: int, left_s: float) -> Answer[T]:
        start_s = time.perf_counter()
        policy = self.access.retries
        try:
            response = await self._client_here().send(
                question.method,
                question.url or self._url,
                question.body,
                timeout_s=max(0.001, min(left_s, policy.attempt_s)),
                connect_s=policy.unreachable_s,
            )
            incoming = Incoming(response, start_s)
            try:
                if not 200 <= response.status < 300:
                    raise self._refused(response.status, response.headers, await incoming.content())
                body = await read(incoming)
            except BaseException:
                response.close()
                raise
            response.release()
        except Unreadable as error:
            if _PAGE.match(error.content):
                raise self._page(error.content) from error
            raise _Failure(self._error(error.message, error.content, kind=error.kind, retryable=True)) from error
        except (HttpError, TimeoutError, ValueError) as error:
            raise self._no_answer(error) from error
        return Answer(
            body=body,
            latency_s=time.perf_counter() - start_s,
            retries=attempt - 1,
            request_id=response.headers.get("x-request-id") or response.headers.get("request-id") or "",
        )

    def _note(self, limiter: Limiter, error: ProviderError, asked_at_s: float) -> None:
        """Tells limiter and breaker what a failed attempt says about the provider."""
        if error.status is None or error.status >= 500:
            self._breaker.failed(error.message, asked_at_s)
        else:
            self._breaker.reached()
        if error.status in _CROWDED_STATUS:
            limiter.too_many(error.retry_after_s)

    def _no_answer(self, error: Exception) -> _Failure:
        host = self.access.host
        if isinstance(error, TimeoutError):
            message = f"{host} did not answer within {self.access.retries.attempt_s:g} s"
            return _Failure(ProviderError(message, kind=ErrorKind.TIMEOUT, retryable=True))
        reason = self._redacted(str(error))[:_SHOWN_CHARACTERS]
        match error.failing if isinstance(error, HttpError) else Failing.BROKEN_OFF:
            case Failing.NOT_IN_TIME | Failing.UNREACHABLE:
                return _Failure(ProviderError(f"{host} cannot be reached: {reason}", retryable=True))
            case Failing.UNTRUSTED:
                return _Failure(ProviderError(f"{host} cannot be trusted: {reason}"))
            case Failing.DROPPED:
                # Mostly a kept connection that the server had closed: asked again without a pause, and held against nobody.
                return _Failure(ProviderError(f"{host} closed the connection", retryable=True), at_once=True)
            case Failing.BROKEN_OFF:
                return _Failure(ProviderError(f"{host} broke off its answer: {reason}", retryable=True))

    def _refused(self, status: int, headers: Mapping[str, str], content: bytes) -> _Failure:
        said, code, _ = words_of_error(content)
        exhausted = code == "insufficient_quota"
        if 300 <= status < 400:
            target = urlsplit(headers.get("location", "")).netloc or "another address"
            error = self._error(f"redirects to {target}, which is not followed", content, status=status)
            error.hint = "use the final address in its place"
            error.kind = ErrorKind.PROVIDER_REJECTED
            return _Failure(error)
        kind, words = _MEANINGS.get(status, (ErrorKind.PROVIDER, "the server failed"))
        if status not in _MEANINGS and 400 <= status < 500 and status not in _BROKEN_STATUS:
            kind, words = ErrorKind.PROVIDER_REJECTED, "the request was refused"
        text = self._redacted(said)[:_SHOWN_CHARACTERS]
        return _Failure(
            self._error(
                f"answered {status} ({words})" + (f": {text}" if text else ""),
                content,
                status=status,
                kind=kind,
                retryable=(status in _BROKEN_STATUS or status == 429 or status >= 500) and not exhausted,
                retry_after=retry_after_s(headers.get("retry-after")),
            )
        )

    def _error(
        self,
        what: str,
        content: bytes,
        *,
        status: int | None = 200,
        kind: ErrorKind = ErrorKind.PROVIDER,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> ProviderError:
        return ProviderError(
            f"{self.access.host} {what}",
            kind=kind,
            retryable=retryable,
            retry_after_s=retry_after,
            status=status,
            detail=self._redacted(content.decode(errors="replace"))[:4_000],
        )

    def _page(self, content: bytes) -> _Failure:
        """A web page where an answer should be: somebody else lives at this address, and asking again changes nothing."""
        told = "answered with a web page (HTML), not JSON; is the base URL right? Most end in /v1"
        error = self._error(told, content, kind=ErrorKind.PROVIDER_REJECTED)
        return _Failure(error)

    def _redacted(self, text: str) -> str:
        access = self.access
        for secret in (access.api_key or "", *access.secrets):
            for word in (secret, secret.rpartition(" ")[2]):
                if len(word) >= _SHORTEST_SECRET:
                    text = text.replace(word, "***")
        return _KEY_LIKE.sub("***", text)

    async def _pause(self, seconds: float, give_up_s: float) -> None:
        left_s = give_up_s - time.monotonic()
        if left_s <= 0:
            raise ProviderError(
                f"{self.access.host} was down for {self.access.retries.deadline_s:g} s", kind=ErrorKind.CIRCUIT_OPEN
            )
        await asyncio.sleep(min(seconds, left_s))

    def _limiter(self, model: str) -> Limiter:
        found = self._limiters.get(model)
        if found is None:
            access = self.access
            found = self._pool.limiter(f"{self.provider} {access.base_url}", model, access.api_key, access.limits)
            self._limiters[model] = found
        return found

    def _client_here(self) -> HttpClient:
        """The client of the running event loop, made when there is none."""
        # Not `get_running_loop` at every question: before Python 3.12 that is a system call.
        if self._client is None or self._loop is None or not self._loop.is_running():
            # The limiter bounds how many connections there are; a second bound here would only hide its queue.
            self._client = HttpClient(
                headers=self._headers,
                proxy=self.access.proxy,
                ca_file=self.access.ca_file,
                fence=self.access.fence if self.access.is_fenced else None,
            )
            self._loop = asyncio.get_running_loop()
        return self._client


_MEANINGS = {
    400: (ErrorKind.PROVIDER_REJECTED, "bad request"),
    401: (ErrorKind.PROVIDER_AUTH, "the key was not accepted"),
    403: (ErrorKind.PROVIDER_AUTH, "the key may not do this"),
    404: (ErrorKind.PROVIDER_REJECTED, "no such model or path"),
    408: (ErrorKind.TIMEOUT, "request timeout"),
    413: (ErrorKind.PROVIDER_REJECTED, "the request is too large"),
    422: (ErrorKind.PROVIDER_REJECTED, "bad request"),
    429: (ErrorKind.RATE_LIMITED, "rate limit"),
    500: (ErrorKind.PROVIDER, "server error"),
    502: (ErrorKind.PROVIDER, "bad gateway"),
    503: (ErrorKind.PROVIDER, "unavailable"),
    504: (ErrorKind.TIMEOUT, "gateway timeout"),
    529: (ErrorKind.RATE_LIMITED, "overloaded"),
}
