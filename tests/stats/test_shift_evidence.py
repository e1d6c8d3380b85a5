"""Evidence of a shift rings falsely as seldom as it says, over a whole day of looking, and soon where there is one."""

import msgspec
import numpy as np
import pytest

from evalsi.stats import ShiftEvidence

ALPHA = 0.05


def first_alarm(
    values: np.ndarray, threshold: float, *, high: float = 1.0, alpha: float = ALPHA, look: int = 50
) -> int | None:
    """After how many values "the mean is below the threshold" is called sure; None for never."""
    evidence = ShiftEvidence()
    for start in range(0, values.size, look):
        evidence = evidence.update(threshold - values[start : start + look], high - threshold)
        if evidence.reaches(alpha):
            return start + look
    return None


def test_a_mean_at_its_threshold_raises_false_alarms_at_most_at_the_rate() -> None:
    chance = np.random.default_rng(1)
    alarms = [first_alarm((chance.random(600) < 0.8).astype(float), 0.8) for _ in range(40)]
    assert sum(alarm is not None for alarm in alarms) <= 6  # 40 * 0.05 = 2; more than 6 has chance below 1%


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["verdicts", "scores", "mostly right", "drifting within bounds"])
def test_a_day_of_peeking_raises_false_alarms_at_most_at_the_rate(kind: str) -> None:
    chance = np.random.default_rng(2)
    made = {
        "verdicts": lambda: (chance.random(1_500) < 0.8).astype(float),
        "scores": lambda: chance.beta(8, 2, 1_500),
        "mostly right": lambda: np.where(chance.random(1_500) < 0.99, 0.806, 0.206),
        "drifting within bounds": lambda: (
            (chance.random(1_500) < 0.8 + 0.15 * np.sin(np.arange(1_500) / 300) ** 2) * 1.0
        ),
    }[kind]
    alarms = sum(first_alarm(made(), 0.8) is not None for _ in range(40))
    assert alarms <= 6  # 40 * 0.05 = 2; more than 6 has chance below 1%


def test_a_shift_after_a_long_good_time_is_found_soon() -> None:
    chance = np.random.default_rng(3)
    for _ in range(2):
        good, bad = chance.random(5_000) < 0.92, chance.random(1_500) < 0.7
        found = first_alarm(np.concatenate([good, bad]).astype(float), 0.85, alpha=0.01)
        assert found is not None
        assert 5_000 < found <= 6_000


def test_values_without_an_upper_bound_can_be_surely_too_large() -> None:
    chance = np.random.default_rng(4)
    waits = np.concatenate([chance.exponential(1.0, 500), chance.exponential(4.0, 500)])
    evidence, found = ShiftEvidence(), None
    for start in range(0, waits.size, 25):
        evidence = evidence.update(waits[start : start + 25] - 2.0, 2.0)
        if found is None and evidence.reaches(0.01):
            found = start
    assert found is not None
    assert 500 <= found < 750


def test_the_evidence_does_not_depend_on_how_often_it_is_looked_at() -> None:
    values = (np.random.default_rng(5).random(400) < 0.6).astype(float)
    whole = ShiftEvidence().update(0.7 - values, 0.3)
    pieces = ShiftEvidence()
    for start in range(0, 400, 7):
        pieces = pieces.update(0.7 - values[start : start + 7], 0.3)
    assert pieces.n == whole.n == 400
    assert pieces.log_largest == pytest.approx(whole.log_largest)
    assert pieces.log_capital == pytest.approx(whole.log_capital)


def test_it_can_be_stored_and_goes_on_as_if_it_had_not_been() -> None:
    values = (np.random.default_rng(6).random(300) < 0.6).astype(float)
    kept = ShiftEvidence().update(0.7 - values, 0.3)
    read = msgspec.msgpack.decode(msgspec.msgpack.encode(kept), type=ShiftEvidence)
    assert read.update([0.7, -0.3], 0.3) == kept.update([0.7, -0.3], 0.3)


def test_its_size_does_not_grow_with_the_values() -> None:
    evidence = ShiftEvidence().update(np.full(5_000, -0.1), 0.2)
    assert len(evidence.starts) <= 24


@pytest.mark.parametrize(("gains", "room"), [([-0.6], 0.5), ([0.1], 0.0), ([float("nan")], 0.5)])
def test_impossible_values_are_refused(gains: list[float], room: float) -> None:
    with pytest.raises(ValueError, match=r"gain|value"):
        ShiftEvidence().update(gains, room)
