"""Trees of images in use, and the room that images take: who was not used for longest goes first.

Its own module because several processes share the folder of images. What always holds: a tree that a sandbox of any process uses
is never removed, since whoever uses it holds it, and what is asked for most seldom goes first.
"""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evalsi.infra.sandbox.held_place import Hold, hold_place, remove_remains, remove_tree, remove_unless_held

_FRESH_S = 3600.0
"""A layer that was fetched or read within this time may be about to be unpacked."""
_SIGN = ".use"
"""Of the file beside a tree that holds its size, and was changed when the tree was last asked for."""


def use_tree(tree: Path) -> Hold:
    """Holds the tree, which from now on counts as just used."""
    hold = hold_place(tree)
    sign = _sign_of(tree)
    if sign.exists():
        os.utime(sign)
    else:
        sign.write_text(str(_size_of(tree)), encoding="ascii")
    return hold


def make_room(trees: Path, blobs: Path, most_bytes: int) -> None:
    """Removes what was not used for longest until the rest fits, as far as it is not in use. Under the lock of `trees`."""
    remove_remains(trees)
    for place in trees.glob("new-*"):
        remove_tree(place)  # of processes that died: whoever unpacks holds the lock
    found = sorted((*_trees_in(trees), *_blobs_in(blobs)), key=lambda entry: entry.used_at)
    total = sum(entry.size for entry in found)
    for entry in found:
        if total <= most_bytes:
            return
        if _drop_tree(entry.path) if entry.is_tree else _drop_blob(entry):
            total -= entry.size


@dataclass(frozen=True, kw_only=True)
class _Entry:
    path: Path
    size: int
    used_at: float
    is_tree: bool


def _trees_in(folder: Path) -> Iterator[_Entry]:
    for sign in folder.glob(f"*{_SIGN}"):
        tree = sign.with_suffix("")
        text = sign.read_text(encoding="ascii")
        if tree.is_dir() and text.isdigit():
            yield _Entry(path=tree, size=int(text), used_at=sign.stat().st_mtime, is_tree=True)


def _blobs_in(folder: Path) -> Iterator[_Entry]:
    for path in folder.iterdir() if folder.is_dir() else ():
        try:
            state = path.stat()
        except OSError:
            continue
        yield _Entry(path=path, size=state.st_size, used_at=state.st_mtime, is_tree=False)


def _drop_tree(tree: Path) -> bool:
    if not remove_unless_held(tree):
        return False
    _sign_of(tree).unlink(missing_ok=True)
    return True


def _drop_blob(blob: _Entry) -> bool:
    if time.time() - blob.used_at < _FRESH_S:
        return False
    blob.path.unlink(missing_ok=True)
    return True


def _size_of(tree: Path) -> int:
    """Bytes on disk."""
    total = 0
    for folder, _, names in os.walk(tree):
        for name in (".", *names):
            total += os.lstat(f"{folder}/{name}").st_blocks * 512
    return total


def _sign_of(tree: Path) -> Path:
    return tree.with_name(tree.name + _SIGN)
