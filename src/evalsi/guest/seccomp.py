"""The filter of system calls for programs nobody trusts, assembled by hand.

Our own because libseccomp's bindings need a system library that images lack. The list denies: what loads code into the
kernel, changes mounts or namespaces, reads other processes, or reaches parts of the kernel that a program has no use
for. What a list cannot see, flags that clone3 reads from memory, is refused whole, and libraries fall back to clone.
"""

import errno
import os
import struct

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_IS_X86 = os.uname().machine == "x86_64"
_COLUMN = 0 if _IS_X86 else 1
_ARCHITECTURE = 0xC000003E if _IS_X86 else 0xC00000B7
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT, _SECOND_ARGUMENT_AT = 0, 4, 16, 24
_X32_BIT = 0x40000000

_DENIED: dict[str, tuple[int, int | None]] = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "process_madvise": (440, 440), "pidfd_getfd": (438, 438), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442), "statmount": (457, 457),
    "listmount": (458, 458), "open_tree_attr": (467, 467), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "fanotify_init": (300, 262), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264), "acct": (163, 89), "swapon": (167, 224), "swapoff": (168, 225),
    "reboot": (169, 142), "syslog": (103, 116), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "personality": (135, 92), "clock_settime": (227, 112), "settimeofday": (164, 170), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266), "sethostname": (170, 161), "setdomainname": (171, 162), "iopl": (172, None),
    "ioperm": (173, None), "modify_ldt": (154, None), "lookup_dcookie": (212, 18), "move_pages": (279, 239),
    "migrate_pages": (256, 238), "mbind": (237, 235), "set_mempolicy": (238, 237),
    "set_mempolicy_home_node": (450, 450), "vmsplice": (278, 75), "memfd_secret": (447, 447),
    "vhangup": (153, 58), "nfsservctl": (180, 42),
}  # fmt: skip
"""Name, and its number on x86-64 and on AArch64."""

_SHARED_MEMORY: dict[str, tuple[int, int]] = {
    "shmget": (29, 194), "shmat": (30, 196), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "memfd_create": (319, 279),
}  # fmt: skip
"""Memory that no limit of a single process counts, and that may outlive it."""

_CLONE = (56, 220)[_COLUMN]
_CLONE3 = 435
_IOCTL = (16, 29)[_COLUMN]
_SOCKET = (41, 198)[_COLUMN]
_NAMESPACE_BITS = 0x7E020000
_TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX: they type into a terminal, which may be the operator's."""
UNIX, INET, INET6 = 1, 2, 10


def assemble(*, socket_families: tuple[int, ...], shared_memory: bool) -> bytes:
    """A program for `linux.install_filter` and for bubblewrap's `--seccomp`.

    Args:
        socket_families: Families that `socket()` may make; `socketpair()` is never refused.
        shared_memory: Whether memory that only a control group counts may be made.
    """
    code = [
        _step(_LOAD, _ARCHITECTURE_AT),
        _step(_EQUAL, _ARCHITECTURE, then=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER_AT),
    ]
    if _IS_X86:
        code += [_step(_AT_LEAST, _X32_BIT, otherwise=1), _refuse(errno.ENOSYS)]
    denied: dict[str, tuple[int, int | None]] = _DENIED if shared_memory else {**_DENIED, **_SHARED_MEMORY}
    for numbers in denied.values():
        number = numbers[_COLUMN]
        if number is not None:
            code += [_step(_EQUAL, number, otherwise=1), _refuse(errno.EPERM)]
    code += [_step(_EQUAL, _CLONE3, otherwise=1), _refuse(errno.ENOSYS)]
    code += _on(
        _CLONE, [_step(_LOAD, _FIRST_ARGUMENT_AT), _step(_ANY_BIT, _NAMESPACE_BITS, otherwise=1), _refuse(errno.EPERM)]
    )
    first, second = _TERMINAL_INPUT
    code += _on(
        _IOCTL,
        [
            _step(_LOAD, _SECOND_ARGUMENT_AT),
            _step(_EQUAL, first, then=1),
            _step(_EQUAL, second, otherwise=1),
            _refuse(errno.EPERM),
        ],
    )
    families = [
        _step(_EQUAL, family, then=len(socket_families) - place) for place, family in enumerate(socket_families)
    ]
    code += _on(_SOCKET, [_step(_LOAD, _FIRST_ARGUMENT_AT), *families, _refuse(errno.EAFNOSUPPORT)])
    code.append(_step(_RETURN, _ALLOW))
    return b"".join(code)


def _step(operation: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("<HBBI", operation, then, otherwise, value)


def _refuse(number: int) -> bytes:
    return _step(_RETURN, _ERROR | number)


def _on(number: int, steps: list[bytes]) -> list[bytes]:
    """The steps for one call, which is allowed where they do not refuse it."""
    return [_step(_EQUAL, number, otherwise=len(steps) + 1), *steps, _step(_RETURN, _ALLOW)]
