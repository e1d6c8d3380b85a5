"""Tallies of parts are the tally of the whole, percentiles are right to half a percent, sessions widen intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.stats import mean_estimate, wilson
from evalsi.watch.figures import difference_of, drift_of
from evalsi.watch.tally import Tally, alone

VALUES = st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 3)), max_size=30)


def tally(values: list[float]) -> Tally:
    return Tally.of(values, [alone(str(place)) for place in range(len(values))])


def as_it_is(one: Tally) -> tuple[object, ...]:
    return one.n, pytest.approx(one.total, abs=1e-3), dict(one.bins), dict(one.reasons), one.skipped, one.errors


@given(VALUES, VALUES)
def test_parts_make_the_whole_in_any_order(first: list[float], second: list[float]) -> None:
    left, right = tally(first), tally(second)
    left.plus(tally(second))
    right.plus(tally(first))
    assert as_it_is(left) == as_it_is(right)
    assert left.n == len(first) + len(second)


@given(VALUES, VALUES)
def test_what_was_added_can_be_taken_back(kept: list[float], passing: list[float]) -> None:
    both = Tally.of(kept, [], ["no content"], errors=2)
    gone = Tally.of(passing, [], ["late", "no content"], errors=1)
    both.plus(gone)
    both.plus(gone, -1)
    assert as_it_is(both) == as_it_is(Tally.of(kept, [], ["no content"], errors=2))


@given(st.lists(st.floats(1e-6, 1e9) | st.floats(-1e9, -1e-6), min_size=1, max_size=200), st.floats(0, 1))
def test_percentiles_are_right_to_one_percent(values: list[float], share: float) -> None:
    exact = float(np.quantile(values, share, method="lower"))
    assert tally(values).quantile(share) == pytest.approx(exact, rel=0.0101)


@given(st.floats(-1e6, 1e6).map(lambda value: round(value, 3)), st.integers(1, 300), st.floats(0, 1))
def test_percentiles_of_equal_values_are_that_value(value: float, count: int, share: float) -> None:
    assert tally([value] * count).quantile(share) == pytest.approx(value, rel=1e-9)


def test_percentiles_of_counts_are_counts() -> None:
    words = tally([2.0] * 10 + [7.0] * 80 + [11.0] * 10)
    assert [words.quantile(share) for share in (0.05, 0.5, 0.95)] == [2.0, 7.0, 11.0]
    assert tally([0.1, 0.3, 0.3, 0.95]).quantile(0.5) == 0.3


def test_verdicts_have_wilsons_interval_and_scores_students() -> None:
    verdicts = tally([1.0] * 45 + [0.0] * 5)
    assert verdicts.estimate(0.95, (0.0, 1.0)).interval == wilson(45, 50)
    scores = [0.25, 0.5, 0.75, 0.8, 0.1]
    found, expected = (
        tally(scores).estimate(0.95, (0.0, 1.0)).interval,
        mean_estimate(scores, 0.95, (0.0, 1.0)).interval,
    )
    assert found is not None
    assert expected is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("value", [0.0, 1.0, 0.5])
def test_equal_values_never_give_an_interval_of_no_width(value: float) -> None:
    interval = tally([value] * 30).estimate(0.95, (0.0, 1.0)).interval
    assert interval is not None
    assert interval.low < interval.high


def covered(sessions: int, per_session: int, chance: np.random.Generator) -> bool:
    """Whether the interval holds the mean 0.5 of sessions whose traces are all alike."""
    alike = chance.random(sessions) < 0.5
    values = np.repeat(alike, per_session).astype(float).tolist()
    names = [f"s{place // per_session}" for place in range(len(values))]
    interval = Tally.of(values, names).estimate(0.95, (0.0, 1.0)).interval
    return interval is not None and interval.low <= 0.5 <= interval.high


def test_an_interval_of_traces_in_sessions_keeps_its_level() -> None:
    chance = np.random.default_rng(11)
    assert (
        sum(covered(200, 8, chance) for _ in range(200)) >= 180
    )  # 190 expected; Wilson's of all traces would give 110


def test_independent_verdicts_are_compared_as_proportions_and_sessions_by_groups() -> None:
    before, now = tally([1.0] * 80 + [0.0] * 20), tally([1.0] * 60 + [0.0] * 40)
    change = difference_of(before, now, (0.0, 1.0))
    assert change is not None
    assert change.interval is not None
    assert change.interval.method == "newcombe"
    assert change.difference == pytest.approx(-0.2)
    grouped = Tally.of([1.0] * 60 + [0.0] * 40, [f"s{place // 4}" for place in range(100)])
    change = difference_of(before, grouped, (0.0, 1.0))
    assert change is not None
    assert change.interval is not None
    assert change.interval.method == "welch"


def test_drift_is_found_where_values_moved_and_not_where_they_did_not() -> None:
    chance = np.random.default_rng(12)
    old, same, new = (tally(chance.beta(a, b, 500).tolist()) for a, b in ((8, 2), (8, 2), (5, 5)))
    assert not drift_of("tone", old, same, (0.0, 1.0)).moved
    moved = drift_of("tone", old, new, (0.0, 1.0))
    assert moved.moved
    assert moved.psi is not None
    assert moved.psi > 0.5
    few = drift_of("tone", old, tally([0.5] * 10), (0.0, 1.0))
    assert (few.moved, few.psi, few.p_value) == (False, None, None)
    assert few.difference is not None
