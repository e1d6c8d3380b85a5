"""The first process of a virtual machine: it makes an empty kernel a place where the agent can live, and becomes the agent.

Its own module because only machines need it, before anything else of ours: behind other fences the host has made the
place. It lies in the initial file system, with an interpreter of its own, and is told what to do on the kernel's command
line:

    evalsi.channel   serial, or vsock:PORT: how the host is reached
    evalsi.packages  1 where there is a second disk, with Python packages
    evalsi.image     1 where the disk is the tree of an image, 0 where it is a small system for programs
    evalsi.agent     without an image: the interpreter of that system which the agent is to be run by
"""

from __future__ import annotations

import os
import sys
import time

from evalsi.guest import fence, linux

TYPE_CHECKING = False
if TYPE_CHECKING:  # the module typing takes longer to import than all of ours
    from typing import NoReturn

_SYSTEM = "/system"
_HOST = 2
"""The address of the host among those of a machine's sockets, VMADDR_CID_HOST."""
_PATIENCE_S = 30.0
_SETTINGS = {
    "kernel/hostname": "sandbox",
    "kernel/dmesg_restrict": "1",
    "kernel/kptr_restrict": "2",
    "kernel/perf_event_paranoid": "3",
}
_START = "import sys; sys.path.append('/.evalsi'); from evalsi.guest.agent import main; main()"
_DISK = "/sandbox/disk"
DISK_LABEL, PACKAGES_LABEL = b"evalsi-disk", b"evalsi-packages"
"""Names of file systems, by which disks are told apart."""
_LABEL_AT, _LABEL_BYTES = 1024 + 120, 16
"""Of ext4's superblock."""
_DEVICES = ("null", "zero", "full", "random", "urandom")
"""What programs may know of; the rest is removed once it has been used."""


def main() -> NoReturn:
    """Never returns. What goes wrong is told on the console, which the host shows."""
    os.umask(0o022)
    linux.mount("proc", "/proc", linux.NO_SETUID | linux.NO_DEVICES | linux.NO_EXEC, "")
    linux.mount("devtmpfs", "/dev", linux.NO_SETUID, "")
    words = _words()
    with open("/modules/order") as listing:
        order = listing.read().split()
    for name in order:
        with open(f"/modules/{name}", "rb") as module:
            linux.load_module(module.read())
    for name, value in _SETTINGS.items():
        if os.path.exists(f"/proc/sys/{name}"):  # a kernel made for machines lacks some
            with open(f"/proc/sys/{name}", "w") as setting:
                setting.write(value)
    for name, target in (
        ("fd", "/proc/self/fd"),
        ("shm", f"{_DISK}/tmp"),
        ("stdin", "fd/0"),
        ("stdout", "fd/1"),
        ("stderr", "fd/2"),
    ):
        os.symlink(target, f"/dev/{name}")
    linux.start_loopback()
    control = _connect(words["channel"])
    disk = _disk(DISK_LABEL)
    if words["packages"] == "1":
        linux.mount_disk(_disk(PACKAGES_LABEL), fence.PACKAGES)
    if words["image"] == "1":
        linux.mount_disk(disk, fence.IMAGE)
        _keep_few_devices()
        _mount_groups("")
        command = ["/.evalsi/bin/python3"]
    else:
        linux.mount_disk(disk, _SYSTEM)
        _keep_few_devices()
        linux.bind("/.evalsi", f"{_SYSTEM}/.evalsi")
        linux.bind("/dev", f"{_SYSTEM}/dev")
        linux.mount("proc", f"{_SYSTEM}/proc", linux.NO_SETUID | linux.NO_DEVICES | linux.NO_EXEC, "hidepid=invisible")
        _mount_groups(_SYSTEM)
        os.chroot(_SYSTEM)
        os.chdir("/")
        command = [words["agent"]]
    os.set_inheritable(control, True)
    preload = "0" if words["image"] == "1" else "1"
    arguments = [str(control), fence.MACHINE, _DISK, "1", preload, "", words["image"]]
    os.execve(command[0], [*command, "-I", "-S", "-X", "utf8", "-c", _START, *arguments], {})


def _disk(label: bytes) -> str:
    """The device with this name in its file system: monitors number disks as they like."""
    for name in os.listdir("/dev"):
        if name.startswith("vd"):
            with open(f"/dev/{name}", "rb") as device:
                device.seek(_LABEL_AT)
                if device.read(_LABEL_BYTES).rstrip(b"\0") == label:
                    return f"/dev/{name}"
    raise FileNotFoundError(f"there is no disk with the name {label.decode()}")


def _keep_few_devices() -> None:
    for name in os.listdir("/dev"):
        if name not in _DEVICES and not os.path.islink(f"/dev/{name}") and not os.path.isdir(f"/dev/{name}"):
            os.unlink(f"/dev/{name}")


def _words() -> dict[str, str]:
    with open("/proc/cmdline") as line:
        pairs = [
            word.removeprefix("evalsi.").partition("=") for word in line.read().split() if word.startswith("evalsi.")
        ]
    return {name: value for name, _, value in pairs}


def _connect(channel: str) -> int:
    kind, _, port = channel.partition(":")
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return _connect_socket(int(port)) if kind == "vsock" else _open_port()
        except OSError:  # the device shows itself a moment after its driver
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


def _open_port() -> int:
    """The one port of the serial device, whose name begins with the number that the device happened to get."""
    for name in os.listdir("/dev"):
        if name.startswith("vport"):
            return os.open(f"/dev/{name}", os.O_RDWR | os.O_CLOEXEC)
    raise FileNotFoundError("there is no serial port")


def _connect_socket(port: int) -> int:
    import _socket

    connection = _socket.socket(_socket.AF_VSOCK, _socket.SOCK_STREAM)
    connection.connect((_HOST, port))
    return connection.detach()


def _mount_groups(root: str) -> None:
    linux.mount("cgroup2", f"{root}{fence.GROUPS}", linux.NO_SETUID | linux.NO_DEVICES | linux.NO_EXEC, "")
    with open(f"{root}{fence.GROUPS}/cgroup.subtree_control", "w") as switches:
        switches.write("+memory +pids")


if __name__ == "__main__":
    try:
        main()
    except BaseException as error:
        print(f"evalsi: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        raise
