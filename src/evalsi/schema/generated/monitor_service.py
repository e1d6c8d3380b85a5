# Generated from proto/evalsi/v1alpha1/monitor_service.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""Policies: which traffic is evaluated by what, when somebody is told, and what becomes a dataset."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.evaluator import EvaluatorRef
from evalsi.schema.generated.score import ConfidenceInterval
from evalsi.schema.scalar_types import Int64, Seconds, Timestamp
from evalsi.schema.schema_enum import SchemaEnum

__all__ = [
    "Alert",
    "AlertState",
    "ApplyPolicyRequest",
    "ApplyPolicyResponse",
    "BackfillPolicyRequest",
    "BackfillPolicyResponse",
    "CascadeStage",
    "CompareTrafficRequest",
    "CompareTrafficResponse",
    "DeletePolicyRequest",
    "DeletePolicyResponse",
    "GetPolicyStatsRequest",
    "GetPolicyStatsResponse",
    "ListPoliciesRequest",
    "ListPoliciesResponse",
    "MetricDrift",
    "MetricWindow",
    "OnlineEvalPolicy",
    "PolicyBudget",
    "PolicyScope",
    "PolicyStats",
    "PolicyView",
    "Promotion",
    "Sampling",
    "SinkState",
    "TestPolicyRequest",
    "TestPolicyResponse",
    "TrafficComparison",
    "TrafficSlice",
]


class PolicyScope(SchemaEnum):
    """What a policy evaluates."""

    UNSPECIFIED = "unspecified", 0, "POLICY_SCOPE_UNSPECIFIED"
    """The default, TRACE."""
    TRACE = "trace", 1, "POLICY_SCOPE_TRACE"
    """Every trace, as one record."""
    SPAN = "span", 2, "POLICY_SCOPE_SPAN"
    """Every step of a trace."""
    SESSION = "session", 3, "POLICY_SCOPE_SESSION"
    """Every session, once it has been quiet."""


class OnlineEvalPolicy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """What is done with live traffic."""

    name: str = ""
    """Its name, unique within the project."""
    project: str = ""
    """Project it belongs to."""
    disabled: bool = False
    """True when it does nothing."""
    selector: str = ""
    """Condition in CEL that a trace must meet, over service, name, duration_ms, error, steps, tools, models,
    attributes, resource, labels, version, user_id, session_id, cost_usd and feedback; empty for all.
    """
    sampling: Sampling | None = None
    """Which of the matching traces are evaluated; absent for all."""
    stages: list[CascadeStage] = []
    """Evaluators in stages, each stage for the traces the one before lets through."""
    judge: str = ""
    """Judge of its evaluators; empty for the default."""
    window: Seconds | None = None
    """Time that figures and alerts look back; absent for an hour. In seconds."""
    alerts: list[Alert] = []
    """When somebody is told."""
    promote: Promotion | None = None
    """Which traces become cases of a dataset."""
    labels: dict[str, str] = {}
    """Its labels."""
    scope: PolicyScope = PolicyScope.UNSPECIFIED
    """What is evaluated; TRACE when not set."""
    budget: PolicyBudget | None = None
    """What it may spend on judges."""
    view: PolicyView | None = None
    """What its evaluators and judges must not see."""
    sinks: list[str] = []
    """Places its scores are taken to, by the names that the operator gave them."""


class PolicyBudget(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What a policy may spend in a UTC day. Absent is no limit."""

    usd_per_day: float | None = None
    """US dollars."""
    tokens_per_day: Int64 | None = None
    """Tokens of judges."""


class PolicyView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What is taken out of a trace before a policy's evaluators see it. What is stored stays."""

    patterns: list[str] = []
    """Patterns whose matches are replaced."""
    detectors: list[str] = []
    """Detectors whose finds are replaced: "secret", "email", "phone", "card", "iban", "ip", "ssn", and "presidio" where
    the operator has installed it: it looks as traces.redaction.presidio in evalsi.yaml says.
    """
    drop_attributes: list[str] = []
    """Attributes that are left out, "*" standing for any text."""


class Sampling(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which matching traces are evaluated."""

    rate: float | None = None
    """Share of them, from 0 to 1, drawn by a hash of the trace id; absent for all."""
    always: list[str] = []
    """Traces that are taken whatever the draw says: conditions in CEL, or "error", "negative_feedback", "slow" (slower
    than 95 of 100), "new_version" (the first 100 traces of a version).
    """


class CascadeStage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """One step of a cascade."""

    evaluators: list[EvaluatorRef] = []
    """Evaluators that run side by side."""
    when: str = ""
    """Condition in CEL over the scores so far, for example "scores['toxicity'] > 0.2"; empty for all."""


class Alert(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """When somebody is told that a figure is out of bounds."""

    metric: str = ""
    """Name of the metric."""
    below: float | None = None
    """Fires when the mean is surely below this."""
    above: float | None = None
    """Fires when the mean is surely above this."""
    min_samples: Int64 = 0
    """Fewest values before it may fire; 0 for 20."""
    webhook: str = ""
    """Address that is told."""
    secret_env: str = ""
    """Environment variable with the secret that signs what is sent (HMAC-SHA256); empty for no signature."""
    form: str = ""
    """Form of what is sent: "json" (the default), "slack" or "pagerduty"."""
    false_alarm_rate: float = 0.0
    """Chance of a false alarm over its whole life that is accepted; 0 for 0.01."""


class Promotion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which traces become cases."""

    when: str = ""
    """Condition in CEL over the scores."""
    dataset: str = ""
    """Dataset they are added to."""


class ApplyPolicyRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A policy to store."""

    policy: OnlineEvalPolicy | None = None
    """The policy."""
    validate_only: bool = False
    """True to check it and change nothing."""


class ApplyPolicyResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The policy that stands now."""

    policy: OnlineEvalPolicy | None = None
    """The policy as it is stored."""


class ListPoliciesRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which policies to list."""

    project: str = ""
    """Project; empty for all that the caller may see."""


class ListPoliciesResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """Policies."""

    policies: list[OnlineEvalPolicy] = []
    """The policies, by name."""


class DeletePolicyRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which policy to remove."""

    name: str = ""
    """Its name."""
    project: str = ""
    """Project; empty for the default one."""


class DeletePolicyResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """It is removed."""


class GetPolicyStatsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which figures."""

    name: str = ""
    """Name of the policy."""
    project: str = ""
    """Project; empty for the default one."""
    since: Timestamp | None = None
    """From when the series begins; absent for the window."""
    step: Seconds | None = None
    """Length of one point of the series; absent for one that gives about 60 points. In seconds."""
    by: str = ""
    """What figures are split by: "version", "service", "model" or "label.<key>"; empty for nothing. Of very many values
    those with the most results and those seen last are shown, and a warning says of how many.
    """


class MetricWindow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A figure over a period."""

    metric: str = ""
    """Name of the metric."""
    n: Int64 = 0
    """Scored values."""
    mean: float | None = None
    """Their mean; absent when there are none."""
    ci: ConfidenceInterval | None = None
    """Interval for the mean; absent when the data cannot carry one."""
    skipped: Int64 = 0
    """Evaluations that were skipped."""
    errors: Int64 = 0
    """Evaluations that went wrong."""
    start: Timestamp | None = None
    """Begin of the period."""
    end: Timestamp | None = None
    """End of the period."""
    group: str = ""
    """Value it is split by; empty when it is not."""
    p05: float | None = None
    """Value that 5 of 100 lie below; absent when there are none."""
    p50: float | None = None
    """Median; absent when there are none."""
    p95: float | None = None
    """Value that 95 of 100 lie below; absent when there are none."""
    skip_reasons: dict[str, Int64] = {}
    """Skips by reason."""


class AlertState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """How an alert stands."""

    alert: Alert | None = None
    """The alert."""
    firing: bool = False
    """True when it fires."""
    since: Timestamp | None = None
    """Since when."""
    n: Int64 = 0
    """Values it has seen."""
    mean: float | None = None
    """Their mean; absent when there are none."""
    ci: ConfidenceInterval | None = None
    """Bounds of the mean that hold at all times together."""


class PolicyStats(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What a policy did and found."""

    policy: str = ""
    """Name of the policy."""
    traces_seen: Int64 = 0
    """Traces that became complete since it was made."""
    traces_matched: Int64 = 0
    """Of these, those that its selector matched."""
    traces_sampled: Int64 = 0
    """Of these, those that were drawn."""
    traces_evaluated: Int64 = 0
    """Of these, those that were evaluated."""
    traces_promoted: Int64 = 0
    """Traces that became cases."""
    evaluation_errors: Int64 = 0
    """Evaluations that went wrong."""
    metrics: list[MetricWindow] = []
    """Figures over the window."""
    alerts: list[AlertState] = []
    """How its alerts stand."""
    series: list[MetricWindow] = []
    """Figures over time."""
    traces_waiting: Int64 = 0
    """Traces that wait to be evaluated."""
    usd_today: float | None = None
    """Spent on judges in this UTC day, in US dollars; absent when a price is not known."""
    tokens_today: Int64 = 0
    """Tokens of judges in this UTC day."""
    budget_reached: bool = False
    """True when its budget of the day is used up."""
    traces_over_budget: Int64 = 0
    """Traces left out because the budget of the day was used up."""
    warnings: list[str] = []
    """What somebody should know, for example "skipped: no content"."""
    drift: list[MetricDrift] = []
    """Whether values have moved between the window before and this one."""
    sinks: list[SinkState] = []
    """How its scores get to the sinks that they go to."""


class SinkState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """How scores of a policy get to a sink. What was found about one trace or session is one delivery."""

    sink: str = ""
    """Name of the sink."""
    delivered: Int64 = 0
    """Deliveries that were taken."""
    waiting: Int64 = 0
    """Deliveries that wait to be taken."""
    given_up: Int64 = 0
    """Deliveries that were given up: refused, or not taken in time."""
    last_delivered: Timestamp | None = None
    """When one was last taken; absent when none ever was."""
    last_error: str = ""
    """Why one was last not taken; empty when all were."""
    last_error_time: Timestamp | None = None
    """When that was."""


class MetricDrift(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Whether the values of a metric have moved."""

    metric: str = ""
    """Name of the metric."""
    psi: float | None = None
    """Population stability index between the two periods; absent when there are too few values."""
    p_value: float | None = None
    """Two-sided p-value of the Kolmogorov-Smirnov test; absent when there are too few values."""
    difference: float | None = None
    """Difference of the means, new minus old; absent when a period has no values."""
    ci: ConfidenceInterval | None = None
    """Interval for the difference; absent when the data cannot carry one."""
    n_before: Int64 = 0
    """Values before."""
    n_now: Int64 = 0
    """Values now."""
    moved: bool = False
    """True when it has moved."""


class GetPolicyStatsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The figures."""

    stats: PolicyStats | None = None
    """What it did and found."""


class TestPolicyRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A policy to try."""

    policy: OnlineEvalPolicy | None = None
    """The policy; it need not be stored."""
    lookback: Seconds | None = None
    """How far back to look; absent for a day. In seconds."""


class TestPolicyResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What it would have done."""

    seen: Int64 = 0
    """Traces that were looked at."""
    matched: Int64 = 0
    """Of these, those that the selector matches."""
    sampled: Int64 = 0
    """Of these, those that would be drawn."""
    cost_usd: float | None = None
    """What evaluating them is expected to cost in US dollars; absent when a price is not known."""
    trace_ids: list[str] = []
    """Some of the matching traces."""
    warnings: list[str] = []
    """What somebody should know, for example that an evaluator needs content which was not captured."""


class BackfillPolicyRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which past traces to evaluate."""

    name: str = ""
    """Name of the policy."""
    project: str = ""
    """Project; empty for the default one."""
    since: Timestamp | None = None
    """Traces begun at this time or later."""
    until: Timestamp | None = None
    """Traces begun before this time; absent for now."""


class BackfillPolicyResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What was put in line."""

    queued: Int64 = 0
    """Traces that were put in line."""


class TrafficSlice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Traffic of a period or version."""

    since: Timestamp | None = None
    """From this time."""
    until: Timestamp | None = None
    """Before this time; absent for now."""
    version: str = ""
    """Version of the service; empty for all."""
    labels: list[str] = []
    """Labels, each as "key=value"."""


class CompareTrafficRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What to compare."""

    name: str = ""
    """Name of the policy."""
    project: str = ""
    """Project; empty for the default one."""
    baseline: TrafficSlice | None = None
    """What is compared with."""
    candidate: TrafficSlice | None = None
    """What is compared."""
    confidence_level: float = 0.0
    """Confidence of intervals; 0 for 0.95."""


class CompareTrafficResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """How they differ."""

    comparisons: list[TrafficComparison] = []
    """One per metric."""
    paired_by: str = ""
    """What pairs subjects of both sides, where there is a pair for at least every second of them: key (the sender's
    own), input or session. Empty where the sides are compared as independent samples.
    """


class TrafficComparison(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A metric in two choices of traffic."""

    metric: str = ""
    """Name of the metric."""
    baseline: MetricWindow | None = None
    """In the baseline."""
    candidate: MetricWindow | None = None
    """In the candidate."""
    difference: float | None = None
    """Difference of the means, candidate minus baseline; absent when one has no values."""
    ci: ConfidenceInterval | None = None
    """Interval for the difference; absent when the data cannot carry one."""
    p_value: float | None = None
    """Two-sided p-value; absent when the data cannot carry one."""
    verdict: str = ""
    """IMPROVED, REGRESSED, UNCHANGED or INCONCLUSIVE, in lower case."""
    test: str = ""
    """The test behind the p-value."""
    pairs: Int64 = 0
    """Pairs that both sides have values of; 0 where they are not paired."""
