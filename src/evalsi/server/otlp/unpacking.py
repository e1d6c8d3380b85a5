"""Bodies unpacked as they come, piece by piece, so that a bomb is known by its first few megabytes.

Its own module because the other bodies of the server are unpacked when they are whole, which for traffic would be too late.
What always holds: no piece unpacks to more than the limit, nor, beyond a first megabyte, to more than `MOST_RATIO` times
what came.
"""

import zlib
from collections.abc import Callable

import zstandard

from evalsi.core.errors import TooLargeError, UsageError
from evalsi.core.size_text import size_text

MOST_RATIO = 250
"""Text repeats itself, but not so often: spans of one text over and over pack to a sixtieth."""
SMALLER_BATCHES = "send smaller batches: OTEL_BSP_MAX_EXPORT_BATCH_SIZE, or the batch processor of a collector"
_FREE_BYTES = 1 << 20
_ZSTD_STEP = 512
_ZSTD_WINDOW = 8 << 20
"""The most that RFC 8878 asks a receiver to have; a sender that wants more would decide about our memory."""
CODINGS = frozenset({"", "identity", "gzip", "deflate", "zstd"})
"""Content codings that are taken."""


class Unpacking:
    """Unpacks one body.

    Args:
        coding: One of `CODINGS`.
        most_bytes: What it may unpack to.
        count: Told of every unpacked piece before it is kept.
    """

    def __init__(self, coding: str, most_bytes: int, count: Callable[[int], None]) -> None:
        self._coding = coding
        self._most_bytes = most_bytes
        self._count = count
        self._came = self._size = 0
        self._pieces: list[bytes] = []
        self._ended = coding in ("", "identity")
        self._inflating = zlib.decompressobj(47 if coding == "gzip" else 15) if coding in ("gzip", "deflate") else None
        self._zstd = (
            zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj() if coding == "zstd" else None
        )

    def add(self, piece: bytes) -> None:
        """Takes the next piece. Raises: UsageError: it is not in that coding. TooLargeError: see above."""
        self._came += len(piece)
        if self._inflating is not None:
            self._inflate(piece)
        elif self._zstd is not None:
            self._unzstd(piece)
        else:
            self._keep(piece)

    def whole(self) -> bytes:
        """The unpacked body. Raises: UsageError: it ended too early."""
        if not self._ended and self._came:
            raise UsageError(f"the body in {self._coding} ends too early")
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)

    def _inflate(self, piece: bytes) -> None:
        assert self._inflating is not None
        while piece:
            try:
                self._keep(self._inflating.decompress(piece, _FREE_BYTES))
            except zlib.error:
                raise self._other() from None
            piece = self._inflating.unconsumed_tail
            self._ended = self._inflating.eof
            if self._ended and self._inflating.unused_data:  # the next member
                piece = self._inflating.unused_data
                self._inflating = zlib.decompressobj(47)

    def _unzstd(self, piece: bytes) -> None:
        assert self._zstd is not None
        # Four bytes may be a block of 128 KiB, and the library unpacks all that it is given: small steps bound each.
        for at in range(0, len(piece), _ZSTD_STEP):
            try:
                self._keep(self._zstd.decompress(piece[at : at + _ZSTD_STEP]))
            except zstandard.ZstdError:
                raise self._other() from None
        self._ended = self._zstd.eof

    def _keep(self, unpacked: bytes) -> None:
        self._size += len(unpacked)
        if self._size > self._most_bytes:
            raise TooLargeError(
                f"the request is larger than the {size_text(self._most_bytes)} that are taken",
                hint=SMALLER_BATCHES,
            )
        if self._size > max(_FREE_BYTES, self._came * MOST_RATIO):
            raise TooLargeError(f"the request unpacks to more than {MOST_RATIO} times its size")
        if unpacked:
            self._count(len(unpacked))
            self._pieces.append(unpacked)

    def _other(self) -> UsageError:
        return UsageError(f"the body is not in {self._coding}, as its content encoding says")
