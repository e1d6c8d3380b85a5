# Generated from proto/evalsi/v1alpha1/results.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""The results file: everything an evaluation found, in one document."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.record import Record
from evalsi.schema.generated.run import GateResult, RunManifest
from evalsi.schema.generated.score import EvaluationResult, MetricSummary
from evalsi.schema.scalar_types import Int32, Int64

__all__ = [
    "RejectedLine",
    "ResultsFile",
    "ResultsLayout",
    "SliceSummary",
    "TrialAdvice",
]


class ResultsFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """Everything an evaluation found."""

    manifest: RunManifest | None = None
    """What it takes to repeat it."""
    summaries: list[MetricSummary] = []
    """One summary for each metric."""
    results: list[EvaluationResult] = []
    """One result for each record and evaluator."""
    records: list[Record] = []
    """The records that were scored."""
    gates: list[GateResult] = []
    """The gates and whether they were met."""
    trial_advice: TrialAdvice | None = None
    """How many repetitions would settle what is open; absent for a single trial."""
    api_version: str = ""
    """Version of the form of this document, "evals.si/v1alpha1"."""
    rejected: list[RejectedLine] = []
    """Lines or rows of the source that could not be read."""
    layout: ResultsLayout | None = None
    """How many records and results follow, for readers that walk them side by side; absent in documents of other
    writers.
    """
    slices: list[SliceSummary] = []
    """The slices that the spec of the run asks for, each with summaries of its own."""


class SliceSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The records that have one value at one path, summed up on their own."""

    key: str = ""
    """Path of the value, such as "metadata.topic"."""
    value: str = ""
    """The value, as text."""
    records: Int64 = 0
    """Its records, each counted once whatever the number of its trials."""
    summaries: list[MetricSummary] = []
    """One summary for each metric."""


class ResultsLayout(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What the arrays of a results file hold, so that it can be read without holding it."""

    records: Int64 = 0
    """Records, one a line."""
    evaluators: list[str] = []
    """Evaluators with a result for every record, in the order of these results."""
    whole_results: Int64 = 0
    """Results at the end that belong to no single record: those of dataset and session scope."""


class TrialAdvice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """How many repetitions would settle what is open."""

    trials: Int32 = 0
    """Repetitions that were made of each case."""
    advised_trials: Int32 = 0
    """Repetitions that would be needed; 0 when those made are enough."""
    advice: str = ""
    """The advice in one sentence, for a person to read."""
    metric: str = ""
    """Metric that is most in need of repetitions."""
    half_width: float | None = None
    """Half the width of the metric's interval now, in the unit of the metric."""
    advised_half_width: float | None = None
    """Half the width to expect with the advised repetitions, in the unit of the metric."""


class RejectedLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A line or row of the source that could not be read."""

    path: str = ""
    """Path of the file as the user gave it."""
    line: Int64 = 0
    """Number of the line or row, from 1."""
    column: Int64 = 0
    """Column in characters, from 1; 0 when the whole line is meant."""
    reason: str = ""
    """Why it could not be read, in one sentence."""
