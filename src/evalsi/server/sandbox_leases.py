"""The sandboxes and snapshots that a host has lent out, by name.

Its own module because what is lent over a network must come back without the borrower's help. What always holds: a sandbox
that nobody has called for its idle time is destroyed, one in which a command runs is not idle but is destroyed when that takes
too long, there are never more than the host takes on, and names cannot be guessed.
"""

import asyncio
import contextlib
import secrets
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from dataclasses import dataclass

import msgspec

from evalsi.core.errors import NotFoundError, OverloadedError, SandboxError
from evalsi.ports.sandbox import AccessPolicy, Sandbox, SandboxHost, SandboxSnapshot, SandboxSpec

_RETRY_AFTER_S = 2.0
_SNAPSHOT_BYTES = 1 << 30
"""Of all snapshots together; beyond, those that nobody restored for longest are forgotten."""


@dataclass(frozen=True, kw_only=True)
class LeaseLimits:
    """What a host takes on."""

    most: int = 64
    """Sandboxes at once."""
    idle_s: float = 300.0
    """Longest time without a call; who borrows may ask for less."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How a sandbox is used where a call does not say it."""

    idle_s: float
    policy: AccessPolicy = AccessPolicy.WORKSPACE_WRITE
    folder: str = "."


class Lease:
    """One sandbox, lent. `calls` are under way in it."""

    def __init__(self, name: str, sandbox: Sandbox, spec: SandboxSpec, terms: Terms) -> None:
        self.name = name
        self.sandbox = sandbox
        self.spec = spec
        self.terms = terms
        self.calls = 0
        self.timer: asyncio.TimerHandle | None = None


@dataclass(frozen=True, kw_only=True)
class KeptSnapshot:
    """A snapshot and how its sandbox was used."""

    snapshot: SandboxSnapshot
    terms: Terms


class SandboxLeases:
    """Belongs to one event loop."""

    def __init__(self, host: SandboxHost, limits: LeaseLimits) -> None:
        self._host = host
        self._limits = limits
        self._leases: dict[str, Lease] = {}
        self._coming = 0
        self._ending: set[asyncio.Task[None]] = set()
        self._snapshots: OrderedDict[str, KeptSnapshot] = OrderedDict()
        self._snapshot_bytes = 0

    @property
    def host(self) -> SandboxHost:
        return self._host

    def idle_s(self, asked_s: float | None) -> float:
        """The idle time that is given to who asks for `asked_s`."""
        return min(asked_s or self._limits.idle_s, self._limits.idle_s)

    async def create(self, spec: SandboxSpec, terms: Terms) -> Lease:
        """Raises: OverloadedError: the host has as many as it takes; and as `SandboxHost.create`."""
        return await self._lend(lambda: self._host.create(spec), spec, terms)

    async def restore(self, name: str, hosts: tuple[str, ...] | None) -> Lease:
        """A sandbox of a snapshot, which may reach `hosts`; None for those that the first one might.

        Raises: NotFoundError: there is no such snapshot; OverloadedError; and as `SandboxHost.restore`.
        """
        kept = self._snapshots.get(name)
        if kept is None:
            raise NotFoundError(
                "there is no such snapshot", hint="it was deleted, or given up for newer ones; make the sandbox anew"
            )
        self._snapshots.move_to_end(name)
        snapshot = kept.snapshot
        if hosts is not None:
            spec = msgspec.structs.replace(snapshot.spec, allow_hosts=hosts)
            snapshot = msgspec.structs.replace(snapshot, spec=spec)
        return await self._lend(lambda: self._host.restore(snapshot), snapshot.spec, kept.terms)

    @contextlib.asynccontextmanager
    async def using(self, name: str) -> AsyncGenerator[Lease]:
        """The sandbox for one call, which keeps it for another idle time. Raises: NotFoundError."""
        lease = self._leases.get(name)
        if lease is None:
            raise NotFoundError(
                "there is no such sandbox", hint="it was destroyed, or nobody used it for its idle time; make another"
            )
        lease.calls += 1
        if lease.timer is not None:
            lease.timer.cancel()
        try:
            yield lease
        finally:
            lease.calls -= 1
            self._wait_for_idleness(lease)

    @contextlib.contextmanager
    def at_most(self, lease: Lease, longest_s: float) -> Generator[None]:
        """Inside, the sandbox is destroyed after that time, whatever the call waits for: a caller that stops reading is
        none that hangs up.
        """
        timer = asyncio.get_running_loop().call_later(longest_s, self._end, lease.name)
        try:
            yield
        finally:
            timer.cancel()

    async def destroy(self, name: str) -> None:
        """Destroying one that is gone is fine."""
        lease = self._leases.pop(name, None)
        if lease is None:
            return
        if lease.timer is not None:
            lease.timer.cancel()
        await lease.sandbox.destroy()

    async def keep(self, lease: Lease) -> str:
        """The name of a snapshot. Raises: SandboxError: it cannot be made, or is larger than all may be."""
        snapshot = await lease.sandbox.snapshot()
        size = len(snapshot.archive)
        if size > _SNAPSHOT_BYTES:
            raise SandboxError(f"a snapshot of {size} bytes is more than the {_SNAPSHOT_BYTES} that are kept")
        name = f"snap-{secrets.token_urlsafe(18)}"
        self._snapshots[name] = KeptSnapshot(snapshot=snapshot, terms=lease.terms)
        self._snapshot_bytes += size
        while self._snapshot_bytes > _SNAPSHOT_BYTES:
            _, oldest = self._snapshots.popitem(last=False)
            self._snapshot_bytes -= len(oldest.snapshot.archive)
        return name

    def forget(self, name: str) -> None:
        """Forgetting a snapshot that is gone is fine."""
        kept = self._snapshots.pop(name, None)
        if kept is not None:
            self._snapshot_bytes -= len(kept.snapshot.archive)

    async def close(self) -> None:
        """Destroys everything that is lent."""
        self._snapshots.clear()
        await asyncio.gather(*(self.destroy(name) for name in list(self._leases)), return_exceptions=True)
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _lend(self, make: Callable[[], Awaitable[Sandbox]], spec: SandboxSpec, terms: Terms) -> Lease:
        taken = len(self._leases) + self._coming
        if taken >= self._limits.most:
            raise OverloadedError(
                f"{taken} sandboxes are lent, of at most {self._limits.most}", retry_after_s=_RETRY_AFTER_S
            )
        self._coming += 1
        try:
            sandbox = await make()
        finally:
            self._coming -= 1
        lease = Lease(f"sbx-{secrets.token_urlsafe(18)}", sandbox, spec, terms)
        self._leases[lease.name] = lease
        self._wait_for_idleness(lease)
        return lease

    def _wait_for_idleness(self, lease: Lease) -> None:
        if lease.calls == 0 and lease.name in self._leases:
            loop = asyncio.get_running_loop()
            lease.timer = loop.call_later(lease.terms.idle_s, self._end, lease.name)

    def _end(self, name: str) -> None:
        task = asyncio.get_running_loop().create_task(self.destroy(name))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
