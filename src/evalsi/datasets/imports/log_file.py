"""Reading a log file whole, or its lines with their numbers, with every fault named by file."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from evalsi.core.errors import InvalidDataError
from evalsi.datasets.byte_source import ByteSource
from evalsi.datasets.imports.log_json import read_log_json
from evalsi.datasets.rows import MAX_ROW_BYTES, RowError

_T = TypeVar("_T")
MAX_DOCUMENT_BYTES = 4 * 1024 * 1024 * 1024
"""Unpacked size of a document that is held in memory."""


def read_document(path: Path, kind: type[_T]) -> _T:
    """The one JSON document in the file, which may be packed with gzip or zstd.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: it is no such document.
    """
    unpacked = bytearray()
    for block in ByteSource(str(path), path).utf8_blocks():
        unpacked += block
        if len(unpacked) > MAX_DOCUMENT_BYTES:
            raise InvalidDataError("unpacks to more than 4 GiB", where=str(path))
    try:
        return read_log_json(bytes(unpacked), kind)
    except RowError as fault:
        raise InvalidDataError(fault.reason, where=str(path)) from None


def lines_of(path: Path) -> Iterator[tuple[str, bytes]]:
    """`file:line` and the text of every line that is not blank.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: it cannot be read, or a line is longer than a row may be.
    """
    rest, number = b"", 0
    for block in ByteSource(str(path), path).utf8_blocks():
        *whole, rest = (rest + block).split(b"\n")
        for line in whole:
            number += 1
            if line.strip():
                yield f"{path}:{number}", line
        if len(rest) > MAX_ROW_BYTES:
            raise InvalidDataError(f"longer than {MAX_ROW_BYTES:,} bytes", where=f"{path}:{number + 1}")
    if rest.strip():
        yield f"{path}:{number + 1}", rest


def head_of(path: Path) -> bytes:
    """The first 64 KiB, unpacked. Raises: as `read_document`."""
    return ByteSource(str(path), path).head()
