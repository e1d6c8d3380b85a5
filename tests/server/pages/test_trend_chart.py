"""The chart of a figure over time: gaps stay gaps, few values look uncertain, bounds are on the axis."""

import re

import pytest

from evalsi.schema import ConfidenceInterval, MetricWindow
from evalsi.server.pages.trend_chart import axis_of, trend_chart, trend_words


def window(mean: float | None, half: float | None = 0.1) -> MetricWindow:
    ci = None if mean is None or half is None else ConfidenceInterval(low=mean - half, high=mean + half)
    return MetricWindow(metric="m", mean=mean, ci=ci, n=0 if mean is None else 5)


def lines(windows: list[MetricWindow]) -> list[str]:
    chart = trend_chart(windows, axis_of(windows), label="a trend")
    return re.findall(r'<polyline class="line" points="([^"]*)"', chart)


def test_a_period_without_values_is_a_gap_and_no_zero() -> None:
    assert [
        len(line.split()) for line in lines([window(0.5), window(0.6), window(None), window(0.4), window(0.4)])
    ] == [
        2,
        2,
    ]


def test_one_value_alone_is_drawn() -> None:
    assert [len(line.split()) for line in lines([window(None), window(0.5), window(None)])] == [2]
    assert lines([window(None)]) == []


def test_the_band_is_as_wide_as_the_interval() -> None:
    windows = [window(0.5, 0.4), window(0.5, 0.4)]
    chart = trend_chart(windows, axis_of(windows), label="a trend")
    points = re.findall(r'class="band" points="([^"]*)"', chart)[0].split()
    heights = [float(point.partition(",")[2]) for point in points]
    assert max(heights) - min(heights) == pytest.approx(0.8 * 88, abs=0.1)


def test_an_axis_is_from_zero_to_one_where_it_can_be_and_holds_every_end_and_bound_where_not() -> None:
    assert axis_of([window(0.5)]) == axis_of([]) == axis_of([window(None)])
    axis = axis_of([window(250.0, 50)], [400.0])
    assert (axis.low, axis.high) == (0.0, 400.0)
    below = axis_of([window(-2.0, 0.5)])
    assert (below.low, below.high) == (-2.5, 0.0) or below.high >= -1.5


def test_a_trend_is_told_in_words() -> None:
    assert trend_words([window(None)]) == "no values"
    assert trend_words([window(0.25), window(None), window(0.75)]) == "from 0.250 to 0.750, between 0.250 and 0.750"
    chart = trend_chart([window(0.5)], axis_of([]), label='"<b>')
    assert "<b>" not in chart
