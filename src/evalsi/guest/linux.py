"""The few system calls that a sandbox needs and Python's library lacks.

Every function raises OSError where the kernel refuses. Nothing here decides anything.
"""

import _ctypes
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    _Number = _ctypes._SimpleCData[int]  # pyright: ignore[reportPrivateUsage]
else:
    _Number = _ctypes._SimpleCData


class _Long(_Number):
    """As wide as a register: what the kernel reads of a number, however small it is."""

    _type_ = "l"


class _Int(_Number):
    _type_ = "i"


class _Call(_ctypes.CFuncPtr):
    """A function of the C library, which keeps the error of its last call."""

    # The whole of `ctypes` takes a third of the time in which an agent starts; this much of it is all that is needed.
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = _Int


_library = _ctypes.dlopen(None, 0)  # pyright: ignore[reportArgumentType] - None is this program itself


def _function(name: str) -> _Call:
    return _Call(_ctypes.dlsym(_library, name))


_syscall, _mount, _prctl, _ioctl, _signal, _capset = map(
    _function, ("syscall", "mount", "prctl", "ioctl", "signal", "capset")
)
_IS_X86 = os.uname().machine == "x86_64"
_CLONE = 56 if _IS_X86 else 220
_SECCOMP = 317 if _IS_X86 else 277
_INIT_MODULE = 175 if _IS_X86 else 105
SIGKILL = 9
_SIGPIPE, _SIGCHLD = 13, 17

NEW_MOUNTS, NEW_CGROUP, NEW_HOST_NAME, NEW_IPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEW_USER, NEW_PROCESSES, NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
EVERY_NAMESPACE = NEW_MOUNTS | NEW_CGROUP | NEW_HOST_NAME | NEW_IPC | NEW_USER | NEW_PROCESSES | NEW_NETWORK

NO_SETUID, NO_DEVICES, NO_EXEC = 2, 4, 8
_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 32, 4096, 16384, 1 << 18

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECUREBITS = 1, 4, 28
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38
_SET_INTERFACE_FLAGS, _INTERFACE_UP = 0x8914, 1
_ADD_ENTROPY, _RESEED = 0x40085203, 0x5207
_CAPABILITY_VERSION = 0x20080522
_SECUREBITS_LOCKED = 0x2F
"""No capability comes with uid 0, none is kept over a change of uid, and neither can be changed back."""


def _checked(function: _Call, what: str, *arguments: int | bytes | None) -> int:
    result: int = function(*(_Long(each) if isinstance(each, int) else each for each in arguments))
    if result < 0:
        number = _ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def system_call(number: int, *arguments: int | bytes | None) -> int:
    """Any call by number. Raises: OSError."""
    return _checked(_syscall, f"system call {number}", number, *arguments)


def clone(namespaces: int) -> int:
    """As `os.fork`, with new namespaces. The child is process 1 where NEW_PROCESSES is among them."""
    return _checked(_syscall, "clone", _CLONE, namespaces | _SIGCHLD, None, None, None, None)


def mount(kind: str, target: str, flags: int, options: str) -> None:
    _checked(_mount, target, kind.encode(), target.encode(), kind.encode(), flags, options.encode())


def mount_disk(device: str, target: str) -> None:
    """Mounts a disk in the form ext4, to be read only."""
    flags = _READ_ONLY | NO_SETUID | NO_DEVICES
    _checked(_mount, target, device.encode(), target.encode(), b"ext4", flags, None)


def load_module(module: bytes) -> None:
    """Adds a part to the kernel; one that it has already is left as it is."""
    try:
        system_call(_INIT_MODULE, module, len(module), b"")
    except FileExistsError:
        pass


def start_loopback() -> None:
    """Switches on the interface by which processes of one network reach each other, and nobody else."""
    import _socket

    with_name = struct.pack("16sh22x", b"lo", _INTERFACE_UP)
    asking = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    try:
        _checked(_ioctl, "lo", asking.fileno(), _SET_INTERFACE_FLAGS, with_name)
    finally:
        asking.close()


def add_entropy(random: bytes) -> None:
    """Has the kernel draw its random numbers from these bytes too, from now on."""
    device = os.open("/dev/urandom", os.O_WRONLY | os.O_CLOEXEC)
    try:
        added = struct.pack("ii", len(random) * 8, len(random)) + random
        _checked(_ioctl, "RNDADDENTROPY", device, _ADD_ENTROPY, added)
        _checked(_ioctl, "RNDRESEEDCRNG", device, _RESEED, None)
    finally:
        os.close(device)


def bind(source: str, target: str) -> None:
    """Shows a folder, and what is mounted in it, at another place."""
    _checked(_mount, target, source.encode(), target.encode(), None, _BIND | _RECURSIVE, None)


def keep_mounts_private() -> None:
    """What is mounted from here on is seen by nobody else."""
    _checked(_mount, "mount /", None, b"/", None, _RECURSIVE | _PRIVATE, None)


def set_dumpable(dumpable: bool) -> None:
    """Whether processes of the same user may read this one's memory, environment and open files."""
    _checked(_prctl, "PR_SET_DUMPABLE", _PR_SET_DUMPABLE, int(dumpable), 0, 0, 0)


def die_with_parent() -> None:
    _checked(_prctl, "PR_SET_PDEATHSIG", _PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)


def end_on_broken_pipes() -> None:
    """Gives a program the usual behaviour, which Python's own start took away."""
    _signal(_Long(_SIGPIPE), None)


def adopt_orphans() -> None:
    """Descendants whose parent dies become children of this process."""
    _checked(_prctl, "PR_SET_CHILD_SUBREAPER", _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def forgo_privileges() -> None:
    """No program that is run from here on gains any, by setuid or otherwise."""
    _checked(_prctl, "PR_SET_NO_NEW_PRIVS", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def drop_capabilities() -> None:
    try:
        _checked(_prctl, "PR_SET_SECUREBITS", _PR_SET_SECUREBITS, _SECUREBITS_LOCKED, 0, 0, 0)
    except OSError:
        pass  # refused to whom it would not concern
    header = struct.pack("<Ii", _CAPABILITY_VERSION, 0)
    _checked(_capset, "capset", header, bytes(24))


class _Byte(_Number):
    _type_ = "B"


class Filter:
    """A seccomp program in the form that the kernel takes, made once for many processes."""

    def __init__(self, program: bytes) -> None:
        self._code = (_Byte * len(program)).from_buffer_copy(program)
        self._about = struct.pack("HxxxxxxQ", len(program) // 8, _ctypes.addressof(self._code))

    def install(self) -> None:
        """For this process and all its descendants. Needs `forgo_privileges` before."""
        system_call(_SECCOMP, 1, 0, self._about)
