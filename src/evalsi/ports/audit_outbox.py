"""How far each sink has the audit log, and who takes it there.

The log itself is the outbox: entries stand in it in one order and are never changed, so one place in that order for each
sink says what it has. Whoever takes entries has all that follow for a while, and then they are due again, so what a worker
dies of loses none.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec

from evalsi.ports.score_sink import SinkReceipt
from evalsi.schema import AuditEvent


class AuditPortion(msgspec.Struct, frozen=True, kw_only=True):
    """Entries that were claimed for a sink, oldest first."""

    sink: str
    token: str
    events: Sequence[AuditEvent]
    missed: int = 0
    """How many entries retention removed before the sink had them; they are counted as given up."""
    damaged: Sequence[int] = ()
    """Entries before `events` that are there and cannot be read; they are counted as given up too."""


class AuditProgress(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a claimed portion: everything up to one of its entries is done with."""

    last_sequence: int
    """The last entry that is done with; what stands behind it is due again."""
    delivered: int = 0
    given_up: int = 0
    again_ms: int
    """When what is left, or comes later, is tried."""
    error: str = ""
    """Why one was not taken."""


class AuditStanding(NamedTuple):
    """How the audit log stands at one sink, in entries."""

    sink: str
    waiting: int
    delivered: int
    given_up: int


class AuditOutbox(Protocol):
    """Methods block; any thread may call; what has returned is durable. Every method raises StoreError."""

    def claim_audit(self, sink: str, *, now_ms: int, limit: int, lease_ms: int) -> AuditPortion | None:
        """Takes the entries that the sink has not, up to `limit`, for `lease_ms`; None when nothing is due, or somebody
        else has them. A sink that is new begins with the oldest entry that is kept.
        """
        ...

    def settle_audit(self, portion: AuditPortion, progress: AuditProgress, *, now_ms: int) -> None:
        """Ends a claim. One that is not held any more changes nothing."""
        ...

    def audit_standings(self) -> Sequence[AuditStanding]:
        """By name; sinks that never had a portion are left out."""
        ...


class AuditSink(Protocol):
    """Somebody else's product. For one event loop."""

    async def send(self, events: Sequence[AuditEvent]) -> Sequence[SinkReceipt]:
        """One attempt; what became of each entry, in order: after one that met trouble, none was taken. Never raises for
        what the other side does.
        """
        ...

    async def close(self) -> None: ...
