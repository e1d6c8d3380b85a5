"""The audit log is taken to a sink: every entry, in its order, tried again for as long as the log keeps it.

Its own module because the log is its own outbox: no entry is given up for being old, and one lane at a time has a sink.
What always holds: an entry whose arrival was not noted is sent again, the same to the byte; one that a sink refuses, or
that retention removed before, is counted and named in the server's log.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from evalsi.core.clock import Clock
from evalsi.ports.audit_outbox import AuditOutbox, AuditPortion, AuditProgress, AuditSink
from evalsi.ports.score_sink import TAKEN, SinkReceipt
from evalsi.schema import AuditEvent
from evalsi.watch.sink_rest import SinkRest

logger = logging.getLogger(__name__)

AT_ONCE = 200
SEND_S = 60.0
"""Seconds that one portion may take; the claims last longer, so nobody else has it meanwhile."""
LEASE_S = SEND_S + 20.0


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """A sink that has the audit log."""

    name: str
    sink: AuditSink
    projects: frozenset[str] = frozenset()
    """Whose entries it may have; empty for all, those of no single project too."""

    def may_have(self, event: AuditEvent) -> bool:
        return not self.projects or event.project in self.projects


@dataclass
class AuditLane:
    """The work for one sink. For one event loop; others may work for the same sink elsewhere."""

    outbox: AuditOutbox
    plan: AuditPlan
    clock: Clock
    share: Callable[[], float] = random.random
    _rest: SinkRest = field(init=False)

    def __post_init__(self) -> None:
        self._rest = SinkRest(self.clock, AT_ONCE, self.share)

    async def step(self) -> int:
        """Takes what is due to the sink; how many entries that were. Raises: StoreError."""
        if self._rest.is_resting:
            return 0
        portion = await asyncio.to_thread(
            self.outbox.claim_audit,
            self.plan.name,
            now_ms=self._now_ms,
            limit=self._rest.limit,
            lease_ms=int(LEASE_S * 1000),
        )
        if portion is None:
            return 0
        if portion.missed:
            logger.error(
                "the audit log's retention removed entries before the sink %s had them: %d",
                self.plan.name,
                portion.missed,
            )
        if portion.damaged:
            logger.error(
                "entries of the audit log cannot be read and do not go to the sink %s, %d of them from entry %d on",
                self.plan.name,
                len(portion.damaged),
                portion.damaged[0],
            )
        if not portion.events:
            return portion.missed + len(portion.damaged)
        receipts = await self._send(portion.events)
        self._rest.note(receipts)
        await asyncio.to_thread(
            self.outbox.settle_audit, portion, self._progress(portion, receipts), now_ms=self._now_ms
        )
        return len(portion.events)

    async def _send(self, events: Sequence[AuditEvent]) -> Sequence[SinkReceipt]:
        """What became of each; one that the sink may not have counts as done with."""
        allowed = [event for event in events if self.plan.may_have(event)]
        if not allowed:
            return [TAKEN] * len(events)
        try:
            async with asyncio.timeout(SEND_S):
                found = iter(await self.plan.sink.send(allowed))
        except TimeoutError:
            return [SinkReceipt("trouble", f"it took less than was sent within {SEND_S:g} s")] * len(events)
        except Exception as error:
            logger.exception("sending the audit log to the sink %s failed", self.plan.name)
            return [SinkReceipt("trouble", f"sending it failed: {type(error).__name__}")] * len(events)
        return [next(found) if self.plan.may_have(event) else TAKEN for event in events]

    def _progress(self, portion: AuditPortion, receipts: Sequence[SinkReceipt]) -> AuditProgress:
        last, delivered, refused, error = portion.events[0].sequence - 1, 0, list[int](), ""
        for event, receipt in zip(portion.events, receipts, strict=True):
            if receipt.state not in ("taken", "refused"):
                error = receipt.error
                logger.warning("the sink %s did not take the audit log, it is tried again: %s", self.plan.name, error)
                break
            last = event.sequence
            if receipt.state == "refused":
                refused.append(event.sequence)
                error = receipt.error
            else:
                delivered += self.plan.may_have(event)
        if refused:
            logger.error(
                "the sink %s refused entries of the audit log, %d of them from entry %d on: %s",
                self.plan.name,
                len(refused),
                refused[0],
                error,
            )
        return AuditProgress(
            last_sequence=last,
            delivered=delivered,
            given_up=len(refused),
            again_ms=self._now_ms + int(self._rest.left_s * 1000),
            error=error,
        )

    @property
    def _now_ms(self) -> int:
        return int(self.clock.now().timestamp() * 1000)
