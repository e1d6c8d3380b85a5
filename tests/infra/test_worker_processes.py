"""A pool of real processes, on the event loop that a server uses."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from time import monotonic

import pytest
import uvloop

from evalsi.core.errors import WorkerCrashError
from evalsi.infra.worker_processes import PoolPlan, WorkerProcesses

WORKER = """
import os, socket, struct, sys, time
channel = socket.socket(fileno=int(sys.argv[1]))
stream = channel.makefile("rb")
while header := stream.read(4):
    word = stream.read(struct.unpack("<I", header)[0])
    if word == b"leave somebody behind" and os.fork():
        os._exit(3)
    elif word == b"leave somebody behind":
        os.setsid()
        time.sleep(5)
        os._exit(0)
    elif word == b"wait":
        time.sleep(60)
    held = [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if name != "3"]
    own = os.readlink(f"/proc/self/fd/{channel.fileno()}")
    answer = " ".join([own, *(name for name in held if name.startswith("socket:"))]).encode()
    channel.sendall(struct.pack("<I", len(answer)) + answer)
"""


def with_pool(work: Callable[[WorkerProcesses], Awaitable[None]]) -> None:
    """Does `work` with a pool on uvloop; afterwards no process is left."""

    async def do() -> None:
        command = (sys.executable, "-c", WORKER)
        pool = WorkerProcesses(PoolPlan(name="test", command=command, environment=os.environ, workers=4))
        await pool.open()
        try:
            await work(pool)
        finally:
            await pool.close()
        assert pool.state().workers == 0

    uvloop.run(do())


def test_the_death_of_a_worker_ends_its_call_though_somebody_else_holds_its_socket() -> None:
    async def work(pool: WorkerProcesses) -> None:
        begun = monotonic()
        with pytest.raises(WorkerCrashError, match="exit status 3"):
            await pool.call(b"leave somebody behind", deadline_s=30)
        assert monotonic() - begun < 15
        assert await pool.call(b"go on", deadline_s=30)

    with_pool(work)


def test_workers_that_are_started_at_once_do_not_hold_the_sockets_of_each_other() -> None:
    async def work(pool: WorkerProcesses) -> None:
        answers = await asyncio.gather(*(pool.call(b"what do you hold?", deadline_s=30) for _ in range(4)))
        sockets = {own: set(held) for own, *held in (answer.split() for answer in answers)}
        assert len(sockets) > 1
        for own, held in sockets.items():
            assert not held & (set(sockets) - {own})

    with_pool(work)
