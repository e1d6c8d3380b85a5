"""The rung `vm` by QEMU: a machine with a kernel of its own for every sandbox, copied from one that was started once.

The machine has one processor, a disk that it can only read, memory, a serial port to us and nothing else: no network, no
clock of the host's, no sharing of files. Where there is no hardware for it the processor is emulated, if the operator allows
that, and QEMU does not hold the emulation to be a wall; bubblewrap around QEMU is one.
"""

import asyncio
import hashlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evalsi import guest
from evalsi.core.errors import SandboxError
from evalsi.infra.sandbox.carried_agent import CarriedAgent
from evalsi.infra.sandbox.held_place import Hold, hold_folder, remove_unless_held
from evalsi.infra.sandbox.machine.disk import Disks, disks_for
from evalsi.infra.sandbox.machine.guest_kernel import HOW_TO_GET_ONE
from evalsi.infra.sandbox.machine.monitor_process import (
    Client,
    MachineFiles,
    MachineOptions,
    Monitor,
    Surroundings,
    files_in,
    has_hardware_support,
    lay_out,
    wake,
)
from evalsi.infra.sandbox.machine.qemu_command import KVM, TCG, MachineDescriptors, qemu_command
from evalsi.infra.sandbox.machine.template import SleepingCopy, Template, kept_template, make_template
from evalsi.infra.sandbox.rung import StartOrder, Weight
from evalsi.schema import IsolationLevel

_PATIENCE_S = {KVM: 20.0, TCG: 90.0}
"""Seconds for a first start: an emulated processor takes three, and four times as many on a busy machine."""
_UNUSED_S = 86400.0
_MOST_KEPT = 6
"""Of machines that stand still; each takes 200 MB."""


@dataclass(frozen=True, kw_only=True)
class QemuOptions(MachineOptions):
    """An operator's words.

    Args:
        allow_emulation: Whether the processor may be emulated where there is no hardware for it.
    """

    allow_emulation: bool = False


@dataclass(frozen=True)
class _Ready:
    """What machines with one tree are copied from, held as long as it may be."""

    accelerator: str
    files: MachineFiles
    template: Template
    hold: Hold
    disks: Disks

    def is_still_there(self) -> bool:
        """Whether nobody removed the files; from now on they count as used."""
        if not self.hold.is_good() or not self.disks.are_there():
            return False
        os.utime(self.files.kernel.parent)
        return True

    def close(self) -> None:
        self.template.close()
        self.hold.release()
        self.disks.release()


class Qemu:
    """See `rung.MachineRung`."""

    driver = "qemu"
    level = IsolationLevel.VM
    remedy = (
        "install QEMU (apt install qemu-system-x86 e2fsprogs) and a kernel for machines "
        f"({HOW_TO_GET_ONE}); without hardware for it, EVALSI_SANDBOX_EMULATION=1 has the processor emulated"
    )
    weight = Weight(memory_mib=512, processes=32)
    has_one_cell = True
    takes_images = True
    has_own_network = True
    needs_groups = False

    def __init__(self, options: QemuOptions) -> None:
        self._options = options
        self._monitor = Monitor("QEMU", "qemu-system-x86_64", options)
        self._ready: dict[Path | None, _Ready] = {}
        self._asleep: dict[Path, SleepingCopy] = {}
        """Machines between their start and the first word with their agent, by their folder."""
        self._preparing = asyncio.Lock()

    @property
    def most_memory_mib(self) -> int:
        return self._options.memory_mib

    def obstacle(self) -> str:
        obstacle = self._monitor.obstacle()
        if not obstacle and not list(self._accelerators()):
            return "this machine has no hardware for virtual machines, or /dev/kvm is closed to us, and emulation is not allowed"
        return obstacle

    async def prepare(self, agent: CarriedAgent, tree: Path | None) -> None:
        async with self._preparing:
            ready = self._ready.get(tree)
            if ready is not None and ready.is_still_there():
                return
            self._ready[tree] = await self._made_ready(agent, tree)
            if ready is not None:
                ready.close()

    def start(self, agent: CarriedAgent, order: StartOrder) -> "subprocess.Popen[bytes]":
        ready = self._ready[order.tree]
        copy, inside = ready.template.prepare_copy()
        with inside:
            given = MachineDescriptors(
                control=order.control, memory=ready.template.memory, monitor=inside.fileno(), is_copy=True
            )
            try:
                client = Client(python=agent.python, user=order.user, joins=order.joins)
                process = self._start(ready.accelerator, ready.files, given, client)
            except BaseException:
                copy.close()
                raise
        self._asleep[order.disk] = copy
        return process

    async def meet(self, agent: CarriedAgent, order: StartOrder, ours: socket.socket) -> socket.socket:  # noqa: ARG002 - of the port
        await self._asleep.pop(order.disk).go_on()
        await wake(ours)
        return ours

    def walls(self, landlock_version: int) -> str:
        return self._monitor.walls(landlock_version, self._accelerator())

    def notes(self, landlock_version: int) -> list[str]:
        found = self._monitor.notes(landlock_version)
        if self._accelerator() == TCG:
            found.insert(0, "the processor is emulated, which QEMU does not hold to be a wall against hostile programs")
        return found

    def close(self) -> None:
        """Gives the memory of its templates back; machines that run go on."""
        for ready in self._ready.values():
            ready.close()
        self._ready = {}

    def _accelerator(self) -> str:
        return next(iter(self._ready.values())).accelerator if self._ready else next(self._accelerators(), "")

    def _accelerators(self) -> Iterator[str]:
        if has_hardware_support():
            yield KVM
        if self._options.allow_emulation:
            yield TCG

    async def _made_ready(self, agent: CarriedAgent, tree: Path | None) -> _Ready:
        disks = await asyncio.to_thread(disks_for, agent, tree, self._options.folder)
        problems: list[str] = []
        try:
            for accelerator in self._accelerators():
                home = self._options.folder / f"machine-{self._key(accelerator, disks)}"
                held = hold_folder(home)
                files = files_in(home, disks, "" if tree is not None else agent.python)
                try:
                    template = await self._template(accelerator, files, agent)
                    return _Ready(accelerator, files, template, held, disks)
                except SandboxError as error:
                    held.release()
                    problems.append(f"with {accelerator}: {error}")
                except BaseException:
                    held.release()
                    raise
            raise SandboxError("; ".join(problems))
        except BaseException:
            disks.release()
            raise

    async def _template(self, accelerator: str, files: MachineFiles, agent: CarriedAgent) -> Template:
        """The machine that stands still in the folder of these files, which is held. Raises: SandboxError."""
        home = files.kernel.parent
        kept = await asyncio.to_thread(kept_template, home / "template")
        if kept is not None:
            os.utime(home)
            return kept
        await asyncio.to_thread(remove_unused_machines, self._options.folder)
        await asyncio.to_thread(lay_out, home, self._monitor.kernel, agent, sockets=False)

        def start(given: MachineDescriptors) -> "subprocess.Popen[bytes]":
            return self._start(accelerator, files, given, Client(python=agent.python))

        template = await make_template(start, self._options.whole_memory_mib, _PATIENCE_S[accelerator])
        await asyncio.to_thread(template.keep, home / "template")
        return template

    def _start(
        self, accelerator: str, files: MachineFiles, given: MachineDescriptors, client: Client
    ) -> "subprocess.Popen[bytes]":
        command = qemu_command(self._monitor.program, accelerator, self._options.whole_memory_mib, files, given)
        seen = Surroundings(readable=files.all(), has_hardware=accelerator == KVM)
        return self._monitor.start(command, seen, client, given.all())

    def _key(self, accelerator: str, disks: Disks) -> str:
        """Of all that a machine which stands still depends on. It is no use after the host was started again, nor to another."""
        packages = disks.packages.file.name if disks.packages is not None else ""
        known = hashlib.sha256(f"{accelerator} {self._options.memory_mib} {disks.tree.file.name} {packages}".encode())
        known.update(Path("/proc/sys/kernel/random/boot_id").read_bytes())
        agent = sorted(Path(guest.__file__).parent.glob("*.py"))
        for path in (self._monitor.program, self._monitor.kernel.file, *agent):
            about = path.stat()
            known.update(f"{path} {about.st_size} {about.st_mtime_ns}\n".encode())
        return known.hexdigest()[:32]


def remove_unused_machines(folder: Path) -> None:
    """Machines that were not started for a day, or that are more than a few, and that nobody holds: they belong to other images, an
    older release, or the time before a restart.
    """
    used: list[tuple[float, Path]] = []
    for home in folder.glob("machine-*"):
        try:
            used.append((home.stat().st_mtime, home))
        except OSError:
            continue
    used.sort(reverse=True)
    for number, (last_s, home) in enumerate(used):
        if number >= _MOST_KEPT or last_s < time.time() - _UNUSED_S:
            remove_unless_held(home)
