"""What both machine monitors have in common: how they are found and started, the files that machines start from, what kernel and
agent are told, and the fence around the monitor's own process.

Its own module because a program that breaks out of its machine finds itself here: in a process that sees the monitor's files,
has no network, and runs as a user of its own.
"""

import os
import platform
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalsi.core.errors import SandboxError
from evalsi.infra.sandbox.bubblewrap import OWN_NAMESPACES, installed_bubblewrap
from evalsi.infra.sandbox.carried_agent import CarriedAgent, carry_python
from evalsi.infra.sandbox.connection import Connection
from evalsi.infra.sandbox.machine.disk import Disks
from evalsi.infra.sandbox.machine.first_files import first_files
from evalsi.infra.sandbox.machine.guest_kernel import GuestKernel, find_kernel
from evalsi.infra.sandbox.start_process import joining, start_process

KVM_DEVICE = Path("/dev/kvm")
_OWN_MIB = 256
"""Of a machine's memory, for its kernel, the agent and the files that it starts from."""


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    """An operator's words.

    Args:
        folder: Where disks and machines that were started once are kept.
        program: The monitor's; None to look for it.
        kernel: A kernel's file, or the folder of an unpacked package; None to look for one.
        bubblewrap: The program of the fence around the monitor; None to look for it.
        memory_mib: What programs of one machine may use at most.
    """

    folder: Path
    program: Path | None = None
    kernel: Path | None = None
    bubblewrap: Path | None = None
    memory_mib: int = 1024

    @property
    def whole_memory_mib(self) -> int:
        """With what a machine's kernel, the agent and the files that it starts from take."""
        return self.memory_mib + _OWN_MIB


@dataclass(frozen=True, kw_only=True)
class MachineFiles:
    """What a machine is started from, all of it readable by every user.

    Args:
        agent: The interpreter on the disk that the agent is to be run by; "" for an image.
        packages: A second disk, with the operator's Python packages.
    """

    kernel: Path
    first_files: Path
    disk: Path
    agent: str
    packages: Path | None = None

    def all(self) -> list[Path]:
        return [self.kernel, self.first_files, self.disk, *([self.packages] if self.packages is not None else [])]


def files_in(home: Path, disks: Disks, agent: str) -> MachineFiles:
    """What is started from a folder that `lay_out` filled."""
    return MachineFiles(
        kernel=home / "kernel",
        first_files=home / "first-files",
        disk=disks.tree.file,
        agent=agent,
        packages=None if disks.packages is None else disks.packages.file,
    )


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What the process of a monitor sees of the host beside its programs and libraries."""

    readable: Sequence[Path]
    writable: Sequence[Path] = ()
    has_hardware: bool = False


@dataclass(frozen=True, kw_only=True)
class Client:
    """For whom a monitor's process is started: its user, the control groups it joins, an interpreter that user can run."""

    python: str
    user: int | None = None
    joins: Sequence[int] = ()


class Monitor:
    """A monitor as it is installed here, with the fence around it.

    Args:
        name: What people call it.
        file: The name of its program.
    """

    def __init__(self, name: str, file: str, options: MachineOptions) -> None:
        self._name, self._file = name, file
        self._kernel = options.kernel
        found = shutil.which(file, path="/usr/bin:/usr/local/bin")
        self._program = options.program or (Path(found) if found else None)
        self._bubblewrap = options.bubblewrap or installed_bubblewrap()

    @property
    def program(self) -> Path:
        """To be asked for where there is no obstacle."""
        assert self._program is not None
        return self._program

    @property
    def kernel(self) -> GuestKernel:
        """To be asked for where there is no obstacle."""
        found = find_kernel(self._kernel)
        assert found is not None
        return found

    def obstacle(self) -> str:
        if platform.machine() != "x86_64":
            return f"it is made for x86_64, and this is {platform.machine()}"
        if self._program is None:
            return f"{self._name} is not installed: there is no {self._file}"
        if not os.access(self._program, os.X_OK):
            return f"{self._program} cannot be run"
        kernel = find_kernel(self._kernel)
        if kernel is None:
            return f"there is no kernel for machines in {self._kernel or '/boot'}"
        return "" if os.access(kernel.file, os.R_OK) else f"{kernel.file} cannot be read"

    def start(
        self, command: list[str], seen: Surroundings, client: Client, descriptors: Sequence[int] = ()
    ) -> "subprocess.Popen[bytes]":
        """Starts the monitor with a command line. Raises: OSError."""
        if self._bubblewrap is not None:
            command = _fence_around(self._bubblewrap, command, seen)
        if client.joins:
            command = joining(client.python, client.joins, command)
        groups = _groups_for_hardware() if seen.has_hardware else []
        return start_process(command, user=client.user, descriptors=[*descriptors, *client.joins], groups=groups)

    def walls(self, landlock_version: int, accelerator: str) -> str:
        around = ", bubblewrap around it" if self._bubblewrap is not None else ""
        return (
            f"system calls: a kernel of the machine's own, seccomp; files: Landlock {landlock_version}; "
            f"the machine: {accelerator}{around}"
        )

    def notes(self, landlock_version: int) -> list[str]:
        found: list[str] = []
        if self._bubblewrap is None:
            found.append(f"{self._name} itself is not fenced in: bubblewrap is not installed")
        if not landlock_version:
            found.append("the machine's kernel has no Landlock: writing to the workspace cannot be forbidden")
        return found


async def fall_asleep(connection: socket.socket) -> None:
    """Waits until the agent of a machine sleeps, as it does first of all. Raises: SandboxError: it does not come that far."""
    if (await Connection(connection).receive())[0] != "asleep":
        raise SandboxError("the machine's agent does not start")


async def wake(connection: socket.socket) -> None:
    """Tells the agent of a machine the time and something random; it goes on from there. Raises: SandboxError."""
    await Connection(connection).send(["wake", time.time(), os.urandom(64)])


def _fence_around(bubblewrap: Path, command: list[str], seen: Surroundings) -> list[str]:
    """The command behind a fence of its own."""
    options = [
        *OWN_NAMESPACES, "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL", "--ro-bind", "/usr", "/usr",
        "--proc", "/proc", "--dir", "/dev", "--dev-bind", "/dev/urandom", "/dev/urandom", "--dev-bind", "/dev/null", "/dev/null",
    ]  # fmt: skip
    for name in ("/bin", "/sbin", "/lib", "/lib64", "/lib32"):
        if Path(name).is_symlink():
            options += ["--symlink", str(Path(name).readlink()), name]
    for name in ("/etc/ld.so.cache", "/etc/alternatives"):
        options += ["--ro-bind-try", name, name]
    for path in seen.readable:
        options += ["--ro-bind", str(path), str(path)]
    for path in seen.writable:
        options += ["--bind", str(path), str(path)]
    if seen.has_hardware:
        options += ["--dev-bind-try", str(KVM_DEVICE), str(KVM_DEVICE)]
    return [str(bubblewrap), *options, "--remount-ro", "/", "--chdir", "/", "--", *command]


def _groups_for_hardware() -> list[int]:
    """The groups that a process needs to open the device of the hardware."""
    return [KVM_DEVICE.stat().st_gid] if KVM_DEVICE.exists() else []


def has_hardware_support() -> bool:
    """Whether the processor offers virtualisation; that the device can be opened proves nothing."""
    words = set(Path("/proc/cpuinfo").read_text(encoding="utf-8").split())
    return bool(words & {"vmx", "svm"}) and os.access(KVM_DEVICE, os.R_OK | os.W_OK)


def kernel_words(channel: str, files: MachineFiles) -> str:
    """What every machine's kernel is told: how to end, and what `guest.boot` is to do."""
    image = "0" if files.agent else "1"
    packages = "0" if files.packages is None else "1"
    return (
        "console=ttyS0 quiet loglevel=4 reboot=t panic=-1 random.trust_cpu=on lsm=landlock "
        f"evalsi.channel={channel} evalsi.packages={packages} evalsi.image={image} evalsi.agent={files.agent}"
    )


def lay_out(home: Path, kernel: GuestKernel, agent: CarriedAgent, *, sockets: bool) -> None:
    """Writes the kernel and the first files to a folder, each whole at once, where another process has not.

    Raises: SandboxError: the kernel lacks something.
    """
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o711)
    with tempfile.TemporaryDirectory(dir=home, prefix="new-") as name:
        place = Path(name)
        content = first_files(carry_python(agent, place), kernel.load_order(sockets=sockets))
        (place / "first-files").write_bytes(content)
        shutil.copyfile(kernel.file, place / "kernel")
        for each in ("first-files", "kernel"):
            (place / each).chmod(0o644)
            (place / each).rename(home / each)
