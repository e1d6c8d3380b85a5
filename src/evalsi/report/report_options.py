"""What a caller can choose about a report.

Its own module because the page, the comment and the gathering of facts all read it, and none owns it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from evalsi.report.comparison import Comparison


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What to show."""

    examples: int = 5
    """Worst records shown for each metric, and the most record ids listed for each kind of error."""
    slices: Sequence[str] | None = None
    """Metadata keys to slice by (dots go deeper); None chooses the categorical ones, () shows none."""
    title: str = ""
    """Heading; by default the run's name."""
    comparison: Comparison | None = None
    """The run against a baseline, as who compares made it; shown first."""

    def __post_init__(self) -> None:
        if self.examples < 0:
            raise ValueError(f"the number of examples is 0 or more, not {self.examples}")
