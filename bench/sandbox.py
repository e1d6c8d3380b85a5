"""What sandboxes cost: programs a second, leases, cold starts, snapshots, and what is left behind.

    uv run python bench/sandbox.py [--driver bubblewrap] [--seconds 5] [--rollouts 4096]

A rollout is one sandbox with two test processes. Wall-clock figures depend on what else the machine does. Processor
milliseconds do so less: on a machine with ten times as much to do as it has processors, caches are cold and they double.
"""

import argparse
import asyncio
import os
import resource
import shutil
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from evalsi.infra.sandbox import Ladder, LadderOptions
from evalsi.ports.sandbox import PythonProgram, SandboxCommand, SandboxFile, SandboxLimits, SandboxOutcome, SandboxSpec

PEER_ROLLOUTS_PER_S = 17.0
WAITS = "import time\ntime.sleep(600)"
SPINS = "while True: pass"
HOSTILE = (
    "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "x = []\nwhile True: x.append(bytearray(1 << 20))",
    "import os\nwhile True: os.write(1, b'x' * 65536)",
)
BARE = ("bwrap", "--ro-bind", "/", "/", "--unshare-all")


def cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def agents_cpu_s() -> float:
    """What the living agents of all sandboxes and their cells have used so far; nobody has waited for those yet."""
    ticks = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if b"evalsi.guest.agent" in (entry / "cmdline").read_bytes():
                    fields = (entry / "stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
                    ticks += sum(map(int, fields[11:15]))
            except OSError:
                continue
    return ticks / os.sysconf("SC_CLK_TCK")


def left_behind() -> dict[str, int]:
    """What of this process and its sandboxes exists now."""
    processes = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                processes += b"evalsi.guest.agent" in (entry / "cmdline").read_bytes()
            except OSError:
                continue
    groups = sum(1 for _ in Path("/sys/fs/cgroup").rglob(f"evalsi-{os.getpid()}-*"))
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").count("\n")
    return {
        "agents": processes,
        "cgroups": groups,
        "mounts": mounts,
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "folders": len(list(Path("/tmp").glob("evalsi-sandbox-*"))),
    }


async def rate(driver: str, program: Callable[[int], PythonProgram], seconds: float, *, check: bool = True) -> float:
    """Rollouts a second, printed with processor milliseconds for each once slots are warm."""
    host = Ladder(LadderOptions(drivers=(driver,)))
    done = 0
    await asyncio.gather(*(host.run_python(program(-number)) for number in range(1, 7)))
    before = cpu_s() + agents_cpu_s()
    started = time.perf_counter()

    async def client() -> None:
        nonlocal done
        while time.perf_counter() - started < seconds:
            done += 1
            runs = await host.run_python(program(done))
            if check:
                assert all(run.succeeded for run in runs.executions), runs

    await asyncio.gather(*(client() for _ in range(8)))
    took = time.perf_counter() - started
    spent = (cpu_s() + agents_cpu_s() - before) * 1000 / done
    await host.close()
    per_s = done / took
    print(
        f"  {per_s:7.1f} rollouts/s ({per_s / PEER_ROLLOUTS_PER_S:.1f}x of the peer's {PEER_ROLLOUTS_PER_S:g}); "
        f"{spent:.2f} ms of processor each: {2000 / spent:.0f}/s on two cores of our own"
    )
    return per_s


async def timed(what: str, action: Callable[[], Awaitable[object]], times: int) -> None:
    took: list[float] = []
    for _ in range(times):
        started = time.perf_counter()
        await action()
        took.append((time.perf_counter() - started) * 1000)
    took.sort()
    print(f"  {what:44} median {statistics.median(took):6.1f} ms   p95 {took[int(len(took) * 0.95)]:6.1f} ms")


async def bare() -> None:
    """What any sandbox of this kind pays here: a process in new namespaces, and an interpreter that does nothing."""
    command = [*BARE, shutil.which("python3", path="/usr/bin") or sys.executable, "-I", "-S", "-c", "pass"]

    async def start() -> None:
        process = await asyncio.create_subprocess_exec(*command)
        assert await process.wait() == 0

    await timed("bubblewrap and a bare interpreter", start, 20)


async def leases(driver: str) -> None:
    if driver == "bubblewrap":
        await bare()
    spec = SandboxSpec()
    took: list[float] = []
    for _ in range(20):
        # A new one has nothing warm, and warms nothing meanwhile.
        host = Ladder(LadderOptions(drivers=(driver,)))
        await host.probe()
        started = time.perf_counter()
        sandbox = await host.create(spec)
        ended = await sandbox.execute(SandboxCommand(argv=("true",)))
        took.append((time.perf_counter() - started) * 1000)
        assert ended.succeeded, ended
        await host.close()
    took.sort()
    print(f"  {'cold: create and run `true`':44} median {statistics.median(took):6.1f} ms   p95 {took[18]:6.1f} ms")
    host = Ladder(LadderOptions(drivers=(driver,)))
    await host.run_python(PythonProgram(source="pass"))

    async def warm() -> None:
        started = time.perf_counter()
        sandbox = await host.create(spec)
        took.append((time.perf_counter() - started) * 1000)
        await sandbox.destroy()
        await asyncio.sleep(0.3)

    took = []
    for _ in range(40):
        await warm()
    took.sort()
    print(f"  {'warm lease':44} median {statistics.median(took):6.1f} ms   p95 {took[38]:6.1f} ms")
    sandbox = await host.create(spec)
    await sandbox.write_files([SandboxFile(path=f"d{n % 10}/f{n}", content=b"x" * 2000) for n in range(200)])
    await timed("snapshot of 200 files", sandbox.snapshot, 20)
    snapshot = await sandbox.snapshot()
    took = []
    for _ in range(20):
        await asyncio.sleep(0.3)
        started = time.perf_counter()
        again = await host.restore(snapshot)
        took.append((time.perf_counter() - started) * 1000)
        await again.destroy()
    took.sort()
    print(f"  {'restore of 200 files':44} median {statistics.median(took):6.1f} ms   p95 {took[18]:6.1f} ms")
    await host.close()


async def many(driver: str, rollouts: int) -> None:
    before = left_behind()
    host = Ladder(LadderOptions(drivers=(driver,)))
    started = time.perf_counter()

    async def one(number: int) -> SandboxOutcome:
        runs = await host.run_python(PythonProgram(source=f"print({number})", stdins=(b"", b"")))
        return runs.executions[0].outcome

    outcomes = await asyncio.gather(*(one(number) for number in range(rollouts)))
    await host.close()
    took = time.perf_counter() - started
    assert set(outcomes) == {SandboxOutcome.EXIT}
    print(f"  {rollouts} rollouts in {took:.1f} s; before {before}, after {left_behind()}")


async def main(driver: str, seconds: float, rollouts: int) -> None:
    limits = SandboxLimits(wall_s=0.5, cpu_s=1, memory_mib=128)

    def equal(_: int) -> PythonProgram:
        return PythonProgram(source="pass", stdins=(b"", b""), limits=limits)

    def different(number: int) -> PythonProgram:
        source = f"def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\nprint(f(10) + {number}, input())\n"
        return PythonProgram(source=source, stdins=(b"1\n", b"2\n"), limits=limits)

    def hostile(hangs: str) -> Callable[[int], PythonProgram]:
        def program(number: int) -> PythonProgram:
            if number % 20:
                return different(number)
            return PythonProgram(source=(hangs, *HOSTILE)[number // 20 % 4], stdins=(b"",), limits=limits)

        return program

    print(f"{driver}; load {os.getloadavg()[0]:.1f}")
    print("equal programs")
    await rate(driver, equal, seconds)
    print("different programs that print")
    clean = await rate(driver, different, seconds)
    for name, hangs in (("waits", WAITS), ("loops", SPINS)):
        print(f"one in twenty hangs (it {name} for ever), forks, eats memory or floods; limit 0.5 s")
        share = await rate(driver, hostile(hangs), seconds, check=False) / clean
        print(f"  {share:.0%} of the rate without them")
    print("leases")
    await leases(driver)
    print("many")
    await many(driver, rollouts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--driver", default="bubblewrap")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rollouts", type=int, default=4096)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.driver, arguments.seconds, arguments.rollouts))
