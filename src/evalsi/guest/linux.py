"""The few system calls that a sandbox needs and Python's library lacks.

Every function raises OSError where the kernel refuses. Nothing here decides anything.
"""

import ctypes
import os
import struct

_libc = ctypes.CDLL(None, use_errno=True)
_IS_X86 = os.uname().machine == "x86_64"
_CLONE = 56 if _IS_X86 else 220
_SECCOMP = 317 if _IS_X86 else 277
SIGKILL = 9
_SIGPIPE, _SIGCHLD = 13, 17

NEW_MOUNTS, NEW_CGROUP, NEW_HOST_NAME, NEW_IPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEW_USER, NEW_PROCESSES, NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
EVERY_NAMESPACE = NEW_MOUNTS | NEW_CGROUP | NEW_HOST_NAME | NEW_IPC | NEW_USER | NEW_PROCESSES | NEW_NETWORK

NO_SETUID, NO_DEVICES, NO_EXEC = 2, 4, 8
_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 32, 4096, 16384, 1 << 18

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECUREBITS = 1, 4, 28
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38
_CAPABILITY_VERSION = 0x20080522
_SECUREBITS_LOCKED = 0x2F
"""No capability comes with uid 0, none is kept over a change of uid, and neither can be changed back."""


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def system_call(number: int, *arguments: object) -> int:
    """Any call by number. Raises: OSError."""
    return _checked(_libc.syscall(ctypes.c_long(number), *arguments), f"system call {number}")


def clone(namespaces: int) -> int:
    """As `os.fork`, with new namespaces. The child is process 1 where NEW_PROCESSES is among them."""
    return _checked(
        _libc.syscall(ctypes.c_long(_CLONE), ctypes.c_ulong(namespaces | _SIGCHLD), None, None, None, None), "clone"
    )


def mount(kind: str, target: str, flags: int, options: str) -> None:
    _checked(
        _libc.mount(kind.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()), target
    )


def bind(source: str, target: str) -> None:
    """Shows a folder, and what is mounted in it, at another place."""
    flags = ctypes.c_ulong(_BIND | _RECURSIVE)
    _checked(_libc.mount(source.encode(), target.encode(), None, flags, None), target)


def keep_mounts_private() -> None:
    """What is mounted from here on is seen by nobody else."""
    _checked(_libc.mount(None, b"/", None, ctypes.c_ulong(_RECURSIVE | _PRIVATE), None), "mount /")


def set_dumpable(dumpable: bool) -> None:
    """Whether processes of the same user may read this one's memory, environment and open files."""
    _checked(_libc.prctl(_PR_SET_DUMPABLE, int(dumpable), 0, 0, 0), "PR_SET_DUMPABLE")


def die_with_parent() -> None:
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "PR_SET_PDEATHSIG")


def end_on_broken_pipes() -> None:
    """Gives a program the usual behaviour, which Python's own start took away."""
    _libc.signal(_SIGPIPE, None)


def adopt_orphans() -> None:
    """Descendants whose parent dies become children of this process."""
    _checked(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "PR_SET_CHILD_SUBREAPER")


def forgo_privileges() -> None:
    """No program that is run from here on gains any, by setuid or otherwise."""
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS")


def drop_capabilities() -> None:
    _libc.prctl(_PR_SET_SECUREBITS, _SECUREBITS_LOCKED, 0, 0, 0)  # refused to whom it would not concern
    header = struct.pack("<Ii", _CAPABILITY_VERSION, 0)
    _checked(_libc.capset(header, bytes(24)), "capset")


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def install_filter(program: bytes) -> None:
    """Installs a seccomp program for this process and all its descendants. Needs `forgo_privileges` before."""
    code = ctypes.create_string_buffer(program, len(program))
    holder = _FilterProgram(len(program) // 8, ctypes.cast(code, ctypes.c_void_p))
    system_call(_SECCOMP, 1, 0, ctypes.byref(holder))
