"""The sequence of intervals covers the mean at all times together."""

import numpy as np
import pytest

from evalsi.stats import BernsteinSequence


def misses(values: np.ndarray, mean: float, level: float) -> bool:
    """Whether the mean is outside the interval at any time."""
    sequence = BernsteinSequence()
    for value in values.tolist():
        sequence = sequence.update(value, (0.0, 1.0), level)
        interval = sequence.interval((0.0, 1.0), level)
        assert interval is not None
        if not interval.low <= mean <= interval.high:
            return True
    return False


@pytest.mark.parametrize("kind", ["verdicts", "scores"])
def test_the_mean_is_inside_at_all_times(kind: str) -> None:
    chance = np.random.default_rng(7)
    made = {
        "verdicts": (lambda: (chance.random(500) < 0.3).astype(float), 0.3),
        "scores": (lambda: chance.beta(2, 5, 500), 2 / 7),
    }
    draw, mean = made[kind]
    assert sum(misses(draw(), mean, 0.9) for _ in range(60)) <= 12  # 60 * 0.1 = 6; more than 12 has chance below 1%


def test_it_closes_in_on_the_mean() -> None:
    values = np.random.default_rng(8).beta(2, 5, 1_500)
    sequence = BernsteinSequence()
    for value in values.tolist():
        sequence = sequence.update(value, (0.0, 1.0), 0.95)
    interval = sequence.interval((0.0, 1.0), 0.95)
    assert interval is not None
    assert interval.high - interval.low < 0.05


def test_bounds_other_than_0_and_1_scale_the_interval() -> None:
    unit, wide = BernsteinSequence(), BernsteinSequence()
    for value in (0.2, 0.4, 0.9):
        unit = unit.update(value, (0.0, 1.0), 0.95)
        wide = wide.update(100 * value - 50, (-50.0, 50.0), 0.95)
    one, other = unit.interval((0.0, 1.0), 0.95), wide.interval((-50.0, 50.0), 0.95)
    assert one is not None
    assert other is not None
    assert other.low == pytest.approx(100 * one.low - 50)
    assert other.high == pytest.approx(100 * one.high - 50)


def test_there_is_no_interval_before_the_first_value() -> None:
    assert BernsteinSequence().interval((0.0, 1.0), 0.95) is None
