"""Regression, ROC and calibration against scikit-learn and scipy, and what they refuse."""

import json
import time
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from evalsi.core.errors import SkipRecord
from evalsi.schema import Content, Record, TabularRow
from tests.case_files import case
from tests.evaluators.ml_classic.running import numbers, reduce_records, scored_record, text_record

oracle: Any = metrics
correlation: Any = scipy.stats.spearmanr
"""The reference libraries, whose stubs know less than it does."""

VALUES = st.floats(-1000, 1000).map(lambda value: round(value, 3))
CASE = case("D03")


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=40))
def test_regression_equals_scikit_learn_where_that_is_defined(pairs: list[tuple[float, float]]) -> None:
    true, predicted = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
    found = numbers(reduce_records("regression", [text_record(repr(b), repr(a)) for a, b in pairs]))
    assert found["mae"] == pytest.approx(oracle.mean_absolute_error(true, predicted))
    assert found["mse"] == pytest.approx(oracle.mean_squared_error(true, predicted))
    assert found["rmse"] == pytest.approx(oracle.root_mean_squared_error(true, predicted))
    if "r2" in found:
        assert found["r2"] == pytest.approx(oracle.r2_score(true, predicted), rel=1e-6, abs=1e-6)
    else:
        assert np.ptp(true) <= 1e-5 * np.abs(true).max()
    if (true != 0).all():
        assert found["mape"] == pytest.approx(oracle.mean_absolute_percentage_error(true, predicted))
    else:
        assert "mape" not in found
    if "spearman" in found:
        assert found["spearman"] == pytest.approx(correlation(true, predicted).statistic, abs=1e-9)


def test_the_mean_may_be_far_from_zero() -> None:
    true = 1e9 + np.arange(10.0)
    predicted = true + np.tile([0.5, -0.5], 5)
    found = numbers(
        reduce_records(
            "regression",
            [text_record(repr(b), repr(a)) for a, b in zip(true.tolist(), predicted.tolist(), strict=True)],
        )
    )
    assert found["r2"] == pytest.approx(oracle.r2_score(true, predicted))


def test_undefined_figures_are_named_and_not_zero() -> None:
    found = reduce_records("regression", [text_record("1", "0"), text_record("2", "0")])
    assert set(found["mae"].metadata["undefined"]) == {"mape", "r2", "pearson", "spearman"}
    assert "2 true numbers are 0" in found["mae"].metadata["undefined"]["mape"]


def test_values_that_are_no_numbers_are_refused_record_by_record() -> None:
    """The values of the published case, as outputs: what is not finite, not a number or absent is named and left out."""
    special = {"NaN-float": float("nan"), "Inf-float": float("inf")}
    returned = [
        special.get(value, value) if isinstance(value, str) else value for value in CASE["input"]["evaluator_returns"]
    ]
    records = [
        Record(id=str(i), output=Content(json=value), reference=Content(json=1)) for i, value in enumerate(returned)
    ]
    metadata = reduce_records("regression", records)["mae"].metadata
    assert metadata["n"] == 3
    assert metadata["missing"] == {"the output is no number": 5, "the output is not finite": 2}
    assert "NaN" not in json.dumps(metadata, allow_nan=False)


@pytest.mark.parametrize(
    "text", ["NaN", "inf", "-Infinity", "1e999", "", " ", "1_000", "0x10", "three", "1,5", "None", "true"]
)
def test_text_that_is_no_finite_number_is_refused(text: str) -> None:
    found = reduce_records("regression", [text_record("1", "1"), text_record("2", "1"), text_record(text, "1")])
    assert found["mae"].metadata["n"] == 2
    assert found["mae"].metadata["n_missing"] == 1


def test_huge_numbers_never_become_infinite_scores() -> None:
    found = reduce_records("regression", [text_record("1e300", "-1e300"), text_record("1", "2")])
    assert "mse" not in found
    assert all(np.isfinite(score.number) for score in found.values() if score.number is not None)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5, 0.7, 1.0]), st.booleans()), min_size=2, max_size=40)
)
def test_roc_metrics_equal_scikit_learn(pairs: list[tuple[float, bool]]) -> None:
    scores, true = [a for a, _ in pairs], [int(b) for _, b in pairs]
    found = numbers(reduce_records("roc-auc", [scored_record(a, int(b)) for a, b in pairs]))
    clipped = np.clip(scores, 1e-15, 1 - 1e-15)
    assert found["log-loss"] == pytest.approx(oracle.log_loss(true, clipped, labels=[0, 1]), rel=1e-4)
    if any(true):
        assert found["pr-auc"] == pytest.approx(oracle.average_precision_score(true, scores))
    if 0 < sum(true) < len(true):
        assert found["roc-auc"] == pytest.approx(oracle.roc_auc_score(true, scores))
    else:
        assert "roc-auc" not in found


def test_scores_need_not_be_probabilities_but_then_have_no_log_loss() -> None:
    found = reduce_records("roc-auc", [scored_record(s, y) for s, y in ((-3.0, 0), (2.0, 1), (7.5, 1), (1.0, 0))])
    assert found["roc-auc"].number == 1
    assert "outside" in found["roc-auc"].metadata["undefined"]["log-loss"]


def test_the_positive_label_must_be_known() -> None:
    records = [scored_record(0.2, "ham"), scored_record(0.8, "spam")]
    with pytest.raises(SkipRecord, match="positive_label"):
        reduce_records("roc-auc", records)
    assert reduce_records("roc-auc", records, positive_label="spam")["roc-auc"].number == 1
    assert reduce_records("roc-auc", records, positive_label="ham")["roc-auc"].number == 0


@pytest.mark.parametrize(
    "record",
    [
        Record(
            id="1",
            output=Content(row=TabularRow(probabilities={"spam": 0.8, "ham": 0.2})),
            reference=Content(text="spam"),
        ),
        Record(id="1", output=Content(row=TabularRow(prediction=0.8)), reference=Content(text="spam")),
        Record(id="1", output=Content(text="0.8"), reference=Content(text="spam")),
        Record(id="1", output=Content(json={"score": 0.8, "why": "x"}), reference=Content(json={"label": "spam"})),
        Record(id="1", output=Content(text="it is spam"), reference=Content(text="spam"), metadata={"score": 0.8}),
        Record(id="1", reference=Content(text="spam"), metadata={"score": 0.8}),
    ],
)
def test_a_score_is_read_wherever_it_may_stand(record: Record) -> None:
    found = reduce_records("classifier-calibration", [record], positive_label="spam")
    assert found["brier"].number == pytest.approx(0.04)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=40).filter(lambda p: any(b for _, b in p))
)
def test_calibration_equals_its_definition(pairs: list[tuple[float, bool]]) -> None:
    scores, true = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs], dtype=float)
    found = reduce_records("classifier-calibration", [scored_record(a, b) for a, b in pairs], positive_label="true")
    assert found["brier"].number == pytest.approx(oracle.brier_score_loss(true, scores, pos_label=1), abs=1e-12)
    bins = np.clip(np.ceil(scores * 10) - 1, 0, 9)
    near_edge = np.abs(scores * 10 - np.round(scores * 10)) < 1e-9
    if not near_edge[(scores > 0) & (scores < 1)].any():
        gaps = [abs(scores[bins == b].sum() - true[bins == b].sum()) for b in range(10)]
        assert found["ece"].number == pytest.approx(sum(gaps) / len(pairs), abs=1e-12)
    assert sum(row["n"] for row in found["ece"].metadata["reliability"]) == len(pairs)


def test_scores_outside_the_unit_interval_are_no_probabilities() -> None:
    records = [scored_record(1.5, "yes"), scored_record(0.5, "yes"), scored_record(0.5, "no")]
    found = reduce_records("classifier-calibration", records, positive_label="yes")
    assert found["ece"].metadata["missing"] == {"the score lies outside [0, 1]": 1}


def test_a_positive_label_that_never_occurs_is_a_mistake_and_not_a_perfect_score() -> None:
    with pytest.raises(SkipRecord, match="'Yes'"):
        reduce_records("classifier-calibration", [scored_record(0.5, "yes")], positive_label="Yes")


@pytest.mark.parametrize(
    ("name", "params"), [("regression", {}), ("roc-auc", {}), ("classifier-calibration", {"positive_label": "1"})]
)
def test_ten_thousand_records_take_a_second_and_a_half_at_most(name: str, params: dict[str, object]) -> None:
    generator = np.random.default_rng(5)
    scores = generator.uniform(size=10_000).round(6).tolist()
    labels = (generator.uniform(size=10_000) < scores).astype(int).tolist()
    records = [
        Record(
            id="r", output=Content(json={"score": a, "value": a}), reference=Content(json={"label": b, "value": b + 1})
        )
        for a, b in zip(scores, labels, strict=True)
    ]
    started = time.process_time()
    found = reduce_records(name, records, batch=2000, **params)
    assert time.process_time() - started < 1.5
    assert all("ci" in score.metadata for score in found.values())


def test_bootstrap_intervals_agree_with_theory_for_the_mean_error() -> None:
    generator = np.random.default_rng(6)
    error = generator.normal(size=400)
    records = [text_record(repr(float(1 + e)), "1") for e in error]
    with warnings.catch_warnings():
        found = reduce_records("regression", records)
    ci = found["mae"].metadata["ci"]
    spread = 1.96 * np.abs(error).std() / 20
    assert (ci["high"] - ci["low"]) / 2 == pytest.approx(spread, rel=0.15)
