"""Page tokens: a position comes back, another query's token and anything else is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.core.errors import UsageError
from evalsi.core.page_token import read_page_token, write_page_token


@given(st.tuples(st.integers(-(2**62), 2**62), st.text()), st.text())
def test_a_position_comes_back_as_it_was(position: tuple[int, str], query: str) -> None:
    token = write_page_token({"query": query}, position)
    assert read_page_token(token, {"query": query}, tuple[int, str]) == position
    assert token.isascii()
    assert not set(token) & set("+/=&?# ")


def test_no_token_asks_for_the_first_page() -> None:
    assert read_page_token("", {}, tuple[int, str]) is None


@given(st.text(min_size=1))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_page_token(text, {}, tuple[int, str])


def test_a_token_leads_through_its_own_query_alone() -> None:
    token = write_page_token({"name": "a"}, (1, "x"))
    with pytest.raises(UsageError, match="another query"):
        read_page_token(token, {"name": "b"}, tuple[int, str])


@pytest.mark.parametrize("number", [2**63, 2**64 - 1])
def test_a_number_that_no_database_takes_is_refused(number: int) -> None:
    for position, kind in ((number, int), ((number, "x"), tuple[int, str]), (("x", (number,)), tuple[str, tuple[int]])):
        with pytest.raises(UsageError, match="no page token"):
            read_page_token(write_page_token("q", position), "q", kind)
    assert read_page_token(write_page_token("q", 2**63 - 1), "q", int) == 2**63 - 1
