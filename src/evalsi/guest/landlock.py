"""Landlock: what of the file tree, of TCP and of other processes a program may reach, decided by the program's parent.

Our own calls because the published bindings lack the network and the scopes, or ignore refusals. A ruleset is made once
and entered by many processes: entering costs a tenth of making. A domain inside a domain only ever takes away.
"""

import os
import struct

from evalsi.guest.linux import system_call

_CREATE, _ADD, _ENTER = 444, 445, 446
_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
_BASIC = (1 << 13) - 1
_REFER, _TRUNCATE, _DEVICE_CONTROL = 1 << 13, 1 << 14, 1 << 15
_MAKE_CHARACTER_DEVICE, _MAKE_BLOCK_DEVICE = 1 << 6, 1 << 11
_OF_A_FILE = _EXECUTE | _WRITE | _READ | _TRUNCATE | _DEVICE_CONTROL
_TCP, _CONNECT = 3, 2
_SCOPES = 3
"""Abstract unix sockets and signals stay within the domain."""
_FIRST_WITH_TCP, _FIRST_WITH_SCOPES = 4, 6


def version() -> int:
    """The version of Landlock that this kernel has; 0 for none."""
    try:
        return system_call(_CREATE, None, 0, 1)
    except OSError:
        return 0


def scopes_signals(landlock_version: int) -> bool:
    """Whether a process in a domain can signal nothing outside it."""
    return landlock_version >= _FIRST_WITH_SCOPES


def make_ruleset(
    landlock_version: int, *, readable: tuple[str, ...], writable: tuple[str, ...], port: int | None = None
) -> int:
    """A ruleset as a file descriptor: below `readable` one may read and run, below `writable` do all but make devices.

    Paths that do not exist are left out. TCP is refused, but for connecting to `port`, and so are signals and abstract sockets to outside, where the
    kernel knows how. Raises: OSError.
    """
    files = _BASIC
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _DEVICE_CONTROL)):
        files |= right if landlock_version >= since else 0
    words = [files]
    if landlock_version >= _FIRST_WITH_TCP:
        words.append(_TCP)
    if scopes_signals(landlock_version):
        words.append(_SCOPES)
    attributes = struct.pack(f"<{len(words)}Q", *words)
    ruleset = system_call(_CREATE, attributes, len(attributes), 0)
    os.set_inheritable(ruleset, False)
    for path in readable:
        _allow(ruleset, path, files & (_EXECUTE | _READ | _LIST))
    for path in writable:
        _allow(ruleset, path, files & ~(_MAKE_CHARACTER_DEVICE | _MAKE_BLOCK_DEVICE | _DEVICE_CONTROL))
    if port is not None and landlock_version >= _FIRST_WITH_TCP:
        rule = struct.pack("<QQ", _CONNECT, port)
        system_call(_ADD, ruleset, 2, rule, 0)
    return ruleset


def enter(ruleset: int) -> None:
    """Puts this process and its descendants behind the ruleset. Needs `linux.forgo_privileges` before."""
    system_call(_ENTER, ruleset, 0)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            rights &= _OF_A_FILE
        system_call(_ADD, ruleset, 1, struct.pack("<Qi", rights, place), 0)
    finally:
        os.close(place)
