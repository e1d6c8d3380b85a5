"""The ladder on this machine: every rung keeps the port's promises, the strongest is used, and nothing is left behind."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from evalsi.core.errors import SandboxError, SandboxUnavailableError, UsageError
from evalsi.infra.sandbox import DRIVERS, Ladder, LadderOptions
from evalsi.ports.sandbox import (
    PythonProgram,
    SandboxCommand,
    SandboxFile,
    SandboxLimits,
    SandboxOutcome,
    SandboxSnapshot,
    SandboxSpec,
)
from evalsi.schema import IsolationLevel
from evalsi.testing.sandbox_suite import check_sandbox_host
from tests.infra.sandbox.test_escapes import missing

pytestmark = pytest.mark.xdist_group("sandbox")
LIMITS = SandboxLimits(wall_s=5.0, cpu_s=5, memory_mib=256)


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    reason = missing((name,))
    if reason:
        pytest.skip(reason)
    return name


def on(driver: str, use: Callable[[Ladder], Awaitable[None]], *, with_groups: bool = True, places: int = 2) -> None:
    async def main() -> None:
        ladder = Ladder(LadderOptions(drivers=(driver,), use_control_groups=with_groups, places=places))
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
    options = LadderOptions(drivers=(driver,), use_control_groups=with_groups)
    asyncio.run(check_sandbox_host(lambda: Ladder(options)))


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
    async def main() -> None:
        ladder = Ladder(LadderOptions())
        try:
            with pytest.raises(SandboxUnavailableError) as refused:
                await ladder.create(SandboxSpec(min_isolation=IsolationLevel.VM))
        finally:
            await ladder.close()
        for name in DRIVERS:
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


def test_the_strongest_rung_is_used_and_named_in_the_report() -> None:
    if missing(("bubblewrap",)):
        pytest.skip(missing(("bubblewrap",)))

    async def main() -> None:
        ladder = Ladder(LadderOptions())
        try:
            runs = await ladder.run_python(PythonProgram(source="pass", limits=LIMITS))
        finally:
            await ladder.close()
        strongest = ("bubblewrap", IsolationLevel.NAMESPACED)
        if not missing(("gvisor",)):
            strongest = ("gvisor", IsolationLevel.KERNEL)
        assert (runs.isolation.driver, runs.isolation.level) == strongest

    asyncio.run(main())


@pytest.mark.slow
def test_two_sandboxes_know_nothing_of_each_other(driver: str) -> None:
    settle = (
        "import ctypes, os, socket, time\n"
        "open(os.environ['TMPDIR'] + '/mine', 'w').write('private')\n"
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
        "for path in ('/tmp/mine', '/dev/shm/mine', '../../mine', f'{os.environ[\"TMPDIR\"]}/mine'):\n"
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

    on(driver, use)


@pytest.mark.slow
def test_copying_in_follows_no_link_however_it_was_raced(driver: str, tmp_path: Path) -> None:
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

    on(driver, use)
    assert list(outside.iterdir()) == []


@pytest.mark.slow
def test_an_archive_that_was_tampered_with_stays_inside(driver: str, tmp_path: Path) -> None:
    from evalsi.guest import wire

    tmp_path.chmod(0o777)
    entries: list[wire.Value] = [["link", "l", 0, str(tmp_path).encode()], ["file", "l/planted", 0o644, b"x"]]
    climbing: list[wire.Value] = [["file", f"../../../../../..{tmp_path}/planted", 0o644, b"x"]]

    async def use(ladder: Ladder) -> None:
        for archive in (wire.body(entries), wire.body(climbing), b"nonsense"):
            with pytest.raises(SandboxError):
                await ladder.restore(SandboxSnapshot(spec=SandboxSpec(limits=LIMITS), archive=archive))

    on(driver, use)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_full_disk_is_an_error_and_the_sandbox_goes_on(driver: str) -> None:
    limits = msgspec.structs.replace(LIMITS, disk_mib=8)

    async def use(ladder: Ladder) -> None:
        sandbox = await ladder.create(SandboxSpec(limits=limits))
        with pytest.raises(SandboxError, match="large"):
            await sandbox.write_files([SandboxFile(path="large", content=bytes(9 << 20))])
        assert (await sandbox.execute(SandboxCommand(argv=("true",)))).succeeded

    on(driver, use)


@pytest.mark.slow
def test_leaving_a_stream_early_ends_the_command_and_the_sandbox(driver: str) -> None:
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

    on(driver, use)
    assert kept() == before


@pytest.mark.slow
def test_the_death_of_the_host_ends_every_sandbox(driver: str, tmp_path: Path) -> None:
    script = f"""
import asyncio
from evalsi.infra.sandbox import Ladder, LadderOptions
from evalsi.ports.sandbox import *
async def main():
    ladder = Ladder(LadderOptions(drivers=({driver!r},)))
    sandbox = await ladder.create(SandboxSpec(limits=SandboxLimits(wall_s=100)))
    async for event in sandbox.stream(SandboxCommand(argv=("sh", "-c", "setsid sleep 97.531 & echo up; sleep 97.531"))):
        print("up", flush=True)
asyncio.run(main())
"""
    host = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=tmp_path)
    try:
        assert host.stdout is not None
        assert host.stdout.readline() == b"up\n"
        wait_until(lambda: len(sleepers()) == 2 or bool(containers_below(host.pid)))
        fences = containers_below(host.pid)
    finally:
        host.send_signal(signal.SIGKILL)
        host.communicate()
    wait_until(lambda: sleepers() == [] and not any(Path(f"/proc/{fence}").exists() for fence in fences))


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not holds() and time.monotonic() < until:
        time.sleep(0.05)
    assert holds()


def containers_below(process: int) -> list[int]:
    """The fences whose programs are no processes of the host."""
    return [each for each in cells_below(process) if b"runsc" in Path(f"/proc/{each}/cmdline").read_bytes()]


def sleepers() -> list[str]:
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cmdline").read_bytes() == b"sleep\x0097.531\0":
                    found.append(entry.name)
            except OSError:
                continue
    return found


@pytest.mark.slow
def test_a_path_that_climbs_out_is_refused_before_anything_starts(driver: str) -> None:
    async def use(ladder: Ladder) -> None:
        for path in ("../x", "/x", "", "a/\0"):
            files = (SandboxFile(path=path, content=b""),)
            with pytest.raises(UsageError):
                await ladder.run_python(PythonProgram(source="pass", files=files))
            with pytest.raises(UsageError):
                await ladder.create(SandboxSpec(files=files))

    on(driver, use)


@pytest.mark.slow
def test_a_sandbox_that_dies_is_a_failure_of_the_runner_and_not_of_the_program(driver: str) -> None:
    async def use(ladder: Ladder) -> None:
        sandbox = await ladder.create(SandboxSpec(limits=LIMITS))
        task = asyncio.create_task(sandbox.execute(SandboxCommand(argv=("sleep", "30"))))
        await asyncio.sleep(0.3)
        for process in cells_below(os.getpid()):
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
            if b"evalsi.guest.agent" in words_of_it or words_of_it.startswith(b"runsc-sandbox"):
                found.append(int(word))
            waiting.append(int(word))
    return found
