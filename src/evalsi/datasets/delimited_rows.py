"""CSV and TSV as rows. Cells stay text: nothing is guessed to be a number, a date or nothing.

An empty cell is an absent value. A cell that holds a whole JSON object is that object, except in the columns of a
record's own words (id, input, output, reference), which stay as written.
"""

import csv
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from evalsi.core.errors import InvalidDataError
from evalsi.datasets.byte_source import ByteSource
from evalsi.datasets.careful_json import read_json
from evalsi.datasets.rows import MAX_ROW_BYTES, Chunk, Digest, Problem, Row, RowError

_ROWS_PER_CHUNK = 512
_ALWAYS_TEXT = frozenset({"id", "input", "output", "reference"})
_JSON_LISTS = frozenset({"context", "trajectory", "messages"})


@dataclass
class Delimited:
    """A table with a header row. The delimiter is a comma, or a semicolon where the header has semicolons and no comma."""

    source: ByteSource
    delimiter: str | None = None
    columns: Sequence[str] | None = field(default=None, init=False)

    @property
    def content(self) -> ByteSource:
        return self.source

    @property
    def name(self) -> str:
        return self.source.name

    def chunks(self, *, digest: Digest | None = None, checked: bool, skips: Collection[int] = ()) -> Iterator[Chunk]:  # noqa: ARG002
        if csv.field_size_limit() < MAX_ROW_BYTES:
            csv.field_size_limit(MAX_ROW_BYTES)  # of the whole process; csv knows no other
        table = _Table(self, self._lines(digest))
        self.columns = table.columns
        chunk = _empty_chunk()
        for place, row in table.rows(skips):
            if isinstance(row, RowError):
                chunk.problems.append(Problem(place, row.reason, row.offset))
            else:
                chunk.rows.append(row)
                cast("list[int]", chunk.places).append(place)
            if len(chunk.rows) >= _ROWS_PER_CHUNK:
                yield chunk
                chunk = _empty_chunk()
        yield chunk

    def where(self, place: int, offset: int | None = None) -> str:  # noqa: ARG002
        return f"{self.name}:{place}"

    def _lines(self, digest: Digest | None) -> Iterator[str]:
        """Lines with LF at their ends; in a file whose header ends with CRLF, every CRLF is such an end.

        So a line break inside a quoted cell is one character, whichever system wrote the file.
        """
        crlf: bool | None = None
        pending: list[bytes] = []
        pending_bytes = 0
        line = 0
        offset = 0
        for block in self.source.utf8_blocks(digest):
            pending.append(block)
            pending_bytes += len(block)
            cut = block.rfind(b"\n") + 1
            if not cut:
                if pending_bytes > MAX_ROW_BYTES:
                    raise InvalidDataError(
                        f"the line is longer than {MAX_ROW_BYTES >> 20} MiB", where=self.where(line + 1)
                    )
                continue
            pending[-1] = block[:cut]
            text = self._decode(b"".join(pending), offset, line)
            if crlf is None:
                crlf = text.partition("\n")[0].endswith("\r")
            for text_line in (text.replace("\r\n", "\n") if crlf else text).split("\n")[:-1]:
                line += 1
                yield text_line + "\n"
            offset += pending_bytes - len(block) + cut
            pending = [block[cut:]]
            pending_bytes = len(block) - cut
        if rest := b"".join(pending):
            yield self._decode(rest, offset, line)

    def _decode(self, text: bytes, offset: int, line: int) -> str:
        try:
            return text.decode()
        except UnicodeDecodeError as error:
            line += text.count(b"\n", 0, error.start) + 1
            raise InvalidDataError(
                f"byte 0x{text[error.start]:02x} at byte {offset + error.start} of the text is not UTF-8",
                where=self.where(line),
                hint="save the file as UTF-8",
            ) from None


class _Table:
    """One pass over the cells."""

    def __init__(self, part: Delimited, lines: Iterator[str]) -> None:
        self._part = part
        first = next(lines, "")
        delimiter = part.delimiter or (";" if ";" in first and "," not in first else ",")
        self._reader = csv.reader(_chain(first, lines), delimiter=delimiter, strict=True)
        self.columns = self._header()

    def _header(self) -> list[str]:
        try:
            cells = next(self._reader, cast("list[str]", []))
        except csv.Error as error:
            raise InvalidDataError(f"the header cannot be read: {error}", where=self._part.where(1)) from None
        columns = [cell.strip() or f"column_{number}" for number, cell in enumerate(cells, 1)]
        numbers: dict[str, int] = {}
        for number, column in enumerate(columns, 1):
            earlier = numbers.setdefault(column, number)
            if earlier != number:
                raise InvalidDataError(
                    f"two columns are called {column!r}: number {earlier} and number {number}",
                    where=self._part.where(1),
                    hint="rename one of them",
                )
        return columns

    def rows(self, skips: Collection[int]) -> Iterator[tuple[int, Row | RowError]]:
        """(line it starts on, row). The header is row 0; a row's number is in its error."""
        columns = self.columns
        width = len(columns)
        number = 0
        line = self._reader.line_num
        while True:
            place = line + 1
            try:
                cells = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                line = self._reader.line_num
                number += 1
                if place not in skips:
                    yield place, RowError(f"row {number} is no CSV: {error}")
                continue
            line = self._reader.line_num
            if not cells:
                continue
            number += 1
            if place in skips:
                continue
            if len(cells) != width:
                yield place, RowError(_width_reason(number, cells, width))
                continue
            try:
                yield place, {column: _cell(column, cell) for column, cell in zip(columns, cells, strict=True) if cell}
            except RowError as fault:
                yield place, fault


def _width_reason(number: int, cells: list[str], width: int) -> str:
    found = f"row {number} has {len(cells)} cells for {width} columns"
    return f"{found}; a comma inside a cell needs quotes around the cell" if len(cells) > width else found


def _cell(column: str, text: str) -> Any:
    if text[0] not in "{[" or column in _ALWAYS_TEXT or (text[0] == "[" and column not in _JSON_LISTS):
        return text
    if text.rstrip()[-1] not in "}]":
        return text
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return read_json(text.encode())[0]
    except RowError as fault:
        if fault.reason.startswith("not JSON"):
            return text
        raise RowError(f"column {column!r}: {fault.reason}") from None


def _chain(first: str, lines: Iterator[str]) -> Iterator[str]:
    if first:
        yield first
    yield from lines


def _empty_chunk() -> Chunk:
    return Chunk(rows=[], places=[])
