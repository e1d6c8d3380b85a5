"""What a comparison keeps of a run: a float per observation and metric, groups, and what the answers used.

Its own module because two runs and many are compared over the same values, and must agree on which observations are the
same: those of one record id in one trial. A record that does not tell its trial has that of its place among its likes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import nan

import msgspec
import numpy as np
import numpy.typing as npt

from evalsi.core.errors import UnknownNameError
from evalsi.engine.columns import SCORED
from evalsi.engine.summary import RECORD_ID, cluster_key
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import GradedRows
from evalsi.results.told_trial import ToldProvenance

Key = tuple[str, int]
"""A record's id and which one of that id it is, from 0."""


@dataclass
class RunValues:
    """One run. Every array and list has an entry per observation; NaN is "not scored" or "not measured"."""

    ids: list[str] = field(default_factory=list[str])
    trials: list[int] = field(default_factory=list[int])
    """With the id, the key of an observation: no two have the same."""
    metrics: dict[str, list[npt.NDArray[np.float64]]] = field(default_factory=dict[str, list[npt.NDArray[np.float64]]])
    binary: dict[str, bool] = field(default_factory=dict[str, bool])
    groups: list[str] = field(default_factory=list[str])
    usage: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict[str, npt.NDArray[np.float64]])
    """By the names of `USAGE`."""
    numbers: list[int] = field(default_factory=list[int])
    """Numbers of the rows; not 0, 1, 2, … where a run is unfinished."""

    @property
    def count(self) -> int:
        return len(self.ids)

    @cached_property
    def rows(self) -> dict[Key, int]:
        """Where an observation is, by its key, in order."""
        return dict(zip(zip(self.ids, self.trials, strict=True), range(self.count), strict=True))

    def key(self, row: int) -> Key:
        return self.ids[row], self.trials[row]

    def joined(self, metric: str) -> npt.NDArray[np.float64]:
        """The metric's values, shape (count,)."""
        pieces = self.metrics[metric]
        if len(pieces) > 1:
            self.metrics[metric] = pieces = [np.concatenate(pieces)]
        return pieces[0] if pieces else np.full(self.count, nan)

    @property
    def has_trials(self) -> bool:
        """Whether a record was observed more than once."""
        return any(self.trials)


def common_cluster_key(runs: Sequence[GradedRun]) -> str | None:
    """The metadata key that every one of the runs was grouped by when it was made; None unless it is the same."""
    keys = {run.manifest.summary.cluster_by if run.manifest.summary is not None else "" for run in runs}
    key = keys.pop()
    return None if keys or key in ("", RECORD_ID) else key


def grouped_as_made(key: str) -> str:
    """What a reader is told where nobody named the key."""
    return f"records are grouped by {key}, as when the runs were made"


def shared_rows(runs: Sequence[RunValues]) -> list[npt.NDArray[np.int64]]:
    """The observations that all runs hold, in the order of the first: where each run has them, shape (shared,)."""
    first, *others = runs
    if all(each.ids == first.ids and each.trials == first.trials for each in others):
        return [np.arange(first.count)] * len(runs)
    keys = [key for key in first.rows if all(key in each.rows for each in others)]
    return [np.array([each.rows[key] for key in keys], dtype=np.int64) for each in runs]


class _Glance(msgspec.Struct, gc=False):
    """The part of a record that every comparison reads."""

    id: str = ""
    usage: "_GlanceUsage | None" = None
    provenance: ToldProvenance | None = None


class _GlanceUsage(msgspec.Struct, gc=False):
    cost_usd: float | None = None
    cached_cost_usd: float | None = None
    unpriced_requests: int = 0
    latency: float | None = None
    time_to_first_token: float | None = None
    output_tokens: float | None = None


_NO_USAGE = _GlanceUsage()
_GLANCE = msgspec.json.Decoder(_Glance)
_GLANCES = msgspec.json.Decoder(list[_Glance])


def _costs(usages: Sequence[_GlanceUsage]) -> npt.NDArray[np.float64]:
    """What each answer costs whoever asks for it: replies from our cache count as when they were paid for.

    NaN where the price of any part is unknown: a part of a cost is no cost.
    """
    paid = _floats([each.cost_usd for each in usages])
    cached = _floats([each.cached_cost_usd for each in usages])
    unknown = np.isnan(paid) & np.isnan(cached)
    if unknown.all():
        return paid
    unknown |= np.array([each.unpriced_requests > 0 for each in usages])
    return np.where(unknown, nan, np.nan_to_num(paid) + np.nan_to_num(cached))


def _floats(values: Sequence[float | None]) -> npt.NDArray[np.float64]:
    """None becomes NaN; numpy would do that too, and much more slowly."""
    return np.array([nan if value is None else value for value in values], dtype=np.float64)


USAGE: dict[str, tuple[Callable[[Sequence[_GlanceUsage]], npt.NDArray[np.float64]], str]] = {
    "cost": (_costs, "USD"),
    "latency": (lambda usages: _floats([each.latency for each in usages]), "s"),
    "first token": (lambda usages: _floats([each.time_to_first_token for each in usages]), "s"),
    "output tokens": (lambda usages: _floats([each.output_tokens for each in usages]), "tokens"),
}
"""By name: what reads it, and its unit."""


def collect_values(run: GradedRun, group_by: str | None) -> RunValues:
    """Reads the run once. `group_by` is the metadata key whose value goes into `groups`.

    Raises: UnknownNameError: no record carries that key.
    """
    found = RunValues()
    told: list[int | None] = []
    keys: set[str] = set()
    usage: dict[str, list[npt.NDArray[np.float64]]] = {name: [] for name in USAGE}
    for rows in run.read_rows():
        glances = rows.decoded_at_once(_GLANCES, _GLANCE)
        found.ids += [each.id for each in glances]
        told += [None if each.provenance is None else each.provenance.trial for each in glances]
        found.numbers.extend(range(rows.first_row, rows.first_row + len(glances)))
        usages = [each.usage or _NO_USAGE for each in glances]
        for name, (read, _) in USAGE.items():
            usage[name].append(read(usages))
        if group_by:
            found.groups += [cluster_key(record, group_by) for record in rows.records]
            keys.update(key for record in rows.records for key in record.metadata)
        _collect_metrics(found, rows)
    if group_by and not any(found.groups):
        raise UnknownNameError("metadata key to cluster by", group_by, keys)
    found.trials = _trials(found.ids, told)
    found.usage = {name: np.concatenate(pieces) for name, pieces in usage.items() if pieces}
    return found


def _trials(ids: Sequence[str], told: Sequence[int | None]) -> list[int]:
    """Which one of its id each observation is: as it tells, else by its place among its likes; no two are the same."""
    if len(set(ids)) == len(ids):
        return [trial or 0 for trial in told]
    seen: dict[str, int] = {}
    taken: set[Key] = set()
    trials: list[int] = []
    for identifier, tells in zip(ids, told, strict=True):
        place = seen.get(identifier, 0)
        seen[identifier] = place + 1
        trial = place if tells is None or (identifier, tells) in taken else tells
        while (identifier, trial) in taken:
            trial += 1
        taken.add((identifier, trial))
        trials.append(trial)
    return trials


def _collect_metrics(found: RunValues, rows: GradedRows) -> None:
    done = found.count - rows.rows
    for columns in rows.columns:
        for output, column in columns.columns.items():
            if column.kind not in ("number", "passed"):
                continue
            name = columns.metric(output)
            pieces = found.metrics.setdefault(name, [np.full(done, nan)] if done else [])
            scored = np.frombuffer(columns.outcomes, dtype=np.uint8) == SCORED
            pieces.append(np.where(scored, column.array(), nan))
            found.binary[name] = found.binary.get(name, True) and column.kind == "passed"
    for pieces in found.metrics.values():
        missing = found.count - sum(piece.size for piece in pieces)
        if missing:
            pieces.append(np.full(missing, nan))
