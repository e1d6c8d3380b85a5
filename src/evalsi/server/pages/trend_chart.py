"""A figure over time as inline SVG: the means as a line, their intervals as a band. Numbers in, markup out.

Its own module because a point without an interval, a period without values and an alert's bound each need their own mark.
Coordinates are shares of the chart, so that it fills whatever it stands in; colours are the style sheet's.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from evalsi.report.figures import number
from evalsi.schema import MetricWindow

_HEIGHT, _WIDTH = 100.0, 1000.0
_ROOM = 0.06
"""Share of the height that is kept free above and below."""
_DASH = 16.0
_ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Where an axis may end, times a power of ten."""
_SMALLEST, _LARGEST = 1e-300, 1e300
"""Sizes beyond which a double has no round number near."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """The ends of the axis of values."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Fraction from the low end to the high end."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


@dataclass(frozen=True, kw_only=True)
class Period:
    """The ends of the axis of time."""

    begin: datetime
    end: datetime

    def place(self, window: MetricWindow) -> float:
        """Fraction from the begin to the middle of a window."""
        start, end = window.start or self.begin, window.end or self.end
        length_s = (self.end - self.begin).total_seconds()
        middle_s = ((start - self.begin) + (end - self.begin)).total_seconds() / 2
        return min(1.0, max(0.0, middle_s / length_s)) if length_s > 0 else 0.5


def axis_of(windows: Sequence[MetricWindow], bounds: Sequence[float] = ()) -> Axis:
    """An axis that holds all means, intervals and bounds: from 0 to 1 where they lie within, else between round ends."""
    values = [one.mean for one in windows if one.mean is not None]
    values += [end for one in windows if one.ci is not None for end in (one.ci.low, one.ci.high)]
    values += bounds
    if not values or (min(values) >= 0 and max(values) <= 1):
        return Axis(low=0.0, high=1.0)
    low, high = _round_end(min(0.0, *values)), _round_end(max(0.0, *values))
    return Axis(low=low, high=high if high > low else low + 1)


def _round_end(value: float) -> float:
    """The nearest round number that is no nearer to zero."""
    if not _SMALLEST < abs(value) < _LARGEST:
        return value
    unit = 10.0 ** math.floor(math.log10(abs(value)))
    size = abs(value) / unit
    steps = next((step for step in _ROUND if step >= size * (1 - 1e-9)), 10.0)
    return float(f"{math.copysign(steps * unit, value):.6g}")


def trend_chart(
    windows: Sequence[MetricWindow], axis: Axis, period: Period, *, bounds: Sequence[float] = (), label: str
) -> Markup:
    """The windows in order of time, each where its time is. `label` says for screen readers what is drawn; it is ours."""
    parts = [_level(quarter / 4, "grid") for quarter in range(5)]
    parts += [_level(axis.place(bound), "bound") for bound in bounds]
    for run in _runs(windows):
        points = [(_WIDTH * period.place(one), one) for one in run]
        banded = [(x, one.ci) for x, one in points if one.ci is not None]
        if len(banded) > 1:
            upper = [f"{x:.1f},{_y(axis.place(ci.high)):.2f}" for x, ci in banded]
            lower = [f"{x:.1f},{_y(axis.place(ci.low)):.2f}" for x, ci in reversed(banded)]
            parts.append(f'<polygon class="band" points="{" ".join(upper + lower)}"/>')
        elif banded:
            x, ci = banded[0]
            low, high = _y(axis.place(ci.low)), _y(axis.place(ci.high))
            parts.append(f'<line class="band-line" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.2f}" y2="{high:.2f}"/>')
        line = [f"{x:.1f},{_y(axis.place(one.mean)):.2f}" for x, one in points if one.mean is not None]
        # One point is drawn as a dash, since a line needs two ends.
        ends = line if len(line) > 1 else _dash(points[0][0], line[0].partition(",")[2])
        parts.append(f'<polyline class="line" points="{" ".join(ends)}"/>')
    shape = f'viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" preserveAspectRatio="none"'
    return Markup(  # noqa: S704 - only numbers and a label that is escaped
        f'<svg class="trend-chart" role="img" aria-label="{Markup.escape(label)}" {shape}>{"".join(parts)}</svg>'
    )


def trend_words(windows: Sequence[MetricWindow]) -> str:
    """The trend in words, for screen readers."""
    told = [one for one in windows if one.mean is not None]
    if not told:
        return "no values"
    low, high = min(one.mean or 0 for one in told), max(one.mean or 0 for one in told)
    return f"from {number(told[0].mean)} to {number(told[-1].mean)}, between {number(low)} and {number(high)}"


def _dash(x: float, y: str) -> list[str]:
    """The ends of a short line around a point, within the chart."""
    left = min(max(0.0, x - _DASH / 2), _WIDTH - _DASH)
    return [f"{left:.1f},{y}", f"{left + _DASH:.1f},{y}"]


def _runs(windows: Sequence[MetricWindow]) -> list[list[MetricWindow]]:
    """Windows with a mean that follow each other without a gap in time."""
    runs: list[list[MetricWindow]] = []
    last: datetime | None = None
    for one in windows:
        if one.mean is None:
            continue
        if last is None or one.start is None or one.start > last:
            runs.append([])
        runs[-1].append(one)
        last = one.end
    return runs


def _level(fraction: float, name: str) -> str:
    y = _y(fraction)
    return f'<line class="{name}" x1="0" x2="{_WIDTH:.0f}" y1="{y:.2f}" y2="{y:.2f}"/>'


def _y(fraction: float) -> float:
    return _HEIGHT * (1 - _ROOM - (1 - 2 * _ROOM) * fraction)
