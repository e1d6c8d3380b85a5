"""Calibration against people: equal to reference libraries, blind to nothing, honest about what it cannot say."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi.core.errors import InvalidDataError, InvalidParamsError
from evalsi.judges.calibration import CalibrationCase, CalibrationPlan, calibrate
from evalsi.judges.calibration_record import Calibration, CalibrationRecord, Figure, gate_warnings

LABELS = CalibrationPlan(kind="label")
RATINGS = CalibrationPlan(kind="number", passing_from=3)
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def value(figure: Figure | None) -> float:
    assert figure is not None
    assert figure.value is not None, figure.reason
    return figure.value


def labelled(pairs: list[tuple[Any, ...]], **more: Any) -> list[CalibrationCase]:
    return [
        CalibrationCase(id=str(n), judge=judge, people=tuple(people), **more)
        for n, (judge, *people) in enumerate(pairs)
    ]


def figures(calibration: Calibration) -> list[Figure]:
    found = (getattr(calibration, name) for name in calibration.__struct_fields__)
    return [figure for figure in found if isinstance(figure, Figure)]


def test_agreement_and_kappa_equal_the_reference() -> None:
    from sklearn.metrics import cohen_kappa_score

    draw = random.Random(1)
    pairs = [(draw.choice("abc"), draw.choice("abc")) for _ in range(120)]
    found = calibrate(labelled(pairs), LABELS)
    judge, people = zip(*pairs, strict=True)
    assert value(found.agreement) == pytest.approx(np.mean([a == b for a, b in pairs]))
    assert value(found.kappa) == pytest.approx(cohen_kappa_score(judge, people))


def test_quadratic_kappa_of_ratings_equals_the_reference_also_when_a_point_is_never_given() -> None:
    from sklearn.metrics import cohen_kappa_score

    draw = random.Random(2)
    pairs = [(draw.choice([1, 2, 5]), draw.choice([1, 2, 5])) for _ in range(80)]
    found = calibrate(labelled(pairs), RATINGS)
    judge, people = zip(*pairs, strict=True)
    expected = cohen_kappa_score(judge, people, weights="quadratic", labels=[1, 2, 3, 4, 5])
    assert value(found.kappa) == pytest.approx(expected)


def test_people_among_themselves_are_measured_with_alpha() -> None:
    import krippendorff

    draw = random.Random(3)
    ratings = [[draw.choice([1, 2, 3, None]) for _ in range(40)] for _ in range(3)]
    cases = labelled([(1, *column) for column in zip(*ratings, strict=True)])
    table = np.array([[np.nan if rating is None else rating for rating in row] for row in ratings], dtype=float)
    expected = krippendorff.alpha(reliability_data=table, level_of_measurement="interval")
    assert value(calibrate(cases, RATINGS).people_alpha) == pytest.approx(expected)


def test_false_passes_are_shares_of_what_people_fail() -> None:
    pairs = [(True, False)] * 3 + [(False, False)] * 7 + [(True, True)] * 18 + [(False, True)] * 2
    found = calibrate(labelled(pairs), LABELS)
    assert (value(found.false_pass), value(found.false_fail)) == (0.3, 0.1)
    assert found.false_pass is not None
    assert (found.false_pass.n, found.false_pass.method) == (10, "wilson")
    named = [("good" if judge else "bad", "good" if person else "bad") for judge, person in pairs]
    again = calibrate(labelled(named), CalibrationPlan(kind="label", passing=frozenset({"good"})))
    assert (again.false_pass, again.false_fail) == (found.false_pass, found.false_fail)
    marked = calibrate(labelled([(4 if judge else 2, 5 if person else 1) for judge, person in pairs]), RATINGS)
    assert marked.false_pass == found.false_pass


def test_a_judge_that_is_always_a_point_too_kind_correlates_and_is_found_out() -> None:
    draw = random.Random(4)
    pairs = [(rating + 1, rating) for rating in (draw.choice([1, 2, 3, 4]) for _ in range(60))]
    found = calibrate(labelled(pairs), RATINGS)
    assert value(found.rank_correlation) == pytest.approx(1)
    assert value(found.difference) == 1


def test_the_majority_decides_and_a_split_is_no_fault_of_the_judge() -> None:
    cases = labelled([("a", "a", "a", "b"), ("b", "a", "b", None), (None, "a", "a", "a"), ("a", None, None, None)])
    found = calibrate(cases, LABELS)
    assert (found.cases, found.judged, found.errors, found.split, found.compared) == (4, 3, 1, 2, 1)
    assert value(found.agreement) == 1


def test_errors_of_the_judge_never_count_as_disagreement() -> None:
    sound = labelled([("a", "a"), ("b", "b"), ("a", "b")])
    broken = labelled([(None, "a")] * 50)
    assert calibrate(sound + broken, LABELS).agreement == calibrate(sound, LABELS).agreement


def test_a_judge_that_always_says_the_same_has_no_kappa_and_a_reason() -> None:
    found = calibrate(labelled([(True, True)] * 20), LABELS)
    assert found.kappa is not None
    assert (found.kappa.value, found.kappa.n) == (None, 20)
    assert found.kappa.reason
    assert found.agreement is not None
    assert found.agreement.low is not None
    assert found.agreement.low < 1


# --- Bias ------------------------------------------------------------------------------------------------------------


def preferences(pairs: list[tuple[str, str]]) -> list[CalibrationCase]:
    return [CalibrationCase(judge=first, swapped=second, people=("A",)) for first, second in pairs]


PREFER = CalibrationPlan(kind="preference")


def test_a_judge_that_favours_the_first_place_is_found_out() -> None:
    found = calibrate(preferences([("A", "B")] * 30 + [("A", "A")] * 50 + [("B", "B")] * 20), PREFER)
    assert (value(found.order_consistency), value(found.position_bias)) == (0.7, 0.3)
    assert found.position_bias is not None
    assert (found.position_bias.low or 0) > 0
    mirrored = calibrate(preferences([("B", "A")] * 30 + [("A", "A")] * 70), PREFER)
    assert value(mirrored.position_bias) == -0.3


def test_inconsistency_without_a_side_is_no_position_bias() -> None:
    found = calibrate(preferences([("A", "B")] * 20 + [("B", "A")] * 20 + [("tie", "tie")] * 10), PREFER)
    assert (value(found.order_consistency), value(found.position_bias)) == (0.2, 0)


def with_lengths(weight: float, *, seed: int, n: int = 200) -> list[CalibrationCase]:
    """People's ratings depend on length a little; the judge adds `weight` of its own."""
    draw = random.Random(seed)
    cases: list[CalibrationCase] = []
    for _ in range(n):
        length = draw.uniform(10, 1000)
        person = draw.gauss(length / 500, 1)
        cases.append(
            CalibrationCase(judge=person + draw.gauss(0, 0.7) + weight * length / 500, people=(person,), length=length)
        )
    return cases


def test_length_bias_is_what_length_adds_beyond_what_people_see_in_it() -> None:
    fair, biased = (calibrate(with_lengths(weight, seed=5), RATINGS).length_bias for weight in (0.0, 1.5))
    assert abs(value(fair)) < 0.15
    assert biased is not None
    assert (biased.low or 0) > 0.3


def test_length_bias_equals_the_partial_correlation_of_ranks() -> None:
    from scipy.stats import rankdata

    cases = with_lengths(0.5, seed=6, n=60)
    ranks = [rankdata(values) for values in zip(*((c.judge, c.length, c.people[0]) for c in cases), strict=True)]
    r = np.corrcoef(ranks)
    expected = (r[0, 1] - r[0, 2] * r[1, 2]) / np.sqrt((1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2))
    assert value(calibrate(cases, RATINGS).length_bias) == pytest.approx(expected)


def test_length_bias_of_pass_and_fail_needs_no_numbers() -> None:
    draw = random.Random(7)
    lengths = [draw.uniform(1, 100) for _ in range(200)]
    cases = [CalibrationCase(judge=length > 50, people=(draw.random() < 0.5,), length=length) for length in lengths]
    assert value(calibrate(cases, LABELS).length_bias) > 0.7


def test_without_variation_length_bias_is_unknown_and_not_zero() -> None:
    same = [CalibrationCase(judge=3.0, people=(float(n % 5),), length=float(n)) for n in range(50)]
    found = calibrate(same, RATINGS).length_bias
    assert found is not None
    assert found.value is None
    assert found.reason


@pytest.mark.slow
def test_the_interval_of_a_fair_judge_holds_zero_about_as_often_as_it_says() -> None:
    plan = msgspec.structs.replace(RATINGS, resamples=300)
    held = 0
    for seed in range(200):
        figure = calibrate(with_lengths(0.0, seed=seed, n=60), plan).length_bias
        assert figure is not None
        held += (figure.low or 0) <= 0 <= (figure.high or 0)
    assert 178 <= held <= 200


# --- Input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cases", "plan"),
    [
        (labelled([("a", "a"), (1.0, "a")]), LABELS),
        (labelled([(1.0, "a")]), RATINGS),
        (labelled([(True, 1.0)]), RATINGS),
        (labelled([("a", "a")]) + labelled([("a", "a", "b")]), LABELS),
    ],
)
def test_verdicts_and_labels_of_different_kinds_are_refused(cases: Any, plan: CalibrationPlan) -> None:
    with pytest.raises(InvalidDataError):
        calibrate(cases, plan)


def test_a_passing_mark_needs_numbers() -> None:
    with pytest.raises(InvalidParamsError):
        calibrate(labelled([("a", "a")]), CalibrationPlan(kind="label", passing_from=3))


VERDICTS = st.none() | st.booleans()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(VERDICTS, VERDICTS, VERDICTS, st.none() | st.floats(0, 1e6)), max_size=30))
def test_any_cases_give_figures_in_range_with_intervals_or_reasons(rows: list[tuple[Any, Any, Any, Any]]) -> None:
    cases = [CalibrationCase(judge=judge, people=(one, two), length=length) for judge, one, two, length in rows]
    found = calibrate(cases, msgspec.structs.replace(LABELS, resamples=100))
    assert found.judged + found.errors == found.cases
    assert found.compared + found.split == found.judged
    for figure in figures(found):
        assert figure.value is None or -1 <= figure.value <= 1
        assert figure.low is not None or figure.reason
        assert figure.low is None or (figure.high or 0) > figure.low
    assert msgspec.json.decode(msgspec.json.encode(found), type=Calibration) == found


# --- Gates -----------------------------------------------------------------------------------------------------------


def record_of(cases: list[CalibrationCase], plan: CalibrationPlan = LABELS, **more: Any) -> CalibrationRecord:
    given_fields = {
        "evaluator": "judge/correctness@1.0.0",
        "evaluator_fingerprint": "sha256:e",
        "judge": "anthropic/m",
        "judge_fingerprint": "sha256:j",
        "dataset_digest": "sha256:d",
        "created_at": (NOW - timedelta(days=10)).isoformat(),
        "calibration": calibrate(cases, plan),
        **more,
    }
    return CalibrationRecord(**given_fields)


def warnings_of(record: CalibrationRecord | None, **more: Any) -> list[str]:
    used = {
        "evaluator": "judge/correctness@1.0.0",
        "evaluator_fingerprint": "sha256:e",
        "judge_fingerprint": "sha256:j",
    }
    return gate_warnings(record, now=NOW, **{**used, **more})


GOOD = labelled([(True, True)] * 40 + [(False, False)] * 40 + [(True, False)] * 2)


def test_a_gate_on_a_calibrated_judge_has_no_warning() -> None:
    assert warnings_of(record_of(GOOD)) == []


@pytest.mark.parametrize(
    ("record", "more", "words"),
    [
        (None, {}, "has never been calibrated; compare it with people's labels: evalsi judge calibrate"),
        (record_of(GOOD), {"judge_fingerprint": "sha256:x"}, "another judge or other settings (anthropic/m)"),
        (record_of(GOOD), {"evaluator_fingerprint": "sha256:x"}, "has changed since it was calibrated"),
        (record_of(GOOD, created_at="2025-01-01T00:00:00+00:00"), {}, "days old"),
        (record_of(GOOD[:10]), {}, "on 10 cases only"),
        (record_of(labelled([(True, True)] * 30 + [(False, True)] * 30 + [(True, False)] * 30)), {}, "beyond chance"),
        (record_of(labelled([(True, True)] * 40 + [(True, False)] * 15 + [(False, False)] * 25)), {}, "passes 38% of what"),
        (record_of(preferences([("A", "B")] * 30 + [("A", "A")] * 40), PREFER), {}, "favours a position (+43% for the first)"),
        (record_of(with_lengths(1.5, seed=8), RATINGS), {}, "favours long outputs"),
    ],
)  # fmt: skip
def test_a_gate_on_a_doubtful_judge_is_warned_about(record: CalibrationRecord | None, more: Any, words: str) -> None:
    assert any(words in warning for warning in warnings_of(record, **more))
