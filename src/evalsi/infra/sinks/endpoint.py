"""The address of a sink, asked over HTTP: one request, and what its answer means for what was sent.

Its own module because every sink fails in the same ways, and whoever sends wants to know only whether to try again. What
always holds: no redirect is followed; no header, no body of an answer and so no secret is in an error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import msgspec

from evalsi.core.address_fence import AddressFence, host_of
from evalsi.core.errors import EvalsiError
from evalsi.core.version import __version__
from evalsi.infra.models.http_client import HttpClient
from evalsi.infra.models.http_connection import HttpError
from evalsi.infra.models.retries import retry_after_s
from evalsi.ports.score_sink import SinkReceipt

T = TypeVar("T")

TIMEOUT_S = 10.0
LARGEST_ANSWER_BYTES = 4 << 20
_REFUSING = frozenset({400, 405, 409, 410, 411, 413, 414, 415, 422})
"""Answers after which the same is refused again. 401, 403 and 404 are none: an operator puts a credential or address right."""


class SinkAnswer(NamedTuple):
    """What came back."""

    status: int
    body: bytes
    receipt: SinkReceipt
    """What it means for all that was sent."""

    @property
    def is_good(self) -> bool:
        return self.receipt.state == "taken"

    def read(self, kind: type[T]) -> T | None:
        """The body, which is JSON of that kind; None where it is not."""
        try:
            return msgspec.json.decode(self.body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None


@dataclass
class SinkEndpoint:
    """One address. For one event loop.

    Args:
        url: Without a slash at its end.
        headers: Made when they are needed, so that a credential that is missing is told with every attempt, and found once
            it is there. Raises EvalsiError.
        fence: Where addresses may lead; one that the operator named there may lead anywhere.
        proxy: Address of a proxy; empty to connect directly.
        may_answer_pages: Whether a web page may be an answer; else it comes from something in front, or beside the address.
    """

    url: str
    fence: AddressFence
    headers: Callable[[], Mapping[str, str]] = dict
    proxy: str = ""
    may_answer_pages: bool = False
    _client: HttpClient | None = field(default=None, init=False)
    _client_headers: Mapping[str, str] = field(default_factory=dict[str, str], init=False)

    @property
    def host(self) -> str:
        return host_of(self.url)

    @property
    def is_fenced(self) -> bool:
        return self.url not in self.fence.allow_urls

    async def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> SinkAnswer:
        """Sends a request to a path below the address. Never raises for what the other side does."""
        url = self.url + path
        try:
            if self.is_fenced:
                self.fence.check_url(url)
            client = await self._client_with({**self.headers(), **(headers or {})})
            answer = await client.send(method, url, body, timeout_s=TIMEOUT_S, connect_s=TIMEOUT_S)
            text = b""
            async for piece in answer.pieces():
                text += piece
                if len(text) > LARGEST_ANSWER_BYTES:
                    answer.close()
                    return _trouble(f"{self.host} answered with more than {LARGEST_ANSWER_BYTES >> 20} MiB")
            answer.release()
        except TimeoutError:
            return _trouble(f"{self.host} gave no answer within {TIMEOUT_S:g} s")
        except HttpError as error:
            return _trouble(f"{self.host} cannot be reached: {error}")
        except EvalsiError as error:
            return _trouble(error.message)
        except ValueError:
            return _trouble(f"a header for {self.host} holds a line break")
        if 200 <= answer.status < 300 and not self.may_answer_pages and text.lstrip()[:1] == b"<":
            # A page to sign in, a proxy, an app that shows itself at every address: whatever was sent is nowhere.
            return _trouble(f"{self.host} answered with a web page; is the address right?")
        return SinkAnswer(answer.status, text, self._receipt(answer.status, answer.headers))

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    def _receipt(self, status: int, headers: Mapping[str, str]) -> SinkReceipt:
        if 200 <= status < 300:
            return SinkReceipt("taken")
        error = f"{self.host} answered with HTTP status {status}"
        if status in _REFUSING:
            return SinkReceipt("refused", error)
        return SinkReceipt("trouble", error, retry_after_s(headers.get("retry-after")))

    async def _client_with(self, headers: Mapping[str, str]) -> HttpClient:
        """A client that sends these headers; its connections stay open while they are the same."""
        if self._client is None or headers != self._client_headers:
            if self._client is not None:
                await self._client.close()
            everything = {"User-Agent": f"evalsi/{__version__}", "Content-Type": "application/json", **headers}
            self._client = HttpClient(
                headers=everything, proxy=self.proxy or None, fence=self.fence if self.is_fenced else None
            )
            self._client_headers = headers
        return self._client


def _trouble(error: str) -> SinkAnswer:
    return SinkAnswer(0, b"", SinkReceipt("trouble", error))
