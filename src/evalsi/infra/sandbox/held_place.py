"""Files and folders that several processes share: who uses one holds it, and only what nobody holds is removed.

Its own module because everything that is made once and found again (trees of images, disks, machines that stand still) has the
same race: one process finds it, and another takes it for unused before it is opened. What always holds: a place that is held keeps
its name and stays whole until it is released, since a hold is a lock that ends with the process, and no place is seen half removed.
"""

import contextlib
import errno
import fcntl
import os
import secrets
import subprocess
from pathlib import Path

_GONE = ".gone-"
"""In the name of what is being removed."""


class Hold:
    """Made by `hold_place`; ends when it is released, or with the process."""

    def __init__(self, place: Path, descriptor: int) -> None:
        self._place = place
        self._descriptor = descriptor

    def is_good(self) -> bool:
        """Whether the place is still there, which whoever does not ask for holds can undo."""
        return self._descriptor >= 0 and _is_named(self._place, self._descriptor)

    def release(self) -> None:
        """Calling it twice is fine."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    __del__ = release


def hold_place(place: Path) -> Hold:
    """Holds a file or folder. Raises: FileNotFoundError: there is none; OSError."""
    while True:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if _is_named(place, descriptor):
                return Hold(place, descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # it was being removed, and what has its name now is another


def hold_folder(place: Path) -> Hold:
    """As `hold_place`, for a folder that is made where there is none. Raises: OSError."""
    while True:
        with contextlib.suppress(
            FileExistsError
        ):  # not `exist_ok`, which looks again and fails where it was just removed
            place.mkdir(parents=True)
        try:
            hold = hold_place(place)
        except FileNotFoundError:
            continue
        if place.is_dir():
            return hold
        hold.release()
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))


def remove_unless_held(place: Path) -> bool:
    """Removes a file or folder that nobody holds, this process included; whether it did."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_named(place, descriptor):
            return False
        gone = place.with_name(f"{place.name}{_GONE}{secrets.token_hex(8)}")
        place.rename(gone)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    remove_tree(gone)
    return True


def remove_remains(folder: Path) -> None:
    """Removes what a process that died while removing has left."""
    for remains in folder.glob(f"*{_GONE}*"):
        remove_tree(remains)


def remove_tree(place: Path) -> None:
    """Removes a file or folder with all that hostile programs left in it, however deep."""
    try:
        place.rmdir()
    except OSError:
        pass
    else:
        return
    subprocess.run(["rm", "-rf", "--one-file-system", "--", str(place)], check=False, stderr=subprocess.DEVNULL)


def _is_named(place: Path, descriptor: int) -> bool:
    """Whether what is open still has the name."""
    try:
        return os.path.samestat(place.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
