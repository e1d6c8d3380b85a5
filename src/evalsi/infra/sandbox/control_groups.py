"""Control groups: what counts and bounds memory and processes of a whole sandbox, where the machine lets us have one.

Where there is a controller of the processor too, each sandbox gets the same share of it, however many processes it has.

Two kinds are known: version 2, below a group that was delegated to us, and version 1 with a version 2 hierarchy beside
it that has no controllers but can kill. Which works is found out by using it: a group is made, bounded, and must stop
a program that wants more.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from evalsi.guest.groups import count_of
from evalsi.infra.sandbox.rung import Weight
from evalsi.ports.sandbox import SandboxLimits

_PROBE_BYTES = 32 << 20
_NAME = "evalsi-"
_ALLOCATE = (
    "import os,sys\nfor g in sys.argv[1:]: os.write(int(g), b'0')\nx = bytearray(96 << 20)\n"
    "for i in range(0, len(x), 4096): x[i] = 1\n"
)


class ControlGroup(Protocol):
    """The group of one sandbox."""

    def bound(self, limits: SandboxLimits, weight: Weight) -> None:
        """Raises: OSError: the kernel refuses the limit, as it does below what is in use."""
        ...

    def join_files(self) -> list[int]:
        """Descriptors to which a process writes "0" to join; the caller closes them."""
        ...

    def memory_kills(self) -> int:
        """How many processes were killed so far because the group was out of memory."""
        ...

    def process_refusals(self) -> int:
        """How many times the group was refused a process for having too many."""
        ...

    def peak_memory_bytes(self) -> int: ...

    def processor_s(self) -> float | None:
        """Seconds of processor time that all of it has used; None where nothing counts them."""
        ...

    def kill(self) -> None:
        """Kills everything in the group, which stays."""
        ...

    def close(self) -> None:
        """Kills everything in the group and removes it."""
        ...


class ControlGroups(Protocol):
    """Makes groups."""

    @property
    def kind(self) -> str: ...

    def make(self, name: str) -> ControlGroup:
        """A group whose name is `group_name`'s. Raises: OSError."""
        ...

    def remove_abandoned(self) -> None:
        """Removes the groups of processes that died."""
        ...


@dataclass(frozen=True)
class Found:
    """The kind that works, or None and why none does."""

    groups: ControlGroups | None
    reason: str = ""


def group_name(what: str) -> str:
    """The name of a group that belongs to this process."""
    return f"{_NAME}{os.getpid()}-{what}"


def find_control_groups(delegated: Path | None) -> Found:
    """Tries what there is, for real.

    Args:
        delegated: A version 2 group that an operator gave us; by default our own is tried.
    """
    reasons: list[str] = []
    for candidate in (_version_2(delegated), _version_1()):
        if isinstance(candidate, str):
            reasons.append(candidate)
            continue
        candidate.remove_abandoned()
        problem = _try(candidate)
        if not problem:
            return Found(candidate)
        reasons.append(f"{candidate.kind}: {problem}")
    return Found(None, "; ".join(reasons))


def _try(groups: ControlGroups) -> str:
    """Why the groups do not hold; "" where they do."""
    try:
        group = groups.make(group_name(f"probe-{time.monotonic_ns()}"))
    except OSError as error:
        return f"{error.strerror} ({error.filename})"
    try:
        group.bound(SandboxLimits(memory_mib=_PROBE_BYTES >> 20, processes=16), Weight())
        joins = group.join_files()
        try:
            command = [sys.executable, "-I", "-S", "-c", _ALLOCATE, *map(str, joins)]
            ended = subprocess.run(
                command, pass_fds=joins, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20, check=False
            )
        finally:
            for join in joins:
                os.close(join)
        if ended.returncode == 0:
            return "the limit of memory did not hold"
        return "" if group.memory_kills() else "a process over its memory was not counted"
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    finally:
        group.close()


def _remove_abandoned(above: Path) -> None:
    for folder in above.glob(f"{_NAME}*"):
        owner = folder.name.removeprefix(_NAME).partition("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            _kill_all_in(folder)
            with contextlib.suppress(OSError):
                folder.rmdir()


class _Folders:
    """The folders of one group, one in each hierarchy, and what is the same for both versions.

    Args:
        kills: The file that counts what was killed for memory, kept open: it is read with every program.
        refusals: The file that counts processes that were refused, kept open as well.
        used: The file that counts processor time, if there is one.
    """

    def __init__(self, folders: list[Path], kills: Path, refusals: Path, used: Path | None) -> None:
        self._folders: list[Path] = []
        self._kills = -1
        self._refusals = -1
        self._used = used
        self._bounds: tuple[int, int] | None = None
        try:
            for folder in folders:
                folder.mkdir()
                self._folders.append(folder)
            self._kills = os.open(kills, os.O_RDONLY | os.O_CLOEXEC)
            with contextlib.suppress(FileNotFoundError):  # an old kernel does not count them
                self._refusals = os.open(refusals, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self.close()
            raise

    def join_files(self) -> list[int]:
        opened: list[int] = []
        try:
            for folder in self._folders:
                opened.append(os.open(folder / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC))
        except OSError:
            for descriptor in opened:
                os.close(descriptor)
            raise
        return opened

    def bound(self, limits: SandboxLimits, weight: Weight) -> None:
        wanted = ((limits.memory_mib + weight.memory_mib) << 20, limits.processes + weight.processes)
        if wanted != self._bounds:
            self.write_bounds(*wanted)
            self._bounds = wanted

    def write_bounds(self, memory_bytes: int, processes: int) -> None:
        raise NotImplementedError

    def memory_kills(self) -> int:
        return count_of(b"oom_kill", os.pread(self._kills, 4096, 0))

    def process_refusals(self) -> int:
        try:
            return count_of(b"max", os.pread(self._refusals, 4096, 0))
        except OSError:
            return 0

    def processor_s(self) -> float | None:
        if self._used is None:
            return None
        try:
            return count_of(b"usage_usec", self._used.read_bytes()) / 1e6
        except OSError:
            return None

    def kill(self) -> None:
        for folder in self._folders[-1:]:  # version 2, which kills all at once, where it is there
            _kill_all_in(folder)

    def close(self) -> None:
        if self._kills >= 0:
            os.close(self._kills)
            self._kills = -1
        if self._refusals >= 0:
            os.close(self._refusals)
            self._refusals = -1
        for folder in reversed(self._folders):
            until = time.monotonic() + 2.0
            while True:
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    if time.monotonic() > until:
                        break
                    _kill_all_in(folder)
                    time.sleep(0.001)
        self._folders = []


class _VersionTwoGroup(_Folders):
    def __init__(self, folder: Path) -> None:
        super().__init__([folder], folder / "memory.events", folder / "pids.events", folder / "cpu.stat")
        self._folder = folder

    def write_bounds(self, memory_bytes: int, processes: int) -> None:
        (self._folder / "memory.max").write_text(str(memory_bytes))
        with contextlib.suppress(OSError):  # a kernel without swap accounting has no such file
            (self._folder / "memory.swap.max").write_text("0")
        (self._folder / "pids.max").write_text(str(processes))

    def peak_memory_bytes(self) -> int:
        try:
            return int((self._folder / "memory.peak").read_text())
        except (OSError, ValueError):
            return 0


class _VersionTwo:
    kind = "cgroup v2"

    def __init__(self, above: Path) -> None:
        self._above = above

    def make(self, name: str) -> ControlGroup:
        return _VersionTwoGroup(self._above / name)

    def remove_abandoned(self) -> None:
        _remove_abandoned(self._above)


class _VersionOneGroup(_Folders):
    def __init__(self, memory: Path, processes: Path, processor: Path | None, unified: Path | None) -> None:
        self._memory, self._processes = memory, processes
        used = None if unified is None else unified / "cpu.stat"
        folders = [memory, processes, *filter(None, (processor, unified))]
        super().__init__(folders, memory / "memory.oom_control", processes / "pids.events", used)

    def write_bounds(self, memory_bytes: int, processes: int) -> None:
        # Memory with swap may never be the smaller one: which goes first depends on the direction.
        files = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
        now = int((self._memory / files[0]).read_text())
        for file in files if memory_bytes <= now else reversed(files):
            if (self._memory / file).exists():
                (self._memory / file).write_text(str(memory_bytes))
        (self._processes / "pids.max").write_text(str(processes))

    def peak_memory_bytes(self) -> int:
        try:
            return int((self._memory / "memory.max_usage_in_bytes").read_text())
        except (OSError, ValueError):
            return 0


class _VersionOne:
    kind = "cgroup v1"

    def __init__(self, memory: Path, processes: Path, processor: Path | None, unified: Path | None) -> None:
        self._memory, self._processes, self._processor, self._unified = memory, processes, processor, unified

    def make(self, name: str) -> ControlGroup:
        return _VersionOneGroup(
            self._memory / name,
            self._processes / name,
            None if self._processor is None else self._processor / name,
            None if self._unified is None else self._unified / name,
        )

    def remove_abandoned(self) -> None:
        for above in filter(None, (self._memory, self._processes, self._processor, self._unified)):
            _remove_abandoned(above)


def _version_2(delegated: Path | None) -> ControlGroups | str:
    above = delegated or _own_group("", "cgroup2")
    if above is None:
        return "cgroup v2: not mounted"
    try:
        offered = (above / "cgroup.controllers").read_text().split()
        if not {"memory", "pids"} <= set(offered):
            return f"cgroup v2: {above} has no memory and pids controllers"
        switched_on = (above / "cgroup.subtree_control").read_text().split()
        if not {"memory", "pids"} <= set(switched_on):
            (above / "cgroup.subtree_control").write_text("+memory +pids")
        if "cpu" in offered and "cpu" not in switched_on:
            with contextlib.suppress(OSError):  # a share of the processor is good to have, and no fence
                (above / "cgroup.subtree_control").write_text("+cpu")
    except OSError as error:
        return f"cgroup v2: {above} is not delegated to us ({error.strerror})"
    return _VersionTwo(above)


def _version_1() -> ControlGroups | str:
    memory, processes = _own_group("memory", "cgroup"), _own_group("pids", "cgroup")
    if memory is None or processes is None:
        return "cgroup v1: no memory and pids hierarchies"
    processor, unified = _own_group("cpu", "cgroup"), _own_group("", "cgroup2")
    return _VersionOne(
        memory,
        processes,
        *(above if above is not None and os.access(above, os.W_OK) else None for above in (processor, unified)),
    )


def _own_group(controller: str, kind: str) -> Path | None:
    """The folder of our own group in the hierarchy of a controller, or in version 2's, "" by name."""
    own = None
    try:
        groups = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    for line in groups:
        _, names, path = line.split(":", 2)
        if controller in names.split(","):
            own = path
    if own is None:
        return None
    for line in mounts:
        before, _, after = line.partition(" - ")
        _, _, _, root, point, *_ = before.split(" ")
        mounted, _, options = after.split(" ")[:3]
        if mounted == kind and (not controller or controller in options.split(",")):
            inside = own.removeprefix(root.rstrip("/")) if own.startswith(root) else own
            folder = Path(point + inside)
            return folder if folder.is_dir() else Path(point)
    return None


def _kill_all_in(folder: Path) -> None:
    with contextlib.suppress(OSError):
        (folder / "cgroup.kill").write_text("1")
        return
    with contextlib.suppress(OSError):
        for word in (folder / "cgroup.procs").read_text(encoding="utf-8").split():
            with contextlib.suppress(OSError):
                os.kill(int(word), signal.SIGKILL)
