import json
from collections.abc import Sequence
from math import inf, nan

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.engine.columns import ERROR, SCORED, SKIPPED, ColumnsBuilder, pack, results, scores, unpack
from evalsi.evaluators.api import Definition, evaluator, output
from evalsi.schema import ErrorKind, Outcome, Score
from tests.case_files import case


@evaluator(name="plain")
def plain() -> float:
    return 0.0


@evaluator(name="ranged", outputs=[output("ranged", low=0, high=1)])
def ranged() -> float:
    return 0.0


@evaluator(name="several", outputs=[output("recall"), output("precision"), output("several", "passed")])
def several() -> float:
    return 0.0


def built(values: Sequence[object], definition: Definition = plain) -> ColumnsBuilder:
    builder = ColumnsBuilder(definition, name="e", ref="e@1", rows=len(values))
    for row, value in enumerate(values):
        builder.put(row, value)
    return builder


def test_case_d03_nan_infinity_and_text_are_errors_and_verdicts_are_numbers() -> None:
    stand_ins = {"NaN-float": nan, "Inf-float": inf}
    returned = [
        stand_ins.get(value, value) if isinstance(value, str) else value
        for value in case("D03")["input"]["evaluator_returns"]
    ]

    result = built(returned).result

    kinds = [result.notes[row].error_kind if row in result.notes else None for row in range(len(returned))]
    assert [str(kind) if kind else "scored" for kind in kinds] == [
        "scored", "no_score", "not_finite", "scored", "wrong_type", "scored", "not_finite", "scored", "scored", "wrong_type",
    ]  # fmt: skip
    scored = [
        value for value, code in zip(result.columns["plain"].values, result.outcomes, strict=True) if code == SCORED
    ]
    assert sum(scored) / len(scored) == case("D03")["expected"]["mean_of_scored"]
    assert str(scored[-1]) == "0.0", "negative zero prints as zero"
    text = msgspec.json.encode(list(results(result, [str(row) for row in range(10)]))).decode()
    assert "NaN" not in text
    assert "Infinity" not in text
    json.loads(text)


@pytest.mark.parametrize("value", [1.5, -0.1, 1 + 1e-6])
def test_a_number_outside_its_declared_range_is_an_error(value: float) -> None:
    result = built([value], ranged).result
    assert result.outcomes[0] == ERROR
    assert result.notes[0].error_kind is ErrorKind.OUT_OF_RANGE


def test_rounding_just_outside_the_range_is_drawn_back() -> None:
    assert built([1 + 1e-12], ranged).result.columns["ranged"].values == [1.0]


def test_an_undeclared_output_is_refused_where_outputs_are_declared() -> None:
    assert built([{"f1": 0.5}], several).result.outcomes[0] == ERROR


def test_the_primary_output_bears_the_name_of_the_evaluator() -> None:
    result = built([{"recall": 0.5, "precision": 1.0, "several": True}], several).result
    assert [result.metric(name) for name in result.columns] == ["e.recall", "e.precision", "e"]


def test_a_failed_row_keeps_no_value_of_a_half_finished_answer() -> None:
    result = built([{"recall": 0.5, "precision": nan}], several).result
    assert result.outcomes[0] == ERROR
    assert list(scores(result, 0)) == []


def test_an_empty_answer_is_no_score() -> None:
    for nothing in (None, {}, [], {"a": None}, Score(name="plain")):
        result = built([nothing]).result
        assert result.notes[0].error_kind is ErrorKind.NO_SCORE


values = st.one_of(
    st.booleans(),
    st.floats(),
    st.integers(),
    st.text(max_size=5),
    st.none(),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.sampled_from("ab"), st.one_of(st.floats(), st.text(max_size=3), st.none()), max_size=2),
)


@given(st.lists(values, min_size=1, max_size=12))
def test_whatever_is_returned_every_row_ends_and_survives_packing(returned: list[object]) -> None:
    builder = built(returned)
    builder.skip(0, "because")
    result = builder.result
    assert set(result.outcomes) <= {SCORED, SKIPPED, ERROR}
    (again,) = unpack(pack([result]))
    ids = [str(row) for row in range(len(returned))]
    assert msgspec.json.encode(list(results(again, ids))) == msgspec.json.encode(list(results(result, ids)))
    for message in results(result, ids):
        assert (message.outcome is Outcome.SCORED) == bool(message.scores)
        json.loads(msgspec.json.encode(message))
