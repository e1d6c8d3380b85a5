"""What reading a damaged zip fails with, for the files of ours that are zips.

Its own module because a backup and an exported run are read with the same care: an entry packed in a way that we never
write is damage too, and its unpacker, which fails in ways of its own, is not asked.
"""

import struct
import zipfile
import zlib

DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OverflowError)
"""What `zipfile` raises on a damaged file, found by damaging files, beside OSError."""
_KNOWN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def check_packing(entry: zipfile.ZipInfo) -> None:
    """Raises: zipfile.BadZipFile: the entry is packed in a way in which no file of ours is."""
    if entry.compress_type not in _KNOWN:
        raise zipfile.BadZipFile(f"packed by method {entry.compress_type}; known: 0 (stored), 8 (deflate)")
