"""Messages of policies are delivered: at least once, each under one key, tried again for three days.

Its own module because what is to be sent is stored with what it is about, and sent by whoever gets to it. What always
holds: a message whose sending was not noted is sent again, under the same key.
"""

import asyncio
import logging

from evalsi.ports.notice_sender import NoticeSender
from evalsi.ports.policy_store import Delivery
from evalsi.watch.watch_tools import WatchTools

logger = logging.getLogger(__name__)

AT_ONCE = 16
LEASE_S = 20.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 5.0, 3600.0
GIVEN_UP_AFTER_S = 3 * 86_400.0


async def deliver_notices(tools: WatchTools, sender: NoticeSender) -> int:
    """Sends what is to be sent now; how many messages that were. Raises: StoreError."""
    found = await asyncio.to_thread(
        tools.policies.claim_deliveries, now_ms=tools.now_ms, limit=AT_ONCE, lease_ms=int(LEASE_S * 1000)
    )
    await asyncio.gather(*(_deliver(tools, sender, each) for each in found))
    return len(found)


async def _deliver(tools: WatchTools, sender: NoticeSender, delivery: Delivery) -> None:
    sent = await sender.send(delivery)
    key = delivery.notice.key
    if sent.delivered:
        await asyncio.to_thread(tools.policies.delivered, key)
        return
    until_ms = next_attempt_ms(delivery, tools.now_ms, lasting=sent.lasting)
    again = "it is given up" if until_ms is None else "it is tried again"
    logger.warning("a message of policy %s was not delivered, %s: %s", delivery.notice.policy, again, sent.error)
    await asyncio.to_thread(tools.policies.deferred, key, until_ms=until_ms, error=sent.error)


def next_attempt_ms(delivery: Delivery, now_ms: int, *, lasting: bool) -> int | None:
    """When a message that was not delivered is tried again; None when it is given up."""
    if lasting or now_ms - delivery.created_ms > GIVEN_UP_AFTER_S * 1000:
        return None
    pause_s = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** min(delivery.attempts, 20))
    return now_ms + int(pause_s * 1000)
