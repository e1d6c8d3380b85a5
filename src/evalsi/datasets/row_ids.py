"""Identifiers of rows: read as text, made from the content where a row has none, checked for doubles in little memory.

An identifier made from content is the same whenever the row is read, in whatever file and at whatever place, so results
can be matched, cached and resumed without the user having to invent identifiers.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from evalsi.datasets.rows import Row, RowError

_encode = msgspec.json.Encoder(order="sorted").encode
_MADE = re.compile(r"(sha-[0-9a-f]{16})-([1-9][0-9]*)")


def text_of_id(value: Any) -> str:
    """The identifier as text, "" where there is none. 1 and "1" are the same identifier.

    Raises:
        RowError: it is neither text nor a number.
    """
    if type(value) is str:
        return value
    if value is None:
        return ""
    if type(value) is bool or not isinstance(value, int | float):
        raise RowError("id is neither text nor a number")
    return str(value)


def id_of_content(row: Row) -> str:
    """`sha-` and 16 hex digits of SHA-256 over the row as JSON with sorted keys, its empty id left out."""
    if "id" in row and not row["id"]:
        row = {name: value for name, value in row.items() if name != "id"}
    return "sha-" + hashlib.sha256(_encode(row)).hexdigest()[:16]


def made_from(identifier: str) -> str | None:
    """The base of an identifier with a suffix, e.g. sha-0123456789abcdef of sha-0123456789abcdef-2; else None."""
    found = _MADE.fullmatch(identifier)
    return found[1] if found else None


hash_of: Callable[[str], int] = hash
"""64 bits, different in every process."""


class SeenIds:
    """All identifiers of a dataset as 64-bit hashes, 8 bytes each.

    Equal identifiers always have equal hashes. Different ones may share a hash, so a double found here is a suspicion
    that the caller has to check against the identifiers themselves.
    """

    def __init__(self) -> None:
        self._hashes: list[Any] = []

    def add(self, identifiers: Sequence[str]) -> None:
        import numpy as np

        self._hashes.append(np.fromiter(map(hash_of, identifiers), np.int64, len(identifiers)))

    def suspects(self) -> set[int]:
        """Hashes that occur more than once. Releases the memory."""
        import numpy as np

        if not self._hashes:
            return set()
        hashes = np.concatenate(self._hashes)
        self._hashes.clear()
        hashes.sort()
        return set(np.unique(hashes[1:][hashes[1:] == hashes[:-1]]).tolist())
