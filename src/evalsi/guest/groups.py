"""The control group of a machine's programs: what counts and bounds the memory and the processes of all of them together.

Its own module because it exists where the agent rules a kernel, and there only; elsewhere the host makes the groups. The
files are opened once, by root, whose right counts from then on, and out of a tree that the cell leaves later.
"""

import os


class ProgramGroup:
    """Made once by the agent, before there are programs. `above` is where version 2 is mounted."""

    def __init__(self, above: str) -> None:
        folder = f"{above}/programs"
        os.mkdir(folder)
        self._processes = os.open(f"{folder}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
        self._most_memory = os.open(f"{folder}/memory.max", os.O_WRONLY | os.O_CLOEXEC)
        self._most_processes = os.open(f"{folder}/pids.max", os.O_WRONLY | os.O_CLOEXEC)
        self._events = os.open(f"{folder}/memory.events", os.O_RDONLY | os.O_CLOEXEC)
        self._peak = os.open(f"{folder}/memory.peak", os.O_RDONLY | os.O_CLOEXEC)

    def bound(self, memory_mib: int, processes: int) -> None:
        """Raises: OSError."""
        os.write(self._most_memory, b"%d" % (memory_mib << 20))
        os.write(self._most_processes, b"%d" % processes)

    def join(self) -> None:
        """Called in the child that becomes a program."""
        os.write(self._processes, b"0")

    def memory_kills(self) -> int:
        """How many processes were killed so far because the group was out of memory."""
        return count_of(b"oom_kill", os.pread(self._events, 4096, 0))

    def peak_memory_bytes(self) -> int:
        return int(os.pread(self._peak, 64, 0))


def count_of(name: bytes, events: bytes) -> int:
    """The number behind a name in what a group's file of events says; 0 where it does not name it."""
    for line in events.splitlines():
        found, _, count = line.partition(b" ")
        if found == name:
            return int(count)
    return 0
