"""Laws of the matching functions, on any text."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.metrics.distance import edit_distance as nltk_edit_distance
from nltk.stem.porter import PorterStemmer

from evalsi.evaluators.matching.choice_extraction import ChoiceFinder
from evalsi.evaluators.matching.json_values import parse_json, same_json
from evalsi.evaluators.matching.number_extraction import Number, Tolerance, number_reader, same_number
from evalsi.evaluators.matching.porter_stemmer import stem
from evalsi.evaluators.matching.reasoning_blocks import answer_finder
from evalsi.evaluators.matching.sequence_likeness import (
    edit_distance,
    edit_likeness,
    indel_likeness,
    lcs_length,
    lcs_places,
)
from evalsi.evaluators.matching.text_normalization import Normalization, drop_punctuation, normalizer
from evalsi.evaluators.matching.word_tokens import count_words, unicode_words

ANY_TEXT = st.text(st.characters(), max_size=60)
SHORT_SEQUENCES = st.text("abcd", max_size=90)
NORMALIZATIONS = st.builds(
    Normalization,
    normalize=st.booleans(),
    ignore_case=st.booleans(),
    ignore_punctuation=st.booleans(),
    squad_normalize=st.booleans(),
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(ANY_TEXT, NORMALIZATIONS)
def test_normalising_twice_changes_nothing_more(text, options):
    form = normalizer(options)
    assert form(form(text)) == form(text)


@given(ANY_TEXT, st.booleans())
def test_composed_and_decomposed_text_become_equal(text, ignore_case):
    form = normalizer(Normalization(ignore_case=ignore_case))
    assert form(unicodedata.normalize("NFD", text)) == form(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("-7", "-7"),
        ("3.14", "3.14"),
        (".5!", ".5"),
        ("(B)", "B"),
        ("don't", "dont"),
        ("COVID-19", "COVID19"),
        ("«oui»", "oui"),
    ],
)
def test_dropping_punctuation_never_changes_a_number(text, left):
    assert drop_punctuation(text) == left


@given(ANY_TEXT, st.sampled_from([".", ","]))
def test_reading_a_number_never_fails_and_a_number_equals_itself(text, mark):
    number = number_reader(mark)(text)
    assert number is None or same_number(number, number, Tolerance())


@pytest.mark.parametrize("word", ["minus", "Minus", "MINUS", "negative", "NEGATIVE"])
def test_a_sign_in_words_counts_in_any_case(word: str) -> None:
    number = number_reader()(f"It was {word} 4 degrees")
    assert number is not None
    assert number.value == -4


@given(st.text(st.sampled_from("0123456789.,-/ e^%$()[]{}\\=ofrac½²−٣x×"), max_size=40))
def test_reading_what_looks_like_numbers_never_fails(text):
    number = number_reader()(text)
    assert number is None or same_number(number, number, Tolerance())


def stated(text: str) -> Number:
    number = number_reader()(text)
    assert number is not None, text
    return number


@given(st.integers(-(10**12), 10**12), st.integers(-(10**12), 10**12))
def test_two_whole_numbers_are_the_same_only_if_they_are_equal(a, b):
    assert same_number(stated(f"It is {a:,}."), stated(str(b)), Tolerance()) is (a == b)
    assert same_number(stated(f"the answer is {a}, not {b}"), stated(str(a)), Tolerance())


@given(st.decimals(-(10**6), 10**6, places=4))
def test_a_decimal_is_read_whole_in_a_sentence(number):
    assert stated(f"After 3 steps the result is {number} metres.").value == number


def test_a_wide_tolerance_also_covers_whole_numbers():
    assert same_number(stated("95"), stated("100"), Tolerance(relative=0.05))
    assert not same_number(stated("94"), stated("100"), Tolerance(relative=0.05))


@given(ANY_TEXT)
def test_a_choice_is_one_of_those_offered(text):
    assert ChoiceFinder(["A", "B", "C"])(text) in ("A", "B", "C", None)


@given(ANY_TEXT)
def test_text_without_blocks_is_its_own_answer_and_finding_twice_changes_nothing(text):
    find = answer_finder(["think"])
    answer = find(text)
    assert answer is None or find(answer) == answer
    if "<" not in text and "[" not in text and "◁" not in text:
        assert answer == text


@given(SHORT_SEQUENCES, SHORT_SEQUENCES)
def test_edit_distance_and_lcs_equal_their_textbook_definitions(a, b):
    assert edit_distance(a, b) == nltk_edit_distance(a, b)
    indels = nltk_edit_distance(a, b, substitution_cost=2)
    assert lcs_length(a, b) == (len(a) + len(b) - indels) // 2
    places = lcs_places(a, b)
    assert len(places) == lcs_length(a, b)
    assert places == sorted(set(places))


@given(ANY_TEXT, ANY_TEXT)
def test_likeness_is_symmetric_between_0_and_1_and_1_only_for_equals(a, b):
    for measure in (indel_likeness, edit_likeness):
        likeness = measure(a, b)
        assert likeness == measure(b, a)
        assert 0 <= likeness <= 1
        assert (likeness == 1) is (a == b)


@given(JSON_VALUES, JSON_VALUES)
def test_json_equality_is_reflexive_and_symmetric(a, b):
    assert same_json(a, a)
    assert same_json(a, b) is same_json(b, a)


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", '{"a": 1, "a": 2}', "[1,]", "", "01", "'a'", "1e99999999999999999999", "[" * 100_000]
)
def test_what_is_not_json_is_refused(text):
    with pytest.raises(ValueError):
        parse_json(text)


def test_numbers_in_json_are_compared_exactly_however_long():
    assert same_json(parse_json("[1e2, 0.1]"), parse_json("[100, 0.10]"))
    assert not same_json(parse_json("0.1"), parse_json("0.1000000000000000000000000001"))
    assert not same_json(parse_json("9" * 5000), parse_json("9" * 4999 + "8"))


@given(
    st.from_regex(r"[a-z]{1,14}", fullmatch=True)
    | st.sampled_from(
        "running flies dying happily relational conditional sky skies news died tied ponies agreed hopping falling filing"
        " generalizations psychology rationally hopefully succeed cry say by ability electricity yyy".split()
    )
)
def test_stems_equal_the_reference_implementation(word):
    assert stem(word) == PorterStemmer().stem(word)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The lamp's ON.", ["the", "lamp", "s", "on"]),
        ("東京は晴れ", ["東", "京", "は", "晴", "れ"]),
        ("кот спит", ["кот", "спит"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("GPT4は速い", ["gpt4", "は", "速", "い"]),
    ],
)
def test_words_of_every_script_are_found(text, words):
    assert unicode_words(text) == words


def test_words_are_counted_as_a_word_processor_does():
    assert count_words("The lamp is on.") == 4
    assert count_words("東京は晴れ") == 5


HOSTILE = {
    "brackets": "(" * 100_000,
    "blanks": " " * 100_000,
    "lines": "\n" * 100_000,
    "answers": "answer " * 14_000,
    "answers and blanks": "answer" + " " * 99_000,
    "boxes": "\\boxed{" * 14_000,
    "digits": "9" * 100_000,
    "commas": "1," * 50_000,
    "pages": "page 1 " * 14_000,
    "asides": "(a " + "1 " * 50_000,
    "tags": "<think>" * 14_000,
    "open tags": "<think " * 14_000,
    "points": ("1." * 50_000),
    "letters": "A " * 50_000,
    "accents": "e\u0301" * 50_000,
    "marks": "e" + "\u0301\u0327" * 30_000,
    "fractions": "1/2 " * 25_000,
    "equals": "answer: " + "1 = " * 25_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_text_of_100_kilobytes_takes_a_second(text):
    for run in (number_reader(), ChoiceFinder(["A", "B", "C", "D"]), answer_finder(["think"]), unicode_words,
                normalizer(Normalization(ignore_case=True, ignore_punctuation=True)), normalizer(Normalization(squad_normalize=True))):  # fmt: skip
        started = time.process_time()
        run(text)
        assert time.process_time() - started < 1
