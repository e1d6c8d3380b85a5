# Generated from proto/evalsi/v1alpha1/evaluation_service.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""Scoring outputs that exist: the calls of the Score door."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.evaluator import EvaluatorRef
from evalsi.schema.generated.record import Record
from evalsi.schema.generated.score import EvaluationResult, MetricSummary
from evalsi.schema.scalar_types import Int32, Int64
from evalsi.schema.schema_enum import SchemaEnum

__all__ = [
    "CiMethod",
    "EvaluateRequest",
    "EvaluateResponse",
    "EvaluateStreamConfig",
    "EvaluateStreamRequest",
    "EvaluateStreamResponse",
    "MetricSummaries",
    "SummaryOptions",
]


class CiMethod(SchemaEnum):
    """Family of interval methods."""

    UNSPECIFIED = "unspecified", 0, "CI_METHOD_UNSPECIFIED"
    """The default, AUTO."""
    AUTO = "auto", 1, "CI_METHOD_AUTO"
    """The method that suits the kind of values, their number and their clusters."""
    BOOTSTRAP = "bootstrap", 2, "CI_METHOD_BOOTSTRAP"
    """The bootstrap for everything."""


class EvaluateRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A batch of records and what to evaluate on them."""

    project: str = ""
    """Project that is charged and whose settings apply."""
    records: list[Record] = []
    """The records; their identifiers are unique."""
    evaluators: list[EvaluatorRef] = []
    """The evaluators; each has a name of its own."""
    judge: str = ""
    """Judge for the evaluators that need one and name none."""
    summary: SummaryOptions | None = None
    """How to sum up; absent for the defaults."""


class EvaluateResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """What became of a batch."""

    results: list[EvaluationResult] = []
    """One result for each record and evaluator, in the order of the request."""
    summaries: list[MetricSummary] = []
    """One summary for each metric."""


class SummaryOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """How many values become one figure with its uncertainty."""

    confidence_level: float = 0.0
    """Share of repetitions the intervals hold the true value in, for example 0.95; 0 for the default of 0.95."""
    cluster_by: str = ""
    """Metadata key whose equal values mark records that belong together; empty to treat them as independent."""
    ci_method: CiMethod = CiMethod.UNSPECIFIED
    """Family of interval methods."""
    exclude_flagged_trials: bool = False
    """Leave out trials in which the program was caught changing its own grading."""
    resamples: Int32 = 0
    """Resamples a bootstrap draws; 0 for the default."""
    seed: Int64 = 0
    """Seed of everything random in a summary, so that equal data give equal figures."""


class EvaluateStreamConfig(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The first message of a stream."""

    project: str = ""
    """Project that is charged and whose settings apply."""
    evaluators: list[EvaluatorRef] = []
    """The evaluators; each has a name of its own."""
    judge: str = ""
    """Judge for the evaluators that need one and name none."""
    summary: SummaryOptions | None = None
    """How to sum up; absent for the defaults."""


class EvaluateStreamRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """One message from the client.

    One of `config`, `record`: the content; exactly one is set.
    """

    config: EvaluateStreamConfig | None = None
    """The configuration; the first message and only the first."""
    record: Record | None = None
    """A record to score."""


class MetricSummaries(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """All summaries of a stream."""

    summaries: list[MetricSummary] = []
    """One summary for each metric."""


class EvaluateStreamResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """One message to the client.

    One of `result`, `summaries`: the content; exactly one is set.
    """

    result: EvaluationResult | None = None
    """What became of one evaluator on one record."""
    summaries: MetricSummaries | None = None
    """The summaries; the last message and only the last."""
