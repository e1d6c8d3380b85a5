"""A figure over time as inline SVG: the means as a line, their intervals as a band. Numbers in, markup out.

Its own module because a point without an interval, a period without values and an alert's bound each need their own mark.
Coordinates are shares of the chart, so that it fills whatever it stands in; colours are the style sheet's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from evalsi.report.figures import number
from evalsi.schema import MetricWindow

_HEIGHT, _WIDTH = 100.0, 1000.0
_ROOM = 0.06
"""Share of the height that is kept free above and below."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """The ends of the axis of values."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Fraction from the low end to the high end."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def axis_of(windows: Sequence[MetricWindow], bounds: Sequence[float] = ()) -> Axis:
    """An axis that holds all means, intervals and bounds: from 0 to 1 where they lie within."""
    values = [one.mean for one in windows if one.mean is not None]
    values += [end for one in windows if one.ci is not None for end in (one.ci.low, one.ci.high)]
    values += bounds
    if not values or (min(values) >= 0 and max(values) <= 1):
        return Axis(low=0.0, high=1.0)
    low, high = min(0.0, *values), max(values)
    return Axis(low=low, high=high if high > low else low + 1)


def trend_chart(windows: Sequence[MetricWindow], axis: Axis, *, bounds: Sequence[float] = (), label: str) -> Markup:
    """The windows in order of time. `label` says for screen readers what is drawn; it is text of ours."""
    parts = [_level(quarter / 4, "grid") for quarter in range(5)]
    parts += [_level(axis.place(bound), "bound") for bound in bounds]
    for run in _runs(windows):
        points = [(_x(place, len(windows)), one) for place, one in run]
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
        # One point is drawn as a dash, since a line needs two.
        ends = line if len(line) > 1 else [f"{points[0][0] - 6:.1f},{line[0].partition(',')[2]}", *line]
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


def _runs(windows: Sequence[MetricWindow]) -> list[list[tuple[int, MetricWindow]]]:
    """Windows with a mean that follow each other, with their places."""
    runs: list[list[tuple[int, MetricWindow]]] = []
    last = -2
    for place, one in enumerate(windows):
        if one.mean is None:
            continue
        if place != last + 1:
            runs.append([])
        runs[-1].append((place, one))
        last = place
    return runs


def _level(fraction: float, name: str) -> str:
    y = _y(fraction)
    return f'<line class="{name}" x1="0" x2="{_WIDTH:.0f}" y1="{y:.2f}" y2="{y:.2f}"/>'


def _x(place: int, amount: int) -> float:
    return _WIDTH * (place + 0.5) / max(1, amount)


def _y(fraction: float) -> float:
    return _HEIGHT * (1 - _ROOM - (1 - 2 * _ROOM) * fraction)
