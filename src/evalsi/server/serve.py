"""A server from start to stop: its parts in order, ready when all are, and stopped without losing what was begun.

Its own module because the order matters: gRPC before the port, workers when it is open, and on the way down the port
first. What always holds: a stop takes at most `STOP_S` seconds.
"""

import asyncio
import os
import signal
import ssl
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prometheus_client.registry import Collector

from evalsi.core.errors import EvalsiError
from evalsi.core.version import __version__
from evalsi.ports.spent import Spent
from evalsi.server.application import Application, Readiness
from evalsi.server.calls import Door
from evalsi.server.grpc_service import GrpcService
from evalsi.server.idempotency import IdempotentAnswers
from evalsi.server.journal import Journal
from evalsi.server.late_service import LateService
from evalsi.server.make_services import own_services
from evalsi.server.measures import Measures
from evalsi.server.one_port import App, OnePort
from evalsi.server.otlp.grpc_export import MAIN_FETCHES, GrpcExport
from evalsi.server.otlp.http_route import SIGNALS, OtlpRoute
from evalsi.server.otlp.listening import OtlpPlan, otlp_ports
from evalsi.server.own_pages import OwnPages
from evalsi.server.pages_when_asked import PagesWhenAsked
from evalsi.server.pipe_names import PipeNames
from evalsi.server.served_method import ServedMethod, served_methods
from evalsi.server.tls import Certificates
from evalsi.settings.open_door import is_on_this_machine
from evalsi.wiring.serving import ServingParts

STOP_S = 4.0
"""Seconds that calls under way have to end when the server stops."""
OTLP_STOP_S = 0.5
"""Seconds that requests on ports of OTLP's own have: senders keep what was not answered, and send it again."""
LATE_S = 0.1
"""Seconds from ready until services that nobody has called yet are loaded: who waits for the server is told first."""
PAGES_S = 2.0
"""Seconds from then until the pages are, if nobody has asked for one: workers start meanwhile, and programs call."""
_CERTIFICATES_S = 10.0
"""Seconds between two looks at whether the certificates have changed."""


@dataclass(frozen=True, kw_only=True)
class ServePlan:
    """Where a server listens and how."""

    host: str = "127.0.0.1"
    port: int = 8080
    certificates: Certificates | None = None
    """TLS is spoken where there are any."""
    shows_pages: bool = True
    """Whether there are web pages."""
    shows_metrics: bool = False
    """Whether `/metrics` is shown to everybody, also where callers are asked who they are."""
    most_bytes: int = 64 << 20
    """Largest body of a request."""
    most_calls: int = 1024
    """Calls under way at once."""


@dataclass(frozen=True, kw_only=True)
class Extras:
    """What other parts add to a server."""

    services: Sequence[Any] = ()
    admit_judges: Callable[[str], None] = lambda _project: None
    """Returns when judges may be asked for a project, else raises."""
    account: Callable[[Spent], None] = lambda _spent: None
    """Takes what judges of calls used."""
    mounts: Mapping[str, App] = field(default_factory=dict[str, App])
    otlp: OtlpPlan | None = None
    """What receives traces; None for a server that takes none."""
    collectors: Sequence[Collector] = ()
    """Shown by `/metrics` beside the server's own."""
    missing: Callable[[], str] = lambda: ""
    """Why those parts cannot serve just now; empty when they can."""


@dataclass(frozen=True, kw_only=True)
class Running:
    """A server that listens."""

    host: str
    port: int
    door: Door


@asynccontextmanager
async def serving(
    plan: ServePlan, parts: ServingParts, journal: Journal, extras: Extras | None = None
) -> AsyncGenerator[Running]:
    """A server that is ready; leaving stops it gracefully. Raises: EvalsiError: the address cannot be listened on."""
    extras = extras or Extras()
    async with AsyncExitStack() as stack:
        tls = plan.certificates.context() if plan.certificates is not None else None
        for pool in parts.pools.values():
            stack.push_async_callback(pool.close)
        stack.callback(parts.access.store.close)
        door = _door(plan, parts, journal, extras)
        services = [*own_services(parts, admit_judges=extras.admit_judges, account=extras.account), *extras.services]
        served = served_methods(services)
        stopping = asyncio.Event()
        readiness = Readiness(missing=lambda: "the server is stopping" if stopping.is_set() else extras.missing())
        pages = PagesWhenAsked(door, served) if plan.shows_pages else None
        application = _application(plan, door, served, readiness, extras, pages)
        otlp = extras.otlp
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evalsi-")))
        names = PipeNames(folder)
        if otlp is not None:
            stack.callback(otlp.receiver.close)
            for address, otlp_port in await stack.enter_async_context(otlp_ports(otlp, door, tls, folder, OTLP_STOP_S)):
                journal.note("info", "otlp", host=address, port=otlp_port)
        others = [] if otlp is None else GrpcExport(door, otlp.receiver, names, MAIN_FETCHES).handlers()
        grpc = GrpcService(
            door, served, lambda context: names.source_of(context.peer()), most_bytes=plan.most_bytes, others=others
        )
        socket_path = str(folder / "grpc")
        await grpc.start(f"unix:{socket_path}")
        port = OnePort(application, socket_path, names)
        host, number = await _listen(plan, port, tls, grpc)
        loop = asyncio.get_running_loop()
        beside = [
            loop.create_task(_watch(plan.certificates, tls, journal)),
            loop.create_task(_load([each for each in services if isinstance(each, LateService)], pages, journal)),
        ]
        _say_ready(journal, host, number, has_tls=tls is not None)
        try:
            # Not before: a call that needs one now starts it itself, and all others would wait for the processors.
            for pool in parts.pools.values():
                await pool.open()
            yield Running(host=host, port=number, door=door)
        finally:
            stopping.set()
            journal.note("info", "stopping", calls=len(door.under_way))
            for task in beside:
                task.cancel()
            await asyncio.gather(port.close(STOP_S), grpc.stop(STOP_S))
            journal.note("info", "stopped")


def _door(plan: ServePlan, parts: ServingParts, journal: Journal, extras: Extras) -> Door:
    """What every call goes through, whatever its protocol."""
    access = parts.access
    measures = Measures(
        lambda: [pool.state() for pool in parts.pools.values()], lambda: access.guard.audit_write_failures
    )
    for collector in extras.collectors:
        measures.registry.register(collector)
    return Door(
        authenticator=access.authenticator,
        admission=access.guard,
        measures=measures,
        journal=journal,
        kept=IdempotentAnswers(parts.answers, access.clock, journal),
        most_calls=plan.most_calls,
    )


def _application(
    plan: ServePlan,
    door: Door,
    served: list[ServedMethod],
    readiness: Readiness,
    extras: Extras,
    pages: PagesWhenAsked | None,
) -> Application:
    """What answers over HTTP."""
    alone = is_on_this_machine(f"{plan.host}:{plan.port}") and not door.authenticator.enabled
    shown: dict[str, App] = {} if pages is None else {"/ui/": pages}
    return Application(
        door=door,
        served=served,
        readiness=readiness,
        pages=OwnPages(alone),
        shows_metrics=plan.shows_metrics,
        most_bytes=plan.most_bytes,
        mounts={**shown, **extras.mounts},
        posts={} if extras.otlp is None else dict.fromkeys(SIGNALS, OtlpRoute(door, extras.otlp.receiver)),
    )


async def _listen(plan: ServePlan, port: OnePort, tls: ssl.SSLContext | None, grpc: GrpcService) -> tuple[str, int]:
    """Address and port that are listened on. Raises: EvalsiError: they cannot be; gRPC is stopped then."""
    try:
        return await port.listen(plan.host, plan.port, tls)
    except OSError as error:
        await grpc.stop(0)
        raise EvalsiError(
            f"{plan.host}:{plan.port} cannot be listened on: {os.strerror(error.errno or 0)}",
            hint="another program may have the port; choose another, or 0 for any free one",
        ) from None


def _say_ready(journal: Journal, host: str, port: int, *, has_tls: bool) -> None:
    shown = f"[{host}]" if ":" in host else host
    pages_at = f"{'https' if has_tls else 'http'}://{shown}:{port}/ui/"
    journal.note(
        "info", "ready", host=host, port=port, tls=has_tls, pages=pages_at, version=__version__, pid=os.getpid()
    )


async def _watch(certificates: Certificates | None, tls: ssl.SSLContext | None, journal: Journal) -> None:
    """Takes up new certificates without a restart."""
    while certificates is not None and tls is not None:
        await asyncio.sleep(_CERTIFICATES_S)
        try:
            if certificates.reload_into(tls):
                journal.note("info", "certificates", state="taken up")
        except (OSError, ssl.SSLError) as error:
            journal.note("error", "certificates", state="left as they were", reason=str(error))


async def _load(services: Sequence[LateService], pages: PagesWhenAsked | None, journal: Journal) -> None:
    """Loads what is served and was not called yet, so that its first caller need not wait for that."""
    await asyncio.sleep(LATE_S)
    for service in services:
        try:
            await asyncio.to_thread(service.load)
        except Exception as error:
            journal.crash(error, service=service.service)
    if pages is not None:
        await asyncio.sleep(PAGES_S)
        try:
            await asyncio.to_thread(pages.load)
        except Exception as error:
            journal.crash(error, service="pages")


async def serve_until_told(
    plan: ServePlan,
    parts: ServingParts,
    journal: Journal,
    extras: Extras | None = None,
    *,
    when_ready: Callable[[Running], None] = lambda _: None,
) -> None:
    """Serves until SIGTERM or SIGINT. A second signal ends the process at once."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop(number: signal.Signals) -> None:
        if told.is_set():
            os._exit(128 + number)
        told.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    async with serving(plan, parts, journal, extras) as running:
        when_ready(running)
        await told.wait()
