import time
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from evalsi.core.errors import InvalidParamsError, SkipRecord
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.catalog import load
from evalsi.schema import Content, Record, TabularRow
from tests.evaluators.ml_classic.running import numbers, reduce_records, text_record

oracle: Any = metrics
"""The reference library, whose stubs know less than it does."""

LABELS = st.sampled_from("abcd")


def expected(true: list[str], predicted: list[str], positive: str) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {"accuracy": oracle.accuracy_score(true, predicted)}
        for average in ("macro", "micro", "weighted"):
            values = oracle.precision_recall_fscore_support(true, predicted, average=average, zero_division=0)
            found |= dict(zip((f"precision-{average}", f"recall-{average}", f"f1-{average}"), values[:3], strict=True))
        for name, function in (
            ("precision", oracle.precision_score),
            ("recall", oracle.recall_score),
            ("f1", oracle.f1_score),
        ):
            found[name] = function(true, predicted, labels=[positive], average="macro", zero_division=np.nan)
        found["balanced-accuracy"] = oracle.balanced_accuracy_score(true, predicted)
        varied = len(set(true)) > 1 and len(set(predicted)) > 1
        found["mcc"] = oracle.matthews_corrcoef(true, predicted) if varied else np.nan
        agreed = len({*true, *predicted}) > 1
        found["cohen-kappa"] = oracle.cohen_kappa_score(true, predicted) if agreed else np.nan
    return {name: float(value) for name, value in found.items() if not np.isnan(value)}


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=40))
def test_every_metric_equals_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    true, predicted = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    records = [text_record(given, wanted) for wanted, given in pairs]
    assert numbers(reduce_records("classification", records, positive_label="a")) == pytest.approx(
        expected(true, predicted, "a"), abs=1e-12
    )


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(LABELS, LABELS), min_size=2, max_size=40), st.integers(1, 40))
def test_batches_make_no_difference(pairs: list[tuple[str, str]], batch: int) -> None:
    records = [text_record(given, wanted) for wanted, given in pairs]
    whole = reduce_records("classification", records, batch=1000)
    assert numbers(reduce_records("classification", records, batch=batch)) == pytest.approx(numbers(whole))


def test_given_labels_decide_what_the_averages_go_over() -> None:
    true, predicted = list("aabbcc"), list("abbbca")
    records = [text_record(given, wanted) for wanted, given in zip(true, predicted, strict=True)]
    found = numbers(reduce_records("classification", records, labels=["a", "b"]))
    kept = {"labels": ["a", "b"], "zero_division": 0}
    assert found["f1-macro"] == pytest.approx(oracle.f1_score(true, predicted, average="macro", **kept))
    assert found["f1-micro"] == pytest.approx(oracle.f1_score(true, predicted, average="micro", **kept))
    assert found["f1-weighted"] == pytest.approx(oracle.f1_score(true, predicted, average="weighted", **kept))
    assert found["accuracy"] == pytest.approx(4 / 6)


def test_a_metric_without_a_denominator_is_not_reported_but_explained() -> None:
    records = [text_record("ham", "spam"), text_record("ham", "ham")]
    found = reduce_records("classification", records, positive_label="spam")
    assert "precision" not in found
    assert "'spam'" in found["accuracy"].metadata["undefined"]["precision"]
    assert "mcc" in found["accuracy"].metadata["undefined"]
    assert found["recall"].number == 0
    assert found["confusion-matrix"].metadata["precision_counted_as_zero_division"] == ["spam"]
    with_zero = reduce_records("classification", records, positive_label="spam", zero_division=0.0)
    assert with_zero["precision"].number == 0


def test_one_class_everywhere_says_that_chance_agreement_is_certain() -> None:
    found = reduce_records("classification", [text_record("a", "a")] * 5)
    assert found["accuracy"].number == 1
    assert {"mcc", "cohen-kappa"} <= set(found["accuracy"].metadata["undefined"])
    assert found["accuracy"].metadata["ci"]["low"] < 1


def test_no_interval_has_zero_width() -> None:
    found = reduce_records("classification", [text_record("a", "a"), text_record("b", "b")] * 4)
    for score in found.values():
        ci = score.metadata.get("ci")
        assert ci is None or ci["low"] < ci["high"]


def test_intervals_hold_the_value_and_depend_on_the_seed_only() -> None:
    records = [text_record(a, b) for a, b in zip("aabbcabcab" * 10, "abbbccbcaa" * 10, strict=True)]
    first, second = (reduce_records("classification", records, positive_label="a") for _ in range(2))
    for name, score in first.items():
        if score.number is not None:
            ci = score.metadata["ci"]
            assert ci["low"] <= score.number <= ci["high"]
            assert ci["method"] == ("wilson" if name in ("accuracy", "f1-micro") else "bootstrap-percentile")
            assert ci == second[name].metadata["ci"]


def test_the_matrix_has_true_labels_as_rows() -> None:
    found = reduce_records("classification", [text_record("b", "a"), text_record("a", "a"), text_record("b", "b")])
    assert found["confusion-matrix"].structured == {"labels": ["a", "b"], "matrix": [[1, 1], [0, 1]], "rows": "true"}
    assert found["confusion-matrix"].metadata["per_class"]["a"]["recall"] == 0.5


@pytest.mark.parametrize(
    ("content", "label"),
    [
        (Content(text=" spam\n"), "spam"),
        (Content(json="spam"), "spam"),
        (Content(json={"label": "spam"}), "spam"),
        (Content(text='{"label": "spam"}'), "spam"),
        (Content(row=TabularRow(prediction="spam")), "spam"),
        (Content(row=TabularRow(features={"label": "spam"})), "spam"),
        (Content(row=TabularRow(probabilities={"ham": 0.2, "spam": 0.8})), "spam"),
        (Content(json=1), "1"),
        (Content(json=1.0), "1"),
        (Content(json=True), "true"),
        (Content(json=0.5), "0.5"),
    ],
)
def test_a_label_is_read_wherever_it_may_stand(content: Content, label: str) -> None:
    record = Record(id="1", output=content, reference=Content(text=label))
    assert reduce_records("classification", [record])["accuracy"].number == 1


def test_records_that_cannot_be_read_are_counted_and_named() -> None:
    records = [
        text_record("a", "a"),
        text_record("", "a"),
        text_record("a", None),
        Record(id="1", output=Content(json={"other": 1}), reference=Content(text="a")),
        Record(id="2", output=Content(json=[1]), reference=Content(text="a")),
        Record(id="3", output=Content(json={"label": None}), reference=Content(text="a")),
        Record(id="4", output=Content(json=float("nan")), reference=Content(text="a")),
    ]
    metadata = reduce_records("classification", records)["accuracy"].metadata
    assert metadata["n"] == 1
    assert metadata["n_missing"] == 6
    assert metadata["missing"] == {
        "the output is empty": 1,
        "there is no reference": 1,
        "the output has no 'label'": 1,
        "the output is no label": 3,
    }


def test_nothing_readable_is_skipped_with_the_reason() -> None:
    with pytest.raises(SkipRecord, match="empty"):
        reduce_records("classification", [text_record("", "a")])


@pytest.mark.parametrize(
    "params",
    [
        {"labels": []},
        {"labels": ["a", "a"]},
        {"labels": ["a"], "positive_label": "b"},
        {"label_field": ""},
        {"zero_division": 2.0},
        {"zero_division": "warn"},
        {"positive_label": 1},
    ],
)
def test_params_that_cannot_work_are_refused(params: dict[str, object]) -> None:
    with pytest.raises(InvalidParamsError):
        bind(load("classification"), context=EvalContext(), params=params)


def test_many_records_with_many_labels_take_little_time() -> None:
    generator = np.random.default_rng(1)
    records = [text_record(str(a), str(b)) for a, b in generator.integers(0, 20, size=(10_000, 2))]
    started = time.process_time()
    reduce_records("classification", records, batch=1000)
    assert time.process_time() - started < 1.5
