"""Rows are cut so that what an earlier try stored keeps its place, and so that little is lost where rows are slow."""

from hypothesis import given
from hypothesis import strategies as st

from evalsi.results.portions import Pace, portions


@given(st.lists(st.floats(0, 100), max_size=20), st.integers(1, 200))
def test_a_portion_takes_about_a_second_where_rows_are_slow_and_is_never_empty_or_too_large(
    row_s: list[float], most: int
) -> None:
    pace = Pace(most)
    assert pace.rows() <= 4
    for seconds in row_s:
        pace.learn(10, 10 * seconds)
        assert 1 <= pace.rows() <= most
        assert pace.rows() == 1 or pace.rows() * seconds <= 1.001


def test_quick_rows_come_in_full_portions_after_the_first() -> None:
    pace, taken = Pace(32), list[int]()
    for portion in portions(range(100), {}, pace.rows):
        taken.append(len(portion.items))
        pace.learn(len(portion.items), 0.001)
    assert taken == [4, 32, 32, 32]


@given(st.integers(0, 60), st.lists(st.integers(1, 9), max_size=6), st.integers(1, 20))
def test_stored_portions_come_as_they_are_and_no_row_twice(count: int, sizes: list[int], most: int) -> None:
    stored, row = {}, 3
    for size in sizes:
        if row + size <= count:
            stored[row] = size
        row += size + 2
    found = list(portions(range(count), stored, lambda: most))
    assert [item for portion in found for item in portion.items] == list(range(count))
    assert {portion.first_row: len(portion.items) for portion in found if portion.is_stored} == stored
    assert all(len(portion.items) <= most for portion in found if not portion.is_stored)
