"""What a caller can choose about a report, and what it may bring along to compare with.

Its own module because the page, the comment and the gathering of facts all read it, and none owns it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class MetricChange:
    """How one metric differs from the baseline, over the records both runs scored.

    `difference` is this run minus the baseline, in the metric's unit; `low` and `high` bound it where an interval
    exists.
    """

    difference: float
    n: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """A run this one is measured against. Who compares fills it in; the report only shows it."""

    name: str
    changes: Mapping[str, MetricChange] = field(default_factory=dict[str, MetricChange])
    """By metric; a metric that the baseline lacks is absent."""


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What to show."""

    examples: int = 5
    """Worst records shown for each metric, and the most record ids listed for each kind of error."""
    slices: list[str] | None = None
    """Metadata keys to slice by (dots go deeper); None chooses the categorical ones, [] shows none."""
    title: str = ""
    """Heading; by default the run's name."""
    baseline: Baseline | None = None

    def __post_init__(self) -> None:
        if self.examples < 0:
            raise ValueError(f"the number of examples is 0 or more, not {self.examples}")
