"""What a virtual machine adds: a kernel that counts, memory that is its own, copies that do not know each other."""

import asyncio
import dataclasses
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from evalsi.core.errors import SandboxError, SandboxUnavailableError
from evalsi.infra.sandbox import Ladder, LadderOptions
from evalsi.infra.sandbox.machine import QemuOptions
from evalsi.infra.sandbox.machine.monitor_process import has_hardware_support
from evalsi.infra.sandbox.machine.qemu import remove_unused_machines
from evalsi.ports.sandbox import SandboxCommand, SandboxLimits, SandboxOutcome, SandboxSpec
from evalsi.schema import Enforcement, IsolationLevel
from tests.infra.sandbox.machines import MACHINES, missing_for_machines

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("sandbox"),
    pytest.mark.xdist_group("machines"),
    pytest.mark.skipif(bool(missing_for_machines()), reason=missing_for_machines() or "it is here"),
]
ROOT = Path(__file__).parents[4]
LIMITS = SandboxLimits(wall_s=60.0, cpu_s=60, memory_mib=64, processes=12)


def on(options: QemuOptions, use: Callable[[Ladder], Awaitable[None]]) -> None:
    async def main() -> None:
        # Without groups of the host's, so that only the machine's own can be what counts.
        ladder = Ladder(LadderOptions(drivers=("qemu",), machines=options, use_control_groups=False))
        try:
            await use(ladder)
        finally:
            await ladder.close()

    asyncio.run(main())


def python(source: str) -> SandboxCommand:
    return SandboxCommand(argv=("python3", "-S", "-c", source))


def test_control_groups_of_the_machines_own_kernel_bound_what_many_processes_use() -> None:
    hungry = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        held = bytearray(32 << 20)
        for at in range(0, len(held), 4096): held[at] = 1
        time.sleep(30)
for _ in range(3): os.wait()
"""
    many = """
import os, time
count = 0
try:
    for _ in range(30):
        if os.fork() == 0: time.sleep(30)
        count += 1
except OSError: pass
print(count)
"""

    async def use(ladder: Ladder) -> None:
        sandbox = await ladder.create(SandboxSpec(limits=LIMITS))
        assert "the machine" in (await ladder.probe())[0].limits[0]
        with pytest.raises(SandboxUnavailableError, match="qemu gives at most 1024 MiB of memory"):
            await ladder.create(SandboxSpec(limits=SandboxLimits(memory_mib=4096)))
        killed = await sandbox.execute(python(hungry))
        assert killed.outcome is SandboxOutcome.OUT_OF_MEMORY, killed
        assert killed.reason == "the sandbox used its 64 MiB"
        assert (await sandbox.statistics()).peak_memory_bytes > 50 << 20
        counted = await sandbox.execute(python(many))
        assert counted.succeeded, counted
        assert 5 < int(counted.stdout) < 12

    on(MACHINES, use)


def test_copies_of_one_machine_have_the_time_and_chance_of_their_own() -> None:
    source = "import os, time; print(time.time(), os.urandom(16).hex()); open('/tmp/mine', 'x')"

    async def use(ladder: Ladder) -> None:
        first, second = await asyncio.gather(*(ladder.create(SandboxSpec(limits=LIMITS)) for _ in range(2)))
        said = [await sandbox.execute(python(source)) for sandbox in (first, second)]
        assert all(each.succeeded for each in said), said
        (one_s, one), (other_s, other) = (each.stdout.decode().split() for each in said)
        assert one != other
        assert abs(float(one_s) - time.time()) < 60
        assert abs(float(other_s) - time.time()) < 60

    on(MACHINES, use)


def newest_home() -> Path:
    return max(MACHINES.folder.glob("machine-*"), key=lambda home: home.stat().st_mtime)


def test_a_machine_that_one_process_has_ready_is_not_removed_by_another() -> None:
    prepare = """
import asyncio, sys
from evalsi.infra.sandbox import Ladder, LadderOptions
from evalsi.ports.sandbox import SandboxCommand, SandboxSpec
from tests.infra.sandbox.machines import MACHINES
async def main():
    ladder = Ladder(LadderOptions(drivers=("qemu",), machines=MACHINES, use_control_groups=False))
    assert (await ladder.probe())[0].available
    print("ready", flush=True)
    sys.stdin.readline()
    sandbox = await ladder.create(SandboxSpec())
    print((await sandbox.execute(SandboxCommand(argv=("true",)))).succeeded, flush=True)
    sys.stdin.readline()
    await ladder.close()
asyncio.run(main())
"""
    command = [sys.executable, "-c", prepare]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        try:
            assert other.stdout.readline() == "ready\n"
            home = newest_home()
            os.utime(home, (0, 0))
            remove_unused_machines(MACHINES.folder)
            assert (home / "template" / "memory").exists()
            other.stdin.write("go on\n")
            other.stdin.flush()
            assert other.stdout.readline() == "True\n"
        finally:
            other.kill()
    os.utime(home)


def test_a_copy_that_ends_before_its_first_word_is_told_with_the_last_words_of_its_monitor() -> None:
    async def use(ladder: Ladder) -> None:
        assert (await ladder.probe())[0].available
        kernel = newest_home() / "kernel"
        kernel.rename(kernel.with_name("elsewhere"))
        try:
            with pytest.raises(SandboxError) as told:
                await ladder.create(SandboxSpec(limits=LIMITS))
        finally:
            kernel.with_name("elsewhere").rename(kernel)
        assert str(told.value).startswith("it does not start: ")
        assert str(kernel) in str(told.value)

    on(MACHINES, use)


def test_an_emulated_processor_is_used_only_where_it_is_allowed_and_reported_as_half_a_wall() -> None:
    if has_hardware_support():
        pytest.skip("this machine has hardware for virtual machines")

    async def allowed(ladder: Ladder) -> None:
        (status,) = await ladder.probe()
        assert status.isolation is not None
        assert (status.level, status.isolation.enforcement) == (IsolationLevel.VM, Enforcement.PARTIAL)
        assert any("emulated" in note for note in status.isolation.notes)

    async def forbidden(ladder: Ladder) -> None:
        (status,) = await ladder.probe()
        assert not status.available
        assert "EVALSI_SANDBOX_EMULATION=1" in status.remedy

    on(MACHINES, allowed)
    on(dataclasses.replace(MACHINES, allow_emulation=False), forbidden)


def test_a_kernel_that_does_not_start_is_said_with_the_last_words_and_unused_machines_go(tmp_path: Path) -> None:
    (tmp_path / "vmlinuz-0").write_bytes(b"no kernel")
    stale = MACHINES.folder / "machine-of-yesterday"
    stale.mkdir(parents=True, exist_ok=True)
    os.utime(stale, (0, 0))

    async def use(ladder: Ladder) -> None:
        (status,) = await ladder.probe()
        assert not status.available
        assert status.reason.startswith("with tcg: ")
        assert not stale.exists()

    on(dataclasses.replace(MACHINES, kernel=tmp_path / "vmlinuz-0"), use)


def test_a_machine_that_somebody_took_for_unused_is_made_again() -> None:
    async def use(ladder: Ladder) -> None:
        assert (await ladder.probe())[0].available
        shutil.rmtree(newest_home())
        sandbox = await ladder.create(SandboxSpec(limits=LIMITS))
        assert (await sandbox.execute(SandboxCommand(argv=("true",)))).succeeded

    on(MACHINES, use)
