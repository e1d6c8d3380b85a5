"""Where bytes come from, however they are packed: a file or standard input, plain, gzip or zstd, UTF-8 or UTF-16.

Formats above see only UTF-8 blocks without a byte order mark, and can ask for them as often as they like.
"""

import codecs
import io
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from evalsi.core.errors import InvalidDataError, NotFoundError
from evalsi.core.nearest_file import nearest_file
from evalsi.datasets.rows import Digest


class Stamp(NamedTuple):
    """What tells that a file was written or replaced."""

    size: int
    written_ns: int
    changed_ns: int
    """When the inode changed: with the content, and also with its mode, owner or name."""
    inode: int

    @property
    def contents(self) -> tuple[int, int, int]:
        """What stays when only the mode, owner or name changes."""
        return self.size, self.written_ns, self.inode


_BLOCK_BYTES = 64 * 1024
"""Small enough for a core's own cache: measured fastest of 64 to 512 KiB."""

_HEAD_BYTES = 64 * 1024
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True)
class ByteSource:
    """Bytes that can be read again. Files are never changed and never followed while they grow."""

    name: str
    path: Path | None = None
    """A file; without one, `spool` holds the bytes."""
    spool: IO[bytes] | None = None

    @classmethod
    def of_stream(cls, stream: IO[bytes], name: str) -> "ByteSource":
        """Keeps what `stream` gives in a temporary file (in memory while it is small), since it can be read only once."""
        spool = tempfile.SpooledTemporaryFile(max_size=8 * 1024 * 1024)  # noqa: SIM115
        try:
            while block := stream.read(_BLOCK_BYTES):
                spool.write(block)
        except OSError as error:
            spool.close()
            raise InvalidDataError(f"cannot be read: {error.strerror or error}", where=name) from error
        return cls.of_spool(spool, name)

    @classmethod
    def of_spool(cls, spool: IO[bytes], name: str) -> "ByteSource":
        """Takes over a temporary file, which is closed when the source is no longer used."""
        source = cls(name=name, spool=spool)
        weakref.finalize(source, spool.close)
        return source

    def packed(self) -> IO[bytes]:
        """The bytes as they are stored, from the start. The caller closes it; a spool stays open."""
        if self.spool is not None:
            return io.BufferedReader(_View(self.spool))
        assert self.path is not None
        try:
            return self.path.open("rb")
        except FileNotFoundError:
            raise NotFoundError("there is no such file", where=self.name, hint=nearest_file(self.path)) from None
        except OSError as error:
            raise InvalidDataError(f"cannot be read: {error.strerror or error}", where=self.name) from error

    def blocks(self, digest: Digest | None = None) -> Iterator[bytes]:
        """Decompressed blocks as they are stored. `digest` is fed each of them.

        Raises:
            InvalidDataError: the compression is broken or ends early.
            NotFoundError: there is no such file.
        """
        with self.packed() as packed:
            try:
                unpacked = _unpack(packed)
                while block := unpacked.read(_BLOCK_BYTES):
                    if digest is not None:
                        digest.update(block)
                    yield block
            except (OSError, EOFError, zlib.error) as error:
                raise InvalidDataError(f"cannot be read to its end: {error}", where=self.name) from error
            except Exception as error:
                if type(error).__name__ != "ZstdError":
                    raise
                raise InvalidDataError(f"the zstd data is broken: {error}", where=self.name) from error

    def utf8_blocks(self, digest: Digest | None = None) -> Iterator[bytes]:
        """Blocks in UTF-8 without a byte order mark. Validity of UTF-8 is left to the format, which knows the row.

        Raises:
            InvalidDataError: the byte order mark says UTF-32, or says UTF-16 and the bytes are not.
        """
        blocks = self.blocks(digest)
        head = b""
        for block in blocks:
            head += block
            if len(head) >= 4:
                break
        if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
            raise InvalidDataError("is UTF-32", where=self.name, hint="save it as UTF-8")
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            yield from self._of_utf16(head, blocks)
            return
        head = head.removeprefix(codecs.BOM_UTF8)
        if head:
            yield head
        yield from blocks

    def is_packed(self) -> bool:
        """Whether the bytes are compressed. Raises: NotFoundError, InvalidDataError: they cannot be read."""
        with self.packed() as packed:
            return packed.read(4).startswith((_GZIP, _ZSTD))

    def stamp(self) -> Stamp | None:
        """What changes when the file is written or replaced. None for a spool, which nobody else can write.

        The time at which the inode changed tells also of a writer that sets the size and the time of before.
        """
        if self.path is None:
            return None
        try:
            state = self.path.stat()
        except OSError:
            return Stamp(-1, -1, -1, -1)
        return Stamp(state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)

    def head(self) -> bytes:
        """The first 64 KiB, decompressed, in UTF-8."""
        gathered = b""
        for block in self.utf8_blocks():
            gathered += block
            if len(gathered) >= _HEAD_BYTES:
                break
        return gathered[:_HEAD_BYTES]

    def seekable(self) -> IO[bytes]:
        """The decompressed content with random access, spooled to a temporary file where it is compressed."""
        packed = self.packed()
        start = packed.read(4)
        packed.seek(0)
        if not start.startswith((_GZIP, _ZSTD)):
            return packed
        packed.close()
        spool = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            for block in self.blocks():
                spool.write(block)
        except BaseException:
            spool.close()
            raise
        spool.seek(0)
        return spool

    def _of_utf16(self, head: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder("utf-16")()
        done = 0
        block: bytes | None = head
        try:
            while block is not None:
                text = decoder.decode(block)
                done += len(block)
                if text:
                    yield text.encode()
                block = next(blocks, None)
            decoder.decode(b"", final=True)
        except UnicodeError as error:
            start = error.start if isinstance(error, UnicodeDecodeError) else 0
            raise InvalidDataError(
                f"is not valid UTF-16 near byte {max(0, done + start)}", where=self.name, hint="save it as UTF-8"
            ) from error


class _View(io.RawIOBase):
    """A reader of a spool with a position of its own, whose closing leaves the spool open."""

    def __init__(self, spool: IO[bytes]) -> None:
        super().__init__()
        self._spool = spool
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        self._spool.seek(self._at)
        data = self._spool.read(len(buffer))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at}.get(whence)
        self._at = self._spool.seek(offset, whence) if base is None else base + offset
        return self._at

    def tell(self) -> int:
        return self._at


def _unpack(packed: IO[bytes]) -> IO[bytes]:
    start = packed.read(4)
    packed.seek(0)
    if start.startswith(_GZIP):
        import gzip

        return cast("IO[bytes]", gzip.GzipFile(fileobj=packed, mode="rb"))
    if start.startswith(_ZSTD):
        import zstandard

        return zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    return packed
