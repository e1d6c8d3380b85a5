"""Writing down a run as it happens: its row, each graded batch before it is counted, its summary at the end.

Every job that grades goes through here, so that "acknowledged" means the same for all: a batch that was kept is in the
store, a run that was stopped or killed is continued by the same work, and nothing is counted twice.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

import msgspec

from evalsi.core.clock import Clock
from evalsi.core.errors import UsageError
from evalsi.core.ids import new_run_id
from evalsi.engine.columns import EvaluatorColumns, pack
from evalsi.engine.evaluate import GradedBatch
from evalsi.engine.summary import SummaryBuilder
from evalsi.ports.run_store import NOTHING_SCORED, RunRow, RunStore, Segment
from evalsi.results.graded_run import GradedRun, stored_run
from evalsi.results.segment_spend import SegmentSpend, UsageOnly, spend_of
from evalsi.results.stored_rows import WHOLE, encode_records, rows_of
from evalsi.results.trial_tally import TrialTally
from evalsi.results.zones import decode_spend, encode_zones
from evalsi.schema import (
    DatasetManifest,
    GateResult,
    GateVerdict,
    IsolationReport,
    JudgeManifest,
    MetricSummary,
    Record,
    RunManifest,
    RunStatus,
    Usage,
)

PROGRESS_INTERVAL_S = 0.1
MOST_NAME_CHARACTERS = 500


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a job is, for a line on a terminal. `total` is known because the dataset was scanned first."""

    done: int
    total: int
    outcomes: Mapping[str, int]
    headline: str = ""
    """The first metric so far, with its interval."""
    spent: Usage | None = None
    target_spent: Usage | None = None
    """The target's part of `spent`."""
    asked: int | None = None
    """Rows that the target has answered or failed; None where nobody is asked."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is being recorded. `manifest` is complete but for what the run itself finds out."""

    store: RunStore
    clock: Clock
    manifest: RunManifest
    fingerprint: str
    """Digest of everything that decides the results."""
    total: int
    """Rows in all."""
    resume: bool = True
    """Continue an interrupted run of the same work, if there is one."""
    continues: str = ""
    """Continue this run and no other; "" leaves the choice to `resume`."""
    reopens: bool = False
    """Take up a run that has succeeded too: some of its rows are to be done again."""
    judges: Callable[[], list[JudgeManifest]] = list
    """The judges with what they have used so far."""
    target_usage: Callable[[], Usage | None] = lambda: None
    stands: Callable[[list[EvaluatorColumns]], bool] = lambda _columns: True
    """Whether rows that an earlier try had stored stay as they are; those that do not are done again."""
    on_recalled: Callable[[SegmentSpend], None] | None = None
    """Called with what rows took that an earlier try had stored, before this one begins."""
    on_progress: Callable[[Progress], None] | None = None
    """Called at most ten times a second."""


class RunRecorder:
    """One try at a run. As a context it leaves the run marked interrupted when its body raises."""

    def __init__(self, work: Work, summary: SummaryBuilder, *, ahead: SummaryBuilder | None = None) -> None:
        if len(work.manifest.name) > MOST_NAME_CHARACTERS:
            raise UsageError(
                f"the name of a run has at most {MOST_NAME_CHARACTERS} characters, and this one {len(work.manifest.name):,}"
            )
        self._work = work
        self.summary = summary
        self._ahead = ahead
        """Counts rows as soon as they are graded, where whoever watches should not wait until their chunk is stored."""
        self._rows_ahead = 0
        self.done = 0
        self.asked: int | None = None
        self.stored: dict[int, int] = {}
        """First row and number of rows of every batch that an earlier try had stored."""
        self.trials = TrialTally(work.manifest.trials, level=summary.level, cluster_by=summary.cluster_key)
        self._fences: dict[tuple[str, int, int], IsolationReport] = {}
        self._finished = False
        self._summaries: list[MetricSummary] = []
        self._next_report_s = 0.0
        self.worked_before_s = 0.0
        """How long earlier tries at this run worked, each up to its last sign of life."""
        now = work.clock.now()
        earlier = self._continued() if work.continues else self._taken_over() if work.resume else None
        self._row = self._new_row(now.timestamp()) if earlier is None else self._called_as_now(earlier)
        self.is_continued = earlier is not None
        """Whether an earlier try began this run."""
        self.run_id = self._row.id
        self.manifest = msgspec.structs.replace(
            work.manifest,
            name=self._row.name,
            labels=self._row.labels,
            run_id=self.run_id,
            started_at=now,
            status=RunStatus.RUNNING,
            settings_sha256=work.fingerprint.removeprefix("sha256:"),
            judges=work.judges(),
            earlier_tries=self.worked_before_s or None,
        )
        if earlier is None:
            work.store.create(self._row, self.manifest)
        elif not earlier.fingerprint:
            # A server's run: it was made before anybody had looked at its dataset.
            begun = self._new_row(now.timestamp())
            self._row = msgspec.structs.replace(begun, id=earlier.id, name=self._row.name, labels=self._row.labels)
            work.store.describe(self._row, self.manifest)
        else:
            work.store.describe(self._row, self.manifest)  # should this try be killed, the next one knows when it began
            self._recall()
        self.resumed_rows = self.done

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not self._finished:
            self._end("interrupted", [])

    @property
    def cut_short(self) -> bool:
        """Whether rows are missing."""
        return self.done < self._work.total

    def keep(self, graded: GradedBatch) -> None:
        """Stores a graded batch, then counts it."""
        self.write(graded)
        self.count(graded)

    def write(self, graded: GradedBatch) -> None:
        """Stores a graded batch. Any thread may call this; `count` follows when it has returned."""
        self._work.store.append(
            self.run_id,
            Segment(
                index=graded.first_row,
                first_row=graded.first_row,
                rows=len(graded.records),
                records=encode_records(graded.records),
                results=pack(graded.columns),
                zones=encode_zones(graded.columns, graded.records),
            ),
        )

    def count(self, graded: GradedBatch) -> None:
        """Counts a batch that is in the store."""
        self.summary.add(graded.first_row, len(graded.records), graded.columns, lambda: graded.records)
        self.trials.add(graded.records, graded.columns)
        self._note_fences(graded.columns)
        self.done += len(graded.records)
        self.report()

    def note(self, records: Sequence[Record], columns: list[EvaluatorColumns]) -> None:
        """Takes rows that are graded and not in the store yet, for the figures of who watches; `count` follows for them."""
        if self._ahead is not None:
            self._ahead.add(self._rows_ahead, len(records), columns, lambda: records)
            self._rows_ahead += len(records)

    def report(self) -> None:
        """Tells whoever watches, unless they were told just now."""
        work = self._work
        if work.on_progress is None:
            return
        now_s = work.clock.monotonic_s()
        if now_s < self._next_report_s and self.done < work.total:
            return
        self._next_report_s = now_s + PROGRESS_INTERVAL_S
        target = work.target_usage()
        seen = self._ahead or self.summary
        work.on_progress(
            Progress(
                done=self.done,
                total=work.total,
                outcomes=seen.outcome_totals(),
                headline=seen.headline(),
                spent=total_usage([*(judge.usage for judge in work.judges()), target]),
                target_spent=target,
                asked=self.asked,
            )
        )

    def finish(self, whole: list[EvaluatorColumns], *, stopped_early: str = "") -> GradedRun:
        """Ends the run: interrupted when a row is missing, an error when `stopped_early` says why rows that are there were
        not asked about, succeeded otherwise.

        Args:
            whole: The results of dataset and session scope.
        """
        if whole:
            self._work.store.append(
                self.run_id, Segment(index=WHOLE, first_row=WHOLE, rows=0, records=b"", results=pack(whole))
            )
        self._note_fences(whole)
        status = "interrupted" if self.cut_short else "error" if stopped_early else "succeeded"
        self.manifest = msgspec.structs.replace(self.manifest, stopped_early=stopped_early if status == "error" else "")
        self._end(status, self.trials.completed(self.summary.finish(whole)))
        return stored_run(self._work.store, self.run_id)

    def decide(self, gates: list[GateResult]) -> GradedRun:
        """Writes down what was decided about the finished run, and gives it back with that."""
        assert self._finished
        self.manifest = msgspec.structs.replace(self.manifest, gates=gates)
        self._ending = msgspec.structs.replace(self._ending, verdict=_verdict(gates))
        self._work.store.finish(self._ending, self.manifest, self._summaries)
        return stored_run(self._work.store, self.run_id)

    def _end(self, status: str, summaries: list[MetricSummary]) -> None:
        self._finished = True
        work = self._work
        now, judges = work.clock.now(), work.judges()
        self.manifest = msgspec.structs.replace(
            self.manifest,
            status=_MANIFEST_STATUS[status],
            finished_at=now,
            judges=judges,
            judge_usage=total_usage([judge.usage for judge in judges]),
            target_usage=work.target_usage(),
            sandboxes=[self._fences[key] for key in sorted(self._fences, key=lambda key: key[1:])],
        )
        scored = any(summary.n for summary in summaries)
        row = msgspec.structs.replace(
            self._row,
            status=status,
            finished_at=now.isoformat(timespec="milliseconds"),
            headline=self.summary.headline() if scored or status != "succeeded" else NOTHING_SCORED,
            verdict="",
        )
        self._ending, self._summaries = row, summaries
        work.store.finish(row, self.manifest, summaries)

    def _note_fences(self, graded: list[EvaluatorColumns]) -> None:
        for columns in graded:
            for note in columns.notes.values():
                fence = note.isolation
                if fence is not None:
                    self._fences.setdefault((fence.driver, fence.level.number, -fence.enforcement.number), fence)

    def _new_row(self, now_s: float) -> RunRow:
        work = self._work
        dataset = work.manifest.dataset or DatasetManifest()
        return RunRow(
            id=new_run_id(now_s),
            name=work.manifest.name,
            status="running",
            created_at=work.clock.now().isoformat(timespec="milliseconds"),
            finished_at=None,
            dataset=dataset.source,
            dataset_digest=f"sha256:{dataset.sha256}",
            fingerprint=work.fingerprint,
            rows=0,
            labels=dict(work.manifest.labels),
            headline="",
        )

    def _called_as_now(self, earlier: RunRow) -> RunRow:
        """The run of an earlier try with the name and labels that this one gives it, if it gives any."""
        asked = self._work.manifest
        return msgspec.structs.replace(
            earlier, name=asked.name or earlier.name, labels={**earlier.labels, **asked.labels}
        )

    def _continued(self) -> RunRow:
        """The run that was named, now ours.

        Raises: UsageError: it is other work than this, it is finished, or another process writes it.
        """
        row = self._work.store.find(self._work.continues)
        if row.fingerprint not in ("", self._work.fingerprint):
            raise UsageError(
                f"run {row.id} cannot be continued: its dataset, an evaluator's code or what a judge or target is made of "
                "has changed since",
                hint=f"start it anew with: evalsi runs rerun {row.id[:8]}",
            )
        return self._take_over(row)

    def _taken_over(self) -> RunRow | None:
        """The interrupted run of the same work, now ours; None without one, or when another process was quicker."""
        earlier = self._work.store.resumable(self._work.fingerprint, finished=self._work.reopens)
        if earlier is None:
            return None
        try:
            return self._take_over(earlier)
        except UsageError:
            return None

    def _take_over(self, earlier: RunRow) -> RunRow:
        store = self._work.store
        seen_at = store.seen_at(earlier.id)
        taken = store.take_over(earlier.id, finished=self._work.reopens)
        if earlier.fingerprint:
            self.worked_before_s = _worked_s(store.manifest(earlier.id), seen_at)
        return taken

    def _recall(self) -> None:
        """Counts what an earlier try had stored, as far as it stands."""
        work, told = self._work, dict[int, SegmentSpend | None]()
        if work.on_recalled is not None:
            told = {each.index: decode_spend(each.zones) for each in work.store.zones(self.run_id)}
        looks_at_records = (
            self._ahead is not None or self.summary.reads_records or self.trials.counts_trials or None in told.values()
        )
        for segment in work.store.segments(self.run_id, with_records=looks_at_records):
            if segment.index == WHOLE:
                continue
            rows = rows_of(segment)
            if not work.stands(rows.columns):
                continue
            self.stored[segment.first_row] = segment.rows
            self.summary.add(segment.first_row, segment.rows, rows.columns, lambda rows=rows: rows.records)
            if self._ahead is not None:
                self.note(rows.records, rows.columns)
            self._note_fences(rows.columns)
            if self.trials.counts_trials:
                self.trials.add(rows.records, rows.columns)
            if work.on_recalled is not None:
                work.on_recalled(told.get(segment.index) or spend_of(rows.columns, rows.decoded(_USAGES)))
            self.done += segment.rows


_USAGES = msgspec.json.Decoder(UsageOnly)
_MANIFEST_STATUS = {
    "succeeded": RunStatus.SUCCEEDED,
    "interrupted": RunStatus.CANCELLED,
    "error": RunStatus.ERROR,
}


def _worked_s(manifest: RunManifest, seen_at: datetime | None) -> float:
    """How long the tries at a run worked, the latest up to its last sign of life; what no store remembers is no time."""
    before_s = manifest.earlier_tries or 0.0
    if manifest.started_at is None or seen_at is None:
        return before_s
    return before_s + max(0.0, (seen_at - manifest.started_at).total_seconds())


def _verdict(gates: list[GateResult]) -> str:
    """What the gates say together: one that is not met or has no data fails the run, one that the data cannot decide
    leaves it open.
    """
    verdicts = {gate.verdict for gate in gates}
    if verdicts & {GateVerdict.FAILED, GateVerdict.NO_DATA}:
        return "failed"
    return "passed" if verdicts <= {GateVerdict.PASSED} else "undecided"


def total_usage(usages: list[Usage | None]) -> Usage | None:
    """What several used together; a cost is known only where every one's is. None when nobody used anything."""
    used = [usage for usage in usages if usage is not None]
    if not used:
        return None
    costs = [usage.cost_usd for usage in used]
    return Usage(
        input_tokens=sum(usage.input_tokens or 0 for usage in used),
        output_tokens=sum(usage.output_tokens or 0 for usage in used),
        cost_usd=sum(cost for cost in costs if cost is not None) if None not in costs else None,
    )
