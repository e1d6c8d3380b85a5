"""Disks of virtual machines: a file tree as a file system in a file, made once and found again by what went into it.

Its own module because both machine monitors need them and neither makes them. A disk is only ever read; what a sandbox
writes lies in its own memory. A disk without an image holds a small system: the machine's own Python with its library, a
shell and the usual tools, since a whole one would be gigabytes.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evalsi.core.errors import SandboxError
from evalsi.guest import fence
from evalsi.guest.boot import DISK_LABEL, PACKAGES_LABEL
from evalsi.infra.sandbox.carried_agent import CarriedAgent, libraries_of, library_of
from evalsi.infra.sandbox.held_place import Hold, hold_place, remove_remains, remove_tree, remove_unless_held

_FORM = "3"
"""To be changed with what this module puts on a disk."""
_TOOLS = (
    "sh bash dash env true false test [ echo printf cat head tail tac tee cut tr sort uniq wc nl od seq yes sleep date expr "
    "ls cp mv rm ln mkdir rmdir mkfifo touch chmod chown stat readlink realpath basename dirname mktemp pwd find xargs du df "
    "grep egrep fgrep sed awk mawk gawk diff cmp patch tar gzip gunzip xz bzip2 base64 md5sum sha256sum "
    "id whoami uname hostname kill pkill pgrep ps nice nohup timeout setsid time which make"
).split()
_BELOW = ("usr/bin", "bin", "usr/local/bin")
_LEFT_OUT = {
    "test",
    "tests",
    "idlelib",
    "tkinter",
    "turtledemo",
    "ensurepip",
    "lib2to3",
    "site-packages",
    "dist-packages",
}
_ETC = {
    "etc/passwd": "root:x:0:0:root:/:/bin/false\nsandbox:x:1000:1000:sandbox:/sandbox/disk/work:/bin/sh\n",
    "etc/group": "root:x:0:\nsandbox:x:1000:\n",
    "etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
}
_LINKS = {"tmp": "/sandbox/disk/tmp", "var/tmp": "/sandbox/disk/tmp"}
_BLOCK = 4096
_SPARE_BLOCKS = 2048
_PATIENCE_S = 600.0
_UNUSED_S = 7 * 86400.0
_NEW = "new-"


@dataclass(frozen=True)
class Disk:
    """A disk that is there until `hold` is released."""

    file: Path
    hold: Hold


@dataclass(frozen=True)
class Disks:
    """What a machine reads: a tree, and the operator's packages where there are any."""

    tree: Disk
    packages: Disk | None

    def are_there(self) -> bool:
        """Whether nobody who does not ask for holds has removed one."""
        return all(disk.hold.is_good() for disk in self._all())

    def release(self) -> None:
        for disk in self._all():
            disk.hold.release()

    def _all(self) -> list[Disk]:
        return [self.tree, *([self.packages] if self.packages is not None else [])]


def disks_for(agent: CarriedAgent, tree: Path | None, folder: Path) -> Disks:
    """The disks of a machine with the tree of an image, or without one. Raises: SandboxError: one cannot be made."""
    of_tree = disk_of_system(agent, folder) if tree is None else disk_of_image(tree, folder)
    return Disks(of_tree, None if agent.packages is None else disk_of_packages(agent.packages, folder))


def disk_of_image(tree: Path, folder: Path) -> Disk:
    """The disk of an image's tree, whose name is its digest. Raises: SandboxError: it cannot be made."""
    return _made(folder, f"image-{tree.name}-{_FORM}", lambda _: tree)


def disk_of_packages(packages: Path, folder: Path) -> Disk:
    """The disk of an operator's folder of packages, as it is now. Raises: SandboxError: it cannot be made."""
    known = hashlib.sha256(f"{_FORM} {packages}\n".encode())
    for above, folders, names in os.walk(packages):
        folders.sort()
        for name in sorted(names):
            about = Path(above, name).lstat()
            known.update(f"{above}/{name} {about.st_mode} {about.st_size} {about.st_mtime_ns}\n".encode())
    return _made(folder, f"packages-{known.hexdigest()[:32]}", lambda _: packages, PACKAGES_LABEL)


def disk_of_system(agent: CarriedAgent, folder: Path) -> Disk:
    """The disk of a small system with the agent's interpreter. Raises: SandboxError: it cannot be made."""
    known = hashlib.sha256(_FORM.encode())
    files = dict(_system_files(agent))
    for inside, source in [*sorted(files.items()), ("", Path("/etc/ld.so.cache"))]:
        about = source.stat()
        known.update(f"{inside} {source} {about.st_size} {about.st_mtime_ns}\n".encode())

    def fill(place: Path) -> Path:
        place.mkdir()
        linked = {
            _place(Path(each)): Path(each).resolve()
            for each in libraries_of([str(file) for file in files.values() if _may_be_linked(file)])
        }
        for inside, source in {**files, **linked}.items():
            (place / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, place / inside)
            (place / inside).chmod(0o755 if os.access(source, os.X_OK) else 0o644)
        for name in ("lib", "lib64", "bin", "sbin"):
            if Path(f"/{name}").is_symlink() and not (place / name).exists():
                (place / name).symlink_to(Path(f"/{name}").readlink())
        for inside, text in _ETC.items():
            (place / inside).parent.mkdir(exist_ok=True)
            (place / inside).write_text(text, encoding="utf-8")
        for inside, target in _LINKS.items():
            (place / inside).parent.mkdir(exist_ok=True)
            (place / inside).symlink_to(target)
        for inside in ("proc", "dev", ".evalsi", "sandbox/disk", fence.GROUPS[1:]):
            (place / inside).mkdir(parents=True, exist_ok=True)
        for path in (place, *place.rglob("*")):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
        return place

    return _made(folder, f"system-{known.hexdigest()[:32]}", fill)


def _system_files(agent: CarriedAgent) -> Iterator[tuple[str, Path]]:
    """(path on the disk, file of this machine) of the small system; links are resolved, so that nothing leads nowhere."""
    programs = [Path(agent.python)]
    for name in _TOOLS:
        found = next((Path("/", below, name) for below in _BELOW if Path("/", below, name).exists()), None)
        if found is not None:
            programs.append(found)
    for program in dict.fromkeys(programs):
        yield _place(program), program.resolve()
    for name in ("python3", "python"):
        yield f"usr/bin/{name}", Path(agent.python).resolve()
    for above, folders, names in os.walk(library_of(agent)):
        folders[:] = [folder for folder in folders if folder not in _LEFT_OUT and not folder.startswith("config-")]
        for name in names:
            yield _place(Path(above, name)), Path(above, name).resolve()


def _place(path: Path) -> str:
    """Where a file belongs on a disk: its folder may be reached by a link, its name stays."""
    return str(path.parent.resolve() / path.name)[1:]


def _may_be_linked(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


def _made(folder: Path, name: str, tree_in: Callable[[Path], Path], label: bytes = DISK_LABEL) -> Disk:
    """The disk of this name; where there is none yet, of the tree that `tree_in` gives, which may be made in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if folder.stat().st_uid != os.geteuid():
        raise SandboxError(f"{folder} belongs to somebody else, and machines are started from what is in it")
    folder.chmod(0o711)
    target = folder / f"{name}.ext4"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            _remove_unused(folder)
            with tempfile.TemporaryDirectory(dir=folder, prefix=_NEW) as place:
                made = Path(place, "disk")
                _make_file_system(tree_in(Path(place, "tree")), made, label.decode())
                made.chmod(0o644)
                made.rename(target)
        hold = hold_place(target)
    os.utime(target)
    return Disk(target, hold)


def _remove_unused(folder: Path) -> None:
    """Under the lock of the folder: disks that nobody asked for in a while, and what makers that died have left."""
    remove_remains(folder)
    for left in folder.glob(f"{_NEW}*"):
        remove_tree(left)
    for disk in folder.glob("*.ext4"):
        if disk.stat().st_mtime < time.time() - _UNUSED_S:
            remove_unless_held(disk)


def _make_file_system(tree: Path, target: Path, label: str) -> None:
    blocks, entries = _SPARE_BLOCKS, 256
    for above, folders, names in os.walk(tree):
        entries += len(folders) + len(names)
        blocks += len(folders)
        blocks += sum((Path(above, name).lstat().st_size + 2 * _BLOCK - 1) // _BLOCK for name in names)
    blocks += blocks // 20 + entries // (_BLOCK // 256)
    owner = tree.stat().st_uid
    command = ["mkfs.ext4", "-q", "-F", "-d", str(tree), "-b", str(_BLOCK), "-N", str(entries), "-m", "0", "-I", "256"]
    command += ["-L", label, "-O", "^has_journal,^resize_inode", "-E", f"root_owner={owner}:{owner}"]
    try:
        _run([*command, str(target), str(blocks)])
        _run(["debugfs", "-w", "-R", "rmdir lost+found", str(target)])  # which no tree has, and nothing here needs
    except FileNotFoundError as error:
        raise SandboxError(
            "mkfs.ext4 is not installed, and disks are made by it", hint="apt install e2fsprogs"
        ) from error
    except subprocess.SubprocessError as error:
        said = (getattr(error, "stderr", None) or "").strip() or str(error)
        raise SandboxError(f"a disk cannot be made of {tree}: {said.splitlines()[-1]}") from error


def _run(command: list[str]) -> None:
    path = "/usr/sbin:/sbin:/usr/bin:/bin"
    subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE_S, env={"PATH": path}, text=True)
