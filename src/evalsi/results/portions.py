"""How rows are cut into batches when an earlier try may have stored some: its batches as they are, new ones around them.

Its own module because every job that can be continued cuts alike; a batch that straddled a stored one would be lost.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Portion(NamedTuple, Generic[T]):
    """Consecutive items, where they begin, and whether an earlier try stored them."""

    first_row: int
    items: list[T]
    is_stored: bool


def stored_beginning(stored: Mapping[int, int]) -> int:
    """Rows from the first one on that an earlier try stored without a gap: where work begins again."""
    row = 0
    while stored.get(row):
        row += stored[row]
    return row


def portions(items: Iterable[T], stored: Mapping[int, int], rows: int, *, first_row: int = 0) -> Iterator[Portion[T]]:
    """The items in order, in portions.

    Args:
        first_row: The row of the first item.
        stored: Rows by first row of what an earlier try stored.
        rows: The most rows of a new portion.
    """
    source = iter(items)
    starts = sorted(stored)
    row = first_row
    while True:
        after = bisect_right(starts, row)
        wanted = stored.get(row) or (min(rows, starts[after] - row) if after < len(starts) else rows)
        taken = list(islice(source, wanted))
        if not taken:
            return
        yield Portion(row, taken, row in stored)
        row += len(taken)
