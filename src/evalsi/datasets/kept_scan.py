"""What a first pass found, remembered by the stamps of the files it read: continuing a long run begins where it stopped,
and not with reading a million rows to learn what is known.

Its own module because it decides what may be trusted. A finding stands for the very files that were read, with the same
options and the same version of evalsi, and is believed when every byte of it is as it was kept. Files that nobody can stamp, small ones, and files that were written while or just
before they were read, whose next change may leave no mark, are read each time.
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from evalsi.core.canonical import digest
from evalsi.core.version import __version__
from evalsi.datasets.options import DatasetOptions
from evalsi.datasets.rows import Part
from evalsi.datasets.scan import Findings
from evalsi.ports.scan_memory import ScanMemory

LEAST_BYTES = 4 * 1024 * 1024
"""Files that are smaller together are read in a tenth of a second."""
_RESTED_NS = 2_000_000_000
"""How long a file must have been left alone: two changes within a tick of the file system's clock look like one."""
_FORM = 3
"""Grows when a pass finds something else in the same files."""

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Findings)


@dataclass(frozen=True)
class _Stamp:
    path: str
    device: int
    inode: int
    size: int
    changed_ns: int
    """When its content was written or its inode changed, whichever came later."""


def remembered(
    memory: ScanMemory | None, parts: Sequence[Part], options: DatasetOptions, scan: Callable[[], Findings]
) -> Findings:
    """What `scan` finds in the parts, or what it found when the same files were read before. Raises: as `scan`."""
    stamps = _stamps(parts) if memory is not None else None
    if memory is None or stamps is None or sum(stamp.size for stamp in stamps) < LEAST_BYTES:
        return scan()
    key = digest(
        {
            "form": [_FORM, __version__],
            "files": [[part.name, type(part).__name__] for part in parts],
            "stamps": stamps,
            "options": options,
        }
    )
    known = _opened(key, memory.get(key))
    if known is not None:
        return known
    began_ns = time.time_ns()
    found = scan()
    if _stamps(parts) == stamps and all(stamp.changed_ns + _RESTED_NS < began_ns for stamp in stamps):
        memory.put(key, _sealed(key, found))
    return found


def _sealed(key: str, found: Findings) -> bytes:
    body = _ENCODER.encode(found)
    return _seal(key, body) + body


def _opened(key: str, kept: bytes | None) -> Findings | None:
    """None for what is damaged or was kept for other files: it is found again and replaced.

    A digest or a count in which a disk changed one bit reads as well as a right one, so that reading alone proves nothing.
    """
    if kept is None:
        return None
    size = hashlib.sha256().digest_size
    body = kept[size:]
    if kept[:size] != _seal(key, body):
        return None
    try:
        return _DECODER.decode(body)
    except msgspec.MsgspecError:
        return None


def _seal(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + body).digest()


def _stamps(parts: Sequence[Part]) -> list[_Stamp] | None:
    """None where a part is no file."""
    stamps: list[_Stamp] = []
    for part in parts:
        path = part.content.path if part.content is not None else None
        if path is None:
            return None
        try:
            state = path.stat()
        except OSError:
            return None
        changed_ns = max(state.st_mtime_ns, state.st_ctime_ns)
        stamps.append(_Stamp(str(path.absolute()), state.st_dev, state.st_ino, state.st_size, changed_ns))
    return stamps
