"""What a cell is fenced in by, and how: the one place where a process gives up what it could do.

There are four fences, and none. NAMESPACES gives a cell its own processes, network, mounts, users, names and shared memory, one
size-limited file system, and Landlock and seccomp on top. LANDLOCK has the last two alone, for machines that refuse
namespaces; there the file system is a folder of the host, and signals stay inside only where the kernel scopes them.
OWN_KERNEL is for a cell that has a kernel to itself: the fence is that kernel, and inside it the cell keeps the rights of
root and programs run as an ordinary user, with what this kernel has of Landlock and seccomp. MACHINE is the same on a
kernel that also counts: a control group bounds the programs, and the host's says nothing. NOTHING is what it says: limits are
set, and what a program started is ended.
"""

import errno
import os
import resource
import time

from evalsi.guest import forwarder, groups, landlock, linux, seccomp

NAMESPACES = "namespaces"
LANDLOCK = "landlock"
OWN_KERNEL = "own-kernel"
NOTHING = "nothing"
MACHINE = "machine"
_LAYER, _ROOT = "/sandbox/layer", "/sandbox/root"
IMAGE = "/sandbox/image"
"""Where the tree of an image is seen once more, with nothing mounted in it: a condition of the kernel's for copies of it."""
GROUPS = "/sandbox/groups"
"""Where a machine mounts its control groups."""
PACKAGES = "/.evalsi/packages"
"""Where a tree of its own shows the operator's Python packages: a place that no image has anything at."""
MOUNT_POINTS = (
    "proc", "dev", "tmp", "var/tmp", ".evalsi", "sandbox/disk", "sandbox/proc", _LAYER[1:], _ROOT[1:], IMAGE[1:],
)  # fmt: skip
"""Folders that the tree of an image must have."""
PROCESSES = "/sandbox/proc"
"""Where a cell in namespaces mounts its processes; /proc leads there. As for its files, the rule is on the folder above."""

_SYSTEM = (
    "/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/alternatives",
)  # fmt: skip
"""Of the host's own tree only what programs need to start: nothing of /etc that is about people or secrets."""
_TEMPORARY = ("/tmp", "/var/tmp")
_DEVICES = ("/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_OPEN_FILES = 256
_BESIDE_PROGRAMS = 8
"""Processes of the fence itself that may count as the user's, and some more."""
_PROGRAM_USER = 1000
_VICTIM = b"500"


class Shape:
    """How a sandbox was started. `disk` is where cells put their files; `counted` says whether a control group counts memory;
    `has_image` whether the tree is an image's, of which every cell has a copy that it may write to.
    """

    def __init__(self, kind: str, disk: str, readable: tuple[str, ...], counted: bool, has_image: bool) -> None:
        self.kind = kind
        self.disk = disk
        self.readable = readable
        self.counted = counted
        self.has_image = has_image


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
        self.is_fence = shape.kind != NOTHING
        self.landlock_version = landlock.version() if self.is_fence else 0
        self.has_namespaces = shape.kind == NAMESPACES
        self.group = groups.ProgramGroup(GROUPS) if shape.kind == MACHINE else None
        self.has_own_kernel = shape.kind in (OWN_KERNEL, MACHINE)
        self.has_own_tree = self.has_namespaces or self.has_own_kernel
        # In a tree of our own there is nothing that was not put there to be read.
        readable = ("/",) if self.has_own_tree else (*_SYSTEM, *_DEVICES, *shape.readable)
        self._has_packages = self.has_own_kernel and bool(os.listdir(PACKAGES))
        self.layer = -1
        """In a cell with an image: the folder of what differs from the image."""
        self._cell = self._program = self._reader = -1
        if self.landlock_version:
            # The host's /proc is for the cell alone, which looks there for what a program left.
            seen = readable if self.has_own_tree else (*readable, "/proc")
            # A rule on a mount's own root is not met by what is mounted there later; one on the folder above is.
            disk = shape.disk.rpartition("/")[0] if self.has_own_tree else shape.disk
            writable = (disk, "/dev/null")
            port = (
                forwarder.PORT if self.has_own_tree else None
            )  # in a network of its own, where nothing else can listen
            # With an image the cell writes to all of the tree; what programs may is decided once it is mounted.
            self._cell = landlock.make_ruleset(
                self.landlock_version, readable=seen, writable=("/",) if shape.has_image else writable, port=port
            )
            self._program = landlock.make_ruleset(
                self.landlock_version, readable=readable, writable=writable, port=port
            )
            self._reader = landlock.make_ruleset(
                self.landlock_version, readable=(*readable, disk), writable=("/dev/null",), port=port
            )
        families = (seccomp.UNIX, seccomp.INET, seccomp.INET6) if self.has_own_tree else ()
        self._filter = linux.Filter(
            seccomp.assemble(socket_families=families, shared_memory=shape.counted and self.has_own_tree)
        )
        self._user, self._group = os.getuid(), os.getgid()
        # Behind a kernel of its own a copy of an image can be written to by whom the image belongs to.
        self._program_user = os.stat(IMAGE).st_uid if self.has_own_kernel and shape.has_image else _PROGRAM_USER

    @property
    def can_forbid_writing(self) -> bool:
        return self._reader >= 0

    def fork_cell(self) -> int:
        """As `os.fork`; the child is a cell, in namespaces of its own where this fence has them."""
        return linux.clone(linux.EVERY_NAMESPACE) if self.has_namespaces else os.fork()

    def enclose_agent(self) -> None:
        """Called once by the agent of a fence without a tree of its own, so that it can end what is inside by one signal."""
        linux.adopt_orphans()
        linux.forgo_privileges()
        if self._cell >= 0:
            landlock.enter(self._cell)

    def prepare_cell(self, limits: CellLimits) -> str:
        """Called in a new cell: its mounts. The folder that holds the cell's files."""
        flags = linux.NO_SETUID | linux.NO_DEVICES
        if self.has_own_kernel:
            if self.shape.has_image:
                self._copy_image(limits, flags)
                self._mount_in_copy(limits, flags)
                self._enter_copy()
            else:
                self._mount_own_disk(self.shape.disk, limits, flags)
            return self.shape.disk
        if not self.has_namespaces:
            linux.die_with_parent()
            linux.adopt_orphans()
            place = f"{self.shape.disk}/{os.getpid()}"
            os.mkdir(place, 0o700)
            return place
        linux.set_dumpable(True)  # the kernel lets nobody write to what is of a process that hides itself
        _mark_as_victim()
        _write("/proc/self/setgroups", b"deny")
        _write("/proc/self/uid_map", b"%d %d 1" % (self._user, self._user))
        _write("/proc/self/gid_map", b"%d %d 1" % (self._group, self._group))
        linux.set_dumpable(False)
        linux.keep_mounts_private()
        _mount_disk(self.shape.disk, flags, limits)
        linux.mount("proc", PROCESSES, flags | linux.NO_EXEC, "hidepid=invisible")
        if self.shape.has_image:
            self._copy_image(limits, flags)
            self._bind_into_copy()
            self._enter_copy()
        return self.shape.disk

    def _copy_image(self, limits: CellLimits, flags: int) -> None:
        """The tree of the image, with a layer above it that takes what is written."""
        _mount_disk(_LAYER, flags, limits)
        if self.has_own_kernel:
            os.chown(_LAYER, self._program_user, self._program_user)
        for name in ("upper", "work"):
            os.mkdir(f"{_LAYER}/{name}")
        os.chown(f"{_LAYER}/upper", *os.stat(IMAGE)[4:6])
        options = f"lowerdir={IMAGE},upperdir={_LAYER}/upper,workdir={_LAYER}/work"
        linux.mount("overlay", _ROOT, flags, options if self.has_own_kernel else f"{options},userxattr")
        self.layer = os.open(f"{_LAYER}/upper", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def _bind_into_copy(self) -> None:
        disk = self.shape.disk
        os.mkdir(f"{disk}/tmp", 0o700)
        for source, target in (
            (disk, disk), (PROCESSES, "/proc"), ("/dev", "/dev"), ("/.evalsi", "/.evalsi"), (f"{disk}/tmp", "/tmp"),
            (f"{disk}/tmp", "/var/tmp"),
        ):  # fmt: skip
            linux.bind(source, _ROOT + target)

    def _mount_in_copy(self, limits: CellLimits, flags: int) -> None:
        """As `_bind_into_copy`, for a kernel that cannot show a folder twice, as gVisor's could not for long."""
        for place in (self.shape.disk, *_TEMPORARY):
            self._mount_own_disk(_ROOT + place, limits, flags)
        hidden = "" if self.group is None else "hidepid=invisible"  # gVisor knows no such option
        linux.mount("proc", f"{_ROOT}/proc", flags | linux.NO_EXEC, hidden)
        if self._has_packages:
            self._show_packages(flags)
        # The devices of a machine are mounted as such: they are the kernel's, and a program makes none.
        linux.mount("devtmpfs", f"{_ROOT}/dev", flags if self.group is None else linux.NO_SETUID, "")

    def _show_packages(self, flags: int) -> None:
        """In the copy of an image, whose own folder for it would be one more file in every snapshot."""
        above = f"{_ROOT}{os.path.dirname(PACKAGES)}"
        linux.mount("tmpfs", above, flags, "size=64k,mode=0755")
        for name in ("packages", "nothing"):
            os.mkdir(f"{above}/{name}", 0o755)
        # Over nothing: an overlay that is only read has two folders at least.
        linux.mount("overlay", _ROOT + PACKAGES, flags, f"lowerdir={PACKAGES}:{above}/nothing")

    def _mount_own_disk(self, place: str, limits: CellLimits, flags: int) -> None:
        _mount_disk(place, flags, limits)
        os.chown(place, self._program_user, self._program_user)

    def _enter_copy(self) -> None:
        os.chroot(_ROOT)
        os.chdir("/")
        if self.landlock_version:
            places = (self.shape.disk, *_TEMPORARY, "/dev/null")
            self._program = landlock.make_ruleset(
                self.landlock_version, readable=("/",), writable=places, port=forwarder.PORT
            )

    def enclose_cell(self, limits: CellLimits) -> None:
        """Called in a cell once its mounts are there. All that its programs can inherit is set here, once."""
        if self.group is not None:
            self.group.bound(limits.memory_mib, limits.processes)
        if self.has_own_kernel:
            # Files are made as the programs' user; the real user stays root's, whom programs cannot signal or trace.
            os.setgroups([])
            os.setegid(self._program_user)
            os.seteuid(self._program_user)
        else:
            if not self.has_namespaces:
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
        if self.is_fence and not self.has_own_kernel:
            self._filter.install()

    def enclose_program(
        self, limits: CellLimits, *, read_only: bool, whole_tree: bool, memory_by_process: bool
    ) -> None:
        """Called in the child that becomes a program: what the cell itself must not be under.

        Args:
            whole_tree: Whether it may write to all of the tree, where that is the cell's own.
        """
        if self.group is not None:
            self.group.join()
        if self.has_own_kernel:
            _become_ordinary(self._program_user)
        linux.set_dumpable(True)
        # Where a group counts processes, it is to be the one that refuses, since it tells how often it did.
        most = limits.processes + (_BESIDE_PROGRAMS if self.shape.counted else 0)
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
        # The first limit ends it by a signal that says why; the second is for a program that ignores the first.
        resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_s, limits.cpu_s + 1))
        if memory_by_process or not self.shape.counted:
            resource.setrlimit(resource.RLIMIT_AS, (limits.memory_mib << 20, limits.memory_mib << 20))
        if read_only:
            landlock.enter(self._reader)
        elif self._program >= 0 and not whole_tree and (self.shape.has_image or not self.has_namespaces):
            landlock.enter(self._program)  # without namespaces a domain below the cell's, so that no signal reaches it
        if self.has_own_kernel:
            self._filter.install()

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


def _become_ordinary(user: int) -> None:
    os.seteuid(0)
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
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
