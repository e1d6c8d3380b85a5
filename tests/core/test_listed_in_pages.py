"""A list in pages is read as far as it is wanted, and no further."""

from collections.abc import Sequence

import pytest

from evalsi.core.listed_in_pages import listed_in_pages


@pytest.mark.parametrize(
    ("limit", "asked"), [(None, [4, 4, 4]), (4, [4]), (6, [4, 2]), (20, [4, 4, 4]), (0, [])], ids=str
)
def test_as_many_pages_are_read_as_the_limit_takes(limit: int | None, asked: list[int]) -> None:
    sizes: list[int] = []

    def page(size: int, token: str) -> tuple[Sequence[int], str]:
        sizes.append(size)
        start = int(token or 0)
        return range(start, min(start + size, 10)), str(start + size) if start + size < 10 else ""

    assert list(listed_in_pages(page, at_once=4, limit=limit)) == list(range(10))[:limit]
    assert sizes == asked


def test_a_page_that_lacks_an_entry_is_made_up_for_by_the_next() -> None:
    pages = {"": ([1], "more"), "more": ([2, 3], "")}
    assert list(listed_in_pages(lambda _, token: pages[token], at_once=2, limit=3)) == [1, 2, 3]
