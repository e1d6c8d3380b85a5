"""The slices that a run's specification asks for, summed up as the run is.

Its own module because what prints them and what writes them must agree. What always holds: a slice has the intervals that
a run of its records alone would have, clusters and trials included; records without the key are in none of its slices.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from evalsi.core.natural_order import natural_order
from evalsi.engine.summary import cluster_key
from evalsi.results.chosen_rows import chosen_rows
from evalsi.results.graded_run import GradedRun
from evalsi.results.rebuilt_summaries import RunSummary
from evalsi.schema import SliceSummary

MOST_VALUES = 200
"""Values of one key that are summed up: those that come first."""


@dataclass(slots=True)
class _Slice:
    summary: RunSummary
    rows: int = 0
    records: set[str] = field(default_factory=set[str])


def asked_slices(run: GradedRun) -> list[str]:
    """The keys that the run's specification names."""
    return list(run.manifest.spec.slices) if run.manifest.spec is not None else []


def slice_summaries(run: GradedRun, keys: Sequence[str]) -> list[SliceSummary]:
    """A summary of each value of each of `keys`, in one pass over the run; metrics of the whole dataset have no slices."""
    found: dict[str, dict[str, _Slice]] = {key: {} for key in keys}
    if not keys:
        return []
    for rows in run.read_rows():
        for key, slices in found.items():
            labels = [cluster_key(record, key) for record in rows.records]
            codes = {label: code for code, label in enumerate(dict.fromkeys(labels))}
            coded = np.array([codes[label] for label in labels])
            for label, code in codes.items():
                if not label or (label not in slices and len(slices) >= MOST_VALUES):
                    continue
                one = slices.setdefault(label, _Slice(RunSummary(run.manifest)))
                part = chosen_rows(rows, coded == code)
                one.summary.add_rows(one.rows, part)
                one.rows += part.rows
                one.records.update(record.id for record in part.records)
    return [
        SliceSummary(key=key, value=value, records=len(one.records), summaries=one.summary.finish())
        for key, slices in found.items()
        for value, one in sorted(slices.items(), key=lambda item: natural_order(item[0]))
    ]
