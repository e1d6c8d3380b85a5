"""What a worker has claimed stays its own for as long as it lives, and no longer.

Its own module because traces, sessions and tasks are kept alike. What always holds: a claim runs out soon after the last
sign of life of whoever holds it, however long the work takes, so that what a killed worker held is somebody else's in
seconds; and a claim that was lost is not taken back.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

from evalsi.core.errors import StoreError
from evalsi.watch.watch_tools import WatchTools

logger = logging.getLogger(__name__)

SIGNS_OF_LEASE = 3
"""How often within a lease is said that its holder lives: two may fail."""


@asynccontextmanager
async def keeping_claims(tools: WatchTools, renew: Callable[[], None]) -> AsyncGenerator[None]:
    """Renews while the block runs. `renew` is called from a thread, and takes the time of `tools`. Raises nothing itself."""
    renewing = asyncio.create_task(_renew(tools, renew))
    try:
        yield
    finally:
        renewing.cancel()
        with suppress(asyncio.CancelledError):
            await renewing


async def _renew(tools: WatchTools, renew: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(tools.lease_s / SIGNS_OF_LEASE)
        try:
            await asyncio.to_thread(renew)
        except StoreError as error:
            logger.warning("claims could not be kept: %s", error)
