"""Entries of a zip that somebody else made, with bounds on what they may unpack to.

Python's zipfile reads the directory of such a file but not Zstandard entries (method 93) before 3.14, so the bytes of
every entry are read and unpacked here, each method alike. An entry's name is only ever looked up, never used as a path.
"""

import struct
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from evalsi.core.errors import InvalidDataError, NotFoundError
from evalsi.datasets.rows import RowError

MAX_ENTRIES = 1_000_000
MAX_ENTRY_BYTES = 512 * 1024 * 1024
"""Unpacked size of one entry: the largest samples with images inside are a tenth of it."""
MAX_RATIO = 2000
"""Unpacked bytes per packed byte. Text of nothing but one letter packs 1,000 to 1 with deflate."""
FREE_BYTES = 1024 * 1024
"""Size up to which any ratio is accepted: a small bomb hurts nobody."""

_DEFLATED, _ZSTANDARD = 8, 93
_ENCRYPTED = 0x1
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_UNREADABLE = (zipfile.BadZipFile, OSError, EOFError, ValueError, struct.error, NotImplementedError, OverflowError)
"""What `zipfile` raises on a damaged directory, found by damaging files."""


class ZipEntries:
    """An open zip. `names` in the order of its directory; of two entries with one name the later counts."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._entries = {entry.filename: entry for entry in archive.infolist()}
        self.names = list(self._entries)

    def read(self, name: str) -> bytes:
        """The unpacked bytes of an entry.

        Raises:
            RowError: it is damaged, encrypted, packed by a method we do not read, or unpacks to more than is accepted.
            KeyError: there is no such entry.
        """
        entry = self._entries[name]
        if entry.flag_bits & _ENCRYPTED:
            raise RowError("the entry is encrypted")
        if entry.file_size > MAX_ENTRY_BYTES:
            raise RowError(f"unpacks to {entry.file_size:,} bytes, more than {MAX_ENTRY_BYTES:,}")
        if entry.file_size > FREE_BYTES and entry.file_size > MAX_RATIO * entry.compress_size:
            raise RowError(f"unpacks to {MAX_RATIO:,} times its size: no log does")
        data = self._unpacked(entry, self._packed(entry))
        if len(data) != entry.file_size:
            raise RowError(f"unpacks to {len(data):,} bytes, where its header says {entry.file_size:,}")
        if zlib.crc32(data) != entry.CRC:
            raise RowError("damaged: its checksum is wrong")
        return data

    def _packed(self, entry: zipfile.ZipInfo) -> bytes:
        file = self._archive.fp
        assert file is not None
        try:
            file.seek(entry.header_offset)
            header = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
            if header[0] != b"PK\x03\x04":
                raise RowError("damaged: its header is not where the directory says")
            file.seek(header[-2] + header[-1], 1)
            packed = file.read(entry.compress_size)
        except (OSError, ValueError, struct.error, OverflowError) as error:
            raise RowError(f"damaged: {error}") from None
        if len(packed) < entry.compress_size:
            raise RowError("the file ends inside it")
        return packed

    def _unpacked(self, entry: zipfile.ZipInfo, packed: bytes) -> bytes:
        # One byte more than announced is enough to see that the announcement lies.
        most = entry.file_size + 1
        match entry.compress_type:
            case zipfile.ZIP_STORED:
                return packed
            case method if method == _DEFLATED:
                try:
                    return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
                except zlib.error as error:
                    raise RowError(f"damaged: {error}") from None
            case method if method == _ZSTANDARD:
                return _unpack_zstandard(packed, most)
            case method:
                raise RowError(f"is packed by method {method}; known: 0 (stored), 8 (deflate), 93 (Zstandard)")


@contextmanager
def open_zip(path: Path) -> Generator[ZipEntries]:
    """The zip at `path`.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: it is no zip, its directory is damaged or cut off, or it has too many entries.
    """
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise NotFoundError("there is no such file", where=str(path)) from None
    except _UNREADABLE as error:
        raise InvalidDataError(
            f"is no whole zip: {error}",
            where=str(path),
            hint="copy it again; a log of a run that was killed is cut off",
        ) from error
    with archive:
        if len(archive.infolist()) > MAX_ENTRIES:
            raise InvalidDataError(f"has more than {MAX_ENTRIES:,} entries", where=str(path))
        yield ZipEntries(archive)


def _unpack_zstandard(packed: bytes, most: int) -> bytes:
    import zstandard

    unpacked = bytearray()
    try:
        with zstandard.ZstdDecompressor(max_window_size=128 * 1024 * 1024).stream_reader(
            packed, read_across_frames=True
        ) as reader:
            while len(unpacked) < most and (block := reader.read(min(1 << 20, most - len(unpacked)))):
                unpacked += block
    except zstandard.ZstdError as error:
        raise RowError(f"damaged: {error}") from None
    return bytes(unpacked)
