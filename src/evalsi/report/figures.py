"""Numbers as people read them: few digits, grouped thousands, units, and a dash where there is none.

Its own module so that the page and the comment print a number alike. What always holds: something that is not all of a
whole is never rounded to "100%", nor something that is there to "0%".
"""

from datetime import datetime
from math import floor, log10

from evalsi.schema import ConfidenceInterval
from evalsi.stats import Interval

NONE = "–"
MINUS = "\u2212"


def number(value: float | None, digits: int = 3) -> str:
    """A metric's value: three decimals near 1, fewer where it is large, powers of ten where it is tiny."""
    if value is None:
        return NONE
    size = abs(value)
    if size >= 1e15:
        text = f"{value:.2e}"
    elif size >= 10_000 or (size >= 2 and value == int(value)):
        text = f"{value:,.0f}"
    elif size >= 100:
        text = f"{value:,.1f}"
    elif size >= 10:
        text = f"{value:.2f}"
    elif size and size < 0.5 * 10**-digits:
        text = f"{value:.1e}"
    else:
        text = f"{value:.{digits}f}"
    return text.replace("-", MINUS) if "e" not in text else text


def tick(value: float) -> str:
    """An end of an axis, as short as it can be."""
    return f"{value:.4g}".replace("-", MINUS) if abs(value) < 10_000 else number(value)


def signed(value: float | None) -> str:
    """A difference: its sign is always there."""
    if value is None:
        return NONE
    return number(value) if value < 0 else f"+{number(value)}"


def count(value: int) -> str:
    return f"{value:,}"


def plural(value: int, noun: str) -> str:
    """`1 record`, `2 records`."""
    return f"{count(value)} {noun}" if value == 1 else f"{count(value)} {noun}s"


def percent(part: int, whole: int) -> str:
    """The share of `part` in `whole`; dash when there is no whole."""
    if whole == 0:
        return NONE
    share = 100 * part / whole
    if part in (0, whole):
        return f"{share:.0f}%"
    if share > 99.9:
        return ">99.9%"
    if share < 0.1:
        return "<0.1%"
    return f"{share:.1f}%" if share > 99 or share < 1 else f"{min(99, round(share))}%"


def bounds(interval: ConfidenceInterval | Interval | None) -> str:
    """The ends of an interval in brackets."""
    return NONE if interval is None else f"[{number(interval.low)}, {number(interval.high)}]"


def money(value: float | None) -> str:
    """US dollars, with at least two digits that say something."""
    if value is None:
        return NONE
    if value == 0:
        return "$0"
    size = abs(value)
    digits = 2 if size >= 0.1 else min(12, 1 - floor(log10(size)))
    return f"${value:,.{digits}f}"


def seconds(value: float | None) -> str:
    """A duration in the unit that fits."""
    if value is None:
        return NONE
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs" if value else "0 s"
    if value < 1:
        return f"{value * 1e3:.0f} ms"
    if value < 60:
        return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def in_unit(value: float | None, unit: str) -> str:
    """Money and time in the form that fits their size, anything else as a number; a difference keeps its sign."""
    sign, size = (MINUS, -value) if value is not None and value < 0 else ("", value)
    match unit.lower():
        case "usd":
            return sign + money(size)
        case "s":
            return sign + seconds(size)
        case _:
            return number(value)


def signed_in_unit(value: float | None, unit: str) -> str:
    """As `in_unit`, the plus written too."""
    return f"+{in_unit(value, unit)}" if value is not None and value >= 0 else in_unit(value, unit)


def date(value: datetime | None) -> str:
    return NONE if value is None else value.strftime("%Y-%m-%d %H:%M") + (" UTC" if value.tzinfo else "")
