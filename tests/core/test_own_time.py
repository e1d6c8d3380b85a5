"""A deadline counts what a call does and not how long it waits for its turn."""

import asyncio

import pytest

from evalsi.core.own_time import OwnTime, told_of_its_turn, turn_has_come, waiting_for_a_turn

SHORT_S, LONG_S = 0.05, 0.3


async def wait_for_a_turn(seconds: float) -> None:
    with waiting_for_a_turn():
        await asyncio.sleep(seconds)


def test_a_wait_for_others_takes_nothing_from_a_deadline() -> None:
    async def call() -> bool:
        async with OwnTime(SHORT_S) as deadline:
            await asyncio.gather(wait_for_a_turn(LONG_S), wait_for_a_turn(LONG_S / 2))
        return deadline.expired()

    assert not asyncio.run(call())


def test_what_a_call_does_itself_is_counted_before_and_after_a_wait() -> None:
    async def call(own: OwnTime) -> None:
        async with own:
            await wait_for_a_turn(SHORT_S)
            await asyncio.sleep(60)

    own = OwnTime(SHORT_S)
    with pytest.raises(TimeoutError):
        asyncio.run(call(own))
    assert own.expired()


def test_a_call_that_is_cancelled_while_it_waits_is_cancelled() -> None:
    async def call() -> None:
        async with OwnTime(60):
            await wait_for_a_turn(60)

    async def cancel() -> bool:
        task = asyncio.create_task(call())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(cancel())


def test_calls_beside_each_other_have_times_of_their_own() -> None:
    async def waits() -> None:
        async with OwnTime(SHORT_S):
            await wait_for_a_turn(LONG_S)

    async def works() -> None:
        async with OwnTime(SHORT_S):
            await asyncio.sleep(60)

    async def both() -> tuple[BaseException | None, BaseException | None]:
        return await asyncio.gather(waits(), works(), return_exceptions=True)

    waited, worked = asyncio.run(both())
    assert waited is None
    assert isinstance(worked, TimeoutError)


def test_who_asks_is_told_when_a_turn_has_come_and_nobody_else() -> None:
    told: list[str] = []

    async def call(name: str) -> None:
        with told_of_its_turn(lambda: told.append(name)):
            await asyncio.sleep(0)
            turn_has_come()
        turn_has_come()

    async def both() -> None:
        await asyncio.gather(call("a"), call("b"))

    asyncio.run(both())
    assert sorted(told) == ["a", "b"]
