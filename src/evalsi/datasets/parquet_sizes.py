"""How much a Parquet file unpacks to, told from its metadata, so that a small file cannot fill the memory of who reads it.

Its own module because it reads the one fact that pyarrow does not tell: how large a dictionary is. A column that is stored
as a dictionary holds a long value once and names it in every row; read as it is, each row has the value.
"""

from collections.abc import Iterator
from typing import IO, Any

from evalsi.core.errors import InvalidDataError
from evalsi.datasets.unpacked_bound import MOST_TIMES, most_unpacked_bytes

_BATCH_BYTES = 512 << 20
"""What the rows of a batch may come to, where every value is as long as it can be."""
_LONGEST_HEADER = 64


def rows_at_once(parquet_file: Any, stored: IO[bytes], most: int, *, name: str) -> int:
    """How many rows may be read at once.

    Args:
        parquet_file: A `pyarrow.parquet.ParquetFile`.
        stored: The same file. Its position changes.

    Raises: InvalidDataError: a part of the file unpacks to very much more than it is.
    """
    fewest = most
    metadata = parquet_file.metadata
    for number in range(metadata.num_row_groups):
        dictionaries_bytes = 0
        for column in _columns(metadata.row_group(number)):
            unpacked_bytes = column.total_uncompressed_size
            if unpacked_bytes > most_unpacked_bytes(column.total_compressed_size):
                raise InvalidDataError(
                    f"the column {column.path_in_schema} unpacks to more than {MOST_TIMES} times its size",
                    where=name,
                )
            if column.has_dictionary_page and column.physical_type == "BYTE_ARRAY":
                stored.seek(column.dictionary_page_offset)
                header_bytes = stored.read(_LONGEST_HEADER)
                dictionaries_bytes += min(_unpacked_size(header_bytes, unpacked_bytes), unpacked_bytes)
        fewest = min(fewest, _BATCH_BYTES // max(1, dictionaries_bytes))
    return max(1, fewest)


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
