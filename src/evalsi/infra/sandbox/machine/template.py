"""A machine that was started once and stands still, with its agent asleep: copies of it go on from there.

Its own module because it is what makes machines quick: a kernel takes seconds to start where the processor is emulated,
a copy a tenth of one. What a template is lies in two files in memory that nobody can change any more, however it got at
them: the machine's memory, of which every copy has its own version, and the state of its devices.
"""

import asyncio
import contextlib
import fcntl
import os
import socket
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

from evalsi.core.errors import SandboxError
from evalsi.infra.sandbox.machine.monitor_process import fall_asleep
from evalsi.infra.sandbox.machine.qemu_command import MachineDescriptors
from evalsi.infra.sandbox.machine.qmp import MonitorConnection
from evalsi.infra.sandbox.start_process import end_process, last_words

_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
_PATIENCE_S = 10.0
_CHUNK = 1 << 20

StartMachine = Callable[[MachineDescriptors], "Popen[bytes]"]


class SleepingCopy:
    """A machine that was started as a copy and has yet to go on. It needs the template no more, whatever becomes of that."""

    def __init__(self, monitor: socket.socket, state: int) -> None:
        self._monitor = monitor
        self._state = state

    async def go_on(self) -> None:
        """Called once. Raises: SandboxError."""
        try:
            speaking = MonitorConnection(self._monitor)
            await speaking.greet()
            await speaking.give("state", self._state)
            await speaking.ask("migrate-incoming", uri="fd:state")
        finally:
            self.close()

    def close(self) -> None:
        self._monitor.close()
        os.close(self._state)


@dataclass(frozen=True)
class Template:
    """Two descriptors, sealed."""

    memory: int
    state: int

    def prepare_copy(self) -> tuple[SleepingCopy, socket.socket]:
        """A copy that is to be started with the other end of its monitor's conversation."""
        ours, inside = socket.socketpair()
        # Opened anew, because it is read from where the descriptor stands.
        return SleepingCopy(ours, os.open(f"/proc/self/fd/{self.state}", os.O_RDONLY | os.O_CLOEXEC)), inside

    def close(self) -> None:
        os.close(self.memory)
        os.close(self.state)

    def keep(self, folder: Path) -> None:
        """Writes it to a folder, which becomes whole at once."""
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix="new-") as place:
            Path(place, "template").mkdir(mode=0o700)
            for name, descriptor in (("memory", self.memory), ("state", self.state)):
                with Path(place, "template", name).open("wb") as kept:
                    _copy(descriptor, kept.fileno())
            with contextlib.suppress(OSError):  # another process was first
                Path(place, "template").rename(folder)


def kept_template(folder: Path) -> Template | None:
    """What `Template.keep` wrote, if it is there and ours."""
    try:
        about = folder.lstat()
        if about.st_uid != os.geteuid() or about.st_mode & 0o077:
            return None
        memory, state = (folder / "memory").open("rb"), (folder / "state").open("rb")
    except OSError:
        return None
    with memory, state:
        made = Template(_memory_file("memory"), _memory_file("state"))
        _copy(memory.fileno(), made.memory)
        _copy(state.fileno(), made.state)
    _seal(made)
    return made


async def make_template(start: StartMachine, memory_mib: int, patience_s: float) -> Template:
    """Starts a machine, and keeps it as it is when its agent falls asleep.

    Raises: SandboxError: it does not come that far.
    """
    made = Template(_memory_file("memory"), _memory_file("state"))
    os.ftruncate(made.memory, memory_mib << 20)
    try:
        await _run_until_asleep(start, made, patience_s)
    except BaseException:
        made.close()
        raise
    await asyncio.to_thread(_seal, made)
    return made


async def _run_until_asleep(start: StartMachine, made: Template, patience_s: float) -> None:
    control, control_inside = socket.socketpair()
    monitor, monitor_inside = socket.socketpair()
    with control, monitor:
        with control_inside, monitor_inside:
            process = start(
                MachineDescriptors(control=control_inside.fileno(), memory=made.memory, monitor=monitor_inside.fileno())
            )
        try:
            async with asyncio.timeout(patience_s):
                await fall_asleep(control)
                speaking = MonitorConnection(monitor)
                await speaking.greet()
                await speaking.give("state", made.state)
                await speaking.ask("migrate", uri="fd:state")
                while (status := (await speaking.ask("query-migrate")).get("status")) != "completed":
                    if status in ("failed", "cancelled"):
                        raise SandboxError("QEMU cannot write down the state of a machine")
                    await asyncio.sleep(0.005)
        except (SandboxError, TimeoutError) as error:
            end_process(process)
            why = str(error) or f"it did not start within {patience_s:g} s"
            raise SandboxError(f"{why}: {_word_that_counts(last_words(process))}") from error
        finally:
            end_process(process)
            if process.stderr is not None:
                process.stderr.close()


def _word_that_counts(said: list[str]) -> str:
    """Of what QEMU and the kernel said: the agent's own word, else the last."""
    ours = [line for line in said if line.startswith("evalsi:")]
    return (ours or said or ["it said nothing"])[-1]


def _memory_file(name: str) -> int:
    return os.memfd_create(f"evalsi-{name}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)


def _seal(template: Template) -> None:
    for descriptor in (template.memory, template.state):
        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
                break
            except OSError:  # the machine that was killed has not yet given it up
                if time.monotonic() > until:
                    raise
                time.sleep(0.005)


def _copy(source: int, target: int) -> None:
    """Copies a file and leaves its holes holes, of which a machine's memory mostly consists."""
    size = os.fstat(source).st_size
    os.ftruncate(target, size)
    at = 0
    while at < size:
        try:
            at = os.lseek(source, at, os.SEEK_DATA)
        except OSError:  # there is no more data
            return
        end = os.lseek(source, at, os.SEEK_HOLE)
        while at < end:
            data = os.pread(source, min(_CHUNK, end - at), at)
            at += os.pwrite(target, data, at)
