"""The published matching table: every row of the cases and of our own list, through the evaluators."""

from typing import Any

import pytest

from evalsi.core.errors import InvalidParamsError
from evalsi.evaluators.matching.choice_extraction import ChoiceFinder
from evalsi.evaluators.matching.reasoning_blocks import answer_finder
from tests.case_files import case
from tests.evaluators.matching.matching_page import BEYOND, PAGE, render
from tests.evaluators.measuring import bound, called, record, result, value


def rows(identifier):
    found = case(identifier)
    return list(zip(found["input"]["rows"], found["expected"]["rows"], strict=True))


@pytest.mark.parametrize(("row", "expected"), rows("A01"))
def test_numeric_match_follows_the_case(row, expected):
    assert value("numeric-match", row["text"], row["reference"]) is expected["match"]


@pytest.mark.parametrize(("text", "reference", "match", "why"), BEYOND["numbers"])
def test_numeric_match_follows_our_own_rows(text, reference, match, why):
    assert value("numeric-match", text, reference) is match, why


@pytest.mark.parametrize(("row", "expected"), rows("A02"))
def test_exact_match_follows_the_case(row, expected):
    assert value("exact-match", row["text"], row["reference"], **row["options"]) is expected["match"]


@pytest.mark.parametrize(("row", "expected"), rows("A03"))
def test_choice_match_follows_the_case(row, expected):
    choices = case("A03")["input"]["choices"]
    matched = [value("choice-match", row["text"], choice, choices=choices) for choice in choices]
    assert matched == [choice == expected["choice"] for choice in choices]
    if expected["choice"] is None:
        assert result("choice-match", row["text"], "A", choices=choices).scores[0].explanation == "no choice found"


@pytest.mark.parametrize(("text", "choice", "why"), BEYOND["choices"])
def test_choice_extraction_follows_our_own_rows(text, choice, why):
    assert ChoiceFinder(["A", "B", "C", "D"])(text) == choice, why


@pytest.mark.parametrize(("row", "expected"), rows("A04"))
def test_reasoning_blocks_follow_the_case(row, expected):
    tags = case("A04")["input"]["options"]["reasoning_tags"]
    given = record(row["text"], row["reference"])
    evaluator = bound("numeric-match", reasoning_tags=tags)
    found = called(evaluator, given)
    assert (found if isinstance(found, bool) else found.passed) is expected["match"]
    assert given.output is not None
    assert given.output.text == row["text"], "the reasoning stays on the record"


@pytest.mark.parametrize(("text", "answer", "why"), BEYOND["reasoning"])
def test_reasoning_blocks_follow_our_own_rows(text, answer, why):
    assert answer_finder(["think"])(text) == answer, why


def simple_check(row: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The evaluator, its params and the reference that a row of A05 stands for."""
    check: str = row["check"]
    name = {"regex": "regex-match", "levenshtein_similarity": "levenshtein"}.get(check, check.replace("_", "-"))
    param = {
        "contains": "substring", "contains-any": "substrings", "contains-all": "substrings", "regex-match": "pattern",
        "starts-with": "prefix", "equals": "value", "json-equal": "value", "levenshtein": "value",
    }[name]  # fmt: skip
    params = {param: row["value"]}
    if row["negate"]:
        params["negate"] = True
    return name, params


@pytest.mark.parametrize(("row", "expected"), rows("A05"))
def test_simple_checks_follow_the_case(row, expected):
    name, params = simple_check(row)
    if expected["score"] == "CONFIG_ERROR":
        with pytest.raises(InvalidParamsError):
            bound(name, **params)
        return
    wanted = expected["score"]["any_of"] if isinstance(expected["score"], dict) else [expected["score"]]
    assert float(value(name, row["text"], **params)) in wanted


def test_the_published_table_is_what_the_tests_run():
    assert PAGE.read_text(encoding="utf-8") == render(), "run: python -m tests.evaluators.matching.matching_page"
