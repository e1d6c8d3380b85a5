"""JSON Lines and JSON documents as rows. The fast way first; a chunk that looks suspicious is looked at row by row."""

import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from evalsi.core.errors import InvalidDataError
from evalsi.datasets.byte_source import ByteSource
from evalsi.datasets.careful_json import array_spans, read_json
from evalsi.datasets.rows import MAX_DEPTH, MAX_ROW_BYTES, Chunk, Digest, Problem, Row, RowError

_decode = msgspec.json.Decoder().decode
_KEY_COLON = re.compile(rb'(?:(?<!\\)"|\\\\"|\s):')
_LIST_KEYS = ("records", "data")

MAX_DOCUMENT_BYTES = 1024 * 1024 * 1024
"""Length of a JSON document that is accepted, since it is held in memory."""

_ROWS_PER_CHUNK = 512


@dataclass(frozen=True)
class JsonLines:
    """One JSON object per line. Lines end with LF or CRLF and nothing else; blank lines do not count as rows."""

    source: ByteSource
    columns: Sequence[str] | None = None

    @property
    def content(self) -> ByteSource:
        return self.source

    @property
    def name(self) -> str:
        return self.source.name

    def chunks(self, *, digest: Digest | None = None, checked: bool, skips: Collection[int] = ()) -> Iterator[Chunk]:
        line = 1
        pending: list[bytes] = []
        pending_bytes = 0
        for block in self.source.utf8_blocks(digest):
            cut = block.rfind(b"\n")
            if cut < 0:
                pending.append(block)
                pending_bytes += len(block)
                if pending_bytes > MAX_ROW_BYTES:
                    raise InvalidDataError(f"the line is longer than {MAX_ROW_BYTES >> 20} MiB", where=self.where(line))
                continue
            text = b"".join((*pending, block[:cut]))
            pending = [block[cut + 1 :]]
            pending_bytes = len(pending[0])
            lines = text.split(b"\n")
            places = range(line, line + len(lines))
            line += len(lines)
            yield decode_rows(lines, places, checked=checked, skips=skips, text=text)
        if rest := b"".join(pending):
            yield decode_rows([rest], range(line, line + 1), checked=checked, skips=skips)

    def where(self, place: int, offset: int | None = None) -> str:
        return f"{self.name}:{place}" if offset is None else f"{self.name}:{place}:{offset + 1}"


@dataclass
class JsonDocument:
    """A JSON list of objects, or an object with such a list under "records" or "data". Held in memory while it is read."""

    source: ByteSource
    columns: Sequence[str] | None = None
    _places: list[tuple[int, int, bool]] | None = field(default=None, init=False, repr=False)

    @property
    def content(self) -> ByteSource:
        return self.source

    @property
    def name(self) -> str:
        return self.source.name

    def chunks(self, *, digest: Digest | None = None, checked: bool, skips: Collection[int] = ()) -> Iterator[Chunk]:
        elements = self._elements(self._text(digest))
        for start in range(0, len(elements), _ROWS_PER_CHUNK):
            raw = [_on_one_line(element) for element in elements[start : start + _ROWS_PER_CHUNK]]
            yield decode_rows(
                raw, range(start + 1, start + 1 + len(raw)), checked=checked, skips=skips, blanks_count=True
            )

    def where(self, place: int, offset: int | None = None) -> str:
        if self._places is None:
            text = self._text(None).decode(errors="replace")
            self._places = _places(text, array_spans(text, _LIST_KEYS))
        line, column, is_one_line = self._places[place - 1]
        # An element spread over several lines was put on one before it was read, so its offsets say nothing.
        return f"{self.name}:{line}:{column + (offset or 0)}" if is_one_line else f"{self.name}:{line}"

    def _text(self, digest: Digest | None) -> bytes:
        blocks: list[bytes] = []
        size = 0
        for block in self.source.utf8_blocks(digest):
            blocks.append(block)
            size += len(block)
            if size > MAX_DOCUMENT_BYTES:
                raise InvalidDataError(
                    f"the JSON document is larger than {MAX_DOCUMENT_BYTES >> 20} MiB",
                    where=self.name,
                    hint="write it as JSON Lines, one object per line: those stream",
                )
        return b"".join(blocks)

    def _elements(self, text: bytes) -> list[bytes]:
        if not text.strip():
            return []
        try:
            if text.lstrip()[:1] == b"[":
                return [bytes(element) for element in _decode_list(text)]
            found = _decode_holder(text)
            elements = found.data if found.records is msgspec.UNSET else found.records
            if elements is not msgspec.UNSET:
                return [bytes(element) for element in elements]
        except (msgspec.DecodeError, RecursionError):
            pass
        return self._elements_carefully(text)

    def _elements_carefully(self, text: bytes) -> list[bytes]:
        decoded = ""
        try:
            try:
                decoded = text.decode()
            except UnicodeDecodeError as error:
                decoded = text[: error.start].decode()
                raise RowError(
                    f"byte 0x{text[error.start]:02x} at byte {error.start} is not UTF-8", len(decoded)
                ) from None
            spans = array_spans(decoded, _LIST_KEYS)
        except RowError as fault:
            at = fault.offset or 0
            line = decoded.count("\n", 0, at) + 1
            column = at - decoded.rfind("\n", 0, at)
            raise InvalidDataError(fault.reason, where=f"{self.name}:{line}:{column}") from None
        return [decoded[start:end].encode() for start, end in spans]


def _places(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int, bool]]:
    """Of each span: the line and column it starts at, from 1, and whether it stays on that line."""
    places: list[tuple[int, int, bool]] = []
    line, line_start, seen = 1, 0, 0
    for start, end in spans:
        breaks = text.count("\n", seen, start)
        if breaks:
            line += breaks
            line_start = text.rfind("\n", seen, start) + 1
        seen = start
        places.append((line, start - line_start + 1, "\n" not in text[start:end]))
    return places


class _Holder(msgspec.Struct):
    records: list[msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET
    data: list[msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET


_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_holder = msgspec.json.Decoder(_Holder).decode


def decode_rows(
    raw: list[bytes],
    places: Sequence[int],
    *,
    checked: bool,
    skips: Collection[int] = (),
    blanks_count: bool = False,
    text: bytes | None = None,
) -> Chunk:
    """The chunk of rows that `raw` spells, one JSON text each.

    Args:
        raw: JSON texts without line breaks inside.
        places: Of each text.
        checked: Whether to refuse duplicate keys and too deep nesting.
        skips: Places to leave out.
        blanks_count: Whether a blank text is a broken row rather than none.
        text: All of `raw` in one piece, where it is at hand.
    """
    if skips and not skips_none(skips, places):
        kept = [index for index, place in enumerate(places) if place not in skips]
        raw = [raw[index] for index in kept]
        places = [places[index] for index in kept]
    try:
        rows: list[Any] = [_decode(text) for text in raw]
    except (msgspec.DecodeError, RecursionError):
        return _decode_one_by_one(raw, places, checked=checked, blanks_count=blanks_count)
    if set(map(type, rows)) - {dict}:
        return _decode_one_by_one(raw, places, checked=checked, blanks_count=blanks_count)
    if not checked:
        return Chunk(rows=rows, places=places, raw=raw)
    if not _are_clean(text or b"\n".join(raw), rows):
        return _check_one_by_one(raw, rows, places)
    return Chunk(rows=rows, places=places, raw=raw)


def skips_none(skips: Collection[int], places: Sequence[int]) -> bool:
    return not places or not any(place in skips for place in places)


def _are_clean(text: bytes, rows: list[Row]) -> bool:
    """Whether all keys of the rows are unique and nesting is within bounds. May err on the side of doubt.

    JSON has a colon after each key, and a key ends with a quote. So the colons after a quote or white space are at least
    as many as the keys, and when they are no more than the decoded objects have keys, none was lost as a double. A quote
    with one backslash before it is inside a string and ends no key.
    """
    # Twice as quick with numpy, which a few rows are not worth loading.
    keys, lists = _counted_quickly(text) if "numpy" in sys.modules else _counted(text)
    if keys == sum(map(len, rows)) and lists < MAX_DEPTH - 1:
        return True  # all keys are the rows' own, so only lists could nest
    counted = [_count_keys(row, MAX_DEPTH) for row in rows]
    return -1 not in counted and sum(counted) == keys


def _counted(text: bytes) -> tuple[int, int]:
    """How many colons stand behind what may be the end of a key, and how many lists begin."""
    quoted = text.count(b'":') - text.count(b'\\":') + text.count(b'\\\\":')
    return quoted + sum(map(text.count, (b" :", b"\t:", b"\n:", b"\r:"))), text.count(b"[")


def _counted_quickly(text: bytes) -> tuple[int, int]:
    """As `_counted`."""
    import numpy as np

    codes = np.frombuffer(text, np.uint8)
    colons = np.flatnonzero(codes == ord(":"))
    before = codes[colons - 1]
    ends = (before == ord('"')) & ((codes[colons - 2] != ord("\\")) | (codes[colons - 3] == ord("\\")))
    return int(np.count_nonzero(ends | (before <= ord(" ")))), int(np.count_nonzero(codes == ord("[")))


def _count_keys(value: Any, levels: int) -> int:
    """Keys of all objects in `value`; -1 when it nests deeper than `levels`."""
    if levels == 0:
        return -1
    if type(value) is dict:
        found = len(cast("dict[str, Any]", value))
        inner = cast("dict[str, Any]", value).values()
    else:
        found = 0
        inner = cast("list[Any]", value)
    for item in inner:
        if type(item) is dict or type(item) is list:
            more = _count_keys(item, levels - 1)
            if more < 0:
                return -1
            found += more
    return found


def _decode_one_by_one(raw: list[bytes], places: Sequence[int], *, checked: bool, blanks_count: bool) -> Chunk:
    chunk = Chunk(rows=[], places=[], raw=[])
    places_kept = cast("list[int]", chunk.places)
    raw_kept = cast("list[bytes]", chunk.raw)
    for text, place in zip(raw, places, strict=True):
        if not blanks_count and (not text or text.isspace()):
            continue
        try:
            row, escaped = _decode_one(text, checked=checked)
        except RowError as fault:
            chunk.problems.append(Problem(place, fault.reason, fault.offset))
            continue
        chunk.rows.append(row)
        places_kept.append(place)
        raw_kept.append(msgspec.json.encode(row) if escaped else text)
        chunk.escaped += escaped
    return chunk


def _decode_one(text: bytes, *, checked: bool) -> tuple[Row, bool]:
    try:
        value = _decode(text)
    except (msgspec.DecodeError, RecursionError):
        value, escaped = read_json(text)
    else:
        escaped = False
        if checked and isinstance(value, dict) and _is_doubtful(text, cast("Row", value)):
            value, escaped = read_json(text)
    if not isinstance(value, dict):
        raise RowError(f"not an object but {_kind(value)}", 0)
    return cast("Row", value), escaped


def _check_one_by_one(raw: list[bytes], rows: list[Row], places: Sequence[int]) -> Chunk:
    problems: list[Problem] = []
    for text, row, place in zip(raw, rows, places, strict=True):
        if _is_doubtful(text, row):
            try:
                read_json(text)
            except RowError as fault:
                problems.append(Problem(place, fault.reason, fault.offset))
    if not problems:
        return Chunk(rows=rows, places=places, raw=raw)
    broken = {problem.place for problem in problems}
    kept = [index for index, place in enumerate(places) if place not in broken]
    return Chunk(
        rows=[rows[index] for index in kept],
        places=[places[index] for index in kept],
        raw=[raw[index] for index in kept],
        problems=problems,
    )


def _is_doubtful(text: bytes, row: Row) -> bool:
    """`_are_clean` for one row."""
    return _count_keys(row, MAX_DEPTH) != len(_KEY_COLON.findall(text))


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "a number"


def _on_one_line(element: bytes) -> bytes:
    if b"\n" not in element and b"\r" not in element:
        return element
    try:
        return msgspec.json.format(element, indent=-1)
    except (msgspec.DecodeError, RecursionError):
        # Line breaks are never inside JSON strings, so a space is the same white space.
        return element.replace(b"\n", b" ").replace(b"\r", b" ")
