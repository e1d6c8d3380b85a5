"""Slots kept warm: started ahead, lent for one cell at a time, thrown away after some use or any doubt."""

import asyncio
import collections
import contextlib
from collections.abc import AsyncGenerator, Callable

from evalsi.core.own_time import waiting_for_a_turn
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

    def __init__(self, slot: Slot, give_place: Callable[[], bool]) -> None:
        self.slot = slot
        self.has_place = True
        self._give_place = give_place

    def sleep(self) -> None:
        """Its program only waits, and others may have its place meanwhile. What it does later, it does beside them."""
        if self.has_place:
            self.has_place = not self._give_place()


class SlotPool:
    """At most `places` slots for short cells that do something, and any number taken for good."""

    def __init__(self, shared: Circumstances, places: int) -> None:
        self._shared = shared
        self._places = self._free = places
        self._asleep = 0
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
        lent: Lent | None = None
        try:
            slot = self._idle.pop() if self._idle else await start_slot(self._shared, preload=True)
            lent = Lent(slot, self._let_sleep)
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
                self._asleep -= 1

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

    def _let_sleep(self) -> bool:
        if self._asleep >= _MOST_ASLEEP:
            return False
        self._asleep += 1
        self._give_place()
        return True

    def _give_place(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
