"""What holds for every text: places, overlap, redaction, and the time a scan takes."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.evaluators.detectors import EVERY_KIND, PERSONAL_DATA, Finding, find, mask, redact

PIECES = st.sampled_from(
    [
        "4111 1111 1111 1111", "kim@example.org", "192.0.2.17", "2001:db8::1", "+1 202-555-0143", "123-45-6789", "é😀",
        "GB82 WEST 1234 5698 7654 32", "sk-test-FAKEFAKEFAKEFAKEFAKE0000", "api_key=", "tel ", "version ", "İ", "٤١", "@",
        "password: ", "-", ".", ":", "://", " ", "\n", "(", "1", "0", "+", "eyJ", "-----BEGIN PRIVATE KEY-----", "ＳＳＮ",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=20).map("".join))


@given(TEXTS)
def test_findings_are_ordered_disjoint_and_say_what_stands_there(text: str) -> None:
    found = find(text)
    assert all(text[finding.start : finding.end] == finding.text and finding.text for finding in found)
    assert all(left.end <= right.start for left, right in pairwise(found))


@given(TEXTS)
def test_asking_for_fewer_kinds_gives_a_part_of_the_whole_answer(text: str) -> None:
    every = find(text)
    for kind in EVERY_KIND:
        assert find(text, [kind]) == [finding for finding in every if finding.type == kind]


@given(TEXTS)
def test_redaction_replaces_findings_and_nothing_else(text: str) -> None:
    found = find(text)
    expected = text
    for finding in reversed(found):
        expected = expected[: finding.start] + f"[{finding.type}]" + expected[finding.end :]
    assert redact(text, found) == expected
    assert redact(text, reversed(found)) == expected


def test_redaction_of_overlapping_findings_leaves_no_rest() -> None:
    text = "abcdefgh"
    overlapping = [
        Finding(type="SECRET", start=1, end=5, text="bcde"),
        Finding(type="EMAIL", start=3, end=7, text="defg"),
    ]
    assert redact(text, overlapping) == "a[SECRET]h"


def test_personal_data_is_everything_but_secrets() -> None:
    assert {"SECRET"} == EVERY_KIND - PERSONAL_DATA


def test_a_connection_string_is_one_secret_and_no_address() -> None:
    assert [f.type for f in find("postgres://kim:s3cr3tPw@example.org/db")] == ["SECRET"]


@given(st.text(min_size=1, max_size=80))
def test_a_mask_shows_at_most_four_characters(value: str) -> None:
    shown = mask(value).replace("•", "")
    assert len(shown) <= 4
    assert len(value) < 12 or mask(value) != value


@pytest.mark.parametrize(
    "seed",
    [
        "a", "a@", "a@a.", "1 ", "1", "4111 ", "4111-1111-1111-1111 ", "4111111111111111 ", "1:", "1.", "+1 ", "sk-", "eyJ",
        "eyJaaaaaaaa.", "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN ", "api_key=", "api_key=a1", "password=", "token", "a_",
        "://a:", "GB82 ", "GB82WEST", "tel ", "tel: 1", "0123 ", "(0)1-", "x" * 63 + "@", ":", "::", "2001:", "SSN ",
        "Bearer a", "é", "４", "lorem ipsum dolor sit amet ", "202-555-0143 ", "00 1 ", "1)(", "\n ", "İ",
    ],
)  # fmt: skip
@pytest.mark.slow
def test_a_megabyte_of_anything_takes_no_more_than_a_moment(seed: str) -> None:
    """CPU seconds, best of two. What is not linear takes minutes; a slow and busy machine may take a few of these."""
    text = (seed * (1_000_000 // len(seed) + 1))[:1_000_000]
    spent = []
    for _ in range(2):
        started = time.process_time()
        find(text)
        spent.append(time.process_time() - started)
        if spent[-1] < 1:
            break
    assert min(spent) < 4


def test_a_scan_of_twice_the_text_takes_about_twice_the_time() -> None:
    piece = "call 202 555 0143 or mail kim@example.org, api_key=a1B2c3D4e5F6g7H8 4111 1111 1111 1111 "

    def seconds(repeats: int) -> float:
        text = piece * repeats
        started = time.process_time()
        find(text)
        return time.process_time() - started

    assert min(seconds(800) for _ in range(3)) < 8 * min(seconds(200) for _ in range(3))


@given(TEXTS)
def test_the_quick_look_before_a_scan_misses_nothing(text: str) -> None:
    from evalsi.evaluators.detectors.folding import fold
    from evalsi.evaluators.detectors.scan import _DETECTORS, _holds

    folded = fold(text)
    for needed, detect in _DETECTORS.values():
        assert _holds(needed)(folded) or not list(detect(folded))


def test_ordinary_text_costs_next_to_nothing() -> None:
    text = "The capital of France is Paris. It lies on the Seine and has 2,102,650 inhabitants. " * 6
    find(text)
    started = time.process_time()
    for _ in range(200):
        find(text)
    assert (time.process_time() - started) / 200 < 200e-6
