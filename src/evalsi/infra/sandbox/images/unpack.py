"""Layers of an image become a folder, whatever is in them: nothing is ever written, changed or removed outside it.

Every path is walked from the folder's own root, links included, as a program inside would see them. Devices, pipes and
setuid bits are left out. Files belong to the one user that sandboxes with images run as.
"""

import contextlib
import gzip
import os
import shutil
import stat
import tarfile
from collections.abc import Generator
from pathlib import Path
from typing import IO

from evalsi.core.errors import ImageError

LARGEST_TREE = 64 << 30
_MOST_ENTRIES = 2_000_000
_MOST_LINKS = 40
_WHITEOUT = ".wh."
_OPAQUE = ".wh..wh..opq"
_ZSTANDARD, _GZIP = b"\x28\xb5\x2f\xfd", b"\x1f\x8b"
_LONGEST_NAME = 255


class Tree:
    """A folder that layers are unpacked into, lowest first.

    Args:
        owner: Whose the files are; None for ourselves.
    """

    def __init__(self, root: Path, owner: int | None) -> None:
        self._root = root
        self._owner = owner
        self._bytes = 0
        self._entries = 0

    def add(self, layer: Path) -> None:
        """Puts a layer on top. Raises: ImageError: it is no layer, or it goes beyond what an image may hold."""
        made: set[str] = set()
        try:
            with _open_layer(layer) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
                for member in archive:
                    self._entries += 1
                    self._bytes += member.size
                    if self._entries > _MOST_ENTRIES or self._bytes > LARGEST_TREE:
                        raise ImageError("the image holds more than a sandbox takes")
                    self._put(archive, member, made)
        except (tarfile.TarError, EOFError, OSError, ValueError) as error:
            raise ImageError(f"a layer of the image cannot be unpacked: {error}") from error

    def make_folder(self, path: str) -> None:
        """A folder that a fence mounts something on."""
        place = self._resolve([part for part in path.split("/") if part], make=True)
        if not place.is_dir():
            raise ImageError(f"the image has a file at /{path}")

    def _put(self, archive: tarfile.TarFile, member: tarfile.TarInfo, made: set[str]) -> None:
        parts = _parts(member.name)
        if not parts:
            return
        *above, name = parts
        folder = self._resolve(above, make=True)
        if name == _OPAQUE:
            for entry in list(folder.iterdir()):
                if str(entry) not in made:
                    _remove(entry)
            return
        if name.startswith(_WHITEOUT):
            hidden = name.removeprefix(_WHITEOUT)
            if hidden in ("", ".", ".."):
                raise ImageError(f"a layer of the image removes {hidden!r}")
            _remove(folder / hidden)
            return
        place = folder / name
        for each in (place, *place.parents):
            if each == self._root:
                break
            made.add(str(each))
        self._write(archive, member, place)

    def _write(self, archive: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
        if member.isdir():
            if not place.is_dir() or place.is_symlink():
                _remove(place)
                place.mkdir()
            place.chmod(member.mode & 0o777 | stat.S_IRWXU)
        elif member.issym():
            _remove(place)
            place.symlink_to(member.linkname)
        elif member.islnk():
            *above, name = _parts(member.linkname)
            original = self._resolve(above, make=False) / name
            if not stat.S_ISREG(original.lstat().st_mode):
                raise ImageError(f"a layer of the image links to {member.linkname}, which is no file")
            if original != place:
                _remove(place)
                os.link(original, place, follow_symlinks=False)
            return
        elif member.isreg():
            _remove(place)
            content = archive.extractfile(member)
            assert content is not None
            descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                shutil.copyfileobj(content, file, 1 << 20)
                os.fchmod(file.fileno(), member.mode & 0o777 | stat.S_IRUSR)
        else:
            return
        self._own(place)

    def _resolve(self, parts: list[str], *, make: bool) -> Path:
        """The folder that a path leads to, where the root of the tree is the root of everything."""
        place = self._root
        waiting = list(reversed(parts))
        links = 0
        while waiting:
            part = waiting.pop()
            if part == "..":
                place = place if place == self._root else place.parent
                continue
            inner = place / part
            if inner.is_symlink():
                links += 1
                if links > _MOST_LINKS:
                    raise ImageError(f"the links at {part!r} in the image lead in a circle")
                target = str(inner.readlink())
                if target.startswith("/"):
                    place = self._root
                waiting += reversed([each for each in target.split("/") if each not in ("", ".")])
                continue
            if make and not inner.is_dir():
                if os.path.lexists(inner):
                    _remove(inner)
                inner.mkdir(mode=0o755)
                self._own(inner)
            place = inner
        return place

    def _own(self, place: Path) -> None:
        if self._owner is not None:
            os.chown(place, self._owner, self._owner, follow_symlinks=False)


def _parts(name: str) -> list[str]:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts or any("\0" in part or len(os.fsencode(part)) > _LONGEST_NAME for part in parts):
        raise ImageError(f"a layer of the image holds the path {name[:200]!r}")
    return parts


def _remove(place: Path) -> None:
    if place.is_symlink() or not place.is_dir():
        place.unlink(missing_ok=True)
    else:
        shutil.rmtree(place)


@contextlib.contextmanager
def _open_layer(layer: Path) -> Generator[IO[bytes]]:
    with layer.open("rb") as file:
        magic = file.read(4)
        file.seek(0)
        if magic.startswith(_GZIP):
            with gzip.open(file) as opened:
                yield opened  # pyright: ignore[reportReturnType] - it reads, which is all that is asked of it
        elif magic == _ZSTANDARD:
            import zstandard

            with zstandard.ZstdDecompressor().stream_reader(file) as opened:
                yield opened  # pyright: ignore[reportReturnType]
        else:
            yield file
