"""A client for HTTP/1.1: opens connections, through a proxy if need be, and keeps them for the next question.

Beside `http_connection`, which speaks, this decides with whom: addresses, TLS, proxies, and which kept connection to use.
What always holds: TLS is verified; nothing is followed, retried or remembered between questions but open connections;
the environment is not looked at.
"""

import asyncio
import base64
import errno
import functools
import ipaddress
import os
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from evalsi.core.address_fence import AddressFence
from evalsi.core.errors import InvalidSpecError, ProviderError
from evalsi.core.own_traces import traceparent
from evalsi.infra.models.http_connection import (
    RECEIVED_BYTES,
    Deadlines,
    Failing,
    HttpConnection,
    HttpError,
    Response,
    Shared,
)
from evalsi.schema import ErrorKind

KEPT_S = 30.0
"""Seconds after which a connection that nobody used is closed and not used again."""
LOOKED_UP_S = 60.0
"""Seconds for which the addresses of a name hold."""
_NEXT_ADDRESS_S = 1.0
"""Seconds until the next address of the same name is tried."""
_PREPARED = 256
_TARGET_CHARACTERS = "%/:?@!$&'()*+,;=~[]"

_Address = tuple[int, Any]


class Origin(NamedTuple):
    """Whom a connection reaches."""

    scheme: str
    host: str
    port: int

    @property
    def is_secure(self) -> bool:
        return self.scheme == "https"


class _Prepared(NamedTuple):
    """What is the same in every request with one method to one address."""

    origin: Origin
    head: bytes
    has_body: bool


class HttpClient:
    """Sends requests. For one event loop; `close` ends its connections.

    Args:
        headers: Sent with every request.
        proxy: Address of an HTTP proxy; None connects directly.
        ca_file: Certificates to trust instead of the system's.
        fence: What an address must be to be connected to. A name is resolved once for a connection, each of its addresses
            is shown to the fence, and those are connected to: an answer that changes in between has no effect (DNS
            rebinding). The proxy is the operator's own and stands outside; behind one, it decides whom it reaches.
    Raises: ValueError: a header holds a line break, or the proxy is no http address.
    """

    def __init__(
        self,
        *,
        headers: Mapping[str, str],
        proxy: str | None = None,
        ca_file: str | None = None,
        fence: AddressFence | None = None,
    ) -> None:
        self._headers = "".join(_header_line(name, value) for name, value in headers.items())
        self._proxy = None if proxy is None else origin_of(proxy)
        self._proxy_line = "" if proxy is None else _proxy_authorization(proxy)
        self._ca_file = ca_file
        self._fence = fence if proxy is None else None
        self._shared: dict[Origin, Shared] = {}
        self._open: set[HttpConnection] = set()
        self._deadlines: Deadlines | None = None
        self._received = memoryview(bytearray(RECEIVED_BYTES))
        self._addresses: dict[tuple[str, int], tuple[float, asyncio.Task[list[_Address]]]] = {}
        self._prepare = functools.lru_cache(_PREPARED)(self._prepared)

    async def send(self, method: str, url: str, body: bytes | None, *, timeout_s: float, connect_s: float) -> Response:
        """Sends a request; gives the answer as soon as its headers are there.

        Args:
            url: `http` or `https`; what is not yet percent-encoded is.
            timeout_s: Seconds until the whole answer must be there.
            connect_s: Seconds until there must be a connection.

        Raises:
            HttpError; TimeoutError: the answer is not there in time.
            ProviderError: the fence refuses the address; not to be tried again.
        """
        prepared = self._prepare(method, url)
        origin = prepared.origin
        connection = self._kept_one(origin)
        if connection is None:
            start_s = time.monotonic()
            connection = await self._connect(origin, min(connect_s, timeout_s))
            timeout_s = max(0.001, timeout_s - (time.monotonic() - start_s))
        message = prepared.head
        if trace := traceparent():
            message += b"traceparent: %b\r\n" % trace.encode()
        if body is not None:
            message = b"%bContent-Length: %d\r\n\r\n%b" % (message, len(body), body)
        elif method in ("POST", "PUT", "PATCH"):
            message += b"Content-Length: 0\r\n\r\n"
        else:
            message += b"\r\n"
        return await connection.ask(message, timeout_s, is_body_expected=prepared.has_body)

    async def close(self) -> None:
        """Closes every connection."""
        for _, lookup in self._addresses.values():
            lookup.cancel()
        for connection in list(self._open):
            connection.close()
        self._shared.clear()
        if self._deadlines is not None:
            self._deadlines.close()
        await asyncio.sleep(0)

    def _prepared(self, method: str, url: str) -> _Prepared:
        parts = urlsplit(url)
        origin = origin_of(url)
        target = quote(parts.path or "/", safe=_TARGET_CHARACTERS)
        if parts.query:
            target += "?" + quote(parts.query, safe=_TARGET_CHARACTERS)
        proxy_line = ""
        if self._proxy is not None and not origin.is_secure:
            target = f"http://{_authority(origin)}{target}"
            proxy_line = self._proxy_line
        head = f"{method} {target} HTTP/1.1\r\nHost: {_authority(origin)}\r\n{proxy_line}{self._headers}"
        return _Prepared(origin, head.encode(), has_body=method != "HEAD")

    def _kept_one(self, origin: Origin) -> HttpConnection | None:
        """The connection that was used last, if one is free."""
        shared = self._shared.get(origin)
        if shared is None or not shared.free:
            return None
        oldest_s = time.monotonic() - KEPT_S
        while shared.free:
            connection = shared.free.pop()
            if connection.is_open and connection.free_since_s >= oldest_s:
                return connection
            connection.close()
        return None

    async def _connect(self, origin: Origin, connect_s: float) -> HttpConnection:
        try:
            async with asyncio.timeout(connect_s):
                return await self._opened(origin)
        except TimeoutError:
            raise HttpError(Failing.NOT_IN_TIME, "no connection in time") from None
        except ssl.SSLError as error:
            reason = getattr(error, "verify_message", "") or error.reason or str(error)
            raise HttpError(Failing.UNTRUSTED, str(reason)) from error
        except OSError as error:
            raise HttpError(Failing.UNREACHABLE, error.strerror or str(error)) from error

    async def _opened(self, origin: Origin) -> HttpConnection:
        loop = asyncio.get_running_loop()
        shared = self._shared.get(origin)
        if shared is None:
            self._deadlines = self._deadlines or Deadlines(loop, self._open)
            shared = self._shared[origin] = Shared(loop, self._received, self._open, [], self._deadlines)
        first = self._proxy or origin
        stream = await self._reached(first)
        connection = HttpConnection(shared)
        try:
            await loop.create_connection(
                lambda: connection,
                sock=stream,
                ssl=self._trust if first.is_secure else None,
                server_hostname=first.host if first.is_secure else None,
            )
        except BaseException:
            stream.close()
            raise
        if self._proxy is not None and origin.is_secure:
            connection = await self._tunnelled(connection, origin, shared)
        return connection

    async def _tunnelled(self, through: HttpConnection, origin: Origin, shared: Shared) -> HttpConnection:
        """A connection to `origin` through a proxy's CONNECT (RFC 9110, section 9.3.6)."""
        wanted = f"{_authority(origin, always_port=True)}"
        message = f"CONNECT {wanted} HTTP/1.1\r\nHost: {wanted}\r\n{self._proxy_line}\r\n"
        response = await through.ask(message.encode(), 3600.0, is_body_expected=False)
        if not 200 <= response.status < 300:
            through.close()
            raise HttpError(Failing.UNREACHABLE, f"the proxy answered {response.status}")
        connection = HttpConnection(shared)
        transport = await shared.loop.start_tls(through.transport, connection, self._trust, server_hostname=origin.host)
        assert transport is not None
        connection.over_tls(transport)
        return connection

    async def _reached(self, origin: Origin) -> socket.socket:
        """A connected socket to the first address that answers; that one comes first from then on."""
        loop = asyncio.get_running_loop()
        addresses = await self._looked_up(origin)
        if self._fence is not None:
            _refuse_fenced(self._fence, origin.host, addresses)
        failure: OSError = OSError("the name has no address")
        for place, (family, address) in enumerate(addresses):
            stream = socket.socket(family, socket.SOCK_STREAM)
            try:
                stream.setblocking(False)
                if not _is_connected_at_once(stream, address):
                    async with asyncio.timeout(None if place == len(addresses) - 1 else _NEXT_ADDRESS_S):
                        await loop.sock_connect(stream, address)
            except OSError as error:
                stream.close()
                failure = error
                continue
            except BaseException:
                stream.close()
                raise
            if place:
                addresses.insert(0, addresses.pop(place))
            return stream
        raise failure

    async def _looked_up(self, origin: Origin) -> list[_Address]:
        key = (origin.host, origin.port)
        until_s, lookup = self._addresses.get(key, (0.0, None))
        if lookup is None or time.monotonic() > until_s or (lookup.done() and _has_failed(lookup)):
            lookup = asyncio.create_task(_addresses_of(*key))
            self._addresses[key] = (time.monotonic() + LOOKED_UP_S, lookup)
        return lookup.result() if lookup.done() else await asyncio.shield(lookup)

    @functools.cached_property
    def _trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self._ca_file)


def origin_of(url: str) -> Origin:
    """Whom an address names. Raises: ValueError: it is no http or https address."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("no http address")
    return Origin(parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80))


async def _addresses_of(host: str, port: int) -> list[_Address]:
    try:
        version = ipaddress.ip_address(host).version
    except ValueError:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return _in_turns([(family, address) for family, _, _, _, address in found])
    return [(socket.AF_INET if version == 4 else socket.AF_INET6, (host, port))]


def _is_connected_at_once(stream: socket.socket, address: Any) -> bool:
    """Begins to connect. On this machine there is a connection by the second look, and no need to wait for one.

    Raises: OSError: there will be none.
    """
    for _ in range(2):
        code = stream.connect_ex(address)
        if code in (0, errno.EISCONN):
            return True
        if code not in (errno.EINPROGRESS, errno.EALREADY, errno.EWOULDBLOCK):
            raise OSError(code, os.strerror(code))
    return False


def _refuse_fenced(fence: AddressFence, host: str, addresses: Sequence[_Address]) -> None:
    """Raises: ProviderError: one address among these is refused, however good the others are."""
    for _, address in addresses:
        try:
            fence.check_address(host.rstrip(".").lower(), ipaddress.ip_address(address[0].partition("%")[0]))
        except InvalidSpecError as refusal:
            raise ProviderError(str(refusal), kind=ErrorKind.PROVIDER_REJECTED) from None


def _in_turns(addresses: Sequence[_Address]) -> list[_Address]:
    """The families in turns, so that one that does not work here costs one try (RFC 8305, section 4)."""
    first = [each for each in addresses if each[0] == addresses[0][0]]
    others = [each for each in addresses if each[0] != addresses[0][0]]
    pairs = [each for pair in zip(first, others, strict=False) for each in pair]
    return [*pairs, *first[len(others) :], *others[len(first) :]]


def _has_failed(lookup: "asyncio.Task[list[_Address]]") -> bool:
    return lookup.cancelled() or lookup.exception() is not None


def _authority(origin: Origin, *, always_port: bool = False) -> str:
    try:
        host = origin.host.encode("idna").decode() if not origin.host.isascii() else origin.host
    except UnicodeError:
        raise ValueError("no http address") from None
    host = f"[{host}]" if ":" in host else host
    usual = 443 if origin.is_secure else 80
    return host if origin.port == usual and not always_port else f"{host}:{origin.port}"


def _header_line(name: str, value: str) -> str:
    if any(character in name + value for character in "\r\n\0"):
        raise ValueError(f"the header {name!r} holds a line break")
    return f"{name}: {value}\r\n"


def _proxy_authorization(proxy: str) -> str:
    parts = urlsplit(proxy)
    if not parts.username:
        return ""
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return _header_line("Proxy-Authorization", "Basic " + base64.b64encode(pair.encode()).decode())
