"""citation-accuracy: what is a citation, and whether it points to a passage."""

import time

import pytest

from evalsi.evaluators.packs.rag.citation_accuracy import find_citations
from evalsi.schema import Outcome
from tests.evaluators.judged import grade

PASSAGES = ["one", "two", "three"]


@pytest.mark.parametrize(
    ("output", "passed"),
    [
        ("It opens at 9 [1].", True),
        ("It opens at 9[1][3].", True),
        ("It opens at 9 [1, 3].", True),
        ("It opens at 9 [1-3].", True),
        ("It opens at 9 [1–3].", True),
        ("It opens at 9 [^2].", True),
        ("それは九時に開きます【2】。", True),
        ("See [2](https://example.org/a).", True),
        ("It opens at 9 [4].", False),
        ("It opens at 9 [1] and [7].", False),
        ("It opens at 9 [2-5].", False),
        ("It opens at 9 [0].", False),
        ("It opens at 9 [3-1].", False),
        ("It opens at 9.", False),
        ("", False),
        ("In [2024] and [note] it opened (1).", False),
        ("Use `rows[1]`.", False),
        ("```\nx = rows[1]\n```\nDone.", False),
        ("<think>[1]</think>It opens at 9.", False),
        ("<think>[9]</think>It opens at 9 [1].", True),
    ],
)
def test_citations_must_point_to_passages_that_exist(output: str, passed: bool) -> None:
    result = grade("citation-accuracy", "", output=output, context=PASSAGES)
    (score,) = result.scores
    assert (score.passed, bool(score.explanation)) == (passed, not passed)


def test_the_explanation_names_what_points_to_nothing() -> None:
    score = grade("citation-accuracy", "", output="a [1] b [7, 9] c [5-4]", context=["one"]).scores[0]
    assert score.explanation == "[7], [9], [5-4] cited, but there is one passage"
    assert score.metadata["cited"] == [1, 7, 9]


def test_an_output_that_cites_nothing_fails_or_is_skipped_but_never_passes() -> None:
    assert grade("citation-accuracy", "", output="a", context=PASSAGES).scores[0].passed is False
    result = grade("citation-accuracy", "", params={"require_citation": False}, output="a", context=PASSAGES)
    assert (result.outcome, result.reason) == (Outcome.SKIPPED, "nothing to check: the output cites no passage")
    result = grade("citation-accuracy", "", params={"require_citation": False}, output="a [9]", context=PASSAGES)
    assert result.scores[0].passed is False


@pytest.mark.parametrize("unit", ["[", "[1", "[1,", "`", "```", "[1-", "[1]", "【", "[1 , 2 ;"])
def test_hostile_text_is_read_in_linear_time(unit: str) -> None:
    started = time.process_time()
    find_citations(unit * 100_000)
    assert time.process_time() - started < 2
