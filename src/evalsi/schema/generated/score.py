# Generated from proto/evalsi/v1alpha1/score.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""What an evaluation gives back: scores, outcomes, and their summary over many records."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.record import IsolationReport, Usage
from evalsi.schema.scalar_types import Int32, Int64, JsonValue, Seconds
from evalsi.schema.schema_enum import SchemaEnum

__all__ = [
    "ConfidenceInterval",
    "ErrorKind",
    "EvaluationResult",
    "Fault",
    "MetricKind",
    "MetricSummary",
    "Outcome",
    "Score",
    "TrialVariance",
]


class Outcome(SchemaEnum):
    """How an evaluation ended."""

    UNSPECIFIED = "unspecified", 0, "OUTCOME_UNSPECIFIED"
    """Not known; never sent."""
    SCORED = "scored", 1, "OUTCOME_SCORED"
    """There are scores."""
    SKIPPED = "skipped", 2, "OUTCOME_SKIPPED"
    """The evaluator does not apply to the record, for example because it has no reference."""
    ERROR = "error", 3, "OUTCOME_ERROR"
    """The measurement failed; that says nothing about the record."""
    CANCELLED = "cancelled", 4, "OUTCOME_CANCELLED"
    """It was stopped before it ended."""


class ErrorKind(SchemaEnum):
    """What went wrong with a measurement."""

    UNSPECIFIED = "unspecified", 0, "ERROR_KIND_UNSPECIFIED"
    """Nothing went wrong, or it is not known."""
    EXCEPTION = "exception", 1, "ERROR_KIND_EXCEPTION"
    """The evaluator raised an exception."""
    TIMEOUT = "timeout", 2, "ERROR_KIND_TIMEOUT"
    """The deadline passed."""
    CRASH = "crash", 3, "ERROR_KIND_CRASH"
    """The process that ran the evaluator died."""
    SETUP = "setup", 4, "ERROR_KIND_SETUP"
    """The evaluator could not be made ready, for example because a file or package it needs is missing."""
    NOT_FINITE = "not_finite", 5, "ERROR_KIND_NOT_FINITE"
    """The value is NaN or infinite."""
    OUT_OF_RANGE = "out_of_range", 6, "ERROR_KIND_OUT_OF_RANGE"
    """The value lies outside the range the metric declares."""
    WRONG_TYPE = "wrong_type", 7, "ERROR_KIND_WRONG_TYPE"
    """The value is not of the type the metric declares."""
    NO_SCORE = "no_score", 8, "ERROR_KIND_NO_SCORE"
    """The evaluator ended without giving a value."""
    MISSING_FIELD = "missing_field", 9, "ERROR_KIND_MISSING_FIELD"
    """The record lacks a field that this evaluation cannot do without."""
    INVALID_FIELD = "invalid_field", 10, "ERROR_KIND_INVALID_FIELD"
    """The record has the field but its value cannot be used, for example a reference that is no number."""
    JUDGE_PARSE = "judge_parse", 11, "ERROR_KIND_JUDGE_PARSE"
    """The judge's reply holds no verdict that can be read."""
    JUDGE_OUT_OF_RANGE = "judge_out_of_range", 12, "ERROR_KIND_JUDGE_OUT_OF_RANGE"
    """The judge's rating lies outside the scale it was given."""
    JUDGE_TRUNCATED = "judge_truncated", 13, "ERROR_KIND_JUDGE_TRUNCATED"
    """The judge's reply was cut off at its token limit."""
    JUDGE_REFUSED = "judge_refused", 14, "ERROR_KIND_JUDGE_REFUSED"
    """The judge declined to judge."""
    PROVIDER = "provider", 15, "ERROR_KIND_PROVIDER"
    """A model provider failed or could not be reached."""
    PROVIDER_AUTH = "provider_auth", 16, "ERROR_KIND_PROVIDER_AUTH"
    """A model provider did not accept our credentials."""
    PROVIDER_REJECTED = "provider_rejected", 17, "ERROR_KIND_PROVIDER_REJECTED"
    """A model provider refused the request itself, for example because the model does not exist."""
    RATE_LIMITED = "rate_limited", 18, "ERROR_KIND_RATE_LIMITED"
    """A model provider's limit was reached and stayed so through all retries."""
    CIRCUIT_OPEN = "circuit_open", 19, "ERROR_KIND_CIRCUIT_OPEN"
    """Nobody was asked because the provider had failed too often shortly before."""
    BUDGET = "budget", 20, "ERROR_KIND_BUDGET"
    """The budget of tokens, money or time was used up."""
    PRICE_UNKNOWN = "price_unknown", 21, "ERROR_KIND_PRICE_UNKNOWN"
    """A budget in money was set and the price of the model is not known."""
    ENVIRONMENT = "environment", 22, "ERROR_KIND_ENVIRONMENT"
    """The machine, image or sandbox the work needs failed."""
    TARGET = "target", 23, "ERROR_KIND_TARGET"
    """The target gave no answer to evaluate."""
    TARGET_AUTH = "target_auth", 24, "ERROR_KIND_TARGET_AUTH"
    """The target did not accept our credentials."""
    TAMPERING = "tampering", 25, "ERROR_KIND_TAMPERING"
    """The program under evaluation was caught changing its own grading."""
    INTERNAL = "internal", 26, "ERROR_KIND_INTERNAL"
    """We made a mistake: a bug in the platform."""


class Fault(SchemaEnum):
    """Whose fault an error is. Faults of the model and the agent are scored where a verdict exists; the others never
    are.
    """

    UNSPECIFIED = "unspecified", 0, "FAULT_UNSPECIFIED"
    """Nobody's, or not known."""
    MODEL = "model", 1, "FAULT_MODEL"
    """The model under evaluation."""
    AGENT = "agent", 2, "FAULT_AGENT"
    """The agent under evaluation."""
    EVALUATOR = "evaluator", 3, "FAULT_EVALUATOR"
    """The evaluator's code."""
    JUDGE = "judge", 4, "FAULT_JUDGE"
    """The model that judges."""
    ENVIRONMENT = "environment", 5, "FAULT_ENVIRONMENT"
    """The machine, image, sandbox or network around the work."""
    PROVIDER = "provider", 6, "FAULT_PROVIDER"
    """A model provider."""
    PLATFORM = "platform", 7, "FAULT_PLATFORM"
    """Evals.si itself."""
    DATASET = "dataset", 8, "FAULT_DATASET"
    """The dataset: the record is broken or incomplete."""
    SETTINGS = "settings", 9, "FAULT_SETTINGS"
    """The user's settings: a budget, a key or a parameter."""


class MetricKind(SchemaEnum):
    """What kind of values a metric sums up."""

    UNSPECIFIED = "unspecified", 0, "METRIC_KIND_UNSPECIFIED"
    """Not known."""
    NUMBER = "number", 1, "METRIC_KIND_NUMBER"
    """Numbers, summed up by their mean."""
    PROPORTION = "proportion", 2, "METRIC_KIND_PROPORTION"
    """Verdicts, summed up by the fraction that passed."""
    LABEL = "label", 3, "METRIC_KIND_LABEL"
    """Names, summed up by their counts."""


class Score(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """One measured value. Numbers are always finite.

    One of `number`, `passed`, `label`, `structured`: the value; exactly one form is set.
    """

    name: str = ""
    """Name of the output, as the evaluator's manifest lists it."""
    number: float | None = None
    """A finite number."""
    passed: bool | None = None
    """A verdict."""
    label: str | None = None
    """One of a set of names."""
    structured: JsonValue = msgspec.UNSET
    """Any JSON value; kept and shown, never averaged."""
    explanation: str = ""
    """Why the value is what it is, for a person to read."""
    confidence: float | None = None
    """How sure the evaluator is, as a fraction from 0 to 1."""
    cost: Usage | None = None
    """What measuring it took, where that can be told apart from the other scores of the evaluator."""
    metadata: dict[str, JsonValue] = {}
    """Anything else worth keeping, such as the passage a judge quoted."""


class EvaluationResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """What became of one evaluator on one record: scores, or why there are none."""

    record_id: str = ""
    """Identifier of the record."""
    evaluator: str = ""
    """Name of the evaluator within this evaluation."""
    evaluator_ref: str = ""
    """What exactly ran, for example "builtin/exact-match@1.0.0"."""
    outcome: Outcome = Outcome.UNSPECIFIED
    """How it ended; only SCORED enters a metric."""
    scores: list[Score] = []
    """The values; empty unless the outcome is SCORED."""
    reason: str = ""
    """Why it was skipped, went wrong or was cancelled, in one sentence; empty when scored."""
    duration: Seconds | None = None
    """Time the evaluator took on this record, waiting included. In seconds."""
    trial: Int32 = 0
    """Number of the repetition, from 0."""
    error_kind: ErrorKind = ErrorKind.UNSPECIFIED
    """For ERROR: what went wrong."""
    fault: Fault = Fault.UNSPECIFIED
    """For ERROR: whose fault it was."""
    span_id: str = ""
    """For scope SPAN: identifier of the step that was evaluated."""
    session_id: str = ""
    """For scope SESSION: identifier of the session that was evaluated."""
    usage: Usage | None = None
    """Tokens, money and time the evaluation took, all its calls together; absent when it asked nobody."""
    raw_reply: str = ""
    """The judge's reply as it came, kept when it could not be read."""
    detail: str = ""
    """More about an error, for a person to read: exception type and place, or the provider's words."""
    warnings: list[str] = []
    """What is worth knowing about a score that stands, for example that the reply had to be repaired."""
    attempts: Int32 = 0
    """Times the evaluation was tried; 0 when nobody counted."""
    isolation: IsolationReport | None = None
    """How the programs that the evaluator ran on this record were fenced in; of several ways the weakest. Absent when
    it ran none.
    """


class MetricSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One metric over many records. Only scored records enter it; the counts say what did not."""

    metric: str = ""
    """Name of the metric: the evaluator's name, or "evaluator.output" for outputs beyond the first."""
    evaluator: str = ""
    """Name of the evaluator within this evaluation."""
    kind: MetricKind = MetricKind.UNSPECIFIED
    """What kind of values were summed up."""
    n: Int64 = 0
    """Scored values that entered the metric."""
    mean: float | None = None
    """Mean of the values, for a proportion the fraction that passed; absent when nothing was scored."""
    std: float | None = None
    """Standard deviation of the values with n - 1 below; absent below two values."""
    ci: ConfidenceInterval | None = None
    """Interval for the mean; absent when the data cannot carry one."""
    skipped: Int64 = 0
    """Evaluations that were skipped."""
    errors: Int64 = 0
    """Evaluations that went wrong."""
    labels: dict[str, Int64] = {}
    """For a label metric: times each label was given."""
    clusters: Int64 | None = None
    """Clusters the values fall into; absent when they were treated as independent."""
    total: Int64 = 0
    """Evaluations in all: scored, skipped, errors and cancelled."""
    cancelled: Int64 = 0
    """Evaluations that were cancelled."""
    coverage: float | None = None
    """Fraction of all evaluations that were scored, n / total; absent when there were none."""
    higher_is_better: bool | None = None
    """Whether a higher mean is better; absent when neither direction is."""
    error_kinds: dict[str, Int64] = {}
    """Errors by kind, named as in ErrorKind in lower case, for example "judge_parse"."""
    skip_reasons: dict[str, Int64] = {}
    """Skips by reason."""
    min: float | None = None
    """Smallest value; absent when nothing was scored."""
    median: float | None = None
    """Median of the values; absent when nothing was scored."""
    max: float | None = None
    """Largest value; absent when nothing was scored."""
    evaluator_ref: str = ""
    """What exactly ran, for example "builtin/exact-match@1.0.0"."""
    unit: str = ""
    """Unit of the values, for example "s" or "usd"; empty for plain numbers."""
    notes: list[str] = []
    """What a reader must know about the figures, for example why there is no interval."""
    trial_variance: TrialVariance | None = None
    """Where the variance of repeated trials comes from; absent without them."""


class TrialVariance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Where the variance of repeated trials comes from: records that differ, or trials of one record that differ. A
    one-way random-effects model, estimated by analysis of variance.
    """

    between_records: float = 0.0
    """Variance of the records' own means; 0 where the estimate falls below it."""
    within_records: float = 0.0
    """Variance of the trials of one record."""
    intraclass_correlation: float | None = None
    """Share of the variance that lies between records, ICC(1); absent where nothing varies."""
    records: Int64 = 0
    """Records with a scored trial."""
    trials: Int64 = 0
    """Scored trials of them all."""


class ConfidenceInterval(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A range that holds the true value in a stated share of repetitions."""

    low: float = 0.0
    """Lower bound, in the unit of the metric."""
    high: float = 0.0
    """Upper bound, in the unit of the metric."""
    level: float = 0.0
    """Share of repetitions that hold the true value, for example 0.95."""
    method: str = ""
    """How it was computed, for example "wilson", "t", "clustered-t" or "bootstrap"."""
    resamples: Int64 = 0
    """Resamples drawn; 0 when the method draws none."""
    seed: Int64 | None = None
    """Seed of the resamples; absent when the method draws none."""
