"""What can be chosen of a policy's traffic, and what to say of a choice that holds nothing. Pure.

A module of its own because the command and the page tell a person who misspelt a version the same.
"""

from collections.abc import Sequence

from evalsi.schema import CompareTrafficResponse, MetricWindow, PolicyStats

MOST_NAMED = 8


def groups_of(stats: PolicyStats) -> list[str]:
    """The values that figures were split by, those of the latest traffic first."""
    latest: dict[str, float] = {}
    for window in (*stats.series, *stats.metrics):
        if window.group and window.n + window.skipped + window.errors:
            begun = window.start.timestamp() if window.start is not None else 0.0
            latest[window.group] = max(begun, latest.get(window.group, 0.0))
    return sorted(sorted(latest), key=lambda group: -latest[group])


def is_empty_side(found: CompareTrafficResponse, side: str) -> bool:
    """Whether nothing was evaluated in a side of a comparison, "baseline" or "candidate"."""
    windows: list[MetricWindow | None] = [getattr(each, side) for each in found.comparisons]
    return not any(one is not None and one.n + one.skipped + one.errors for one in windows)


def nothing_with(choice: str, known: Sequence[str]) -> str:
    """What to say of a choice that holds nothing; `known` are the values that there are in its place."""
    others = ", ".join(known[:MOST_NAMED]) + (", …" if len(known) > MOST_NAMED else "")
    return f"no evaluated traces with {choice}" + (f"; there are {others}" if others else "")
