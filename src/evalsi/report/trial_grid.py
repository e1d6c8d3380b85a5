"""The grid of records and trials: which records come out the same each time, and which depend on luck.

Its own module because it chooses: a run may have a hundred thousand records, and a page shows those that a person learns
from, the ones whose trials differ most. What always holds: a trial that was not scored is neither good nor bad, and the
counts are over all records, shown or not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalsi.report.figures import count, number, plural
from evalsi.report.metric_view import MetricView
from evalsi.report.verdict_word import verdict_word

SHOWN_RECORDS = 60
SHOWN_TRIALS = 24
LEVELS = 5
"""Shades of a cell, from the low end of the metric's axis to the high one."""


@dataclass(frozen=True, kw_only=True)
class TrialCell:
    """One trial of one record. `level` is its shade from 0 to `LEVELS` - 1, None where it was not scored."""

    level: int | None
    words: str


@dataclass(frozen=True, kw_only=True)
class TrialRow:
    """One record and its trials in their order."""

    record_id: str
    cells: list[TrialCell]

    @property
    def words(self) -> str:
        return ", ".join(cell.words for cell in self.cells)


@dataclass(frozen=True, kw_only=True)
class TrialGrid:
    """The grid of one metric. `mixed` records have scored trials that differ; `hidden` records are not in `rows`."""

    metric: MetricView
    trials: int
    records: int
    mixed: int
    always: int
    """Records of a verdict that passed each time."""
    never: int
    unscored: int
    """Records without any scored trial."""
    rows: list[TrialRow]

    @property
    def hidden(self) -> int:
        return self.records - len(self.rows)

    @property
    def sentence(self) -> str:
        """The counts in words."""
        scored = self.records - self.unscored
        if self.metric.passes and not self.metric.higher_is_better:
            said = f"{count(self.mixed)} of {plural(scored, 'record')} were both yes and no, "
            said += f"{count(self.always)} yes each time, {count(self.never)} no each time"
        elif self.metric.passes:
            said = f"{count(self.mixed)} of {plural(scored, 'record')} both passed and failed, "
            said += f"{count(self.always)} passed each time, {count(self.never)} failed each time"
        else:
            same = scored - self.mixed
            said = f"{count(self.mixed)} of {plural(scored, 'record')} got different values, {count(same)} the same each time"
        return f"{said}; {plural(self.unscored, 'record')} without a scored trial" if self.unscored else said


class TrialTally:
    """Keeps the values of every record by trial: ten bytes or so for each, and each record's id.

    Args:
        metrics: What is tallied, at most a few.
        trials: How often each record was asked; with less than two there is nothing to tally.
    """

    def __init__(self, metrics: Sequence[MetricView], trials: int) -> None:
        self._metrics = list(metrics) if trials > 1 else []
        self._trials = trials
        self._codes: dict[str, int] = {}
        self._rows: list[npt.NDArray[np.int32]] = []
        self._numbers: list[npt.NDArray[np.int32]] = []
        self._values: list[list[npt.NDArray[np.float32]]] = [[] for _ in self._metrics]

    @property
    def counts_trials(self) -> bool:
        """Whether there is anything to tally: records that are asked once have no trials to compare."""
        return bool(self._metrics)

    def add(self, records: Sequence[tuple[str, int]], values: Sequence[npt.NDArray[np.float64]]) -> None:
        """A batch: (id, number of the trial from 0) of each record, and per metric its values, NaN where it has none."""
        if not self.counts_trials or not records:
            return
        codes = self._codes
        self._rows.append(np.array([codes.setdefault(one, len(codes)) for one, _ in records], dtype=np.int32))
        self._numbers.append(np.array([trial for _, trial in records], dtype=np.int32))
        for kept, array in zip(self._values, values, strict=True):
            kept.append(array.astype(np.float32))

    def finish(self) -> list[TrialGrid]:
        """A grid for each metric that was scored in several trials of any record."""
        if not self._rows:
            return []
        rows, numbers = np.concatenate(self._rows), np.concatenate(self._numbers)
        names = list(self._codes)
        grids = [
            self._grid(metric, rows, numbers, np.concatenate(kept), names)
            for metric, kept in zip(self._metrics, self._values, strict=True)
        ]
        return [grid for grid in grids if grid is not None]

    def _grid(
        self,
        metric: MetricView,
        rows: npt.NDArray[np.int32],
        numbers: npt.NDArray[np.int32],
        values: npt.NDArray[np.float32],
        names: list[str],
    ) -> TrialGrid | None:
        size = len(names)
        there = ~np.isnan(values)
        own, found = rows[there], values[there].astype(np.float64)
        scored = np.bincount(own, minlength=size)
        if not (scored > 1).any():
            return None
        lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(lowest, own, found)
        np.maximum.at(highest, own, found)
        mean = np.bincount(own, weights=found, minlength=size) / np.maximum(1, scored)
        spread = np.bincount(own, weights=(found - mean[own]) ** 2, minlength=size) / np.maximum(1, scored)
        mixed = (scored > 1) & (highest > lowest)
        # Those whose trials differ most, then the worst; shown in the order of the dataset.
        bad = mean if metric.higher_is_better is not False else -mean
        shown = np.sort(np.lexsort((np.arange(size), bad, -spread))[:SHOWN_RECORDS])
        place = {int(code): index for index, code in enumerate(shown)}
        columns = min(self._trials, SHOWN_TRIALS)
        cells = [[TrialCell(level=None, words="not scored")] * columns for _ in shown]
        for at in np.flatnonzero(np.isin(rows, shown) & (numbers < columns) & there):
            cells[place[int(rows[at])]][int(numbers[at])] = _cell(metric, float(values[at]))
        return TrialGrid(
            metric=metric,
            trials=self._trials,
            records=size,
            mixed=int(mixed.sum()),
            always=int(((scored > 0) & (lowest == 1)).sum()),
            never=int(((scored > 0) & (highest == 0)).sum()),
            unscored=int((scored == 0).sum()),
            rows=[TrialRow(record_id=names[int(code)], cells=line) for code, line in zip(shown, cells, strict=True)],
        )


def _cell(metric: MetricView, value: float) -> TrialCell:
    level = min(LEVELS - 1, int(metric.place(value) * LEVELS))
    if metric.higher_is_better is False:
        level = LEVELS - 1 - level
    better = metric.higher_is_better
    words = verdict_word(value >= 0.5, better=better) if metric.passes else number(value)
    return TrialCell(level=level, words=words)
