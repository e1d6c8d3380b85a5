"""Python objects as rows: iterables of dicts or records, DataFrames, Arrow tables, Parquet files.

Each item is written as one line of JSON and read back. That one detour gives every source the same rules (exact
integers, no NaN, dates as ISO 8601 text, no objects that JSON cannot hold) and the same bytes to digest and to store.
"""

import functools
import importlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

import msgspec

from evalsi.core.errors import InvalidDataError, MissingExtraError
from evalsi.datasets.byte_source import ByteSource
from evalsi.datasets.json_rows import decode_rows
from evalsi.datasets.parquet_sizes import bounded_batches, reading_plan
from evalsi.datasets.rows import Chunk, Digest, Problem, RowError, row_place

_ROWS_PER_CHUNK = 512
_CHUNK_BYTES = 8 << 20
"""A chunk ends after the row with which it has so many bytes."""


@dataclass(frozen=True)
class Objects:
    """Rows made from what `items` gives; it is called once per pass."""

    name: str
    items: Callable[[], Iterable[Any]]
    columns: Sequence[str] | None = None
    content: ByteSource | None = None
    """The file they come from, whose content is then what the digest is of."""

    def chunks(self, *, digest: Digest | None = None, checked: bool, skips: Collection[int] = ()) -> Iterator[Chunk]:
        if self.content is not None and digest is not None:
            for _ in self.content.blocks(digest):
                pass
            digest = None
        items = enumerate(self.items(), 1)
        at_its_end = False
        while not at_its_end:
            raw: list[bytes] = []
            places: list[int] = []
            problems: list[Problem] = []
            size = 0
            at_its_end = True
            for place, item in islice(items, _ROWS_PER_CHUNK):
                at_its_end = False
                if place in skips:
                    continue
                try:
                    line = line_of(item)
                except RowError as fault:
                    problems.append(Problem(place, fault.reason))
                    continue
                raw.append(line)
                places.append(place)
                size += len(line)
                if size >= _CHUNK_BYTES:
                    break
            if at_its_end:
                return
            if digest is not None:
                digest.update(b"".join(line + b"\n" for line in raw))
            chunk = decode_rows(raw, places, checked=checked, blanks_count=True)
            chunk.problems = sorted(chunk.problems + problems, key=lambda problem: problem.place)
            yield chunk

    def where(self, place: int, offset: int | None = None) -> str:  # noqa: ARG002
        return row_place(self.name, place)


def line_of(item: Any) -> bytes:
    """A row as one line of JSON.

    Raises:
        RowError: the item is no mapping and no record, or holds NaN, an infinity or something JSON has no form for.
    """
    try:
        line = _encode(item)
    except UnicodeEncodeError:
        return _encode_carefully(item)
    except (TypeError, ValueError, OverflowError, msgspec.EncodeError, RecursionError) as error:
        raise RowError(f"cannot be written as JSON: {error}") from None
    if b"null" in line:  # the fast encoder writes NaN as null
        return _encode_carefully(item)
    return line


def _encode_carefully(item: Any) -> bytes:
    try:
        plain = msgspec.to_builtins(item, enc_hook=_plain, str_keys=True)
        return json.dumps(plain, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        reason = "NaN and infinities are no JSON values" if "Out of range float" in str(error) else str(error)
        raise RowError(f"cannot be written as JSON: {reason}") from None


def _plain(value: Any) -> Any:
    """Values of numpy and of anything that behaves like a mapping, without importing either."""
    for method in ("tolist", "item", "to_dict"):
        if hasattr(value, method):
            return getattr(value, method)()
    if hasattr(value, "keys"):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


_encode = msgspec.json.Encoder(enc_hook=_plain).encode


def of_iterable(items: Iterable[Any], *, most: int | None) -> Objects | ByteSource:
    """A list, a `datasets.Dataset` or anything that can be iterated again as it is; a generator is spooled to disk.

    Args:
        items: Mappings or records.
        most: Items that are enough; a generator that never ends is then fine.
    """
    if iter(items) is not items:
        return Objects(name="records", items=lambda: items)
    import tempfile

    spool = tempfile.SpooledTemporaryFile(max_size=8 * 1024 * 1024)  # noqa: SIM115
    for number, item in enumerate(islice(items, most), 1):
        try:
            spool.write(line_of(item) + b"\n")
        except RowError as fault:
            spool.close()
            raise InvalidDataError(fault.reason, where=row_place("records", number)) from None
    return ByteSource.of_spool(spool, "records")


def of_frame(frame: Any) -> Objects | None:
    """A pandas or polars DataFrame or a pyarrow Table; None when it is none of these."""
    kind = (type(frame).__module__.partition(".")[0], type(frame).__name__)
    match kind:
        case ("pandas", "DataFrame"):
            columns = [str(column) for column in frame.columns]
            _refuse_twins(columns)
            return Objects(name="DataFrame", items=functools.partial(_rows_of_pandas, frame), columns=columns)
        case ("polars", "LazyFrame"):
            return of_frame(frame.collect())
        case ("polars", "DataFrame"):
            return Objects(
                name="DataFrame", items=functools.partial(_rows_of_polars, frame), columns=list(frame.columns)
            )
        case ("pyarrow", "Table"):
            columns = list(cast("list[str]", frame.column_names))
            _refuse_twins(columns)
            return Objects(name="Table", items=functools.partial(_rows_of_arrow, frame), columns=columns)
        case _:
            return None


def of_parquet(source: ByteSource) -> Objects:
    """A Parquet file, read in batches.

    Raises:
        MissingExtraError: pyarrow is not installed.
        InvalidDataError: the file is no Parquet.
    """
    try:
        arrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtraError("reading Parquet", "arrow") from None
    # Values that Arrow holds and Python does not, such as a day of the year 300000 or an unknown zone, are among these.
    broken: tuple[type[Exception], ...] = (arrow.ArrowException, OSError, ValueError, ArithmeticError, LookupError)
    try:
        with source.seekable() as stored:
            columns = [str(name) for name in parquet.ParquetFile(stored).schema_arrow.names]
    except broken as error:
        raise InvalidDataError(f"is no Parquet file: {error}", where=source.name) from error
    _refuse_twins(columns)

    def rows() -> Iterator[Any]:
        try:
            with source.seekable() as stored:
                file = parquet.ParquetFile(stored)
                plan = reading_plan(file, stored, _ROWS_PER_CHUNK, name=source.name)
                if plan.as_dictionaries:
                    file = parquet.ParquetFile(stored, read_dictionary=plan.as_dictionaries)
                first = 1
                for batch in file.iter_batches(batch_size=plan.rows_at_once):
                    for part in bounded_batches(batch, first, name=source.name) if plan.as_dictionaries else (batch,):
                        yield from part.to_pylist()
                    first += batch.num_rows
        except broken as error:
            raise InvalidDataError(f"the Parquet file cannot be read to its end: {error}", where=source.name) from error

    return Objects(name=source.name, items=rows, columns=columns, content=source)


def _refuse_twins(columns: list[str]) -> None:
    if len(set(columns)) != len(columns):
        twin = next(column for column in columns if columns.count(column) > 1)
        raise InvalidDataError(f"two columns are called {twin!r}", hint="rename one of them")


def _rows_of_pandas(frame: Any) -> Iterator[Any]:
    names = [str(column) for column in frame.columns]
    for start in range(0, len(frame), _ROWS_PER_CHUNK):
        part = frame.iloc[start : start + _ROWS_PER_CHUNK]
        present = part.notna().to_numpy()
        cells = [part.iloc[:, index].tolist() for index in range(len(names))]
        for row in range(len(part)):
            # What pandas calls missing (None, NaN, NaT, NA) is absent.
            yield {name: cells[index][row] for index, name in enumerate(names) if present[row, index]}


def _rows_of_polars(frame: Any) -> Iterator[Any]:
    for part in frame.iter_slices(_ROWS_PER_CHUNK):
        yield from part.to_dicts()


def _rows_of_arrow(table: Any) -> Iterator[Any]:
    for batch in table.to_batches(max_chunksize=_ROWS_PER_CHUNK):
        yield from batch.to_pylist()
