"""What a short program that runs on and on costs the others: never more than its own share."""

import asyncio
import os
from pathlib import Path

import pytest

from evalsi.infra.sandbox import Ladder, LadderOptions
from evalsi.infra.sandbox.control_groups import find_control_groups, group_name
from evalsi.ports.sandbox import PythonProgram, PythonRuns, SandboxLimits, SandboxOutcome
from tests.infra.sandbox.test_escapes import missing

pytestmark = [
    pytest.mark.xdist_group("sandbox"),
    pytest.mark.skipif(bool(missing(("bubblewrap",))), reason="bubblewrap does not work here"),
]
GROUPS = find_control_groups(None)
needs_groups = pytest.mark.skipif(GROUPS.groups is None, reason=f"no control groups here: {GROUPS.reason}")
FORKS = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n"
SLEEPS = "import time\ntime.sleep(600)\n"
SPINS = "while True:\n    pass\n"


async def _others_end_first(long_program: PythonProgram) -> bool:
    """Whether, with one place, ten programs end while one that was there before goes on."""
    host = Ladder(LadderOptions(drivers=("bubblewrap",), places=1))
    try:
        await host.run_python(PythonProgram(source="pass"))
        long = asyncio.create_task(host.run_python(long_program))
        await asyncio.sleep(0.01)
        runs = await asyncio.gather(*(host.run_python(PythonProgram(source=f"print({n})")) for n in range(10)))
        assert [run.executions[0].stdout for run in runs] == [b"%d\n" % n for n in range(10)]
        if not long.done():
            long.cancel()
            return True
        assert (await long).executions[0].outcome is SandboxOutcome.TIMEOUT
        return False
    finally:
        await host.close()


@needs_groups
def test_a_program_that_only_waits_gives_its_place_to_others() -> None:
    assert asyncio.run(_others_end_first(PythonProgram(source=SLEEPS, limits=SandboxLimits(wall_s=300.0))))


@pytest.mark.slow  # whom nobody gives the processor for a tenth of a second looks asleep
def test_a_program_that_is_busy_keeps_its_place() -> None:
    assert not asyncio.run(_others_end_first(PythonProgram(source=SPINS, limits=SandboxLimits(wall_s=60.0, cpu_s=1))))


@pytest.mark.slow
@needs_groups
def test_as_many_programs_run_at_once_after_sleepers_as_before() -> None:
    async def main() -> None:
        host = Ladder(LadderOptions(drivers=("bubblewrap",), places=1))
        try:
            sleeper = PythonProgram(source=SLEEPS, limits=SandboxLimits(wall_s=0.5))
            await asyncio.gather(*(host.run_python(sleeper) for _ in range(6)))
            assert not await _overlap(host)
        finally:
            await host.close()

    asyncio.run(main())


@needs_groups
def test_a_program_that_wakes_has_the_next_place_before_another_begins() -> None:
    spins = "import time\nwhile time.process_time() < 3:\n    pass\n"

    async def main() -> bool:
        host = Ladder(LadderOptions(drivers=("bubblewrap",), places=1))
        limits = SandboxLimits(wall_s=120.0, cpu_s=20)
        try:
            await host.run_python(PythonProgram(source="pass"))
            slept = asyncio.create_task(
                host.run_python(PythonProgram(source=f"import time\ntime.sleep(1.5)\n{spins}", limits=limits))
            )
            await asyncio.sleep(0.01)
            meanwhile = asyncio.create_task(host.run_python(PythonProgram(source=spins, limits=limits)))
            await asyncio.sleep(0.01)
            await host.run_python(PythonProgram(source="pass"))
            ended_first = slept.done()
            await asyncio.gather(slept, meanwhile)
            return ended_first
        finally:
            await host.close()

    assert asyncio.run(main())


async def _overlap(host: Ladder) -> bool:
    """Whether two programs that work ran at the same time."""
    spinner = PythonProgram(source=SPINS, limits=SandboxLimits(wall_s=60.0, cpu_s=1))
    first = asyncio.create_task(host.run_python(spinner))
    await asyncio.sleep(0.01)
    await host.run_python(PythonProgram(source="pass"))
    ended_first = not first.done()
    await first
    return ended_first


@needs_groups
def test_a_program_that_is_refused_processes_without_end_is_ended_long_before_its_time_limit() -> None:
    async def main() -> PythonRuns:
        host = Ladder(LadderOptions(drivers=("bubblewrap",)))
        try:
            limits = SandboxLimits(wall_s=300.0, cpu_s=300)
            return await host.run_python(PythonProgram(source=FORKS, stdins=(b"", b""), limits=limits))
        finally:
            await host.close()

    runs = asyncio.run(asyncio.wait_for(main(), 150))
    assert [execution.outcome for execution in runs.executions] == [SandboxOutcome.DENIED] * 2
    assert "64 processes" in runs.executions[0].reason


@needs_groups
def test_a_program_with_a_few_threads_too_many_hears_of_it_and_goes_on() -> None:
    source = """
import threading, time
refused = 0
stop = threading.Event()
threads = []
for _ in range(66):
    thread = threading.Thread(target=stop.wait)
    try:
        thread.start()
    except RuntimeError:
        refused += 1
    else:
        threads.append(thread)
time.sleep(0.3)
stop.set()
for thread in threads:
    thread.join()
print(refused > 0, len(threads) <= 64)
"""

    async def main() -> PythonRuns:
        host = Ladder(LadderOptions(drivers=("bubblewrap",)))
        try:
            return await host.run_python(PythonProgram(source=source))
        finally:
            await host.close()

    execution = asyncio.run(main()).executions[0]
    assert (execution.outcome, execution.stdout) == (SandboxOutcome.EXIT, b"True True\n")


@needs_groups
def test_each_sandbox_has_one_share_of_the_processor_where_there_is_a_controller_for_it() -> None:
    assert GROUPS.groups is not None
    group = GROUPS.groups.make(group_name("share"))
    try:
        joins = group.join_files()
        places = [Path(f"/proc/self/fd/{join}").readlink().parent for join in joins]
        for join in joins:
            os.close(join)
        if GROUPS.groups.kind == "cgroup v1" and not Path("/sys/fs/cgroup/cpu").is_dir():
            pytest.skip("no controller of the processor is mounted")
        assert any((place / share).exists() for place in places for share in ("cpu.shares", "cpu.weight")), places
        assert group.processor_s() == 0.0
    finally:
        group.close()
