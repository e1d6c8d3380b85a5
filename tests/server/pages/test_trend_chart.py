"""The chart of a figure over time: gaps stay gaps, few values look uncertain, bounds are on the axis."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import isfinite

import msgspec
import pytest

from evalsi.schema import ConfidenceInterval, MetricWindow
from evalsi.server.pages.trend_chart import Axis, Period, axis_of, trend_chart, trend_words


def window(mean: float | None, half: float | None = 0.1) -> MetricWindow:
    ci = None if mean is None or half is None else ConfidenceInterval(low=mean - half, high=mean + half)
    return MetricWindow(metric="m", mean=mean, ci=ci, n=0 if mean is None else 5)


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = Period(begin=NOON, end=NOON + 60 * MINUTE)


def at_minutes(windows: Sequence[MetricWindow], minutes: Sequence[int]) -> list[MetricWindow]:
    """The windows, each a minute long."""
    return [
        msgspec.structs.replace(one, start=NOON + minute * MINUTE, end=NOON + (minute + 1) * MINUTE)
        for one, minute in zip(windows, minutes, strict=True)
    ]


def lines(windows: list[MetricWindow], minutes: Sequence[int] | None = None) -> list[str]:
    placed = at_minutes(windows, minutes or range(len(windows)))
    chart = trend_chart(placed, axis_of(placed), HOUR, label="a trend")
    return re.findall(r'<polyline class="line" points="([^"]*)"', chart)


def test_a_period_without_values_is_a_gap_and_no_zero() -> None:
    assert [
        len(line.split()) for line in lines([window(0.5), window(0.6), window(None), window(0.4), window(0.4)])
    ] == [
        2,
        2,
    ]


def test_a_value_stands_at_its_time_and_time_without_windows_is_a_gap() -> None:
    first, last = lines([window(0.5), window(0.6), window(0.4)], [0, 1, 30])
    assert [float(point.partition(",")[0]) for point in first.split()] == pytest.approx([8.3, 25.0], abs=0.05)
    assert [float(point.partition(",")[0]) for point in last.split()] == pytest.approx([500.3, 516.3], abs=0.05)


def test_one_value_alone_is_drawn() -> None:
    assert [len(line.split()) for line in lines([window(None), window(0.5), window(None)])] == [2]
    assert lines([window(None)]) == []


def test_the_band_is_as_wide_as_the_interval() -> None:
    windows = [window(0.5, 0.4), window(0.5, 0.4)]
    chart = trend_chart(at_minutes(windows, [0, 1]), axis_of(windows), HOUR, label="a trend")
    points = re.findall(r'class="band" points="([^"]*)"', chart)[0].split()
    heights = [float(point.partition(",")[2]) for point in points]
    assert max(heights) - min(heights) == pytest.approx(0.8 * 88, abs=0.1)


def test_an_axis_is_from_zero_to_one_where_it_can_be_and_holds_every_end_and_bound_where_not() -> None:
    assert axis_of([window(0.5)]) == axis_of([]) == axis_of([window(None)])
    axis = axis_of([window(250.0, 50)], [400.0])
    assert (axis.low, axis.high) == (0.0, 400.0)
    assert axis_of([window(6.2, 1.011)]) == Axis(low=0.0, high=8.0)
    assert axis_of([window(-0.7, 0.6)]) == Axis(low=-1.5, high=0.0)
    below = axis_of([window(-2.0, 0.5)])
    assert (below.low, below.high) == (-2.5, 0.0) or below.high >= -1.5


def test_a_trend_is_told_in_words() -> None:
    assert trend_words([window(None)]) == "no values"
    assert trend_words([window(0.25), window(None), window(0.75)]) == "from 0.250 to 0.750, between 0.250 and 0.750"
    chart = trend_chart([window(0.5)], axis_of([]), HOUR, label='"<b>')
    assert "<b>" not in chart


@pytest.mark.parametrize("value", [-5e-324, 2.2e-308, -1.7e308, 1.7e308])
def test_values_at_the_ends_of_what_a_number_holds_are_drawn(value: float) -> None:
    axis = axis_of([window(value, None)])
    assert isfinite(axis.low) and isfinite(axis.high)
    assert isfinite(axis.place(value))
