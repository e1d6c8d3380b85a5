"""Slots kept warm: started ahead, lent for one cell at a time, thrown away after some use or any doubt."""

import asyncio
import collections
import contextlib
from collections.abc import AsyncGenerator, Callable

from evalsi.core.own_time import turn_has_come, waiting_for_a_turn
from evalsi.infra.sandbox.slot import Circumstances, ImageToRun, Slot, start_slot

_CELLS_BEFORE_RETIRING = 512
"""Forks of one agent share its address layout and hash seed; a program must not learn them from many before it."""

_SPARE_SLOTS = 2
_MOST_ASLEEP = 16
"""Programs that only wait, beyond the places: each keeps the memory of a slot, and none the processor."""


class Doubt(Exception):
    """Raised inside `SlotPool.lend` by whom the slot served, to have it thrown away. Nobody outside sees it."""


class Lent:
    """A slot while it is lent, and its place."""

    def __init__(self, slot: Slot, sleep: "Callable[[Lent], None]", wake: "Callable[[Lent], None]") -> None:
        self.slot = slot
        self.has_place = True
        self._sleep = sleep
        self._wake = wake

    def sleep(self) -> None:
        """Its program only waits, and others may have its place meanwhile."""
        self._sleep(self)

    def wake(self) -> None:
        """Its program does something again: beside the others, and the next place that is free is its own."""
        self._wake(self)


class SlotPool:
    """At most `places` slots for short cells that do something, and any number taken for good."""

    def __init__(self, shared: Circumstances, places: int) -> None:
        self._shared = shared
        self._places = self._free = places
        self._asleep: set[Lent] = set()
        """Those that gave their place away."""
        self._awake: collections.deque[Lent] = collections.deque()
        """Those of them that do something again, and are to have one before anybody begins."""
        self._idle: list[Slot] = []
        self._waiting: collections.deque[asyncio.Future[None]] = collections.deque()
        self._warming: set[asyncio.Task[None]] = set()
        self._taken = 0
        self._is_closed = False

    @contextlib.asynccontextmanager
    async def lend(self) -> AsyncGenerator[Lent]:
        """A slot for one cell; it waits while every place is taken. An exception inside throws the slot away.

        Raises: SandboxError: it does not start.
        """
        await self._take_place()
        turn_has_come()
        lent: Lent | None = None
        try:
            slot = self._idle.pop() if self._idle else await start_slot(self._shared, preload=True)
            lent = Lent(slot, self._let_sleep, self._wake)
            try:
                yield lent
            except BaseException as error:
                await slot.close()
                if not isinstance(error, Doubt):
                    raise
            else:
                if self._is_closed or len(self._idle) >= self._places + _SPARE_SLOTS:
                    await slot.close()
                elif slot.is_used_up(_CELLS_BEFORE_RETIRING):
                    self._warm()
                    await slot.close()
                else:
                    self._idle.append(slot)
        finally:
            if lent is None or lent.has_place:
                self._give_place()
            else:
                self._forget(lent)

    async def take(self) -> Slot:
        """A slot for good, warm where there is one. Who takes a second will take more, so some are kept warm from then on.

        Raises: SandboxError: it does not start.
        """
        slot = self._idle.pop() if self._idle else await start_slot(self._shared, preload=False)
        self._taken += 1
        if self._taken > 1 and len(self._idle) + len(self._warming) < _SPARE_SLOTS:
            self._warm()
        return slot

    async def start(self, image: ImageToRun) -> Slot:
        """A slot for good, with an image. Raises: SandboxError: it does not start."""
        return await start_slot(self._shared, preload=False, image=image)

    async def close(self) -> None:
        self._is_closed = True
        for task in list(self._warming):
            task.cancel()
        try:
            await asyncio.gather(*self._warming, return_exceptions=True)
        finally:
            idle, self._idle = self._idle, []
            await asyncio.gather(*(slot.close() for slot in idle))

    def _warm(self) -> None:
        async def start() -> None:
            with contextlib.suppress(Exception):  # whoever needs it next will hear why
                self._idle.append(await start_slot(self._shared, preload=True))

        task = asyncio.get_running_loop().create_task(start())
        self._warming.add(task)
        task.add_done_callback(self._warming.discard)

    async def _take_place(self) -> None:
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            with waiting_for_a_turn():
                await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_place()
            raise

    def _let_sleep(self, lent: Lent) -> None:
        if lent.has_place:
            if len(self._asleep) < _MOST_ASLEEP:
                lent.has_place = False
                self._asleep.add(lent)
                self._give_place()
        elif lent in self._awake:
            self._awake.remove(lent)

    def _wake(self, lent: Lent) -> None:
        if lent.has_place or lent in self._awake:
            return
        if self._free:
            self._free -= 1
            self._settle(lent)
        else:
            self._awake.append(lent)

    def _settle(self, lent: Lent) -> None:
        self._asleep.discard(lent)
        lent.has_place = True

    def _forget(self, lent: Lent) -> None:
        self._asleep.discard(lent)
        if lent in self._awake:
            self._awake.remove(lent)

    def _give_place(self) -> None:
        if self._awake:
            self._settle(self._awake.popleft())
            return
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
