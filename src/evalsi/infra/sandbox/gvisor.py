"""The rung `kernel`: gVisor's runsc, whose kernel of its own, written in Go, answers the programs' system calls.

Every fence is a container for one cell, so no two sandboxes share a kernel, not even that one. The container has no
network, and of the host only programs and libraries, which a process apart from it opens read-only. Its standard input is
the agent's connection: descriptors cannot be passed into a kernel that is not the host's.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

from evalsi.guest import fence
from evalsi.infra.sandbox.bubblewrap import ACCOUNTS, SYSTEM_FOLDERS, WRITTEN_TO
from evalsi.infra.sandbox.carried_agent import CarriedAgent
from evalsi.infra.sandbox.rung import StartOrder, Weight
from evalsi.infra.sandbox.start_process import joining, start_process
from evalsi.schema import IsolationLevel

_DISK = "/sandbox/disk"
_AGENT = "/.evalsi"
_RIGHTS = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_KILL", "CAP_SETGID", "CAP_SETUID", "CAP_SYS_ADMIN", "CAP_SYS_CHROOT")
"""What the agent needs of gVisor's kernel, to mount the workspace and to become the programs' user. None is the host's."""


class Gvisor:
    """Starts the agent in gVisor.

    Args:
        program: Where `runsc` is; by default the host's own.
    """

    driver = "gvisor"
    level = IsolationLevel.KERNEL
    remedy = "install gVisor (apt install runsc, or https://gvisor.dev) and run evalsi as root"
    weight = Weight(memory_mib=192, processes=256)
    has_one_cell = True
    takes_images = True
    has_own_network = True
    needs_groups = True

    def __init__(self, program: Path | None = None) -> None:
        found = shutil.which("runsc", path="/usr/bin:/usr/local/bin:/usr/sbin:/usr/local/sbin")
        self._program = program or (Path(found) if found else None)

    def obstacle(self) -> str:
        if self._program is None:
            return "gVisor is not installed: there is no runsc"
        if not os.access(self._program, os.X_OK):
            return f"{self._program} cannot be run"
        return "" if os.geteuid() == 0 else "runsc needs root to fence itself in"

    def start(self, agent: CarriedAgent, order: StartOrder) -> "subprocess.Popen[bytes]":
        bundle = order.disk / "bundle"
        bundle.mkdir()
        root = order.tree or bundle / "root"
        if order.tree is None:
            _make_root(root)
        words = order.words(0, fence.OWN_KERNEL, _DISK, "")
        configuration = _configuration(root, _binds(agent, root, order.tree), [*agent.command(_AGENT), *words])
        (bundle / "config.json").write_text(json.dumps(configuration), encoding="utf-8")
        # systrap, the quicker platform, is in no version that distributions have; ptrace is in all.
        options = ["--platform=ptrace", "--network=none", "--ignore-cgroups", f"--root={order.disk / 'state'}"]
        run = [str(self._program), *options, "run", f"--bundle={bundle}", f"evalsi-{os.getpid()}-{order.disk.name}"]
        return start_process(
            joining(agent.python, order.joins, run),
            user=None,
            descriptors=order.joins,
            stdin=order.control,
        )

    def walls(self, landlock_version: int) -> str:  # noqa: ARG002 - of the port
        return "system calls: gVisor's kernel, seccomp; files: mounts that a process apart opens"

    def notes(self, landlock_version: int) -> list[str]:  # noqa: ARG002 - of the port
        return [
            "the number of files is not limited, only their size: gVisor does not count them",
            "with an image, a program may write to all of its copy whatever its policy: gVisor has no Landlock",
        ]


def _make_root(root: Path) -> None:
    root.mkdir(parents=True, mode=0o755)
    # runsc mounts a file system without a limit at /tmp, unless something is there: the last of these is.
    for name in ("usr", "proc", "dev", "var", "etc", _AGENT[1:], "sandbox/disk/tmp/taken"):
        (root / name).mkdir(parents=True)
    for path in SYSTEM_FOLDERS:
        if Path(path).is_symlink():
            (root / path[1:]).symlink_to(Path(path).readlink())
        elif Path(path).is_dir():
            (root / path[1:]).mkdir(exist_ok=True)
    for path, inside in WRITTEN_TO.items():
        if not path.startswith("/dev"):
            (root / path[1:]).symlink_to(f"{_DISK}/{inside}")
    for path, content in ACCOUNTS.items():
        (root / path[1:]).write_bytes(content)


def _binds(agent: CarriedAgent, root: Path, tree: Path | None) -> dict[str, str]:
    """What of the host is seen, and where from."""
    ours = {_AGENT: str(agent.folder)}
    if agent.packages is not None:
        ours[fence.PACKAGES] = str(agent.packages)
    if tree is not None:
        return {fence.IMAGE: str(tree), **ours}
    bound = [path for path in SYSTEM_FOLDERS if Path(path).is_dir() and not Path(path).is_symlink()]
    if not agent.prefix.startswith("/usr"):
        (root / agent.prefix[1:]).mkdir(parents=True, exist_ok=True)
        bound.append(agent.prefix)
    for name in ("ld.so.cache", "ld.so.conf", "nsswitch.conf", "mime.types"):
        if Path(f"/etc/{name}").is_file():
            shutil.copyfile(f"/etc/{name}", root / "etc" / name)
    return {**{path: path for path in bound}, **ours}


def _configuration(root: Path, binds: dict[str, str], command: list[str]) -> dict[str, object]:
    """An OCI runtime configuration; its words are those of the specification."""
    return {
        "ociVersion": "1.0.0",
        "hostname": "sandbox",
        "root": {"path": str(root), "readonly": True},
        "process": {
            "terminal": False,
            "user": {"uid": 0, "gid": 0},
            "args": command,
            "env": [],
            "cwd": "/",
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), _RIGHTS),
            "rlimits": [],
        },
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
            *(
                {"destination": place, "type": "bind", "source": source, "options": ["ro", "rbind"]}
                for place, source in binds.items()
            ),
        ],
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")]},
    }
