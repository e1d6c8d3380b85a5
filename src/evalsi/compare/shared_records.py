"""The observations that two runs share, and the values that each holds for them."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evalsi.compare.run_values import RunValues, shared_rows

PairedValues: TypeAlias = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""Values of the baseline and of the candidate, in one order."""


@dataclass(frozen=True, kw_only=True)
class SharedRecords:
    """The observations that both runs hold, and the rows at which each run holds them, shape (observations,)."""

    before: RunValues
    after: RunValues
    rows_before: npt.NDArray[np.int64]
    rows_after: npt.NDArray[np.int64]

    @classmethod
    def of(cls, before: RunValues, after: RunValues) -> "SharedRecords":
        rows_before, rows_after = shared_rows((before, after))
        return cls(before=before, after=after, rows_before=rows_before, rows_after=rows_after)

    @property
    def count(self) -> int:
        return self.rows_before.size

    def values(self, metric: str) -> PairedValues:
        return self.before.joined(metric)[self.rows_before], self.after.joined(metric)[self.rows_after]

    def clusters(self, *, by_group: bool) -> list[str] | None:
        """Which observations depend on each other: by the groups of the baseline, else the trials of one record."""
        if by_group:
            return [self.before.groups[int(row)] for row in self.rows_before]
        if not self.before.has_trials:
            return None
        identifiers = [self.before.ids[int(row)] for row in self.rows_before]
        return identifiers if len(set(identifiers)) < len(identifiers) else None
