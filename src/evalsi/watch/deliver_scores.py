"""Scores are taken to a sink: at least once, each under one id, tried again until it is too late.

Its own module because each sink has a lane of its own, so that one that is slow or dead delays nobody else, and grading
never: scores wait in the store with what they are about. What always holds: a delivery whose arrival was not noted is sent
again, under the same ids; one that is given up is counted, with the reason.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from evalsi.ports.score_outbox import DeliveryOutcome, ScoreDelivery, ScoreOutbox
from evalsi.ports.score_sink import OutgoingScores, ScoreSink, SinkReceipt
from evalsi.watch.sink_rest import SinkRest
from evalsi.watch.watch_tools import WatchTools

logger = logging.getLogger(__name__)

AT_ONCE = 100
SEND_S = 90.0
"""Seconds that one portion may take; the claims last longer, so nobody else has it meanwhile."""
LEASE_S = SEND_S + 30.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 5.0, 3600.0
"""How long a delivery waits whose trace the sink does not know."""
GIVEN_UP_AFTER_S = 86_400.0
UNKNOWN_AFTER_S = 3600.0
"""When a delivery is given up whose trace the sink never got to know."""
GIVEN_UP_AT_ONCE = 2_000
GONE = "evalsi.yaml names no such sink any more"
DENIED = "evalsi.yaml does not let the project use the sink any more"


@dataclass(frozen=True, kw_only=True)
class SinkPlan:
    """A sink and how patient we are with it."""

    name: str
    sink: ScoreSink
    give_up_after_s: float = GIVEN_UP_AFTER_S
    projects: frozenset[str] = frozenset()
    """Whose scores it may have; empty for all."""

    def may_have(self, scores: OutgoingScores) -> bool:
        return not self.projects or scores.project in self.projects


@dataclass
class SinkLane:
    """The work for one sink. For one event loop; others may work for the same sink elsewhere."""

    tools: WatchTools
    outbox: ScoreOutbox
    plan: SinkPlan
    share: Callable[[], float] = random.random
    """From 0 to 1: which part of the second half of a pause is waited."""
    _rest: SinkRest = field(init=False)

    def __post_init__(self) -> None:
        self._rest = SinkRest(self.tools.clock, AT_ONCE, self.share)

    async def step(self) -> int:
        """Takes what is due to the sink; how many deliveries that were. Raises: StoreError."""
        if self._rest.is_resting:
            return 0
        claimed = await asyncio.to_thread(
            self.outbox.claim_scores,
            self.plan.name,
            now_ms=self.tools.now_ms,
            limit=self._rest.limit,
            lease_ms=int(LEASE_S * 1000),
        )
        if not claimed:
            return 0
        claimed, receipts = await self._send_allowed(claimed)
        self._rest.note(receipts)
        now_ms = self.tools.now_ms
        outcomes = [self._outcome(*each, now_ms) for each in zip(claimed, receipts, strict=True)]
        self._say(outcomes)
        await asyncio.to_thread(self.outbox.settle_scores, outcomes, now_ms=now_ms)
        return len(claimed)

    async def _send_allowed(
        self, claimed: Sequence[ScoreDelivery]
    ) -> tuple[Sequence[ScoreDelivery], Sequence[SinkReceipt]]:
        """Sends what the sink may have; the deliveries, in another order, and what became of each."""
        allowed = [delivery for delivery in claimed if self.plan.may_have(delivery.scores)]
        denied = [delivery for delivery in claimed if not self.plan.may_have(delivery.scores)]
        receipts: Sequence[SinkReceipt] = await self._send(allowed) if allowed else ()
        return [*allowed, *denied], [*receipts, *[SinkReceipt("refused", DENIED)] * len(denied)]

    async def _send(self, claimed: Sequence[ScoreDelivery]) -> Sequence[SinkReceipt]:
        try:
            async with asyncio.timeout(SEND_S):
                return await self.plan.sink.send([delivery.scores for delivery in claimed])
        except TimeoutError:
            return [SinkReceipt("trouble", f"it took less than was sent within {SEND_S:g} s")] * len(claimed)
        except Exception as error:
            # A fault of ours. One delivery that it happens on waits by itself, as one that the sink does not know.
            logger.exception("sending to the sink %s failed", self.plan.name)
            state = "missing" if len(claimed) == 1 else "trouble"
            return [SinkReceipt(state, f"sending it failed: {type(error).__name__}")] * len(claimed)

    def _outcome(self, delivery: ScoreDelivery, receipt: SinkReceipt, now_ms: int) -> DeliveryOutcome:
        if receipt.state == "taken":
            return DeliveryOutcome(delivery, is_taken=True)
        age_s = (now_ms - delivery.created_ms) / 1000
        patience_s = self.plan.give_up_after_s
        if receipt.state == "missing":
            patience_s = min(patience_s, UNKNOWN_AFTER_S)
        if receipt.state == "refused" or age_s >= patience_s:
            return DeliveryOutcome(delivery, error=receipt.error)
        if receipt.state == "trouble":
            return DeliveryOutcome(delivery, again_ms=now_ms + int(self._rest.left_s * 1000), error=receipt.error)
        pause_s = self._rest.pause_s(FIRST_PAUSE_S, LONGEST_PAUSE_S, delivery.attempts)
        return DeliveryOutcome(delivery, again_ms=now_ms + int(pause_s * 1000), error=receipt.error)

    def _say(self, outcomes: Sequence[DeliveryOutcome]) -> None:
        lost = [each for each in outcomes if not each.is_taken]
        if not lost:
            return
        given_up = sum(each.again_ms is None for each in lost)
        logger.warning(
            "the sink %s did not take %d of %d deliveries, %d are given up: %s",
            self.plan.name,
            len(lost),
            len(outcomes),
            given_up,
            lost[0].error,
        )


def give_up_old(tools: WatchTools, outbox: ScoreOutbox, plans: Sequence[SinkPlan]) -> int:
    """Gives deliveries up that are too old, also those of sinks that nobody knows any more; how many. Raises: StoreError."""
    patience_s = {plan.name: plan.give_up_after_s for plan in plans}
    waiting = {each.sink for each in outbox.sink_standings() if each.waiting}
    count = 0
    for sink in sorted(waiting):
        kept_s = patience_s.get(sink, GIVEN_UP_AFTER_S)
        count += outbox.give_up_scores(
            sink,
            created_before_ms=tools.now_ms - int(kept_s * 1000),
            now_ms=tools.now_ms,
            error="it took nothing in time" if sink in patience_s else GONE,
            limit=GIVEN_UP_AT_ONCE,
        )
    return count
