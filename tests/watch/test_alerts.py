"""Alerts fire when a mean has surely left its bounds, once, and are resolved when it is surely back."""

import numpy as np
import pytest

from evalsi.schema import Alert
from evalsi.watch.alerts import AlertMemory, Bounds, Transition, advanced, interval_of

VERDICT = Bounds(0.0, 1.0)


def run_through(alert: Alert, values: np.ndarray, bounds: Bounds = VERDICT) -> tuple[AlertMemory, list[Transition]]:
    memory, found = AlertMemory(), list[Transition]()
    for start in range(0, values.size, 40):
        some = [(start + place, float(value)) for place, value in enumerate(values[start : start + 40])]
        memory, changes = advanced(memory, alert, bounds, some)
        found += changes
    return memory, found


def verdicts(chance: np.random.Generator, *parts: tuple[float, int]) -> np.ndarray:
    return np.concatenate([(chance.random(n) < share).astype(float) for share, n in parts])


def test_it_fires_once_when_the_mean_falls_and_is_resolved_once_when_it_is_back() -> None:
    values = verdicts(np.random.default_rng(1), (0.95, 600), (0.5, 400), (0.97, 600))
    memory, changes = run_through(Alert(metric="tone", below=0.8), values)
    assert [(change.fired, change.side, change.number) for change in changes] == [
        (True, "below", 1),
        (False, "below", 2),
    ]
    assert 600 < changes[0].at_ms < 750
    assert 1_000 < changes[1].at_ms < 1_250
    assert memory.side == ""


def test_it_fires_again_when_the_mean_falls_again() -> None:
    values = verdicts(np.random.default_rng(2), (0.5, 300), (0.97, 400), (0.5, 400))
    _, changes = run_through(Alert(metric="tone", below=0.8), values)
    assert [change.fired for change in changes] == [True, False, True]


def test_a_metric_without_an_upper_bound_can_be_too_large_and_come_back() -> None:
    chance = np.random.default_rng(3)
    waits = np.concatenate([chance.exponential(1.0, 400), chance.exponential(6.0, 300), chance.exponential(0.5, 500)])
    memory, changes = run_through(Alert(metric="latency", above=2.0), waits, Bounds(0.0, None))
    assert [(change.fired, change.side) for change in changes] == [(True, "above"), (False, "above")]
    assert interval_of(memory, Alert(metric="latency", above=2.0), Bounds(0.0, None)) is None


@pytest.mark.parametrize(("share", "side"), [(0.2, "below"), (0.95, "above")])
def test_bounds_on_both_sides_name_the_side(share: float, side: str) -> None:
    _, changes = run_through(
        Alert(metric="tone", below=0.4, above=0.8), verdicts(np.random.default_rng(4), (share, 300))
    )
    assert [change.side for change in changes] == [side]


def test_few_values_never_fire() -> None:
    _, changes = run_through(Alert(metric="tone", below=0.9, min_samples=60), np.zeros(59))
    assert changes == []
    _, changes = run_through(Alert(metric="tone", below=0.9, min_samples=60), np.zeros(80))
    assert len(changes) == 1


def test_a_threshold_at_the_bound_itself_fires_when_values_lie_below() -> None:
    values = np.concatenate([np.ones(100), np.zeros(20)])
    _, changes = run_through(Alert(metric="tone", below=1.0), values)
    assert [change.fired for change in changes][:1] == [True]


def test_the_bounds_of_the_mean_hold_it_while_nothing_changes() -> None:
    alert = Alert(metric="tone", below=0.5)
    memory, _ = run_through(alert, verdicts(np.random.default_rng(5), (0.9, 500)))
    interval = interval_of(memory, alert, VERDICT)
    assert interval is not None
    assert interval.low < 0.9 < interval.high < interval.low + 0.2
    assert interval.level == pytest.approx(0.99)


@pytest.mark.slow
def test_a_day_of_traffic_at_its_threshold_rings_no_more_often_than_was_said() -> None:
    # 40 days of 1,200 values, looked at after every 40, at a rate of 1 in 10: 4 expected at most, 9 has chance below 2%.
    chance = np.random.default_rng(6)
    alert = Alert(metric="tone", below=0.8, above=0.8, false_alarm_rate=0.1)
    rung = sum(bool(run_through(alert, verdicts(chance, (0.8, 1_200)))[1]) for _ in range(40))
    assert rung <= 8
