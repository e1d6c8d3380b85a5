"""What every format gives and everything after it takes: rows, with the place each came from.

A part is one file, stream or object of a dataset. Formats differ only in how a part makes chunks of rows; ids, mapping,
conditions and records know nothing of formats.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from evalsi.datasets.byte_source import ByteSource

Row = dict[str, Any]
"""JSON values by column name. Strings hold no lone surrogates, numbers are finite, nesting is at most `MAX_DEPTH`."""

MAX_DEPTH = 100
"""Nesting of JSON that is accepted: more is a mistake or an attack, and would overflow some stack later."""

MAX_ROW_BYTES = 64 * 1024 * 1024
"""Length of one row that is accepted; a compressed file of nothing but one letter must not fill the memory."""


class RowError(Exception):
    """One row cannot be used. Caught inside this package, where the row's place is known.

    Args:
        reason: What is wrong, without the place.
        offset: Characters from the start of the row's own text to the fault, where that is known.
    """

    def __init__(self, reason: str, offset: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Problem:
    """A row that cannot be used, at its place within one part."""

    place: int
    reason: str
    offset: int | None = None


@dataclass(slots=True)
class Chunk:
    """Consecutive rows of one part."""

    rows: list[Row]
    places: Sequence[int]
    """Of each row: the line it starts on, or its number from 1 where a source has no lines."""
    raw: list[bytes] | None = None
    """Of each row: one line of JSON that reads as this very row; None where the source is not JSON."""
    problems: list[Problem] = field(default_factory=list[Problem])
    escaped: int = 0
    """Rows in which lone surrogates were replaced by their escapes."""


class Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...


class Part(Protocol):
    """One file, stream or object. Can be read any number of times and gives the same rows each time."""

    @property
    def name(self) -> str: ...

    @property
    def content(self) -> "ByteSource | None":
        """The bytes whose digest identifies the part; None where the rows themselves are digested."""
        ...

    @property
    def columns(self) -> Sequence[str] | None:
        """The columns every row has, where the format declares them; known once `chunks` has given a chunk."""
        ...

    def chunks(self, *, digest: Digest | None = None, checked: bool, skips: Collection[int] = ()) -> Iterator[Chunk]:
        """The rows in order.

        Args:
            digest: Is fed the decompressed content as it is read.
            checked: Whether to look for what only costs time once: duplicate keys and too deep nesting.
            skips: Places to leave out.

        Raises:
            InvalidDataError: the part as a whole cannot be read.
        """
        ...

    def where(self, place: int, offset: int | None = None) -> str:
        """`file:line:column`, or the file and the row's number."""
        ...


def row_place(name: str, place: int) -> str:
    """The place of a row in a source without lines."""
    return f"{name}, row {place}"
