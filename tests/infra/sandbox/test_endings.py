"""Whoever is cancelled, and whenever: every process that was started is waited for, and what it had is gone."""

import asyncio
import gc
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from evalsi.guest import landlock
from evalsi.infra.sandbox import Ladder, LadderOptions
from evalsi.infra.sandbox.start_process import end_process, start_process
from evalsi.ports.sandbox import PythonProgram, SandboxCommand, SandboxLimits, SandboxSpec

pytestmark = [
    pytest.mark.xdist_group("sandbox"),
    pytest.mark.skipif(not landlock.version(), reason="no sandbox without Landlock on this kernel"),
]
LIMITS = SandboxLimits(wall_s=20.0, cpu_s=5, memory_mib=256)
SPEC = SandboxSpec(limits=LIMITS)


def children() -> list[str]:
    """Of this process: also those that have ended and that nobody has waited for."""
    own = os.getpid()
    return Path(f"/proc/{own}/task/{own}/children").read_text(encoding="utf-8").split()


def folders() -> list[str]:
    return [str(path) for path in Path("/tmp").glob(f"evalsi-sandbox-{os.getpid()}-*/disk-*")]


@asynccontextmanager
async def a_ladder() -> AsyncGenerator[Ladder]:
    """One whose end leaves nothing. What a collector finds open or running is an error of pytest's."""
    before = children()
    ladder = Ladder(LadderOptions(drivers=("bubblewrap", "landlock"), places=1))
    try:
        yield ladder
    finally:
        await ladder.close()
    assert children() == before
    assert folders() == []
    gc.collect()


async def cancel_often(task: "asyncio.Future[Any]") -> Any:
    """What the task, which has begun, ends with, however often its ending is cancelled too."""
    await asyncio.sleep(0)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    (ended,) = await asyncio.gather(task, return_exceptions=True)
    return ended


def test_an_ending_that_is_cancelled_has_ended_all_the_same() -> None:
    async def main() -> None:
        async with a_ladder() as ladder:
            sandbox = await ladder.create(SPEC)
            beforehand = children()
            ended = await cancel_often(asyncio.ensure_future(sandbox.destroy()))
            assert isinstance(ended, asyncio.CancelledError)
            assert len(children()) == len(beforehand) - 1
            await sandbox.destroy()

    asyncio.run(main())


def test_who_ends_a_sandbox_while_another_does_waits_as_long() -> None:
    async def main() -> None:
        async with a_ladder() as ladder:
            sandbox = await ladder.create(SPEC)
            before = len(children())
            first = asyncio.ensure_future(sandbox.destroy())
            await asyncio.sleep(0)
            assert not first.done()
            await sandbox.destroy()
            assert len(children()) == before - 1
            await first

    asyncio.run(main())


def test_a_ladder_that_closes_waits_for_an_ending_that_has_begun() -> None:
    async def main() -> None:
        async with a_ladder() as ladder:
            sandbox = await ladder.create(SPEC)
            ending = asyncio.ensure_future(sandbox.destroy())
            await asyncio.sleep(0)
            assert not ending.done()
        assert children() == []
        await ending

    asyncio.run(main())


def test_a_start_that_is_cancelled_at_any_time_leaves_nothing() -> None:
    async def main() -> None:
        async with a_ladder() as ladder:
            await ladder.probe()
            for milliseconds in range(0, 60, 3):
                task = asyncio.ensure_future(ladder.create(SPEC))
                await asyncio.sleep(milliseconds / 1000)
                ended = await cancel_often(task)
                if isinstance(ended, BaseException):
                    assert isinstance(ended, asyncio.CancelledError)
                else:
                    await task.result().destroy()

    asyncio.run(main())


def test_a_program_that_is_given_up_at_any_time_leaves_nothing_and_the_next_one_runs() -> None:
    program = PythonProgram(source="import time\nprint('said', flush=True)\ntime.sleep(9)", limits=LIMITS)

    async def main() -> None:
        async with a_ladder() as ladder:
            await ladder.probe()
            for milliseconds in range(0, 60, 6):
                task = asyncio.ensure_future(ladder.run_python(program))
                await asyncio.sleep(milliseconds / 1000)
                assert isinstance(await cancel_often(task), asyncio.CancelledError)
            (run,) = (await ladder.run_python(PythonProgram(source="print(1)", limits=LIMITS))).executions
            assert run.stdout == b"1\n"

    asyncio.run(main())


def test_a_loop_that_stops_in_the_middle_of_everything_leaves_nothing() -> None:
    async def main() -> None:
        async with a_ladder() as ladder:
            sandboxes = [await ladder.create(SPEC) for _ in range(2)]
            commands = [
                asyncio.ensure_future(each.execute(SandboxCommand(argv=("sleep", "9.75")))) for each in sandboxes
            ]
            await asyncio.sleep(0.1)
            for each in commands:
                each.cancel()
            await asyncio.sleep(0)
            # The ends of both sandboxes are under way, and nobody waits for them but the ladder.
            closing = asyncio.ensure_future(ladder.close())
            await asyncio.sleep(0)
            await cancel_often(closing)
            assert children() == []
            await asyncio.gather(*commands, return_exceptions=True)

    asyncio.run(main())


def test_who_is_killed_takes_along_what_it_had_started() -> None:
    """As bubblewrap, killed before it has told its child who it is, for which the child would wait for ever."""
    process = start_process(["/bin/sh", "-c", "sleep 60 & echo $! >&2; wait"], user=None, descriptors=())
    assert process.stderr is not None
    with process.stderr:
        started = int(process.stderr.readline())
    end_process(process)
    for _ in range(100):
        try:
            state = Path(f"/proc/{started}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0]
        except OSError:
            return
        if state in "ZX":
            return
        time.sleep(0.05)
    pytest.fail("what it started lives on")
