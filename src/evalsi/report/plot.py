"""Small plots as inline SVG: intervals on an axis, histograms. Numbers in, markup out; no text of others comes here.

Its own module so that a mean and its interval look alike everywhere. All coordinates are percentages, so a plot fills
the cell it stands in; colours and widths are the style sheet's. Every plot stands beside its numbers or carries them
in a label, so a screen reader misses nothing.
"""

from collections.abc import Sequence

from markupsafe import Markup

from evalsi.report.distribution import Histogram
from evalsi.report.figures import count, number

_PARTS = 4
_INSET = 2.0
"""Per cent kept free at either end, so that a dot at the end of the axis is whole."""


def interval_plot(mean: float | None, interval: tuple[float, float] | None) -> Markup:
    """A dot with its whisker. `mean` and `interval` are fractions of the axis, whose quarters are marked."""
    parts = [
        f'<line class="grid" x1="{_x(i / _PARTS)}" x2="{_x(i / _PARTS)}" y1="0" y2="100%"/>' for i in range(_PARTS + 1)
    ]
    if interval is not None:
        low, high = _x(interval[0]), _x(interval[1])
        parts.append(f'<line class="whisker" x1="{low}" x2="{high}" y1="50%" y2="50%"/>')
        parts += [f'<line class="whisker" x1="{end}" x2="{end}" y1="28%" y2="72%"/>' for end in (low, high)]
    if mean is not None:
        hollow = "" if interval is not None else " hollow"
        parts.append(f'<circle class="dot{hollow}" cx="{_x(mean)}" cy="50%" r="3.5"/>')
    return Markup(f'<svg class="interval" aria-hidden="true">{"".join(parts)}</svg>')  # noqa: S704 - only numbers


def difference_plot(value: float | None, interval: tuple[float, float] | None, scale: float) -> Markup:
    """A difference against a zero line in the middle of an axis from -`scale` to `scale`, `scale` > 0."""
    zero = Markup('<line class="zero-line" x1="50%" x2="50%" y1="0" y2="100%"/></svg>')
    ends = None if interval is None else ((interval[0] / scale + 1) / 2, (interval[1] / scale + 1) / 2)
    drawn = interval_plot(None if value is None else (value / scale + 1) / 2, ends)
    return Markup(drawn.removesuffix("</svg>") + zero)  # noqa: S704 - both are markup of ours


def histogram_plot(histogram: Histogram, *, label: str, gap: float = 0.6) -> Markup:
    """Bars from the low end to the high end; the tallest fills the height. `label` names it for screen readers."""
    counts = histogram.counts.tolist()
    top = max(counts) or 1
    width = 100 / len(counts)
    bars = "".join(
        f'<rect x="{i * width + gap / 2:.2f}%" width="{width - gap:.2f}%" '
        f'y="{100 - _height(c, top):.2f}%" height="{_height(c, top):.2f}%"><title>{_bin_text(histogram, i)}</title></rect>'
        for i, c in enumerate(counts)
        if c
    )
    base = '<line class="base" x1="0" x2="100%" y1="100%" y2="100%"/>'
    return Markup(f'<svg class="histogram" role="img" aria-label="{label}">{bars}{base}</svg>')  # noqa: S704


def share_bar(shares: Sequence[tuple[str, float]]) -> Markup:
    """Parts of a whole side by side: (css class of ours, fraction)."""
    position, parts = 0.0, list[str]()
    for name, share in shares:
        parts.append(f'<rect class="{name}" x="{100 * position:.3f}%" width="{100 * share:.3f}%" y="0" height="100%"/>')
        position += share
    return Markup(f'<svg class="shares" aria-hidden="true">{"".join(parts)}</svg>')  # noqa: S704


def sparkline(fractions: Sequence[float | None]) -> Markup:
    """Values in their order as a thin line, the last one as a dot. Each is a fraction of the axis; None leaves a gap."""
    steps = max(1, len(fractions) - 1)
    places = [(100 * i / steps, value) for i, value in enumerate(fractions) if value is not None]
    if not places:
        return Markup("")
    points = " ".join(f"{x:.2f},{_up(value):.2f}" for x, value in places)
    line = f'<svg class="trend" viewBox="0 0 100 100" preserveAspectRatio="none"><polyline points="{points}"/></svg>'
    x, last = places[-1]
    dot = f'<svg class="last"><circle class="dot" cx="{x:.2f}%" cy="{_up(last):.2f}%" r="2.5"/></svg>'
    return Markup(f'<span class="sparkline" aria-hidden="true">{line}{dot}</span>')  # noqa: S704 - only numbers


def histogram_label(histogram: Histogram) -> str:
    """The histogram in words, for screen readers: the bins that hold anything."""
    filled = [index for index, c in enumerate(histogram.counts.tolist()) if c]
    return "; ".join(_bin_text(histogram, index) for index in filled)


def _bin_text(histogram: Histogram, index: int) -> str:
    low, high = histogram.edges(index)
    return f"{number(low, 2)} to {number(high, 2)}: {count(int(histogram.counts[index]))}"


def _height(amount: int, top: int) -> float:
    """Per cent of the height; what is there is always seen."""
    return max(4.0, 100 * amount / top)


def _up(fraction: float) -> float:
    """Per cent from the top, with room for a dot at either end."""
    return 90 - 80 * min(1.0, max(0.0, fraction))


def _x(fraction: float) -> str:
    return f"{_INSET + (100 - 2 * _INSET) * min(1.0, max(0.0, fraction)):.2f}%"
