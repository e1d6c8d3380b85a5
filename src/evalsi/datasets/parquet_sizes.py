"""How much a Parquet file unpacks to, told from its metadata, so that a small file cannot fill the memory of who reads it.

Its own module because it reads the one fact that pyarrow does not tell: how large a dictionary is. A column that is stored
as a dictionary holds a long value once and names it in every row; read as it is, each row has the value, and a list in one
row has it any number of times.
"""

import importlib
from collections.abc import Iterator, Sequence
from typing import IO, Any, NamedTuple

from evalsi.core.errors import InvalidDataError
from evalsi.datasets.unpacked_bound import MOST_TIMES, most_unpacked_bytes

_BATCH_BYTES = 512 << 20
"""What the rows of a batch may come to, where every value is as long as it can be."""
_LONGEST_HEADER = 64


class ReadingPlan(NamedTuple):
    """How a file is read."""

    rows_at_once: int
    as_dictionaries: Sequence[str]
    """Columns with lists of values, of which a row may hold very many: these are read as they are stored, so that how much
    a row comes to is known before it is made.
    """


def reading_plan(parquet_file: Any, stored: IO[bytes], most: int, *, name: str) -> ReadingPlan:
    """How a file may be read without filling the memory.

    Args:
        most: Rows that are read at once where nothing is large.
        parquet_file: A `pyarrow.parquet.ParquetFile`.
        stored: The same file. Its position changes.

    Raises: InvalidDataError: a part of the file unpacks to very much more than it is.
    """
    fewest = most
    as_dictionaries: set[str] = set()
    metadata, schema = parquet_file.metadata, parquet_file.schema
    for number in range(metadata.num_row_groups):
        dictionaries_bytes = 0
        for place, column in enumerate(_columns(metadata.row_group(number))):
            unpacked_bytes = column.total_uncompressed_size
            if unpacked_bytes > most_unpacked_bytes(column.total_compressed_size):
                raise InvalidDataError(
                    f"the column {column.path_in_schema} unpacks to more than {MOST_TIMES} times its size",
                    where=name,
                )
            if column.has_dictionary_page and column.physical_type == "BYTE_ARRAY":
                stored.seek(column.dictionary_page_offset)
                header_bytes = stored.read(_LONGEST_HEADER)
                size_bytes = min(_unpacked_size(header_bytes, unpacked_bytes), unpacked_bytes)
                if not schema.column(place).max_repetition_level:
                    dictionaries_bytes += size_bytes
                elif column.num_values * size_bytes > _BATCH_BYTES:
                    as_dictionaries.add(column.path_in_schema)
        fewest = min(fewest, _BATCH_BYTES // max(1, dictionaries_bytes))
    return ReadingPlan(max(1, fewest), sorted(as_dictionaries))


def bounded_batches(batch: Any, first: int, *, name: str) -> Iterator[Any]:
    """A `pyarrow.RecordBatch` in parts whose values come to no more than a batch may.

    Args:
        first: Number of its first row, from 1.
    Raises: InvalidDataError: one row comes to more.
    """
    if _said_bytes(batch) <= _BATCH_BYTES:
        yield batch
        return
    if batch.num_rows == 1:
        raise InvalidDataError(f"the row {first} has lists that come to more than {_BATCH_BYTES >> 20} MiB", where=name)
    middle = batch.num_rows // 2
    yield from bounded_batches(batch.slice(0, middle), first, name=name)
    yield from bounded_batches(batch.slice(middle), first + middle, name=name)


def _said_bytes(batch: Any) -> int:
    return sum(_bytes_of(column) for column in batch.columns)


def _bytes_of(array: Any) -> int:
    """What the values that stand in a dictionary come to where each is written out."""
    types: Any = importlib.import_module("pyarrow.types")
    compute: Any = importlib.import_module("pyarrow.compute")
    kind = array.type
    if types.is_dictionary(kind):
        if not (types.is_string(kind.value_type) or types.is_binary(kind.value_type)):
            return 0
        return compute.sum(compute.binary_length(array.dictionary).cast("int64").take(array.indices)).as_py() or 0
    if types.is_map(kind):
        start, end = array.offsets[0].as_py(), array.offsets[len(array)].as_py()
        return sum(_bytes_of(part.slice(start, end - start)) for part in (array.keys, array.items))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _bytes_of(array.flatten())
    if types.is_struct(kind):
        return sum(map(_bytes_of, array.flatten()))
    return 0


def _columns(group: Any) -> Iterator[Any]:
    return (group.column(number) for number in range(group.num_columns))


def _unpacked_size(header: bytes, otherwise: int) -> int:
    """The uncompressed size in the header of a page; `otherwise` where it cannot be read.

    Source: Parquet's `PageHeader`, in Thrift's compact form: the first two fields are integers, the type and this size.
    """
    numbers: list[int] = []
    at = 0
    for _ in range(2):
        if header[at : at + 1] != b"\x15":  # the next field, of 32 bits
            return otherwise
        at += 1
        value = shift = 0
        while True:
            if at >= len(header) or shift > 35:
                return otherwise
            value |= (header[at] & 0x7F) << shift
            shift += 7
            at += 1
            if not header[at - 1] & 0x80:
                break
        numbers.append((value >> 1) ^ -(value & 1))
    return numbers[1] if numbers[1] >= 0 else otherwise
