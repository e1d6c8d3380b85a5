"""The HTTP application: finds out which part of the server a request is for, and tells faults where none did.

Its own module because the order in which parts are asked is a decision of its own: the few fixed paths, then REST, then
calls by name, then what others mounted.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec

from evalsi.access.caller import EVERY_PROJECT
from evalsi.access.gate import require
from evalsi.core.errors import EvalsiError, ForbiddenError, suggestion
from evalsi.schema.schema_error import SchemaError
from evalsi.server.api_page import OPENAPI, api_page
from evalsi.server.calls import Door
from evalsi.server.exchange import ClientGoneError, Exchange, Receive, Scope, Send
from evalsi.server.fault import Fault, fault_of
from evalsi.server.one_port import App
from evalsi.server.own_pages import OwnPages
from evalsi.server.rest import Rest, answer_fault
from evalsi.server.rest_routes import RestRoutes
from evalsi.server.rpc_over_http import RpcOverHttp
from evalsi.server.served_method import ServedMethod

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, kw_only=True)
class Readiness:
    """What `/readyz` says."""

    missing: Callable[[], str] = lambda: ""
    """Why the server cannot serve just now; empty when it can."""


@dataclass(kw_only=True)
class Application:
    """An ASGI application for HTTP/1.1 and HTTP/2."""

    door: Door
    served: list[ServedMethod]
    readiness: Readiness
    pages: OwnPages
    shows_metrics: bool = False
    """Whether `/metrics` is shown to everybody, also where callers are asked who they are."""
    most_bytes: int = 64 << 20
    """Largest body of a request, packed or not."""
    most_upload_bytes: int = 4 << 30
    """Largest body of a file."""
    mounts: Mapping[str, App] = field(default_factory=dict[str, App])
    """Other applications by the beginning of their paths, for example "/ui/"."""
    posts: Mapping[str, App] = field(default_factory=dict[str, App])
    """Other applications for what is posted to exactly these paths, which for other verbs may be addresses of the schema."""

    def __post_init__(self) -> None:
        self._rest = Rest(self.door, RestRoutes(self.served))
        self._rpc = RpcOverHttp(self.door, self.served)
        self._fixed = {
            "/healthz": self._healthz,
            "/readyz": self._readyz,
            "/metrics": self._metrics,
            "/openapi.json": self._openapi,
            "/docs": self._docs,
            "/": self._root,
            "/ui": self._root,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        most = self.most_upload_bytes if path.endswith("/upload") else self.most_bytes
        exchange = Exchange(scope, receive, send, most_bytes=most)
        try:
            self.pages.check(exchange.method, scope["headers"])
        except ForbiddenError as error:
            await answer_fault(exchange, fault_of(error))
            return
        posted = self.posts.get(path) if exchange.method == "POST" else None
        if posted is not None:
            await posted(scope, receive, send)
            return
        for beginning, app in self.mounts.items():
            if path.startswith(beginning):
                await app(scope, receive, send)
                return
        try:
            await self._handle(exchange)
        except ClientGoneError:
            return
        except asyncio.CancelledError:
            raise
        except Exception as error:
            fault = fault_of(error)
            if not isinstance(error, (EvalsiError, SchemaError)):
                self.door.journal.crash(error, path=exchange.path[:200], request_id=exchange.request_id)
            if exchange.started:
                raise  # the answer is broken off, which tells the client that it is not whole
            await answer_fault(exchange, fault)

    async def _handle(self, exchange: Exchange) -> None:
        fixed = self._fixed.get(exchange.path)
        if fixed is not None:
            if exchange.method not in ("GET", "HEAD"):
                fault = Fault(http_status=405, grpc_status=12, code="usage", message=f"{exchange.path} takes GET")
                await answer_fault(exchange, fault, [("allow", "GET, HEAD")])
                return
            await fixed(exchange)
            return
        if await self._rest.handle(exchange) or await self._rpc.handle(exchange):
            return
        near = suggestion(exchange.path, [one.method.path for one in self.served if one.method.path])
        hint = f"; {near}" if near and near.startswith("did") else "; /docs lists what there is"
        fault = Fault(
            http_status=404,
            grpc_status=12,
            code="not-found",
            message=f"there is nothing at {exchange.path[:200]}{hint}",
        )
        await answer_fault(exchange, fault)

    async def _healthz(self, exchange: Exchange) -> None:
        await exchange.answer(200, b"ok\n", "text/plain; charset=utf-8", [("cache-control", "no-store")])

    async def _readyz(self, exchange: Exchange) -> None:
        missing = self.readiness.missing()
        body = msgspec.json.encode({"ready": not missing, **({"reason": missing} if missing else {})})
        headers = [("cache-control", "no-store"), *([("retry-after", "1")] if missing else [])]
        await exchange.answer(503 if missing else 200, body, headers=headers)

    async def _metrics(self, exchange: Exchange) -> None:
        if not self.shows_metrics:
            caller = await self.door.authenticator.authenticate(
                exchange.headers, request_id=exchange.request_id, source=exchange.source
            )
            require(caller, "metrics.read", EVERY_PROJECT)
        # In a thread, since some measures ask the store.
        await exchange.answer(200, await asyncio.to_thread(self.door.measures.text), METRICS_TYPE)

    async def _openapi(self, exchange: Exchange) -> None:
        await exchange.answer(200, OPENAPI.read_bytes())

    async def _docs(self, exchange: Exchange) -> None:
        headers = [("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'")]
        await exchange.answer(200, api_page(self.served), "text/html; charset=utf-8", headers)

    async def _root(self, exchange: Exchange) -> None:
        place = "/ui/" if any(mount.startswith("/ui") for mount in self.mounts) else "/docs"
        await exchange.answer(307, b"", "text/plain", [("location", place)])
