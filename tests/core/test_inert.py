"""Text of others in spreadsheets and terminals does nothing but be read."""

import csv
import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.core.inert import inert_cell, printable
from tests.case_files import case

TEXTS = case("M01")["input"]["record_text_shown_in_HTML_CSV_terminal"]
ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize("text", TEXTS)
def test_m01_no_cell_of_a_csv_report_starts_like_a_formula(text: str) -> None:
    assert inert_cell(text)[0] not in "=+-@\t\r\n"
    assert inert_cell(text).removeprefix("'") == text


@pytest.mark.parametrize("text", TEXTS)
def test_m01_a_terminal_gets_no_character_that_it_would_obey(text: str) -> None:
    shown = printable(text, one_line=True)
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in shown)
    assert "\u202e" not in shown


def test_an_escape_is_spelt_out() -> None:
    assert printable("\x1b[2J") == "\\x1b[2J"
    assert printable("\u202eabc") == "\\u202eabc"
    assert printable("\ud800") == "\\ud800"
    assert printable("\U000e0041") == "\\U000e0041"


def test_line_breaks_stay_in_a_block_and_go_in_a_line() -> None:
    assert printable("a\n\tb\r") == "a\n\tb\\r"
    assert printable("a\n\tb", one_line=True) == "a\\n\\tb"


def test_scripts_and_emoji_keep_their_joiners() -> None:
    text = "نمی‌خواهم 👩‍👩‍👧 ❤️ é"
    assert printable(text, one_line=True) == text


@given(ANY_TEXT)
def test_printable_text_can_always_be_written_and_is_its_own_printable_form(text: str) -> None:
    shown = printable(text)
    shown.encode()
    assert printable(shown) == shown


@given(ANY_TEXT.filter(lambda text: "\0" not in text))
def test_an_inert_cell_survives_a_csv_round_trip(text: str) -> None:
    written = io.StringIO()
    csv.writer(written).writerow([inert_cell(text), "end"])
    (row,) = csv.reader(io.StringIO(written.getvalue(), newline=""))
    assert row[0].removeprefix("'") == text.removeprefix("'")
