"""When somebody is told that a metric is out of bounds, and that it is back. Pure: the state goes in and comes out.

Its own module because everything that may be said about false alarms rests on it. What always holds: while the mean of
what comes next never leaves its bounds, an alert fires in its whole life with chance at most its false-alarm rate,
however often it is looked at (`stats.shift_evidence`); it fires once, and is resolved once, for each time it leaves them;
the same values in the same order give the same messages.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from evalsi.schema import Alert
from evalsi.stats import BernsteinSequence, Interval, ShiftEvidence
from evalsi.watch.policy import DEFAULT_FALSE_ALARM_RATE, DEFAULT_MIN_SAMPLES

RECOVERY_RATE = 0.05
"""Chance, each time, that an alert is called resolved while the mean is still out of bounds."""
_AT_ONCE = 25
"""Values between two looks."""
_LEAST_ROOM = 1e-9
Side = Literal["below", "above"]


class AlertMemory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an alert knows. Everything but `changes` counts since it last fired or was resolved."""

    side: str = ""
    """"below" or "above" while it fires; empty while all is well."""
    since_ms: int = 0
    """When it came to be so."""
    changes: int = 0
    n: int = 0
    total: float = 0.0
    lowest: float = 0.0
    highest: float = 0.0
    room: float = 0.0
    """While it fires: what a value may lie beyond the threshold on the bad side; more counts as this."""
    evidence: dict[str, ShiftEvidence] = {}
    """By side while all is well; under "back" while it fires."""
    bounds: BernsteinSequence = BernsteinSequence()

    @property
    def mean(self) -> float | None:
        return self.total / self.n if self.n else None


class Transition(NamedTuple):
    """An alert that fired or was resolved."""

    fired: bool
    side: str
    number: int
    """Which change of the alert it is, from 1."""
    at_ms: int
    n: int
    mean: float


class Bounds(NamedTuple):
    """Between which values a metric lies; None where that is not known."""

    low: float | None
    high: float | None


def advanced(
    memory: AlertMemory, alert: Alert, bounds: Bounds, values: Sequence[tuple[int, float]]
) -> tuple[AlertMemory, list[Transition]]:
    """The alert after more values.

    Args:
        values: Each with the time in milliseconds that it counts for, in the order they came.
    """
    found: list[Transition] = []
    for start in range(0, len(values), _AT_ONCE):
        some = values[start : start + _AT_ONCE]
        memory = _seen(memory, alert, bounds, [value for _, value in some])
        change = _change(memory, alert, bounds, max(at for at, _ in some))
        if change is not None:
            found.append(change)
            memory = _begun(memory, alert, bounds, change)
    return memory, found


def interval_of(memory: AlertMemory, alert: Alert, bounds: Bounds) -> Interval | None:
    """Bounds of the mean that hold at all times together; None where the metric has no known range."""
    if bounds.low is None or bounds.high is None or not bounds.low < bounds.high:
        return None
    return memory.bounds.interval((bounds.low, bounds.high), 1.0 - rate_of(alert))


def rate_of(alert: Alert) -> float:
    return alert.false_alarm_rate or DEFAULT_FALSE_ALARM_RATE


def key_of(alert: Alert) -> str:
    """What an alert is known by: a change of the address that is told does not make another alert of it."""
    return msgspec.json.encode((alert.metric, alert.below, alert.above)).decode()


def _seen(memory: AlertMemory, alert: Alert, bounds: Bounds, values: list[float]) -> AlertMemory:
    evidence = dict(memory.evidence)
    if memory.side:
        threshold = alert.below if memory.side == "below" else alert.above
        assert threshold is not None
        sign = 1.0 if memory.side == "below" else -1.0
        gains = [max(sign * (value - threshold), -memory.room) for value in values]
        evidence["back"] = evidence.get("back", ShiftEvidence()).update(gains, memory.room)
    else:
        for side, sign, threshold, limit in _sides(alert, bounds):
            room = max(_LEAST_ROOM, sign * (limit - threshold))
            gains = [sign * (threshold - value) for value in values]
            evidence[side] = evidence.get(side, ShiftEvidence()).update([max(gain, -room) for gain in gains], room)
    sequence = memory.bounds
    if bounds.low is not None and bounds.high is not None and bounds.low < bounds.high:
        for value in values:
            sequence = sequence.update(value, (bounds.low, bounds.high), 1.0 - rate_of(alert))
    low, high = (memory.lowest, memory.highest) if memory.n else (values[0], values[0])
    return msgspec.structs.replace(
        memory,
        n=memory.n + len(values),
        total=memory.total + sum(values),
        lowest=min(low, *values),
        highest=max(high, *values),
        evidence=evidence,
        bounds=sequence,
    )


def _sides(alert: Alert, bounds: Bounds) -> list[tuple[Side, float, float, float]]:
    """The thresholds of an alert: the sign of a gain, the threshold, and the bound of the values on the good side."""
    found: list[tuple[Side, float, float, float]] = []
    if alert.below is not None and bounds.high is not None:
        found.append(("below", 1.0, alert.below, bounds.high))
    if alert.above is not None and bounds.low is not None:
        found.append(("above", -1.0, alert.above, bounds.low))
    return found


def _change(memory: AlertMemory, alert: Alert, bounds: Bounds, at_ms: int) -> Transition | None:
    if memory.n < (alert.min_samples or DEFAULT_MIN_SAMPLES):
        return None
    mean = memory.total / memory.n
    if memory.side:
        if not memory.evidence["back"].reaches(RECOVERY_RATE):
            return None
        return Transition(False, memory.side, memory.changes + 1, at_ms, memory.n, mean)
    sides = _sides(alert, bounds)
    # What may be spent on false alarms in a whole life is shared out: 1/2, 1/6, 1/12, … for each time from the start on.
    life = memory.changes // 2 + 1
    alpha = rate_of(alert) / max(1, len(sides)) / (life * (life + 1))
    for side, *_ in sides:
        if memory.evidence[side].reaches(alpha):
            return Transition(True, side, memory.changes + 1, at_ms, memory.n, mean)
    return None


def _begun(memory: AlertMemory, alert: Alert, bounds: Bounds, change: Transition) -> AlertMemory:
    """The memory at the begin of what comes after a change."""
    room = 0.0
    if change.fired:
        threshold = alert.below if change.side == "below" else alert.above
        assert threshold is not None
        known = bounds.low if change.side == "below" else bounds.high
        worst = memory.lowest if change.side == "below" else memory.highest
        room = max(_LEAST_ROOM, abs(threshold - (worst if known is None else known)))
    return AlertMemory(
        side=change.side if change.fired else "", since_ms=change.at_ms, changes=change.number, room=room
    )
