"""A list that is given in pages, as one.

Its own module because stores and servers give theirs alike, and a limit that a person sets counts what came, not what was asked
for: a page may have fewer.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def listed_in_pages(
    page: Callable[[int, str], tuple[Sequence[T], str]], *, at_once: int, limit: int | None = None
) -> Iterator[T]:
    """The entries of one page after the other, read as they are taken.

    Args:
        page: Gives so many entries from a token on, which is empty for the first ones, and the token of those that follow,
            which is empty behind the last one.
        at_once: The most that is asked for.
        limit: How many are given in all; None for every one.
    """
    token = ""
    left = limit
    while left is None or left > 0:
        found, token = page(at_once if left is None else min(left, at_once), token)
        yield from found
        if not token:
            return
        left = None if left is None else left - len(found)
