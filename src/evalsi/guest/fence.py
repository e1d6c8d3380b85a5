"""What a cell is fenced in by, and how: the one place where a process gives up what it could do.

There are three fences. NAMESPACES gives a cell its own processes, network, mounts, users, names and shared memory, one
size-limited file system, and Landlock and seccomp on top. LANDLOCK has the last two alone, for machines that refuse
namespaces; there the file system is a folder of the host, and signals stay inside only where the kernel scopes them.
OWN_KERNEL is for a cell that has a kernel to itself: the fence is that kernel, and inside it the cell keeps the rights of
root and programs run as an ordinary user, with what this kernel has of Landlock and seccomp.
"""

import errno
import os
import resource
import time

from evalsi.guest import landlock, linux, seccomp

NAMESPACES = "namespaces"
LANDLOCK = "landlock"
OWN_KERNEL = "own-kernel"
PROCESSES = "/sandbox/proc"
"""Where a cell in namespaces mounts its processes; /proc leads there. As for its files, the rule is on the folder above."""

_SYSTEM = (
    "/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/alternatives",
)  # fmt: skip
"""Of the host's own tree only what programs need to start: nothing of /etc that is about people or secrets."""
_DEVICES = ("/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_OPEN_FILES = 256
_PROGRAM_USER = 1000
_VICTIM = b"500"


class Shape:
    """How a sandbox was started. `disk` is where cells put their files; `counted` says whether a control group counts memory."""

    def __init__(self, kind: str, disk: str, readable: tuple[str, ...], counted: bool) -> None:
        self.kind = kind
        self.disk = disk
        self.readable = readable
        self.counted = counted


class CellLimits:
    """The limits of `ports.sandbox.SandboxLimits`, in the order in which they travel."""

    def __init__(
        self,
        wall_s: float,
        cpu_s: int,
        memory_mib: int,
        processes: int,
        disk_mib: int,
        files: int,
        output_bytes: int,
    ) -> None:
        self.wall_s = wall_s
        self.cpu_s = cpu_s
        self.memory_mib = memory_mib
        self.processes = processes
        self.disk_mib = disk_mib
        self.files = files
        self.output_bytes = output_bytes


class Fence:
    """Made once by the agent, before it makes cells; the rulesets and the filter are shared by all of them."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.landlock_version = landlock.version()
        self.has_namespaces = shape.kind == NAMESPACES
        self.has_own_kernel = shape.kind == OWN_KERNEL
        self.has_own_tree = self.has_namespaces or self.has_own_kernel
        # In a tree of our own there is nothing that was not put there to be read.
        readable = ("/",) if self.has_own_tree else (*_SYSTEM, *_DEVICES, *shape.readable)
        self._cell = self._program = self._reader = -1
        if self.landlock_version:
            # The host's /proc is for the cell alone, which looks there for what a program left.
            seen = readable if self.has_own_tree else (*readable, "/proc")
            # A rule on a mount's own root is not met by what is mounted there later; one on the folder above is.
            disk = shape.disk.rpartition("/")[0] if self.has_own_tree else shape.disk
            writable = (disk, "/dev/null")
            self._cell = landlock.make_ruleset(self.landlock_version, readable=seen, writable=writable)
            self._program = landlock.make_ruleset(self.landlock_version, readable=readable, writable=writable)
            self._reader = landlock.make_ruleset(
                self.landlock_version, readable=(*readable, disk), writable=("/dev/null",)
            )
        families = (seccomp.UNIX, seccomp.INET, seccomp.INET6) if self.has_own_tree else ()
        self._filter = seccomp.assemble(socket_families=families, shared_memory=shape.counted and self.has_own_tree)
        self._user, self._group = os.getuid(), os.getgid()

    @property
    def can_forbid_writing(self) -> bool:
        return self._reader >= 0

    def fork_cell(self) -> int:
        """As `os.fork`; the child is a cell, in namespaces of its own where this fence has them."""
        return linux.clone(linux.EVERY_NAMESPACE) if self.has_namespaces else os.fork()

    def enclose_agent(self) -> None:
        """Called once by the agent of a LANDLOCK fence, so that it can end what is inside by one signal."""
        linux.adopt_orphans()
        linux.forgo_privileges()
        landlock.enter(self._cell)

    def prepare_cell(self, limits: CellLimits) -> str:
        """Called in a new cell: its mounts. The folder that holds the cell's files."""
        flags = linux.NO_SETUID | linux.NO_DEVICES
        if self.has_own_kernel:
            _mount_disk(self.shape.disk, flags, limits)
            os.chown(self.shape.disk, _PROGRAM_USER, _PROGRAM_USER)
            return self.shape.disk
        if not self.has_namespaces:
            linux.die_with_parent()
            linux.adopt_orphans()
            place = f"{self.shape.disk}/{os.getpid()}"
            os.mkdir(place, 0o700)
            return place
        linux.set_dumpable(True)  # the kernel lets nobody write the maps of a process that hides itself
        _write("/proc/self/setgroups", b"deny")
        _write("/proc/self/uid_map", b"%d %d 1" % (self._user, self._user))
        _write("/proc/self/gid_map", b"%d %d 1" % (self._group, self._group))
        linux.set_dumpable(False)
        linux.keep_mounts_private()
        _mount_disk(self.shape.disk, flags, limits)
        linux.mount("proc", PROCESSES, flags | linux.NO_EXEC, "hidepid=invisible")
        return self.shape.disk

    def enclose_cell(self, limits: CellLimits) -> None:
        """Called in a cell once its mounts are there. All that its programs can inherit is set here, once."""
        if self.has_own_kernel:
            # Files are made as the programs' user; the real user stays root's, whom programs cannot signal or trace.
            os.setgroups([])
            os.setegid(_PROGRAM_USER)
            os.seteuid(_PROGRAM_USER)
        else:
            _mark_as_victim()
            linux.drop_capabilities()
            linux.forgo_privileges()
            if self._cell >= 0:
                landlock.enter(self._cell)
        bounds = {
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_FSIZE: limits.disk_mib << 20,
            resource.RLIMIT_NOFILE: _OPEN_FILES,
        }
        if not self.has_own_kernel:  # where it is all counted together, and gVisor refuses to be told
            bounds |= {resource.RLIMIT_MSGQUEUE: 0, resource.RLIMIT_MEMLOCK: 1 << 16}
        for which, bound in bounds.items():
            resource.setrlimit(which, (bound, bound))
        if not self.has_own_kernel:
            linux.install_filter(self._filter)

    def enclose_program(self, limits: CellLimits, *, read_only: bool, memory_by_process: bool) -> None:
        """Called in the child that becomes a program: what the cell itself must not be under."""
        if self.has_own_kernel:
            _become_ordinary()
        linux.set_dumpable(True)
        resource.setrlimit(resource.RLIMIT_NPROC, (limits.processes, limits.processes))
        # The first limit ends it by a signal that says why; the second is for a program that ignores the first.
        resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_s, limits.cpu_s + 1))
        if memory_by_process or not self.shape.counted:
            resource.setrlimit(resource.RLIMIT_AS, (limits.memory_mib << 20, limits.memory_mib << 20))
        if read_only:
            landlock.enter(self._reader)
        elif not self.has_namespaces and self._program >= 0:
            landlock.enter(self._program)  # a domain below the cell's, so that no signal reaches the cell
        if self.has_own_kernel:
            linux.install_filter(self._filter)

    def end_all(self) -> None:
        """Called in a cell: every process in it but itself is killed, and all that it can wait for but the eldest."""
        if self.has_own_tree or landlock.scopes_signals(self.landlock_version):
            _kill_every()
        else:
            _sweep_descendants()


def _mount_disk(place: str, flags: int, limits: CellLimits) -> None:
    options = f"size={limits.disk_mib}m,mode=0700"
    try:
        linux.mount("tmpfs", place, flags, f"{options},nr_inodes={limits.files + 8}")
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        linux.mount("tmpfs", place, flags, options)  # gVisor's kernel does not count files


def _become_ordinary() -> None:
    os.seteuid(0)
    os.setresgid(_PROGRAM_USER, _PROGRAM_USER, _PROGRAM_USER)
    os.setresuid(_PROGRAM_USER, _PROGRAM_USER, _PROGRAM_USER)
    linux.drop_capabilities()
    linux.forgo_privileges()


def _kill_every() -> None:
    try:
        os.kill(-1, linux.SIGKILL)
    except OSError:  # there is nobody
        pass


def _sweep_descendants() -> None:
    """Without a kernel that keeps signals inside, -1 would hit the operator's own processes: the tree is walked instead."""
    quiet = 0
    until = time.monotonic() + 5.0
    while quiet < 2 and time.monotonic() < until:
        found = _descendants(os.getpid())
        alive = [each for each in found if not _is_dead(each)]
        for each in alive:
            try:
                os.kill(each, linux.SIGKILL)
            except OSError:
                continue
        quiet = 0 if alive else quiet + 1
        time.sleep(0.001)


def _descendants(root: int) -> list[int]:
    found: list[int] = []
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        try:
            tasks = os.listdir(f"/proc/{parent}/task")
            for task in tasks:
                with open(f"/proc/{parent}/task/{task}/children", "rb") as listing:
                    children = [int(word) for word in listing.read().split()]
                found += children
                waiting += children
        except OSError:
            continue
    return found


def _is_dead(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat", "rb") as listing:
            return listing.read().rpartition(b") ")[2][:1] in (b"Z", b"X")
    except OSError:
        return True


def _mark_as_victim() -> None:
    """Out of memory, the kernel takes what is in a cell, programs being larger, and never the agent that others wait for."""
    try:
        _write("/proc/self/oom_score_adj", _VICTIM)
    except OSError:
        pass


def _write(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)
