"""Processes that do what must not be done in the process that asks: it may hang, crash or eat memory there."""

from typing import Protocol

import msgspec


class PoolState(msgspec.Struct, frozen=True, kw_only=True):
    """How a pool is doing."""

    name: str
    workers: int
    """Processes that are alive."""
    busy: int
    """Those that are at work."""
    waiting: int
    """Calls for which no process is free."""
    restarts: int
    """Processes that were lost or killed, since the pool was opened."""


class WorkerPool(Protocol):
    """Runs calls in other processes, each in one of its own for as long as it takes.

    What always holds: a call that ends in any other way than with an answer leaves no process at work on it, and costs
    no other call anything but the time until a process is there again.
    """

    async def call(self, body: bytes, *, deadline_s: float) -> bytes:
        """What a worker answers to `body`. When the caller is cancelled, so is the work.

        Raises:
            CallDeadlineError: no answer within `deadline_s`, counted from when a worker took it up.
            WorkerCrashError: the process died over it, and so did a second one.
            OverloadedError: as many calls wait as may, or processes are killed from outside.
        """
        ...

    def state(self) -> PoolState: ...
