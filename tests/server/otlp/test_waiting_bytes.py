"""The account of bytes in memory: what is given back when, and how much it lets in."""

import asyncio

import pytest

from evalsi.core.errors import OverloadedError
from evalsi.server.otlp.waiting_bytes import MOST_LEFT_ALONE, WaitingBytes


async def hold(account: WaitingBytes, size: int, until: asyncio.Event) -> str:
    async def work() -> str:
        await until.wait()
        return "done"

    with account.holding() as held:
        held.add(size)
        return await held.for_all_of(work())


def test_bytes_are_given_back_when_the_work_on_them_has_ended_and_not_when_its_sender_gives_up() -> None:
    async def told() -> None:
        account, until = WaitingBytes(100), asyncio.Event()
        waiting, leaving = (asyncio.create_task(hold(account, size, until)) for size in (30, 50))
        await asyncio.sleep(0)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        assert account.held == 80
        with pytest.raises(OverloadedError, match="not stored yet"):
            account.check(21)
        until.set()
        assert await waiting == "done"
        await asyncio.sleep(0)
        assert (account.held, account.left_alone) == (0, set())

    asyncio.run(told())


def test_work_that_fails_gives_its_bytes_back_and_says_why() -> None:
    async def fail() -> None:
        raise OverloadedError("no")

    async def told() -> None:
        account = WaitingBytes(100)
        with pytest.raises(OverloadedError, match="no"), account.holding() as held:
            held.add(10)
            await held.for_all_of(fail())
        assert account.held == 0

    asyncio.run(told())


def test_many_small_requests_whose_senders_gave_up_are_as_many_as_may_be() -> None:
    async def told() -> None:
        account, until = WaitingBytes(1 << 30), asyncio.Event()
        leaving = [asyncio.create_task(hold(account, 1, until)) for _ in range(MOST_LEFT_ALONE)]
        await asyncio.sleep(0)
        account.check(1)
        for task in leaving:
            task.cancel()
        await asyncio.wait(leaving)
        with pytest.raises(OverloadedError, match="given up"):
            account.check(1)
        until.set()
        while account.left_alone:
            await asyncio.sleep(0)
        account.check(1)

    asyncio.run(told())
