"""Summaries of a run that was never finished, from the results it had stored: a killed run can be read like any other.

Its own module because it is the one place where summaries are made without the evaluators: what a summary needs to know
of them stands in the run's manifest. Metrics over the whole dataset have no value yet and are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalsi.engine.summary import SummaryBuilder, SummaryPlan
from evalsi.ports.run_store import RunStore, Segment
from evalsi.results.run_reach import reach_of
from evalsi.results.stored_rows import WHOLE, GradedRows, rows_of
from evalsi.results.trial_tally import TrialTally
from evalsi.schema import BoundRunEvaluator, CiMethod, MetricSpec, MetricSummary, RunManifest, Scope


@dataclass(frozen=True)
class RecordedEvaluator:
    """An evaluator as a manifest remembers it. Implements `engine.summary.Summarized`."""

    name: str
    own_name: str
    ref: str
    scope: Scope
    outputs: Sequence[MetricSpec]

    @classmethod
    def of(cls, bound: BoundRunEvaluator) -> "RecordedEvaluator":
        about = bound.manifest
        if about is None:
            return cls(bound.name, bound.name, bound.name, Scope.RECORD, ())
        pack = f"{about.pack}/" if about.pack else ""
        return cls(bound.name, about.name, f"{pack}{about.name}@{about.version}", about.scope, about.outputs)


class RunSummary:
    """Sums a stored run up, as far as it is there; `add` may be called as more of it arrives."""

    def __init__(self, manifest: RunManifest) -> None:
        self.plan = plan_of(manifest)
        self._builder = SummaryBuilder([RecordedEvaluator.of(each) for each in manifest.evaluators], self.plan)
        self._trials = TrialTally(manifest.trials, level=self.plan.level, cluster_by=self.plan.cluster_key)

    @property
    def reads_records(self) -> bool:
        """Whether the records are looked at, beside the results."""
        return self.plan.cluster_by is not None or self._trials.counts_trials

    def add(self, segment: Segment) -> None:
        """Takes one more segment, in any order."""
        if segment.index == WHOLE:
            return
        self.add_rows(segment.first_row, rows_of(segment))

    def add_rows(self, first_row: int, rows: GradedRows) -> None:
        """Takes graded rows; they begin at `first_row` of what is summed up."""
        self._builder.add(first_row, rows.rows, rows.columns, lambda: rows.records)
        if self._trials.counts_trials:
            self._trials.add(rows.records, rows.columns)

    def headline(self) -> str:
        """The first metric so far, with its interval."""
        return self._builder.headline()

    def finish(self) -> list[MetricSummary]:
        """The summaries of everything taken so far. Nothing may be added afterwards."""
        return self._trials.completed(self._builder.finish())


def plan_of(manifest: RunManifest) -> SummaryPlan:
    """How the run was to be summed up."""
    options = manifest.summary
    plan = SummaryPlan(seed=manifest.seeds.get("summary", 0))
    if options is not None:
        plan = replace(
            plan,
            level=options.confidence_level or plan.level,
            cluster_by=options.cluster_by or None,
            method="bootstrap" if options.ci_method is CiMethod.BOOTSTRAP else "auto",
        )
    return plan.of_trials() if manifest.trials > 1 else plan


def rebuilt_summaries(store: RunStore, run_id: str, manifest: RunManifest) -> list[MetricSummary]:
    """The summaries of what is stored of a run; [] before anything is."""
    if not store.segment_rows(run_id):
        return []
    summary = RunSummary(manifest)
    for segment in store.segments(run_id, with_records=summary.reads_records):
        summary.add(segment)
    return summary.finish()


@dataclass(frozen=True)
class Seen:
    """How far a run is, seen from outside."""

    status: str
    done: int
    total: int
    headline: str


class StoredProgress:
    """Follows a run in the store; each look reads only what is new."""

    def __init__(self, store: RunStore, run_id: str) -> None:
        self.run_id = run_id
        self._store = store
        self._manifest = store.manifest(run_id)
        self._summary = RunSummary(self._manifest)
        self._taken: set[int] = set()

    def look(self) -> Seen:
        """How far the run is now. Raises: NotFoundError: it was removed."""
        row = self._store.find(self.run_id)
        for index, _, _ in self._store.segment_rows(self.run_id):
            if index not in self._taken:
                self._taken.add(index)
                self._summary.add(self._store.segment(self.run_id, index))
        done, total = reach_of(self._store, row, self._manifest)
        return Seen(row.status, done, total, self._summary.headline())
