"""The ladder on this machine: every rung keeps the port's promises, the strongest is used, and nothing is left behind."""

import asyncio
import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from evalsi.core.errors import SandboxError, SandboxUnavailableError, UsageError
from evalsi.infra.sandbox import DRIVERS, Ladder, LadderOptions, Preference
from evalsi.ports.sandbox import (
    PythonProgram,
    SandboxCommand,
    SandboxFile,
    SandboxLimits,
    SandboxOutcome,
    SandboxSnapshot,
    SandboxSpec,
)
from evalsi.schema import Enforcement, IsolationLevel, IsolationReport
from evalsi.testing.sandbox_suite import check_sandbox_host
from tests.infra.sandbox.machines import MACHINES
from tests.infra.sandbox.test_escapes import ROOT, missing
from tests.server.running_server import processes_with

pytestmark = pytest.mark.xdist_group("sandbox")
MACHINES_BY_NAME = ("firecracker", "qemu")
LIMITS = SandboxLimits(wall_s=30.0, cpu_s=30, memory_mib=256)


def _named(name: str) -> str:
    reason = missing((name,))
    if reason:
        pytest.skip(reason)
    return name


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.slow if name in MACHINES_BY_NAME else ()) for name in DRIVERS]
)
def driver(request: pytest.FixtureRequest) -> str:
    return _named(request.param)


@pytest.fixture(params=[name for name in DRIVERS if name not in MACHINES_BY_NAME])
def quick_driver(request: pytest.FixtureRequest) -> str:
    """For what the agent and the host do alike on every rung: in a machine it takes long to see it once more."""
    return _named(request.param)


def on(driver: str, use: Callable[[Ladder], Awaitable[None]], *, with_groups: bool = True, places: int = 2) -> None:
    async def main() -> None:
        ladder = Ladder(
            LadderOptions(drivers=(driver,), machines=MACHINES, use_control_groups=with_groups, places=places)
        )
        try:
            await use(ladder)
        finally:
            await ladder.close()

    asyncio.run(main())


def kept() -> tuple[int, int, list[str]]:
    """Descriptors, children that live, and control groups of this process."""
    own = os.getpid()
    children = Path(f"/proc/{own}/task/{own}/children").read_text(encoding="utf-8").split()
    groups = [str(path) for path in Path("/sys/fs/cgroup").rglob(f"evalsi-{own}-*")]
    return len(list(Path("/proc/self/fd").iterdir())), len(children), groups


@pytest.mark.slow
@pytest.mark.parametrize("with_groups", [True, False])
def test_every_rung_keeps_the_promises_of_the_port(driver: str, with_groups: bool) -> None:
    if driver == "gvisor" and not with_groups:
        pytest.skip("gVisor is not used without control groups")
    if driver == "qemu" and not with_groups:
        pytest.skip("a machine counts inside")
    options = LadderOptions(drivers=(driver,), machines=MACHINES, use_control_groups=with_groups, places=3)
    limits = SandboxLimits(wall_s=40.0, cpu_s=40) if driver in MACHINES_BY_NAME else SandboxLimits(wall_s=5.0, cpu_s=5)
    # Every program has a kernel of its own to wait for on these rungs, and twice the places are more than there are.
    at_once = 6 if driver in (*MACHINES_BY_NAME, "gvisor") else 24
    asyncio.run(check_sandbox_host(lambda: Ladder(options), limits, at_once=at_once))


def test_a_program_says_what_it_says_and_nothing_is_left_behind(driver: str) -> None:
    before = kept()

    async def use(ladder: Ladder) -> None:
        runs = await ladder.run_python(PythonProgram(source="print(input())", stdins=(b"a", b"b"), limits=LIMITS))
        assert [run.stdout for run in runs.executions] == [b"a\n", b"b\n"]
        sandbox = await ladder.create(SandboxSpec(limits=LIMITS))
        assert (await sandbox.execute(SandboxCommand(argv=("true",)))).succeeded

    on(driver, use)
    assert kept() == before


@pytest.mark.slow
def test_a_program_meets_an_ordinary_python(driver: str) -> None:
    source = """
import atexit, dataclasses, inspect, os, sys, threading
@dataclasses.dataclass
class Point:
    x: int
atexit.register(print, "at exit")
threading.Thread(target=lambda: print("in a thread", Point(3))).start()
print(__name__, sys.argv, os.path.basename(os.getcwd()), inspect.getsource(Point).count("x"))
assert os.environ["HOME"] == os.getcwd()
raise ValueError("told with its place")
"""

    async def use(ladder: Ladder) -> None:
        (run,) = (await ladder.run_python(PythonProgram(source=source, limits=LIMITS))).executions
        assert run.exit_code == 1
        assert sorted(run.stdout.decode().splitlines()) == [
            "__main__ ['main.py'] work 1",
            "at exit",
            "in a thread Point(x=3)",
        ]
        assert run.stderr.decode().splitlines() == [
            "Traceback (most recent call last):",
            '  File "main.py", line 10, in <module>',
            '    raise ValueError("told with its place")',
            "ValueError: told with its place",
        ]

    on(driver, use)


@pytest.mark.slow
def test_what_is_stronger_than_this_machine_is_refused_with_every_reason() -> None:
    weaker = tuple(name for name in DRIVERS if name not in MACHINES_BY_NAME)

    async def main() -> None:
        ladder = Ladder(LadderOptions(drivers=weaker))
        try:
            with pytest.raises(SandboxUnavailableError) as refused:
                await ladder.create(SandboxSpec(min_isolation=IsolationLevel.VM))
        finally:
            await ladder.close()
        for name in weaker:
            assert name in str(refused.value)

    asyncio.run(main())


def test_a_ladder_without_rungs_runs_nothing_even_where_no_isolation_is_asked_for() -> None:
    async def main() -> None:
        ladder = Ladder(LadderOptions(), rungs=())
        with pytest.raises(SandboxUnavailableError, match="no rung is allowed"):
            await ladder.run_python(PythonProgram(source="pass", min_isolation=IsolationLevel.NONE))
        await ladder.close()

    asyncio.run(main())


def test_a_rung_that_only_a_control_group_bounds_is_not_used_without() -> None:
    if missing(("gvisor",)):
        pytest.skip(missing(("gvisor",)))

    async def main() -> None:
        ladder = Ladder(LadderOptions(drivers=("gvisor",), use_control_groups=False))
        try:
            (status,) = await ladder.probe()
        finally:
            await ladder.close()
        assert not status.available
        assert "control group" in status.reason

    asyncio.run(main())


def used(options: LadderOptions, least: IsolationLevel = IsolationLevel.CONFINED) -> tuple[str, str]:
    """The drivers of a command's sandbox and of a small Python program."""

    async def main() -> tuple[str, str]:
        ladder = Ladder(options)
        try:
            sandbox = await ladder.create(SandboxSpec(limits=LIMITS, min_isolation=least))
            program = PythonProgram(source="pass", limits=LIMITS, min_isolation=least)
            return sandbox.isolation.driver, (await ladder.run_python(program)).isolation.driver
        finally:
            await ladder.close()

    return asyncio.run(main())


@pytest.mark.slow
def test_commands_get_the_strongest_rung_and_small_programs_a_quick_one_unless_told_otherwise() -> None:
    if missing(("gvisor", "bubblewrap")):
        pytest.skip(missing(("gvisor", "bubblewrap")))
    both = ("gvisor", "bubblewrap", "landlock")
    assert used(LadderOptions(drivers=both)) == ("gvisor", "bubblewrap")
    assert used(LadderOptions(drivers=both, prefer=Preference.STRONGEST)) == ("gvisor", "gvisor")
    assert used(LadderOptions(drivers=both, prefer=Preference.QUICKEST)) == ("bubblewrap", "bubblewrap")
    asked = used(LadderOptions(drivers=both, prefer=Preference.QUICKEST), IsolationLevel.KERNEL)
    assert asked == ("gvisor", "gvisor"), "a preference never goes below what was asked for"
    without = LadderOptions(drivers=("gvisor", "landlock"), prefer=Preference.QUICKEST)
    assert used(without) == ("gvisor", "gvisor"), "quickness never costs the namespaces"


def test_nothing_runs_without_a_fence_unless_the_spec_says_none_and_the_operator_allows_it() -> None:
    async def main(options: LadderOptions, least: IsolationLevel) -> IsolationReport:
        ladder = Ladder(options)
        try:
            (rungs, runs) = (
                await ladder.probe(),
                await ladder.run_python(
                    PythonProgram(source="import socket; socket.socket(); print(1)", limits=LIMITS, min_isolation=least)
                ),
            )
            assert rungs == []
            assert runs.executions[0].stdout == b"1\n", runs
            sandbox = await ladder.create(SandboxSpec(limits=LIMITS, min_isolation=least))
            ended = await sandbox.execute(SandboxCommand(argv=("sh", "-c", "sleep 60 & echo $!")))
            assert ended.succeeded
            await sandbox.destroy()
            assert not Path(f"/proc/{int(ended.stdout)}").exists(), "what a program started ends with it"
            return runs.isolation
        finally:
            await ladder.close()

    only = LadderOptions(drivers=("none",))
    before = kept()
    report = asyncio.run(main(only, IsolationLevel.NONE))
    assert kept() == before
    assert (report.driver, report.level, report.enforcement) == ("none", IsolationLevel.NONE, Enforcement.PARTIAL)
    assert "NOTHING" in report.notes[0]
    for least in (IsolationLevel.CONFINED, IsolationLevel.UNSPECIFIED):
        with pytest.raises(SandboxUnavailableError):
            asyncio.run(main(only, least))
    with pytest.raises(SandboxUnavailableError, match="not allowed here"):
        asyncio.run(main(LadderOptions(drivers=("none",), allows_none=False), IsolationLevel.NONE))


def test_a_spec_that_would_do_without_a_fence_gets_one_where_there_is_one() -> None:
    if missing(("bubblewrap",)):
        pytest.skip(missing(("bubblewrap",)))
    drivers = ("bubblewrap", "none")
    assert used(LadderOptions(drivers=drivers), IsolationLevel.NONE) == ("bubblewrap", "bubblewrap")


@pytest.mark.slow
def test_two_sandboxes_know_nothing_of_each_other(quick_driver: str) -> None:
    mine = f"mine-{secrets.token_hex(4)}"  # a name that nothing on this machine has
    settle = (
        "import ctypes, os, socket, time\n"
        f"open(os.environ['TMPDIR'] + '/{mine}', 'w').write('private')\n"
        "try:\n"
        "    listener = socket.socket(socket.AF_UNIX); listener.bind(chr(0) + 'neighbour'); listener.listen()\n"
        "    tcp = socket.create_server(('127.0.0.1', 45321))\n"
        "except OSError: pass\n"
        "ctypes.CDLL(None).shmget(0x5eed, 4096, 0o1666)\n"
        "print('settled', flush=True)\n"
        "time.sleep(3)\n"
    )
    look = (
        "import ctypes, os, signal, socket, sys\n"
        "own = set()\n"
        "process = os.getpid()\n"
        "for other in range(2, 400):\n"
        "    if other != process:\n"
        "        try: os.kill(other, signal.SIGKILL); print('LEAK killed', other)\n"
        "        except OSError: pass\n"
        f"for path in ('/tmp/{mine}', '/dev/shm/{mine}', '../../{mine}', os.environ['TMPDIR'] + '/{mine}'):\n"
        "    if os.path.exists(path): print('LEAK', path)\n"
        "for family, address in ((socket.AF_UNIX, chr(0) + 'neighbour'), (socket.AF_INET, ('127.0.0.1', 45321))):\n"
        "    try: socket.socket(family).connect(address); print('LEAK', address)\n"
        "    except OSError: pass\n"
        "if ctypes.CDLL(None).shmget(0x5eed, 4096, 0o666) >= 0: print('LEAK memory')\n"
        "print('looked')\n"
    )

    async def use(ladder: Ladder) -> None:
        first, second = await asyncio.gather(*(ladder.create(SandboxSpec(limits=LIMITS)) for _ in range(2)))
        staying = asyncio.create_task(first.execute(SandboxCommand(argv=("python3", "-c", settle))))
        await asyncio.sleep(0.7)
        seen = await second.execute(SandboxCommand(argv=("python3", "-c", look)))
        assert seen.stdout == b"looked\n", seen
        stayed = await staying
        assert stayed.succeeded, stayed
        assert stayed.stdout == b"settled\n"

    on(quick_driver, use)


@pytest.mark.slow
def test_copying_in_follows_no_link_however_it_was_raced(quick_driver: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    outside.chmod(0o777)
    race = (
        f"import os\n"
        f"for _ in range(2000):\n"
        f"    for make in (lambda: os.symlink({str(outside)!r}, 'folder'), lambda: os.mkdir('folder')):\n"
        f"        try: make()\n"
        f"        except OSError: pass\n"
        f"        try: os.rename('folder', 'other')\n"
        f"        except OSError: pass\n"
        f"        for gone in (os.unlink, os.rmdir):\n"
        f"            try: gone('other')\n"
        f"            except OSError: pass\n"
    )

    async def use(ladder: Ladder) -> None:
        sandbox = await ladder.create(SandboxSpec(limits=LIMITS))
        running = asyncio.create_task(sandbox.execute(SandboxCommand(argv=("python3", "-c", race))))
        for _ in range(5):
            await asyncio.gather(
                sandbox.write_files([SandboxFile(path="folder/planted", content=b"x")]), return_exceptions=True
            )
        await running
        await sandbox.execute(
            SandboxCommand(argv=("sh", "-c", f"rm -rf folder; ln -s {outside} folder; ln -s {outside}/new file"))
        )
        with pytest.raises(SandboxError):
            await sandbox.write_files([SandboxFile(path="folder/planted", content=b"x")])
        await sandbox.write_files([SandboxFile(path="file", content=b"x")])
        assert (await sandbox.read_files(["file"])).files[0].content == b"x"

    on(quick_driver, use)
    assert list(outside.iterdir()) == []


@pytest.mark.slow
def test_an_archive_that_was_tampered_with_stays_inside(quick_driver: str, tmp_path: Path) -> None:
    from evalsi.guest import wire

    tmp_path.chmod(0o777)
    entries: list[wire.Value] = [["link", "l", 0, str(tmp_path).encode()], ["file", "l/planted", 0o644, b"x"]]
    climbing: list[wire.Value] = [["file", f"../../../../../..{tmp_path}/planted", 0o644, b"x"]]

    async def use(ladder: Ladder) -> None:
        for archive in (wire.body(entries), wire.body(climbing), b"nonsense"):
            with pytest.raises(SandboxError):
                await ladder.restore(SandboxSnapshot(spec=SandboxSpec(limits=LIMITS), archive=archive))

    on(quick_driver, use)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_full_disk_is_an_error_and_the_sandbox_goes_on(quick_driver: str) -> None:
    limits = msgspec.structs.replace(LIMITS, disk_mib=8)

    async def use(ladder: Ladder) -> None:
        sandbox = await ladder.create(SandboxSpec(limits=limits))
        with pytest.raises(SandboxError, match="large"):
            await sandbox.write_files([SandboxFile(path="large", content=bytes(9 << 20))])
        assert (await sandbox.execute(SandboxCommand(argv=("true",)))).succeeded

    on(quick_driver, use)


@pytest.mark.slow
def test_leaving_a_stream_early_ends_the_command_and_the_sandbox(quick_driver: str) -> None:
    before = kept()

    async def use(ladder: Ladder) -> None:
        sandbox = await ladder.create(SandboxSpec(limits=LIMITS))
        task = asyncio.create_task(sandbox.execute(SandboxCommand(argv=("sleep", "60"))))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(SandboxError):
            await sandbox.statistics()
        assert kept()[1:] == before[1:]

    on(quick_driver, use)
    assert kept() == before


@pytest.mark.slow
def test_the_death_of_the_host_ends_every_sandbox(driver: str, tmp_path: Path) -> None:
    nap = f"97.{os.getpid()}"  # as no other test sleeps
    script = f"""
import asyncio
from evalsi.infra.sandbox import Ladder, LadderOptions
from evalsi.ports.sandbox import *
from tests.infra.sandbox.machines import MACHINES
async def main():
    ladder = Ladder(LadderOptions(drivers=({driver!r},), machines=MACHINES))
    sandbox = await ladder.create(SandboxSpec(limits=SandboxLimits(wall_s=100)))
    async for event in sandbox.stream(SandboxCommand(argv=("sh", "-c", "setsid sleep {nap} & echo up; sleep {nap}"))):
        print("up", flush=True)
asyncio.run(main())
"""
    host = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT)
    try:
        assert host.stdout is not None
        assert host.stdout.readline() == b"up\n"
        wait_until(lambda: len(processes_with(nap)) == 2 or bool(containers_below(host.pid)))
        fences = containers_below(host.pid)
    finally:
        host.send_signal(signal.SIGKILL)
        host.communicate()
    wait_until(lambda: not processes_with(nap) and not any(Path(f"/proc/{fence}").exists() for fence in fences))


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds() and time.monotonic() < until:
        time.sleep(0.05)
    assert holds()


def containers_below(process: int) -> list[int]:
    """The fences whose programs are no processes of the host."""
    return [
        each
        for each in cells_below(process)
        if any(name in Path(f"/proc/{each}/cmdline").read_bytes() for name in (b"runsc", b"qemu"))
    ]


@pytest.mark.slow
def test_a_path_that_climbs_out_is_refused_before_anything_starts(quick_driver: str) -> None:
    async def use(ladder: Ladder) -> None:
        for path in ("../x", "/x", "", "a/\0"):
            files = (SandboxFile(path=path, content=b""),)
            with pytest.raises(UsageError):
                await ladder.run_python(PythonProgram(source="pass", files=files))
            with pytest.raises(UsageError):
                await ladder.create(SandboxSpec(files=files))

    on(quick_driver, use)


@pytest.mark.slow
def test_a_sandbox_that_dies_is_a_failure_of_the_runner_and_not_of_the_program(driver: str) -> None:
    async def use(ladder: Ladder) -> None:
        sandbox = await ladder.create(SandboxSpec(limits=LIMITS))
        task = asyncio.create_task(sandbox.execute(SandboxCommand(argv=("sleep", "30"))))
        await asyncio.sleep(0.3)
        for process in cells_below(os.getpid()):
            with contextlib.suppress(ProcessLookupError):  # the end of one ends others
                os.kill(process, signal.SIGKILL)
        ended = await task
        assert ended.outcome is SandboxOutcome.RUNNER_FAILURE
        assert ended.reason

    on(driver, use)


def cells_below(process: int) -> list[int]:
    """Every process below this one, children before parents' later ones; the first two generations are the fence."""
    found: list[int] = []
    waiting = [process]
    while waiting:
        parent = waiting.pop()
        try:
            words = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="utf-8").split()
        except OSError:
            continue
        for word in words:
            words_of_it = Path(f"/proc/{word}/cmdline").read_bytes()
            if b"evalsi.guest.agent" in words_of_it or words_of_it.startswith((b"runsc-sandbox", b"/usr/bin/qemu")):
                found.append(int(word))
            waiting.append(int(word))
    return found
