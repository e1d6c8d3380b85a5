"""Who writes a run, and whether that process still lives.

A process is known by the place its number counts in (machine, boot, process namespace), its number, and its start time,
so a number used again by another process, a rebooted machine or a container with the same host name deceive nobody.
"""

import os
import platform
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Writer(NamedTuple):
    """A process, as the store remembers it. `started` is empty where the system does not tell it."""

    place: str
    pid: int
    started: str


def this_process() -> Writer:
    pid = os.getpid()
    return Writer(_place(), pid, _started(pid) or "")


def is_alive(writer: Writer) -> bool | None:
    """Whether the process runs; None when it cannot be seen from here (another machine, boot or container)."""
    if writer.place != _place() or sys.platform == "win32":
        return None  # on Windows, signal 0 would end the process
    if writer.started:
        return _started(writer.pid) == writer.started
    try:
        os.kill(writer.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@cache
def _place() -> str:
    boot = _text(Path("/proc/sys/kernel/random/boot_id"))
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return f"{platform.node()} {boot} {namespace}".strip()


def _started(pid: int) -> str | None:
    """Clock ticks from boot to the start of a process that is not a zombie; None when there is none or no /proc."""
    # The command's name stands in brackets and may hold anything; what follows the last bracket is plain.
    fields = _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    if len(fields) < 20 or fields[0] in {"Z", "X", "x"}:
        return None
    return fields[19]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
