"""Who has a place in a pool: as many as it has, those that wait in their order, and those that woke up before them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from evalsi.infra.sandbox.carried_agent import carry_agent, make_base
from evalsi.infra.sandbox.held_place import remove_tree
from evalsi.infra.sandbox.pool import Lent, SlotPool
from evalsi.infra.sandbox.slot import Circumstances, choose_user
from evalsi.infra.sandbox.unfenced import Unfenced

pytestmark = pytest.mark.xdist_group("sandbox")


@asynccontextmanager
async def a_pool(places: int) -> AsyncGenerator[SlotPool]:
    base, hold = make_base()
    try:
        agent = carry_agent(base, choose_user(0), None)
        pool = SlotPool(Circumstances(rung=Unfenced(), agent=agent, groups=None, base=base), places)
        try:
            yield pool
        finally:
            await pool.close()
    finally:
        hold.release()
        remove_tree(base)


class Guest:
    """Somebody who has a slot from when `has_it` is set until `leave`."""

    def __init__(self, pool: SlotPool) -> None:
        self.lent: Lent | None = None
        self.has_it = asyncio.Event()
        self._goes = asyncio.Event()
        self._task = asyncio.create_task(self._stay(pool))

    async def _stay(self, pool: SlotPool) -> None:
        async with pool.lend() as self.lent:
            self.has_it.set()
            await self._goes.wait()

    @property
    def slot(self) -> Lent:
        assert self.lent is not None
        return self.lent

    async def leave(self) -> None:
        self._goes.set()
        await self._task


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_who_wakes_has_the_next_place_before_anybody_begins() -> None:
    async def main() -> None:
        async with a_pool(1) as pool:
            sleeper = Guest(pool)
            await sleeper.has_it.wait()
            sleeper.slot.sleep()
            second = Guest(pool)
            await second.has_it.wait()
            third = Guest(pool)
            await settled()
            sleeper.slot.wake()
            assert not sleeper.slot.has_place
            await second.leave()
            await settled()
            assert sleeper.slot.has_place
            assert not third.has_it.is_set(), "two would run where one may"
            await sleeper.leave()
            await third.has_it.wait()
            await third.leave()

    asyncio.run(main())


def test_who_wakes_and_ends_or_sleeps_again_keeps_no_place_from_others() -> None:
    async def main() -> None:
        async with a_pool(1) as pool:
            sleepers = [Guest(pool) for _ in range(3)]
            for each in sleepers:
                await each.has_it.wait()
                each.slot.sleep()
            last = Guest(pool)
            await last.has_it.wait()
            for each in sleepers:
                each.slot.wake()
            await sleepers[0].leave()
            sleepers[1].slot.sleep()
            await last.leave()
            assert [each.slot.has_place for each in sleepers] == [False, False, True]
            for each in sleepers[1:]:
                await each.leave()
            again = [Guest(pool), Guest(pool)]
            await again[0].has_it.wait()
            await settled()
            assert not again[1].has_it.is_set(), "one place is one place"
            for each in again:
                await each.leave()

    asyncio.run(main())


def test_who_wakes_while_a_place_is_free_has_it_at_once() -> None:
    async def main() -> None:
        async with a_pool(1) as pool:
            sleeper = Guest(pool)
            await sleeper.has_it.wait()
            sleeper.slot.sleep()
            sleeper.slot.wake()
            assert sleeper.slot.has_place
            other = Guest(pool)
            await settled()
            assert not other.has_it.is_set()
            await sleeper.leave()
            await other.leave()

    asyncio.run(main())
