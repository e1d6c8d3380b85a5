"""Files into a workspace and out of it, while no program of the sandbox runs.

This happens inside the fence, so that whatever a program left lying about, links to elsewhere above all, can only reach
what the program itself could. Links are never followed all the same, and only regular files come out.
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:  # the module typing takes longer to import than all of ours
    from collections.abc import Iterable, Iterator

LARGEST_ARCHIVE = 256 << 20
_DEEPEST = 64
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class WorkspaceError(Exception):
    """A file cannot be written, or the workspace not packed; the text says why."""


def write_file(path: str, content: bytes, mode: int) -> None:
    """Puts a file below the current folder. Raises: WorkspaceError."""
    *folders, name = path.split("/")
    try:
        folder = _open_folders(folders, make=True)
        try:
            _write_in(folder, name, content, mode)
        finally:
            os.close(folder)
    except OSError as error:
        raise WorkspaceError(f"{path}: {error.strerror}") from error


def read_file(path: str, most_bytes: int) -> tuple[bytes, int] | None:
    """Content and permission bits of a regular file below the current folder; None for whatever is none.

    Raises: WorkspaceError: it is larger than `most_bytes`.
    """
    *folders, name = path.split("/")
    try:
        folder = _open_folders(folders, make=False)
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        finally:
            os.close(folder)
    except OSError:
        return None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            return None
        if found.st_size > most_bytes:
            raise WorkspaceError(f"{path} is larger than {most_bytes} bytes")
        return _read_all(file, most_bytes), stat.S_IMODE(found.st_mode)
    finally:
        os.close(file)


def pack() -> Iterator[tuple[str, str, int, bytes]]:
    """(kind, path, mode, data) of everything below the current folder, parents first; kinds are folder, file, link and, in a
    layer above an image, gone.

    Pipes, sockets and devices are left out. Raises: WorkspaceError: it is too large or nested too deeply.
    """
    left = LARGEST_ARCHIVE
    waiting = [""]
    while waiting:
        above = waiting.pop()
        if above.count("/") > _DEEPEST:
            raise WorkspaceError(f"folders are nested more than {_DEEPEST} deep")
        with os.scandir(above or ".") as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            path = above + entry.name
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                if _hides_what_is_below(path):
                    yield "gone", path, 0, b""
                yield "folder", path, stat.S_IMODE(mode), b""
                waiting.append(path + "/")
            elif stat.S_ISLNK(mode):
                yield "link", path, 0, os.fsencode(os.readlink(path))
            elif stat.S_ISCHR(mode) and entry.stat(follow_symlinks=False).st_rdev == 0:
                yield "gone", path, 0, b""  # as overlays say it; programs cannot make such a thing
            elif stat.S_ISREG(mode):
                read = read_file(path, left)
                if read is not None:
                    left -= len(read[0])
                    yield "file", path, read[1], read[0]


def unpack(entries: Iterable[tuple[str, str, int, bytes]]) -> None:
    """Puts back what `pack` gave. Raises: WorkspaceError."""
    known, folder = "", -1
    """The folder that the last file went to, which the next one's mostly is."""
    path = ""
    try:
        for kind, path, mode, data in entries:
            above, _, name = path.rpartition("/")
            if folder >= 0 and (kind != "file" or above != known):
                os.close(folder)
                folder = -1
            if kind == "file":
                if folder < 0:
                    known, folder = above, _open_folders(above.split("/") if above else [], make=True)
                _write_in(folder, name, data, mode)
            else:
                _put_back(kind, path, mode, data)
    except OSError as error:
        raise WorkspaceError(f"{path}: {error.strerror}") from error
    finally:
        if folder >= 0:
            os.close(folder)


def _put_back(kind: str, path: str, mode: int, data: bytes) -> None:
    """Raises: OSError."""
    if kind == "folder":
        try:
            os.mkdir(path)
        except FileExistsError:
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                os.unlink(path)
                os.mkdir(path)
        if stat.S_IMODE(os.lstat(path).st_mode) != mode | stat.S_IRWXU:
            os.chmod(path, mode | stat.S_IRWXU)
        return
    _remove(path)
    if kind == "link":
        os.symlink(os.fsdecode(data), path)


def remove_everything(folder: str) -> None:
    """Empties a folder, however deep the tree and whatever its permissions. Raises: OSError.

    A folder found inside is moved to the top before it is entered, so no path grows long and no call is nested.
    """
    waiting = [folder]
    count = 0
    while waiting:
        place = waiting.pop()
        with os.scandir(place) as entries:
            found = list(entries)
        for entry in found:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
                continue
            os.chmod(entry.path, 0o700)
            moved = f"{folder}/.removed-{os.getpid()}-{count}"
            count += 1
            os.rename(entry.path, moved)
            waiting.append(moved)
        if place != folder:
            # What it held is at the top by now, so it is empty.
            os.rmdir(place)


def _hides_what_is_below(folder: str) -> bool:
    """Whether a folder of an overlay's layer replaces the one below it instead of adding to it."""
    try:
        return os.getxattr(folder, "user.overlay.opaque", follow_symlinks=False) == b"y"
    except OSError:
        return False


def _remove(path: str) -> None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        remove_everything(path)
        os.rmdir(path)
    else:
        os.unlink(path)


def _write_in(folder: int, name: str, content: bytes, mode: int) -> None:
    """A file in a folder that is open, in place of what has its name there. Raises: OSError."""
    try:
        file = os.open(name, _NEW_FILE, 0o600, dir_fd=folder)
    except FileExistsError:
        os.unlink(name, dir_fd=folder)
        file = os.open(name, _NEW_FILE, 0o600, dir_fd=folder)
    try:
        data = memoryview(content)
        while data:
            data = data[os.write(file, data) :]
        os.fchmod(file, mode & 0o777)
    finally:
        os.close(file)


def _open_folders(names: list[str], *, make: bool) -> int:
    folder = os.open(".", _FOLDER)
    for name in names:
        try:
            try:
                inner = _open_folder(name, folder)
            except FileNotFoundError:
                if not make:
                    raise
                os.mkdir(name, 0o755, dir_fd=folder)
                inner = _open_folder(name, folder)
        finally:
            os.close(folder)
        folder = inner
    return folder


def _open_folder(name: str, folder: int) -> int:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    inner = os.open(name, _FOLDER, dir_fd=folder)
    if not os.path.samestat(found, os.fstat(inner)):  # gVisor follows a link here in spite of O_NOFOLLOW
        os.close(inner)
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return inner


def _read_all(file: int, most_bytes: int) -> bytes:
    parts: list[bytes] = []
    left = most_bytes
    while left and (part := os.read(file, min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
