"""A host of sandboxes from start to stop: its ladder, what it has lent, and gRPC in front.

Its own module because it is a server of its own: it knows no projects, stores nothing, and its only door is the
certificate. What always holds: a stop destroys everything that was lent, and a death does too, since every sandbox ends with the
connection to the process that made it.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from evalsi.access.caller import Caller
from evalsi.core.errors import EvalsiError, UsageError
from evalsi.core.version import __version__
from evalsi.ports.sandbox import SandboxHost
from evalsi.ports.worker_pool import PoolState
from evalsi.schema.method import SANDBOX_METHODS
from evalsi.server.calls import Door
from evalsi.server.client_certificates import ClientCertificates, MutualTls
from evalsi.server.grpc_service import GrpcService
from evalsi.server.journal import Journal
from evalsi.server.measures import Measures
from evalsi.server.sandbox_leases import LeaseLimits, SandboxLeases
from evalsi.server.served_method import served_methods
from evalsi.server.services.sandbox_service import SandboxService
from evalsi.settings.open_door import is_on_this_machine

_STOP_S = 4.0
_LONGEST_CALL_S = 4 * 3600.0
"""Seconds for a call without a stream: its wait for a place behind others, and a program with many inputs."""
_MOST_BYTES = 512 << 20
"""Largest message: files go in whole."""


@dataclass(frozen=True, kw_only=True)
class SandboxServePlan:
    """Where a host listens, and whom it lets in."""

    host: str = "127.0.0.1"
    port: int = 8090
    tls: MutualTls | None = None
    allowed: Sequence[str] = ()
    """Names of certificates that may call; empty for all of the authority."""
    limits: LeaseLimits = field(default_factory=LeaseLimits)

    @property
    def address(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def check(self) -> None:
        """Raises: UsageError: whoever reaches the address could run programs, or names would decide nothing."""
        if self.tls is None and not is_on_this_machine(self.address):
            raise UsageError(
                f"{self.address} can be reached from other machines, and everybody there could run programs",
                hint="give --tls-cert, --tls-key and --client-ca, or listen on 127.0.0.1",
            )
        if self.tls is None and self.allowed:
            raise UsageError("--allow-client names certificates, and without TLS nobody shows one")


class _Everybody:
    """Admits whom the certificate let in: there is nothing finer here."""

    async def admit(self, caller: Caller, method: str, request: Any, *, again: bool = False) -> None:
        del caller, method, request, again


@asynccontextmanager
async def serving_sandboxes(plan: SandboxServePlan, host: SandboxHost, journal: Journal) -> AsyncGenerator[int]:
    """A host that is ready; gives the port. Leaving destroys what was lent, and closes `host`.

    Raises: UsageError: as `SandboxServePlan.check`, or a file of TLS is wrong. EvalsiError: the address is taken.
    """
    plan.check()
    credentials = plan.tls.credentials() if plan.tls is not None else None
    leases = SandboxLeases(host, plan.limits)
    certificates = ClientCertificates(plan.allowed, enabled=credentials is not None)
    no_pools: list[PoolState] = []
    door = Door(
        authenticator=certificates,
        admission=_Everybody(),
        measures=Measures(lambda: no_pools),
        journal=journal,
        longest_call_s=_LONGEST_CALL_S,
    )
    served = served_methods([SandboxService(leases)], SANDBOX_METHODS)
    grpc = GrpcService(door, served, certificates.source_of, most_bytes=_MOST_BYTES)
    try:
        try:
            port = await grpc.start(plan.address, credentials)
        except OSError as error:
            raise EvalsiError(
                f"{plan.address} cannot be listened on: {error.strerror}",
                hint="another program may have the port; choose another, or 0 for any free one",
            ) from None
        journal.note("info", "ready", host=plan.host, port=port, tls=credentials is not None, version=__version__)
        yield port
    finally:
        # What is lent goes first: a command that runs would be waited for.
        await leases.close()
        await grpc.stop(_STOP_S)
        await host.close()
        journal.note("info", "stopped")


async def serve_sandboxes(
    plan: SandboxServePlan, host: SandboxHost, journal: Journal, *, until_stdin_ends: bool = False
) -> None:
    """Serves until SIGTERM or SIGINT, or until standard input ends where that is wanted."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    async with serving_sandboxes(plan, host, journal):
        if until_stdin_ends:
            loop.add_reader(sys.stdin.fileno(), _stop_at_end, told)
        await told.wait()


def _stop_at_end(told: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 1 << 16):
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        told.set()
