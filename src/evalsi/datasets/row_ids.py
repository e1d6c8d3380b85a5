"""Identifiers of rows: read as text, made from the content where a row has none, checked for doubles in little memory.

An identifier that is made comes from what was asked, and not from what was answered: the same question answered by two
versions is one record, so that they can be compared without the user having to invent identifiers. It is the same whenever the
row is read, in whatever file and at whatever place.
"""

import hashlib
import re
from collections import Counter
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


_MADE_OR_SUFFIXED = re.compile(r"sha-[0-9a-f]{16}(-[0-9]+)?")


def made_id(mapped: Row, row: Row) -> str:
    """The identifier of a row that has none: from its input, else, where it has no input either, from all of it.

    Args:
        mapped: The row as the mapping wants it.
        row: As it was read.
    """
    asked = mapped.get("input")
    return id_of_content({"input": asked} if asked else row)


def id_of_content(row: Row) -> str:
    """`sha-` and 16 hex digits of SHA-256 over the row as JSON with sorted keys, its empty id left out."""
    if "id" in row and not row["id"]:
        row = {name: value for name, value in row.items() if name != "id"}
    return "sha-" + hashlib.sha256(_encode(row)).hexdigest()[:16]


def made_from(identifier: str) -> str | None:
    """The base of an identifier with a suffix, e.g. sha-0123456789abcdef of sha-0123456789abcdef-2; else None."""
    found = _MADE.fullmatch(identifier)
    return found[1] if found else None


def is_made(identifier: str) -> bool:
    """Whether an identifier looks like one that was made from a row's content, which tells a person nothing."""
    return _MADE_OR_SUFFIXED.fullmatch(identifier) is not None


hash_of: Callable[[str], int] = hash
"""64 bits, different in every process."""


_FEW = 20_000


class SeenIds:
    """All identifiers of a dataset as 64-bit hashes, 8 bytes each.

    Equal identifiers always have equal hashes. Different ones may share a hash, so a double found here is a suspicion
    that the caller has to check against the identifiers themselves.
    """

    def __init__(self) -> None:
        self._few: list[int] = []
        """The first ones: without numpy, which takes longer to load than these to compare."""
        self._hashes: list[Any] = []

    def add(self, identifiers: Sequence[str]) -> None:
        if len(self._few) < _FEW:
            self._few += map(hash_of, identifiers)
            return
        import numpy as np

        self._hashes.append(np.fromiter(map(hash_of, identifiers), np.int64, len(identifiers)))

    def suspects(self) -> set[int]:
        """Hashes that occur more than once. Releases the memory."""
        few, self._few = self._few, []
        if not self._hashes:
            return {each for each, times in Counter(few).items() if times > 1}
        import numpy as np

        hashes = np.concatenate([np.array(few, np.int64), *self._hashes])
        self._hashes.clear()
        hashes.sort()
        return set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
