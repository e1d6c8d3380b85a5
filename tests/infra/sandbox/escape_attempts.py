"""Runs every hostile program on one rung and says, as JSON, what the programs got and what changed on the host.

    python -m tests.infra.sandbox.escape_attempts DRIVER [--user ID] [--without-groups] [--without-landlock]

A process of its own, so that it can be an ordinary user, or live where the kernel refuses something. It adopts orphans:
whatever outlives a sandbox becomes its child and is found.
"""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from evalsi.core.errors import EvalsiError
from evalsi.guest import linux
from evalsi.infra.sandbox import Ladder, LadderOptions
from evalsi.ports.sandbox import PythonProgram, SandboxLimits
from tests.infra.sandbox.hostile_programs import EVERY
from tests.infra.sandbox.kernel_without import refuse_landlock
from tests.infra.sandbox.machines import MACHINES

MARK = "hunter2-of-the-host"
LIMITS = SandboxLimits(wall_s=2.5, cpu_s=1, memory_mib=256, processes=40, disk_mib=32, files=2000, output_bytes=100_000)
OWN_KERNEL = msgspec.structs.replace(LIMITS, wall_s=4.0)
"""For a kernel that starts with the program."""
EMULATED = msgspec.structs.replace(LIMITS, wall_s=8.0, cpu_s=2)
"""For a machine whose processor is emulated, at a tenth of the speed."""


@dataclass(frozen=True)
class Host:
    """What there is to get at."""

    secret: Path
    tcp: socket.socket
    udp: socket.socket
    unix: socket.socket
    abstract: socket.socket
    victim: "subprocess.Popen[bytes]"

    def known(self) -> str:
        """What the programs are told."""
        values = {
            "SECRET": str(self.secret),
            "PORT": self.tcp.getsockname()[1],
            "UDP_PORT": self.udp.getsockname()[1],
            "SOCKET": self.unix.getsockname(),
            "ABSTRACT": self.abstract.getsockname()[1:].decode(),
            "VICTIM": self.victim.pid,
            "MARK": MARK[:7] + MARK[7:],
        }
        return "".join(f"{name} = {value!r}\n" for name, value in values.items() if name != "MARK") + (
            f"MARK = {MARK[:7]!r} + {MARK[7:]!r}\n"
        )


@contextlib.contextmanager
def surroundings() -> Iterator[Host]:
    with contextlib.ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="evalsi-escape-")))
        folder.chmod(0o777)
        secret = folder / "secret"
        secret.write_text(MARK, encoding="utf-8")
        secret.chmod(0o666)
        tcp = held.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        unix = held.enter_context(socket.socket(socket.AF_UNIX))
        unix.bind(str(folder / "socket"))
        (folder / "socket").chmod(0o777)
        abstract = held.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0evalsi-escape-{os.getpid()}")
        for listener in (tcp, unix, abstract):
            listener.listen()
            listener.setblocking(False)
        udp.setblocking(False)
        leaked = os.open(secret, os.O_RDONLY)
        os.set_inheritable(leaked, True)
        held.callback(os.close, leaked)
        victim = subprocess.Popen(["/bin/sleep", "600"])
        held.callback(victim.wait)
        held.callback(victim.kill)
        yield Host(secret, tcp, udp, unix, abstract, victim)


def effects(host: Host, before: dict[str, Any]) -> list[str]:
    """What changed on the host that should not have."""
    found: list[str] = []
    for name, listener in (("tcp", host.tcp), ("unix", host.unix), ("abstract", host.abstract)):
        with contextlib.suppress(BlockingIOError):
            listener.accept()[0].close()
            found.append(f"somebody connected by {name}")
    with contextlib.suppress(BlockingIOError):
        host.udp.recv(100)
        found.append("somebody sent by udp")
    if host.victim.poll() is not None:
        found.append("a process of the host was ended")
    elif Path(f"/proc/{host.victim.pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0] == "T":
        found.append("a process of the host was stopped")
    if sorted(path.name for path in host.secret.parent.iterdir()) != ["secret", "socket"]:
        found.append(f"files were made beside the secret: {list(host.secret.parent.iterdir())}")
    if host.secret.read_text(encoding="utf-8") != MARK:
        found.append("the secret was changed")
    now = state()
    return found + [f"{name}: {before[name]} became {now[name]}" for name in now if now[name] != before[name]]


def state() -> dict[str, Any]:
    """What must be the same afterwards."""

    def lines(path: str) -> list[str]:
        try:
            return Path(path).read_text(encoding="utf-8").splitlines()
        except OSError:
            return []

    own = os.getpid()
    children = Path(f"/proc/{own}/task/{own}/children").read_text(encoding="utf-8").split()
    return {
        "children": sum(1 for child in children if _lives(child)),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "mounts": len(lines("/proc/self/mountinfo")),
        "core_pattern": lines("/proc/sys/kernel/core_pattern"),
        "shared memory": _left_behind(lines("/proc/sysvipc/shm")),
        "message queues": len(lines("/proc/sysvipc/msg")),
        "semaphores": len(lines("/proc/sysvipc/sem")),
        "groups": sorted(
            folder  # not `rglob`, which fails where another process takes its own groups away meanwhile
            for folder, _, _ in os.walk("/sys/fs/cgroup")
            if Path(folder).name.startswith(f"evalsi-{own}-")
        ),
        "folders": sorted(path.name for path in Path(tempfile.gettempdir()).glob(f"evalsi-sandbox-{own}-*")),
    }


def _left_behind(segments: list[str]) -> int:
    """How many segments have outlived who made them: those of living programs, as of a PostgreSQL beside us, are theirs."""
    named = [dict(zip(segments[0].split(), segment.split(), strict=False)) for segment in segments[1:]]
    return sum(1 for segment in named if not _lives(segment["cpid"]))


def _lives(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


async def attempt(driver: str, *, with_groups: bool) -> dict[str, Any]:
    with surroundings() as host:
        before = state()
        ladder = Ladder(LadderOptions(drivers=(driver,), machines=MACHINES, places=3, use_control_groups=with_groups))
        (status,) = await ladder.probe()
        if not status.available:
            await ladder.close()
            return {"unavailable": status.reason, "effects": effects(host, before)}
        known = host.known()
        limits = {"qemu": EMULATED, "gvisor": OWN_KERNEL}.get(driver, LIMITS)

        async def run(source: str) -> dict[str, Any]:
            (ended,) = (await ladder.run_python(PythonProgram(source=known + source, limits=limits))).executions
            said = (ended.stdout[:5000] + ended.stderr[-2000:]).decode(errors="replace")
            return {
                "outcome": ended.outcome.value,
                "code": ended.exit_code,
                "leaks": [line for line in said.splitlines() if "LEAK" in line and "print(" not in line],
                "told": MARK in said,
                "said": said[-600:],
                "duration_s": ended.duration_s,
            }

        names = list(EVERY)
        results = await asyncio.gather(*(run(EVERY[name]) for name in names))
        sane = await asyncio.gather(*(run("import json\nprint(json.loads('[1, 2]'))") for _ in range(8)))
        await ladder.close()
        assert status.isolation is not None
        return {
            "programs": dict(zip(names, results, strict=True)),
            "sane": [each["said"] for each in sane],
            "effects": effects(host, before),
            "notes": list(status.isolation.notes),
            "limits": list(status.limits),
        }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("driver")
    parser.add_argument("--user", type=int)
    parser.add_argument("--without-groups", action="store_true")
    parser.add_argument("--without-landlock", action="store_true")
    asked = parser.parse_args()
    os.environ["EVALSI_ESCAPE_SECRET"] = MARK
    if asked.user is not None:
        os.setgroups([])
        os.setgid(asked.user)
        os.setuid(asked.user)
        linux.set_dumpable(True)  # a change of user hides a process, and namespaces need it seen
    if asked.without_landlock:
        refuse_landlock()
    linux.adopt_orphans()
    signal.alarm(300)
    try:
        found = asyncio.run(attempt(asked.driver, with_groups=not asked.without_groups))
    except EvalsiError as error:
        found = {"error": str(error)}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
