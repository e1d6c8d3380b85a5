"""What a comparison keeps of a run: a float per observation and metric, groups, and what the answers used.

Its own module because two runs and many are compared over the same values, and must agree on which observations are the
same: those of one record id in one trial. A record that does not tell its trial has that of its place among its likes.
"""

from dataclasses import dataclass, field
from math import nan
from operator import attrgetter

import msgspec
import numpy as np
import numpy.typing as npt

from evalsi.core.errors import UnknownNameError
from evalsi.engine.columns import SCORED
from evalsi.engine.summary import cluster_key
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import GradedRows

Key = tuple[str, int]
"""A record's id and which one of that id it is, from 0."""


@dataclass(slots=True)
class RunValues:
    """One run. Every array and list has an entry per observation; NaN is "not scored" or "not measured"."""

    rows: dict[Key, int] = field(default_factory=dict[Key, int])
    metrics: dict[str, list[npt.NDArray[np.float64]]] = field(default_factory=dict[str, list[npt.NDArray[np.float64]]])
    binary: dict[str, bool] = field(default_factory=dict[str, bool])
    groups: list[str] = field(default_factory=list[str])
    usage: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    count: int = 0

    def joined(self, metric: str) -> npt.NDArray[np.float64]:
        """The metric's values, shape (count,)."""
        pieces = self.metrics[metric]
        if len(pieces) > 1:
            self.metrics[metric] = pieces = [np.concatenate(pieces)]
        return pieces[0] if pieces else np.full(self.count, nan)

    @property
    def has_trials(self) -> bool:
        """Whether a record was observed more than once."""
        return any(trial for _, trial in self.rows)


class _Glance(msgspec.Struct):
    """The part of a record that every comparison reads."""

    id: str = ""
    usage: "_GlanceUsage | None" = None
    provenance: "_GlanceProvenance | None" = None

    @property
    def told_trial(self) -> int | None:
        return self.provenance.run.trial if self.provenance is not None and self.provenance.run is not None else None


class _GlanceProvenance(msgspec.Struct):
    run: "_GlanceRun | None" = None


class _GlanceRun(msgspec.Struct):
    trial: int = 0


class _GlanceUsage(msgspec.Struct):
    cost_usd: float | None = None
    cached_cost_usd: float | None = None
    unpriced_requests: int = 0
    latency: float | None = None
    output_tokens: float | None = None

    @property
    def cost(self) -> float | None:
        """What the answer costs whoever asks for it: replies from our cache count as when they were paid for.

        None where the price of any part is unknown: a part of a cost is no cost.
        """
        if self.unpriced_requests or (self.cost_usd is None and self.cached_cost_usd is None):
            return None
        return (self.cost_usd or 0.0) + (self.cached_cost_usd or 0.0)


_GLANCE = msgspec.json.Decoder(_Glance)
USAGE = {"cost": ("cost", "USD"), "latency": ("latency", "s"), "output tokens": ("output_tokens", "tokens")}
"""By name: the attribute that holds it, and its unit."""


def collect_values(run: GradedRun, group_by: str | None) -> RunValues:
    """Reads the run once. `group_by` is the metadata key whose value goes into `groups`.

    Raises: UnknownNameError: no record carries that key.
    """
    found = RunValues()
    seen: dict[str, int] = {}
    keys: set[str] = set()
    for rows in run.read_rows():
        glances = rows.decoded(_GLANCE)
        for glance in glances:
            identifier = glance.id
            place = seen.get(identifier, 0)
            seen[identifier] = place + 1
            told = glance.told_trial if glance.provenance is not None else None
            key = identifier, place if told is None or (identifier, told) in found.rows else told
            while key in found.rows:
                key = identifier, key[1] + 1
            found.rows[key] = found.count
            found.count += 1
        for name, (attribute, _) in USAGE.items():
            read = attrgetter(attribute)
            values = [None if each.usage is None else read(each.usage) for each in glances]
            found.usage.setdefault(name, []).extend([nan if value is None else value for value in values])
        if group_by:
            found.groups += [cluster_key(record, group_by) for record in rows.records]
            keys.update(key for record in rows.records for key in record.metadata)
        _collect_metrics(found, rows)
    if group_by and not any(found.groups):
        raise UnknownNameError("metadata key to cluster by", group_by, keys)
    return found


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
