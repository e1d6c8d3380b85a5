"""A dataset: checked once from end to end, then streamed as records. The face of this package."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

from evalsi.core.errors import InvalidDataError
from evalsi.datasets.byte_source import Stamp
from evalsi.datasets.condition import Condition
from evalsi.datasets.kept_scan import remembered
from evalsi.datasets.mapping import FieldMap
from evalsi.datasets.options import DatasetOptions
from evalsi.datasets.record_of_row import encode_record, record_of_row
from evalsi.datasets.row_ids import text_of_id
from evalsi.datasets.rows import Chunk, Part
from evalsi.datasets.scan import DatasetFacts, Findings, Scan, SkippedRow, identified
from evalsi.datasets.sources import parts_of
from evalsi.ports.scan_memory import ScanMemory
from evalsi.schema import Record

_MISSING: Any = object()


@dataclass(frozen=True, kw_only=True)
class RecordBatch:
    """Consecutive records."""

    first_row: int
    """Number of the first record within the dataset, from 0."""
    records: list[Record]
    raw: list[bytes | None]
    """Of each record: the line it was read from, where `parse_record` makes the record of that very line; else None."""

    def lines(self) -> list[bytes]:
        """Of each record: one line of JSON that `parse_record` makes the record of again. As read where possible."""
        return [line or encode_record(record) for line, record in zip(self.raw, self.records, strict=True)]

    def json_lines(self) -> bytes:
        """The lines as one JSON Lines text, for storing."""
        return b"".join([line + b"\n" for line in self.lines()])


def open_dataset(
    source: str | Path | Iterable[Any] | Any,
    *,
    options: DatasetOptions = DatasetOptions(),  # noqa: B008
    memory: ScanMemory | None = None,
) -> "Dataset":
    """The dataset that `source` names. Nothing but its beginning is read yet; `Dataset.scan` reads it.

    Args:
        source: A file (JSON Lines, JSON, CSV, TSV, Parquet; plain, .gz or .zst), a folder or a pattern of such files, "-"
            for standard input, `hf://owner/name?split=test`, a log of another tool (`inspect://path`; see
            `evalsi.datasets.imports`), an iterable of dicts or records, a pandas or polars
            DataFrame, a pyarrow Table. An iterator that can run only once is kept in a temporary file.
        options: How it is read.
        memory: Remembers what the first pass found in large files, so that it is made once for all runs.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: the source is none of these, or an address of the web: nothing is fetched.
        InvalidSpecError, UnknownNameError: the mapping or the condition is wrong.
        MissingExtraError: the format needs a package that is not installed.
    """
    fields = FieldMap(options.mapping)
    condition = Condition(options.where) if options.where is not None else None
    name, parts = parts_of(source, options)
    return Dataset(name, parts, options, fields, condition, memory)


class Dataset:
    """Records of one source. What needs the first pass calls `scan`; call it yourself to refuse bad data early.

    Memory does not grow with the number of records but for 8 bytes per identifier during the first pass and a byte per
    row where a condition or a sample chooses. A JSON document is held as a whole; JSON Lines stream.
    """

    def __init__(
        self,
        name: str,
        parts: list[Part],
        options: DatasetOptions,
        fields: FieldMap,
        condition: Condition | None,
        memory: ScanMemory | None = None,
    ) -> None:
        self.name = name
        """The path, pattern or address as given; "records" or "DataFrame" for objects."""
        self._parts = parts
        self._options = options
        self._fields = fields
        self._condition = condition
        self._memory = memory
        self._findings: Findings | None = None

    def scan(self) -> DatasetFacts:
        """Reads everything once and checks it. The second call answers from memory.

        Raises:
            InvalidDataError: rows cannot be used (the first 20 are named), a file cannot be read, or no row is left.
            DuplicateIdError: the only fault is that rows share an identifier.
            UnknownNameError: a mapped column is in none of the rows.
            InvalidSpecError: the condition has no answer for some row.
        """
        return self._found().facts

    @property
    def skipped(self) -> tuple[SkippedRow, ...]:
        """Rows that were left out, in order. Empty unless invalid rows are skipped."""
        return self._found().facts.skipped

    def records(self, first: int = 0) -> Iterator[Record]:
        """The records in order, read as they are asked for.

        Args:
            first: Number of the record to begin with, from 0. Those before it are read over, not made.

        Raises:
            What `scan` raises; InvalidDataError when a file has changed since.
        """
        for records, _ in self._built(first):
            yield from records

    def __iter__(self) -> Iterator[Record]:
        return self.records()

    def batches(self, size: int) -> Iterator[RecordBatch]:
        """The records in batches of `size`; the last may be shorter. Raises: as `records`."""
        records: list[Record] = []
        raw: list[bytes | None] = []
        first_row = 0
        for more, more_raw in self._built():
            records += more
            raw += more_raw
            start = 0
            while len(records) - start >= size:
                end = start + size
                yield RecordBatch(first_row=first_row, records=records[start:end], raw=raw[start:end])
                first_row += size
                start = end
            if start:
                del records[:start], raw[:start]
        if records:
            yield RecordBatch(first_row=first_row, records=records, raw=raw)

    def _found(self) -> Findings:
        if self._findings is None:
            scan = Scan(self._parts, self._options, self._fields, self._condition)
            self._findings = remembered(self._memory, self._parts, self._options, scan.run)
        return self._findings

    def _built(self, first: int = 0) -> Iterator[tuple[list[Record], list[bytes | None]]]:
        """Records from number `first` on and the lines they were read from, chunk by chunk."""
        found = self._found()
        suffixes = _Suffixes(found)
        left = found.facts.rows
        checked = zip(self._parts, found.skips, found.stamps, found.digests, strict=True)
        for part, skips, stamp, digest in checked:
            if left == 0:
                break
            stamp = _unchanged(part, stamp, digest)  # noqa: PLW2901
            for chunk in part.chunks(checked=False, skips=skips):
                # Nothing of a file that somebody writes meanwhile is handed on under the digest of before.
                stamp = _unchanged(part, stamp, digest)  # noqa: PLW2901
                if len(chunk.rows) > left:
                    chunk = _cut(chunk, left)  # noqa: PLW2901
                elif chunk.problems:
                    raise _changed(part)
                start = found.facts.rows - left
                wanted = None if found.chosen is None else found.chosen[start : start + len(chunk.rows)]
                left -= len(chunk.rows)
                chosen = len(chunk.rows) if wanted is None else sum(wanted)
                # Equal rows are told apart by their order, so that where there are some all must be looked at.
                if chosen > first or suffixes:
                    records, raw = self._build(part, chunk, wanted, suffixes)
                    yield records[first:], raw[first:]
                first = max(0, first - chosen)
                if left == 0:
                    break
        if left:
            raise _changed(self._parts[-1])

    def _build(
        self, part: Part, chunk: Chunk, wanted: bytearray | None, suffixes: "_Suffixes"
    ) -> tuple[list[Record], list[bytes | None]]:
        records: list[Record] = []
        raw: list[bytes | None] = []
        mapped = bool(self._fields)
        lines = chunk.raw if chunk.raw is not None and not mapped else repeat(None)
        for row, line, want in zip(chunk.rows, lines, wanted or repeat(1), strict=False):
            if mapped:
                identifier, made, row = identified(row, self._fields, part.columns)  # noqa: PLW2901
                row.pop("id", None)
            else:
                given = row.pop("id", _MISSING)
                if type(given) is str and given:
                    if want:
                        records.append(record_of_row(row, given))
                        raw.append(line)
                    continue
                identifier = "" if given is _MISSING else text_of_id(given)
                made = not identifier
                if made:
                    identifier, _, _ = identified(row, self._fields, None)
                    if line is not None:
                        line = _with_id(line, identifier) if given is _MISSING and row else None  # noqa: PLW2901
            if made and suffixes and (suffixed := suffixes.apply(identifier)) != identifier:
                if line is not None:
                    line = line.replace(identifier.encode(), suffixed.encode(), 1)  # noqa: PLW2901
                identifier = suffixed
            if want:
                records.append(record_of_row(row, identifier))
                raw.append(line)
        return records, raw


class _Suffixes:
    """Tells rows with equal content apart: the second gets `-2`, the third `-3`, past identifiers the data has itself."""

    def __init__(self, found: Findings) -> None:
        self._next = dict.fromkeys(found.repeated, 1)
        self._taken = found.taken

    def __bool__(self) -> bool:
        return bool(self._next)

    def apply(self, identifier: str) -> str:
        number = self._next.get(identifier)
        if number is None:
            return identifier
        suffixed = identifier if number == 1 else f"{identifier}-{number}"
        while suffixed in self._taken:
            number += 1
            suffixed = f"{identifier}-{number}"
        self._next[identifier] = number + 1
        return suffixed


def _with_id(line: bytes, identifier: str) -> bytes:
    """A line of a non-empty object that has no id, with one."""
    return b'{"id":"' + identifier.encode() + b'",' + line.lstrip()[1:]


def _cut(chunk: Chunk, size: int) -> Chunk:
    return Chunk(
        rows=chunk.rows[:size], places=chunk.places[:size], raw=None if chunk.raw is None else chunk.raw[:size]
    )


def _unchanged(part: Part, stamp: Stamp | None, digest: str) -> Stamp | None:
    """What the file of a part is known by now. Its mode, owner or name may change, and then its content is looked at once.

    Raises: InvalidDataError: it is not the file that was checked, or somebody writes it.
    """
    if part.content is None:
        return stamp
    now = part.content.stamp()
    if now == stamp:
        return stamp
    if now is None or stamp is None or now.contents != stamp.contents:
        raise _changed(part)
    found = hashlib.sha256()
    for _ in part.content.blocks(found):
        pass
    if found.hexdigest() != digest or part.content.stamp() != now:
        raise _changed(part)
    return now


def _changed(part: Part) -> InvalidDataError:
    return InvalidDataError("has changed since it was checked", where=part.name, hint="run again when nobody writes it")
