# Generated from proto/evalsi/v1alpha1/run_service.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""Runs on a server: asked for, watched, read, compared."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.evaluation_service import SummaryOptions
from evalsi.schema.generated.evaluator import EvaluatorRef
from evalsi.schema.generated.monitor_service import SinkState
from evalsi.schema.generated.record import Record, Usage
from evalsi.schema.generated.run import Gate, Progress, Run, RunSpec, RunStatus
from evalsi.schema.generated.score import ConfidenceInterval, EvaluationResult, MetricSummary, Outcome
from evalsi.schema.scalar_types import Int32, Int64, Timestamp

__all__ = [
    "ArchiveRunRequest",
    "ArchiveRunResponse",
    "CancelRunRequest",
    "CancelRunResponse",
    "CompareRunsRequest",
    "CompareRunsResponse",
    "CreateRunRequest",
    "CreateRunResponse",
    "CreateShadowReplayRequest",
    "CreateShadowReplayResponse",
    "DeleteRunRequest",
    "DeleteRunResponse",
    "ExportRunRequest",
    "ExportRunResponse",
    "GetRecordEvidenceRequest",
    "GetRecordEvidenceResponse",
    "GetRunRequest",
    "GetRunResponse",
    "ImportRunRequest",
    "ImportRunResponse",
    "ListRunResultsRequest",
    "ListRunResultsResponse",
    "ListRunsRequest",
    "ListRunsResponse",
    "MetricComparison",
    "PromoteResultsRequest",
    "PromoteResultsResponse",
    "RescoreRunRequest",
    "RescoreRunResponse",
    "ResumeRunRequest",
    "ResumeRunResponse",
    "RunRecordEvidence",
    "SliceRow",
    "SliceRunsRequest",
    "SliceRunsResponse",
    "WatchRunRequest",
    "WatchRunResponse",
]


class CreateRunRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """Asks for a run."""

    name: str = ""
    """Name of the run: lower-case letters, digits and dashes, at most 63; empty to be given one."""
    project: str = ""
    """Project it belongs to; empty for "default"."""
    spec: RunSpec | None = None
    """What it is to do."""
    labels: dict[str, str] = {}
    """Labels to find it by."""
    validate_only: bool = False
    """Check everything and store nothing; the answer holds the run as it would be."""
    priority: Int32 = 0
    """Runs of a higher priority begin first within their project; 0 is usual."""


class CreateRunResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The run that was asked for."""

    run: Run | None = None
    """The run."""


class GetRunRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for one run."""

    id: str = ""
    """Identifier of the run."""


class GetRunResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The run."""

    run: Run | None = None
    """The run."""
    sinks: list[SinkState] = []
    """How its scores get to the sinks that they go to. What was found about one record is one delivery."""


class ListRunsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for runs. Of several filters all must hold."""

    project: str = ""
    """Project; empty for all projects the caller may read."""
    page_size: Int32 = 0
    """Most runs in one answer; 0 for 50."""
    page_token: str = ""
    """What the answer before gave as its `next_page_token`; empty for the first page."""
    name: str = ""
    """Runs of this name; empty for any."""
    labels: dict[str, str] = {}
    """Labels a run must carry, with their values."""
    statuses: list[RunStatus] = []
    """Statuses a run may have; empty for any."""
    since: Timestamp | None = None
    """Runs asked for at this time or later; absent for any."""
    until: Timestamp | None = None
    """Runs asked for before this time; absent for any."""
    include_archived: bool = False
    """Also list runs that were put away."""
    search: str = ""
    """Runs whose name, label or identifier holds this text; empty for any."""


class ListRunsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A page of runs."""

    runs: list[Run] = []
    """The runs, the newest first, without what only `GetRun` tells: `spec` and `manifest`."""
    next_page_token: str = ""
    """What to ask the next page with; empty on the last."""


class WatchRunRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks to follow a run."""

    id: str = ""
    """Identifier of the run."""
    include_results: bool = False
    """Send results too, as they are stored."""


class WatchRunResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """Something that happened to a run.

    One of `run`, `progress`, `result`: what happened; exactly one is set.
    """

    run: Run | None = None
    """The run, when its status changed; also the first message and the last."""
    progress: Progress | None = None
    """How far it has come."""
    result: EvaluationResult | None = None
    """A result that was stored."""


class CancelRunRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks to stop a run."""

    id: str = ""
    """Identifier of the run."""


class CancelRunResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The run that was stopped."""

    run: Run | None = None
    """The run. It may still be under way for a moment."""


class ResumeRunRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks to continue a run."""

    id: str = ""
    """Identifier of the run."""


class ResumeRunResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The run that goes on."""

    run: Run | None = None
    """The run."""


class DeleteRunRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks to remove a run."""

    id: str = ""
    """Identifier of the run."""


class DeleteRunResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The run is gone."""


class ArchiveRunRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks to put a run away."""

    id: str = ""
    """Identifier of the run."""
    restore: bool = False
    """Take it out again instead."""


class ArchiveRunResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The run that was put away."""

    run: Run | None = None
    """The run."""


class ListRunResultsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for results. Of several filters all must hold."""

    run_id: str = ""
    """Identifier of the run."""
    page_size: Int32 = 0
    """Most records in one answer; 0 for 50."""
    page_token: str = ""
    """What the answer before gave as its `next_page_token`; empty for the first page."""
    evaluator: str = ""
    """Results of this evaluator; empty for all."""
    outcome: Outcome = Outcome.UNSPECIFIED
    """Results that ended so; UNSPECIFIED for any."""
    min_score: float | None = None
    """Smallest score wanted; absent for any. Needs `evaluator`."""
    max_score: float | None = None
    """Largest score wanted; absent for any. Needs `evaluator`."""
    search: str = ""
    """Records whose text or identifier holds this; empty for any."""
    order_by: str = ""
    """"record" (the default) for the order of the dataset, "score" for the worst first, "-score" for the best first. An
    order by score needs `evaluator`.
    """
    flipped_against: str = ""
    """Another run; only records whose verdict differs from theirs are listed. Empty for all."""
    trial: Int32 | None = None
    """Number of the repetition, from 0; absent for all."""
    without_records: bool = False
    """Leave out the records themselves."""


class ListRunResultsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A page of results."""

    results: list[EvaluationResult] = []
    """The results, record by record."""
    records: list[Record] = []
    """The records they are about, each once."""
    next_page_token: str = ""
    """What to ask the next page with; empty on the last."""
    records_by_trial: list[RunRecordEvidence] = []
    """The records again by repetition, each with the output of that repetition."""
    matching_records: Int64 | None = None
    """Records that meet the filters, on all pages together; absent where counting would mean reading them all."""
    whole_results: list[EvaluationResult] = []
    """Results of whole sessions and of the dataset; on the first page only."""


class GetRecordEvidenceRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for one record of a run."""

    run_id: str = ""
    """Identifier of the run."""
    record_id: str = ""
    """Identifier of the record."""
    trial: Int32 = 0
    """Number of the repetition, from 0."""


class RunRecordEvidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A record as a run saw it."""

    record_id: str = ""
    """Identifier of the record."""
    trial: Int32 = 0
    """Number of the repetition, from 0."""
    record: Record | None = None
    """The record, with its output."""
    output_stored: bool = False
    """True when the output is kept."""
    output_error: str = ""
    """Why there is no output; empty when there is one."""


class GetRecordEvidenceResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """One record of a run."""

    evidence: RunRecordEvidence | None = None
    """The record."""
    results: list[EvaluationResult] = []
    """What every evaluator said about it."""


class CompareRunsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for a comparison."""

    baseline_run_id: str = ""
    """Identifier of the run that is compared with."""
    candidate_run_id: str = ""
    """Identifier of the run that is looked at."""
    confidence_level: float = 0.0
    """Share of repetitions the intervals hold the true value in; 0 for the default of 0.95."""
    cluster_by: str = ""
    """Metadata key whose equal values mark records that belong together; empty to treat them as independent."""


class CompareRunsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The metrics of two runs side by side."""

    comparisons: list[MetricComparison] = []
    """One comparison for each metric both have."""
    baseline_only: Int64 = 0
    """Records that only the baseline holds."""
    candidate_only: Int64 = 0
    """Records that only the candidate holds."""
    warnings: list[str] = []
    """Metrics that only one of the two has, and other things a reader should know."""


class MetricComparison(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One metric in two runs, over the records both scored."""

    metric: str = ""
    """Name of the metric."""
    baseline_mean: float | None = None
    """Its mean in the baseline; absent when there is none."""
    candidate_mean: float | None = None
    """Its mean in the candidate; absent when there is none."""
    diff: float | None = None
    """Candidate less baseline; absent when there is none."""
    diff_ci: ConfidenceInterval | None = None
    """Interval of the difference; absent when the data cannot carry one."""
    paired_n: Int64 = 0
    """Records both scored."""
    significant: bool = False
    """True when the difference is more than chance explains."""
    verdict: str = ""
    """What the difference means: "improved", "regressed", "unchanged" or "inconclusive"."""
    p_value: float | None = None
    """Chance of a difference as large if there were none; absent when it cannot be computed."""
    wins: Int64 = 0
    """Records that the candidate does better."""
    losses: Int64 = 0
    """Records that the candidate does worse."""
    ties: Int64 = 0
    """Records that both do alike."""
    higher_is_better: bool | None = None
    """Whether larger values are better; absent when nobody said."""


class SliceRunsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for slices."""

    run_ids: list[str] = []
    """Identifiers of the runs; empty to choose by project and labels."""
    project: str = ""
    """Project; empty for all projects the caller may read."""
    labels: dict[str, str] = {}
    """Labels a run must carry, with their values."""
    limit: Int32 = 0
    """Most runs taken, the newest first; 0 for 20."""
    metric: str = ""
    """Name of the metric."""
    by: str = ""
    """Path whose values part the records, for example "metadata.topic"."""
    confidence_level: float = 0.0
    """Share of repetitions the intervals hold the true value in; 0 for the default of 0.95."""


class SliceRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A metric over the records of a run that have one value."""

    run_id: str = ""
    """Identifier of the run."""
    run_name: str = ""
    """Name of the run."""
    key: str = ""
    """The value that marks the slice."""
    n: Int64 = 0
    """Scored values."""
    mean: float = 0.0
    """Their mean."""
    low: float | None = None
    """Lower bound of the mean's interval; absent when the data cannot carry one."""
    high: float | None = None
    """Upper bound of the mean's interval; absent when the data cannot carry one."""


class SliceRunsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The slices."""

    rows: list[SliceRow] = []
    """One row for each run and value."""
    runs: Int32 = 0
    """Runs that were read."""


class PromoteResultsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks to add records to a dataset."""

    run_id: str = ""
    """Identifier of the run."""
    dataset: str = ""
    """Name of the dataset."""
    when: str = ""
    """Condition in CEL that a record and its results must meet, for example "score('exact-match') < 0.5"."""
    include_outputs: bool = False
    """Keep the outputs too, as the output of each record."""


class PromoteResultsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What was added."""

    promoted: Int64 = 0
    """Records that were added."""
    path: str = ""
    """Where the dataset lies, below the root of datasets."""


class CreateShadowReplayRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """Asks to replay live traffic."""

    name: str = ""
    """Name of both runs, to which what they are is added."""
    project: str = ""
    """Project they belong to; empty for "default"."""
    candidate: RunSpec | None = None
    """What the candidate is to do; its dataset chooses the traces."""
    labels: dict[str, str] = {}
    """Labels of both runs."""


class CreateShadowReplayResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The two runs."""

    baseline: Run | None = None
    """The traffic as it was answered."""
    candidate: Run | None = None
    """The candidate on the same inputs."""


class ImportRunRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A run that was made elsewhere."""

    name: str = ""
    """Name of the run; empty to be given one."""
    project: str = ""
    """Project it belongs to; empty for "default"."""
    labels: dict[str, str] = {}
    """Labels to find it by."""
    spec: RunSpec | None = None
    """What it did, as far as known."""
    records: list[Record] = []
    """The records with their outputs."""
    results: list[EvaluationResult] = []
    """What evaluators said about them."""
    summaries: list[MetricSummary] = []
    """Its metrics; the server works them out where they are missing."""
    started_at: Timestamp | None = None
    """When it began."""
    finished_at: Timestamp | None = None
    """When it ended."""
    target_usage: Usage | None = None
    """What the target used, all tasks together."""
    judge_usage: Usage | None = None
    """What the judges used, all evaluations together."""


class ImportRunResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The run as it is stored."""

    run: Run | None = None
    """The run."""


class ExportRunRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for a run as a file."""

    run_id: str = ""
    """Identifier of the run."""


class ExportRunResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A piece of a run as a file."""

    chunk: bytes = b""
    """The next piece of the zip."""


class RescoreRunRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """Asks to grade kept answers once more."""

    run_id: str = ""
    """Identifier of the run whose answers are graded."""
    name: str = ""
    """Name of the new run; empty to be given one."""
    labels: dict[str, str] = {}
    """Labels of the new run."""
    evaluators: list[EvaluatorRef] = []
    """The evaluators."""
    judge: str = ""
    """Judge for the evaluators that need one and name none."""
    summary: SummaryOptions | None = None
    """How to sum up; absent to keep what the run had."""
    gates: list[Gate] = []
    """Conditions that decide whether the new run passes."""


class RescoreRunResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The new run."""

    run: Run | None = None
    """The run."""
