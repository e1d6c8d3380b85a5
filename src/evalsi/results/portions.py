"""How rows are cut into batches when an earlier try may have stored some: its batches as they are, new ones around them.

Its own module because every job that can be continued cuts alike; a batch that straddled a stored one would be lost.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

_FIRST_ROWS = 4
_PORTION_S = 1.0


class Portion(NamedTuple, Generic[T]):
    """Consecutive items, where they begin, and whether an earlier try stored them."""

    first_row: int
    items: list[T]
    is_stored: bool


class Pace:
    """How many rows the next portion has: few until rows are known to be quick, and never so many that stopping in
    their middle would lose more than about a second's work.

    Args:
        most: The most rows of a portion.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows = min(_FIRST_ROWS, most)

    def rows(self) -> int:
        return self._rows

    def learn(self, rows: int, seconds: float) -> None:
        """Takes notice that a portion of so many rows took so long."""
        is_quick = self._most * seconds <= rows * _PORTION_S
        self._rows = self._most if is_quick else max(1, int(rows * _PORTION_S / seconds))


def stored_beginning(stored: Mapping[int, int]) -> int:
    """Rows from the first one on that an earlier try stored without a gap: where work begins again."""
    row = 0
    while stored.get(row):
        row += stored[row]
    return row


def portions(
    items: Iterable[T], stored: Mapping[int, int], rows: Callable[[], int], *, first_row: int = 0
) -> Iterator[Portion[T]]:
    """The items in order, in portions.

    Args:
        first_row: The row of the first item.
        stored: Rows by first row of what an earlier try stored.
        rows: Asked for the most rows of a new portion.
    """
    source = iter(items)
    starts = sorted(stored)
    row = first_row
    while True:
        after = bisect_right(starts, row)
        wanted = stored.get(row) or (min(rows(), starts[after] - row) if after < len(starts) else rows())
        taken = list(islice(source, wanted))
        if not taken:
            return
        yield Portion(row, taken, row in stored)
        row += len(taken)
