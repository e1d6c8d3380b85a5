"""A number as tables in plain text show it. Its own module so that a terminal, a log and a notebook show it alike."""

from collections.abc import Iterable


def counted(count: int, noun: str) -> str:
    """`1 record`, `2,000 records`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def figure(value: float | None, digits: int = 3) -> str:
    """Fixed digits near 1, more where it is small, grouped where it is large; "–" for none."""
    if value is None:
        return "–"
    size = abs(value)
    if size >= 10_000:
        return f"{value:,.0f}"
    if size >= 100:
        return f"{value:,.1f}"
    if size and size < 0.001:
        return f"{value:.1e}"
    return f"{value:.{digits}f}"


def signed(value: float | None) -> str:
    """A difference with its sign; zero has none."""
    if value is None or value == 0:
        return figure(value)
    return ("+" if value > 0 else "") + figure(value)


def interval_heading(levels: Iterable[float]) -> str:
    """What stands over intervals of these levels: `95% CI`; `CI` where they are of several, or there are none."""
    (*different,) = set(levels)
    return f"{100 * different[0]:g}% CI" if len(different) == 1 else "CI"
