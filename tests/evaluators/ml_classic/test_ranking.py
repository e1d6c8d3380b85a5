import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as oracle

from evalsi.core.errors import MeasurementError, SkipRecord
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.catalog import load
from evalsi.schema import Content, Record


def ranked(output: Content, reference: Content, **params: object) -> dict[str, float]:
    call = bind(load("ranking"), context=EvalContext(), params=params).call
    assert call is not None
    return {score.name: score.number for score in call(Record(id="1", output=output, reference=reference))}


@given(
    st.permutations(list("abcdefgh")),
    st.lists(st.integers(0, 4), min_size=8, max_size=8).filter(any),
    st.integers(1, 10),
)
def test_a_full_ranking_equals_scikit_learn(order: list[str], grades: list[int], k: int) -> None:
    wanted = dict(zip("abcdefgh", grades, strict=True))
    found = ranked(Content(json=order), Content(json=wanted), k=k)
    true = np.array([[wanted[item] for item in order]])
    scores = np.array([[float(len(order) - place) for place in range(len(order))]])
    assert found["ndcg"] == pytest.approx(oracle.ndcg_score(true, scores, k=k))
    assert found["map"] == pytest.approx(oracle.average_precision_score(true[0] > 0, scores[0]))
    assert found["recall-at-k"] == pytest.approx((true[0, :k] > 0).sum() / (true > 0).sum())
    assert found["precision-at-k"] == pytest.approx((true[0, :k] > 0).sum() / k)
    assert found["mrr"] == pytest.approx(1 / (1 + np.flatnonzero(true[0] > 0)[0]))


def test_exponential_gains_weigh_high_grades_more() -> None:
    reference = Content(json={"a": 3, "b": 1})
    found = ranked(Content(json=["b", "a"]), reference, gain="exponential")
    assert found["ndcg"] == pytest.approx((1 + 7 / np.log2(3)) / (7 + 1 / np.log2(3)))


@pytest.mark.parametrize(
    "output",
    [
        Content(json=["x", "a", "y"]),
        Content(json=[{"id": "x"}, {"id": "a", "score": 0.3}, {"id": "y"}]),
        Content(text='["x", "a", "y"]'),
        Content(text="x\na\ny"),
        Content(text="1. x\n2. a\n3. y\n"),
        Content(text="- x\n- a\n- y"),
    ],
)
def test_a_ranking_is_read_in_any_usual_form(output: Content) -> None:
    assert ranked(output, Content(json=["a"]))["mrr"] == 0.5


def test_numbers_and_texts_name_the_same_item() -> None:
    assert ranked(Content(json=[2, 1]), Content(json=["1"]))["mrr"] == 0.5


def test_an_item_that_is_listed_twice_counts_once() -> None:
    found = ranked(Content(json=["a", "a", "a"]), Content(json=["a", "b"]), k=3)
    assert found["recall-at-k"] == 0.5
    assert found["precision-at-k"] == pytest.approx(1 / 3)
    assert found["ndcg"] < 1


def test_an_empty_ranking_is_a_miss_and_nothing_relevant_is_skipped() -> None:
    assert set(ranked(Content(json=[]), Content(json=["a"])).values()) == {0.0}
    for nothing in ([], {}, {"a": 0}):
        with pytest.raises(SkipRecord, match="relevant"):
            ranked(Content(json=["a"]), Content(json=nothing))


@pytest.mark.parametrize(
    "reference", [{"a": -1}, {"a": "high"}, {"a": float("nan")}, {"a": 1e9}, [[1]], [None], [1.5], 7]
)
def test_grades_and_items_that_make_no_sense_are_errors(reference: object) -> None:
    with pytest.raises(MeasurementError):
        ranked(Content(json=["a"]), Content(json=reference))
