"""The worst records of each headline metric, found in one pass with a bounded list per metric.

Its own module because "worst" is a choice: first the metric itself, then, among equals, the mean of all headline
metrics, then the order of the dataset. What always holds: a record without a value of the metric is never listed, nor
is one that no record beats.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from evalsi.engine.columns import CANCELLED, ERROR, PENDING, SCORED, SKIPPED, EvaluatorColumns, Note, scores
from evalsi.report.metric_view import MetricView
from evalsi.results.stored_rows import RECORDS, GradedRows
from evalsi.schema import Record, Score

OUTCOME_WORDS = {
    PENDING: "pending",
    SCORED: "scored",
    SKIPPED: "skipped",
    ERROR: "error",
    CANCELLED: "cancelled",
}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What one evaluator said about a record."""

    evaluator: str
    primary: str
    outcome: str
    scores: list[Score]
    note: Note | None

    def metric(self, output: str) -> str:
        return self.evaluator if output in ("", self.primary) else f"{self.evaluator}.{output}"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A record to show: its line as stored, its place in the dataset (from 1), and every verdict on it."""

    row: int
    line: bytes
    verdicts: list[Verdict]

    def record(self) -> Record:
        return RECORDS.decode(self.line)


@dataclass(frozen=True, kw_only=True)
class WorstCases:
    """The worst records by one metric, worst first, none of which an earlier metric's list shows already."""

    metric: MetricView
    cases: list[Case]
    shown_before: int = 0
    """How many of the worst are in an earlier list."""


@dataclass(slots=True)
class _Ranked:
    metric: MetricView
    sign: float
    best: float = -np.inf
    """Largest goodness seen."""
    entries: list[tuple[float, float, int, Case]] = field(default_factory=list[tuple[float, float, int, Case]])


class WorstTally:
    """Keeps the worst records.

    Args:
        metrics: The headline metrics; those without a good end are left out.
        examples: Records to keep for each.
    """

    def __init__(self, metrics: Sequence[MetricView], examples: int) -> None:
        self._metrics = list(metrics)
        self._examples = examples
        # A list must still be full when every record of the lists before it is taken out.
        self._kept = examples * max(1, len(metrics))
        self._ranked = [
            _Ranked(metric, 1.0 if metric.higher_is_better else -1.0)
            for metric in metrics
            if metric.higher_is_better is not None
        ]

    def add(self, rows: GradedRows, values: Sequence[npt.NDArray[np.float64]]) -> None:
        """A batch: its rows and, per headline metric, values of shape (rows,), NaN where there is none."""
        if not self._ranked or not self._examples:
            return
        goodness = {metric.name: _goodness(metric, array) for metric, array in zip(self._metrics, values, strict=True)}
        stacked = np.vstack([goodness[ranked.metric.name] for ranked in self._ranked])
        known = ~np.isnan(stacked)
        overall = np.where(known, stacked, 0.0).sum(axis=0) / np.maximum(1, known.sum(axis=0))
        made: dict[int, Case] = {}
        for ranked in self._ranked:
            own = goodness[ranked.metric.name]
            there = np.flatnonzero(~np.isnan(own))
            if not there.size:
                continue
            ranked.best = max(ranked.best, float(own[there].max()))
            if len(ranked.entries) >= self._kept:
                last = ranked.entries[-1]
                there = there[(own[there] < last[0]) | ((own[there] == last[0]) & (overall[there] < last[1]))]
            worst = there[np.lexsort((there, overall[there], own[there]))][: self._kept]
            for row in worst.tolist():
                if row not in made:
                    made[row] = _case(rows, row)
                ranked.entries.append((float(own[row]), float(overall[row]), rows.first_row + row, made[row]))
            ranked.entries.sort(key=lambda entry: entry[:3])
            del ranked.entries[self._kept :]

    def finish(self) -> list[WorstCases]:
        """One list per metric that has any record below its best."""
        taken: set[int] = set()
        lists: list[WorstCases] = []
        for ranked in self._ranked:
            worse = [entry for entry in ranked.entries if entry[0] < ranked.best or _is_bad(ranked.metric, entry[0])]
            fresh = [entry for entry in worse if entry[2] not in taken][: self._examples]
            before = sum(entry[2] in taken for entry in worse[: self._examples])
            taken |= {entry[2] for entry in fresh}
            lists.append(WorstCases(metric=ranked.metric, cases=[entry[3] for entry in fresh], shown_before=before))
        return lists


def _goodness(metric: MetricView, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Fractions of the metric's axis, 1 at its good end."""
    places = np.clip((values - metric.low) / (metric.high - metric.low), 0.0, 1.0)
    return places if metric.higher_is_better is not False else 1.0 - places


def _is_bad(metric: MetricView, goodness: float) -> bool:
    """Where all records are equal they are listed only at the bad end of a bounded metric."""
    return metric.bounds is not None and goodness <= 0.0


def _case(rows: GradedRows, row: int) -> Case:
    return Case(
        row=rows.first_row + row + 1,
        line=rows.record_lines[row],
        verdicts=[verdict(columns, row) for columns in rows.columns],
    )


def verdict(columns: EvaluatorColumns, row: int) -> Verdict:
    """What the evaluator of `columns` said about `row`."""
    code = columns.outcomes[row]
    return Verdict(
        evaluator=columns.evaluator,
        primary=columns.primary,
        outcome=OUTCOME_WORDS[code],
        scores=list(scores(columns, row)) if code == SCORED else [],
        note=columns.notes.get(row),
    )
