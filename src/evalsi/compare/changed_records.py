"""The records whose values changed from one run to another, with what was asked and answered.

Its own module because it alone reads texts again: only of the records that are shown.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalsi.compare.comparison import Flip
from evalsi.compare.paired_metric import PairedMetric
from evalsi.compare.shared_records import PairedValues, SharedRecords
from evalsi.core.content import text_of
from evalsi.results.graded_run import GradedRun
from evalsi.schema import Record


class Change(NamedTuple):
    """A value that changed; `row` is a place among the shared records."""

    row: int
    metric: str
    before: float
    after: float


def changed_values(
    metrics: list[PairedMetric],
    values: dict[str, PairedValues],
    most: int,
) -> tuple[list[Change], int]:
    """The first `most` changes, and how many there are in all.

    In order: verdicts before numbers, losses before gains, largest first.
    """
    rows: list[npt.NDArray[np.int64]] = []
    gains: list[npt.NDArray[np.float64]] = []
    for metric in metrics:
        first, second = values[metric.metric]
        difference = second - first
        rows.append(np.flatnonzero(~np.isnan(difference) & (difference != 0)))
        gains.append((-1.0 if metric.higher_is_better is False else 1.0) * difference[rows[-1]])
    if not rows:
        return [], 0
    row, gain = np.concatenate(rows), np.concatenate(gains)
    which = np.repeat(np.arange(len(metrics)), [each.size for each in rows])
    numeric = np.array([not metric.binary for metric in metrics])[which]
    changes: list[Change] = []
    for place in _first_changes(numeric, gain, most):
        name = metrics[int(which[place])].metric
        first, second = values[name]
        changes.append(Change(int(row[place]), name, float(first[row[place]]), float(second[row[place]])))
    return changes, row.size


def _first_changes(numeric: npt.NDArray[np.bool_], gain: npt.NDArray[np.float64], most: int) -> list[int]:
    """Places of the first `most` changes in the order of `changed_values`, without sorting the others."""
    found: list[int] = []
    for of_kind in (~numeric, numeric):
        for of_direction in (gain < 0, gain > 0):
            wanted = most - len(found)
            if wanted <= 0:
                return found
            here = np.flatnonzero(of_kind & of_direction)
            size = np.abs(gain[here])
            if wanted < here.size:
                kept = size >= np.partition(size, here.size - wanted)[here.size - wanted]
                here, size = here[kept], size[kept]
            found.extend(map(int, here[np.argsort(-size, kind="stable")[:wanted]]))
    return found


def with_texts(baseline: GradedRun, candidate: GradedRun, wanted: list[Change], shared: SharedRecords) -> list[Flip]:
    """The changes with what was asked and answered."""
    records_before = dict(_records_at(baseline, {int(shared.rows_before[row]) for row, *_ in wanted}))
    records_after = dict(_records_at(candidate, {int(shared.rows_after[row]) for row, *_ in wanted}))
    flips: list[Flip] = []
    for row, metric, first, second in wanted:
        old, _ = records_before[int(shared.rows_before[row])]
        new, explanations = records_after[int(shared.rows_after[row])]
        flips.append(
            Flip(
                record_id=shared.before.ids[int(shared.rows_before[row])],
                metric=metric,
                before=first,
                after=second,
                input=text_of(new.input),
                reference=text_of(new.reference),
                baseline_output=text_of(old.output),
                candidate_output=text_of(new.output),
                explanation=explanations.get(metric, ""),
            )
        )
    return flips


def _records_at(run: GradedRun, wanted: set[int]) -> Iterator[tuple[int, tuple[Record, dict[str, str]]]]:
    """The records at the wanted rows, decoded, with the explanations of their metrics."""
    first = 0
    last = max(wanted, default=-1)
    for rows in run.read_rows():
        if first > last:
            return
        here = [row for row in wanted if first <= row < first + rows.rows]
        for row in here:
            record = rows.record(row - first)
            explanations: dict[str, str] = {}
            for columns in rows.columns:
                note = columns.notes.get(row - first)
                for output, text in (note.explanations if note is not None else {}).items():
                    explanations[columns.metric(output)] = text
            yield row, (record, explanations)
        first += rows.rows
