"""The rung `vm` by Firecracker: the smallest monitor there is, where the machine has hardware for virtual machines.

A machine has one processor, a disk that it can only read, memory, a socket to us and nothing else. It is started anew every
time, since that takes a tenth of a second; nothing of it is kept. Firecracker wants a kernel that is not compressed.
"""

import asyncio
import os
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from evalsi.core.errors import SandboxError
from evalsi.infra.sandbox.carried_agent import CarriedAgent
from evalsi.infra.sandbox.held_place import remove_tree
from evalsi.infra.sandbox.machine.disk import Disks, disks_for
from evalsi.infra.sandbox.machine.firecracker_api import PORT, requests_for, send_all
from evalsi.infra.sandbox.machine.monitor_process import (
    Client,
    MachineFiles,
    MachineOptions,
    Monitor,
    Surroundings,
    fall_asleep,
    files_in,
    lay_out,
    wake,
)
from evalsi.infra.sandbox.rung import StartOrder, Weight
from evalsi.schema import IsolationLevel


@dataclass(frozen=True, kw_only=True)
class FirecrackerOptions(MachineOptions):
    """An operator's words.

    Args:
        start_s: Seconds in which a machine must have started.
    """

    start_s: float = 15.0


class Firecracker:
    """See `rung.MachineRung`."""

    driver = "firecracker"
    level = IsolationLevel.VM
    remedy = (
        "put firecracker 1.8 or later (https://github.com/firecracker-microvm/firecracker/releases) in /usr/local/bin on a machine "
        "with /dev/kvm, and set EVALSI_SANDBOX_KERNEL to an uncompressed kernel"
    )
    weight = Weight(memory_mib=384, processes=16)
    has_one_cell = True
    takes_images = True
    has_own_network = True
    needs_groups = False

    def __init__(self, options: FirecrackerOptions) -> None:
        self._options = options
        self._monitor = Monitor("Firecracker", "firecracker", options)
        self._home: Path | None = None
        self._disks: dict[Path | None, Disks] = {}
        self._preparing = asyncio.Lock()

    @property
    def most_memory_mib(self) -> int:
        return self._options.memory_mib

    def obstacle(self) -> str:
        return self._monitor.obstacle()

    async def prepare(self, agent: CarriedAgent, tree: Path | None) -> None:
        async with self._preparing:
            if self._home is None:
                home = Path(tempfile.mkdtemp(prefix="firecracker-", dir=agent.folder.parent))
                await asyncio.to_thread(lay_out, home, self._monitor.kernel, agent, sockets=True)
                self._home = home
            known = self._disks.get(tree)
            if known is None or not known.are_there():
                self._disks[tree] = await asyncio.to_thread(disks_for, agent, tree, self._options.folder)
                if known is not None:
                    known.release()

    def start(self, agent: CarriedAgent, order: StartOrder) -> "subprocess.Popen[bytes]":
        files = self._files(agent, order)
        program = self._monitor.program
        command = [str(program), "--api-sock", str(order.disk / "api"), "--id", f"evalsi-{order.disk.name}"]
        seen = Surroundings(readable=(program, *files.all()), writable=(order.disk,), has_hardware=True)
        return self._monitor.start(command, seen, Client(python=agent.python, user=order.user, joins=order.joins))

    async def meet(self, agent: CarriedAgent, order: StartOrder, ours: socket.socket) -> socket.socket:
        sockets = order.disk / "socket"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"{sockets}_{PORT}")
            if order.user is not None:
                os.chown(f"{sockets}_{PORT}", order.user, order.user)
            listener.listen(1)
            listener.setblocking(False)
            requests = requests_for(self._files(agent, order), self._options.whole_memory_mib, sockets)
            await send_all(order.disk / "api", requests)
            try:
                async with asyncio.timeout(self._options.start_s):
                    connection = await _woken(listener)
            except TimeoutError as error:
                raise SandboxError(f"a machine did not start within {self._options.start_s:g} s") from error
        ours.close()
        return connection

    def walls(self, landlock_version: int) -> str:
        return self._monitor.walls(landlock_version, "kvm")

    def notes(self, landlock_version: int) -> list[str]:
        return self._monitor.notes(landlock_version)

    def close(self) -> None:
        for disks in self._disks.values():
            disks.release()
        if self._home is not None:
            remove_tree(self._home)
        self._home, self._disks = None, {}

    def _files(self, agent: CarriedAgent, order: StartOrder) -> MachineFiles:
        assert self._home is not None
        return files_in(self._home, self._disks[order.tree], "" if order.tree is not None else agent.python)


async def _woken(listener: socket.socket) -> socket.socket:
    """The connection of the machine's agent, which is closed where it does not come to its waking."""
    connection, _ = await asyncio.get_running_loop().sock_accept(listener)
    try:
        await fall_asleep(connection)
        await wake(connection)
    except BaseException:
        connection.close()
        raise
    return connection
