# Generated from proto/evalsi/v1alpha1/run.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""Runs: a target is asked about a dataset, its answers are scored, and gates decide."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.agent import AgentTarget, Environment, Harness
from evalsi.schema.generated.evaluation_service import SummaryOptions
from evalsi.schema.generated.evaluator import EvaluatorManifest, EvaluatorRef
from evalsi.schema.generated.record import Record, Usage
from evalsi.schema.generated.score import MetricSummary
from evalsi.schema.scalar_types import Int32, Int64, JsonObject, Seconds, Timestamp
from evalsi.schema.schema_enum import SchemaEnum

__all__ = [
    "BoundRunEvaluator",
    "Budget",
    "DatasetManifest",
    "DatasetSource",
    "DatasetVersionRef",
    "Gate",
    "GateResult",
    "GateStat",
    "GitState",
    "InlineRecords",
    "JudgeManifest",
    "Progress",
    "Run",
    "RunEvaluationContract",
    "RunManifest",
    "RunOutputs",
    "RunSpec",
    "RunStatus",
    "Target",
    "Thinking",
    "TraceQuery",
    "Unpinned",
]


class GateStat(SchemaEnum):
    """Figure of a metric that a gate compares."""

    UNSPECIFIED = "unspecified", 0, "GATE_STAT_UNSPECIFIED"
    """The default, MEAN."""
    MEAN = "mean", 1, "GATE_STAT_MEAN"
    """The mean, for a proportion the fraction that passed."""
    CI_LOW = "ci_low", 2, "GATE_STAT_CI_LOW"
    """Lower bound of the interval."""
    CI_HIGH = "ci_high", 3, "GATE_STAT_CI_HIGH"
    """Upper bound of the interval."""
    ERROR_RATE = "error_rate", 4, "GATE_STAT_ERROR_RATE"
    """Fraction of evaluations that went wrong."""


class RunStatus(SchemaEnum):
    """How far along a run is."""

    UNSPECIFIED = "unspecified", 0, "RUN_STATUS_UNSPECIFIED"
    """Not known."""
    PENDING = "pending", 1, "RUN_STATUS_PENDING"
    """Nobody has begun it."""
    RUNNING = "running", 2, "RUN_STATUS_RUNNING"
    """It is under way."""
    SUCCEEDED = "succeeded", 3, "RUN_STATUS_SUCCEEDED"
    """It finished and every gate was met."""
    FAILED = "failed", 4, "RUN_STATUS_FAILED"
    """It finished and a gate was not met."""
    ERROR = "error", 5, "RUN_STATUS_ERROR"
    """It could not finish."""
    CANCELLED = "cancelled", 6, "RUN_STATUS_CANCELLED"
    """It was stopped."""


class RunSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """What a run is to do. The body of an EvalRun file."""

    target: Target | None = None
    """Who is asked; absent when the dataset brings its outputs along."""
    dataset: DatasetSource | None = None
    """What is asked."""
    evaluators: list[EvaluatorRef] = []
    """How the answers are scored."""
    judge: str = ""
    """Judge for the evaluators that need one and name none."""
    trials: Int32 = 0
    """Times each case is asked; 0 for once."""
    summary: SummaryOptions | None = None
    """How to sum up; absent for the defaults."""
    gates: list[Gate] = []
    """Conditions that decide whether the run passes."""
    budget: Budget | None = None
    """Limits on what the run may use."""
    harness: Harness | None = None
    """The agent loop around the target; absent to ask it once."""
    environment: Environment | None = None
    """Where the tasks take place."""


class Target(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A model or agent under evaluation."""

    connector: str = ""
    """How to reach it: "openai-compatible" or "anthropic"; empty when `agent` is set."""
    model: str = ""
    """Name of the model."""
    base_url: str = ""
    """Address of the API; empty for the provider's own."""
    api_key_env: str = ""
    """Environment variable that holds the key."""
    system_prompt: str = ""
    """System prompt put before every input."""
    max_tokens: Int32 = 0
    """Most tokens in one answer; 0 for the provider's default."""
    temperature: float | None = None
    """Sampling temperature; absent for the provider's default."""
    effort: str = ""
    """Effort of a reasoning model, for example "low" or "high"."""
    agent: AgentTarget | None = None
    """An agent, in place of a model."""
    thinking: Thinking | None = None
    """Extended thinking."""
    stream: bool = False
    """Take answers as a stream, so that the time to the first token is measured."""
    max_concurrency: Int32 = 0
    """Most requests at once; 0 for the default."""
    api: str = ""
    """API to use where a provider has several: "chat" or "responses"."""
    fallbacks: list[Target] = []
    """Targets asked in turn when this one keeps failing."""
    fallback_after: Int32 = 0
    """Failures in a row after which the next fallback is asked; 0 for the default."""


class Thinking(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Extended thinking of a model."""

    mode: str = ""
    """How: "enabled", "adaptive" or "disabled"."""
    budget_tokens: Int32 = 0
    """Most tokens of thought; 0 for the provider's default."""


class DatasetSource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """Where the cases of a run come from.

    One of `inline`, `path`, `uri`, `traces`, `run`, `catalog`: the source; exactly one is set.
    """

    inline: InlineRecords | None = None
    """Records written in place."""
    path: str | None = None
    """A file on this machine, or "-" for standard input."""
    uri: str | None = None
    """An address such as "hf://squad?split=validation"."""
    traces: TraceQuery | None = None
    """Traces seen in live traffic."""
    run: RunOutputs | None = None
    """Outputs of an earlier run."""
    catalog: DatasetVersionRef | None = None
    """A version of a dataset in the catalogue."""
    mapping: dict[str, str] = {}
    """Column or path in the source for each field of a record, for example input: question."""
    limit: Int32 = 0
    """Most records taken; 0 for all."""


class DatasetVersionRef(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A version of a dataset in the catalogue."""

    project: str = ""
    """Project that owns it."""
    name: str = ""
    """Name of the dataset."""
    version: str = ""
    """Name of the version; empty for the latest."""
    sha256: str = ""
    """Digest the content must have, in lower-case hexadecimal; empty to take any."""


class TraceQuery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A choice of traces."""

    service: str = ""
    """Service that was traced."""
    policy: str = ""
    """Policy that chose the traces."""
    filter: str = ""
    """Condition in CEL."""
    lookback: Seconds | None = None
    """How far back to look. In seconds."""


class RunOutputs(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Outputs of an earlier run."""

    run_id: str = ""
    """Identifier of the run."""
    trial: Int32 = 0
    """Number of the repetition to take, from 0."""
    all_trials: bool = False
    """Take every repetition."""


class InlineRecords(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """Records written in place."""

    records: list[Record] = []
    """The records."""


class Gate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A condition a metric must meet. No data never meets it."""

    metric: str = ""
    """Name of the metric."""
    stat: GateStat = GateStat.UNSPECIFIED
    """Figure of the metric that is compared."""
    min: float | None = None
    """Smallest value that passes; absent for no lower bound."""
    max: float | None = None
    """Largest value that passes; absent for no upper bound."""


class GateResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Whether a gate was met."""

    gate: Gate | None = None
    """The gate."""
    passed: bool = False
    """True when it was met."""
    value: float | None = None
    """The figure that was compared; absent when there is none."""
    reason: str = ""
    """Why it was not met, or what is worth knowing though it was."""


class Budget(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Limits on what a run may use."""

    max_target_tokens: Int64 = 0
    """Most tokens read and written by the target; 0 for no limit."""
    max_judge_tokens: Int64 = 0
    """Most tokens read and written by judges; 0 for no limit."""
    max_usd: float | None = None
    """Most US dollars for target and judges together; absent for no limit."""


class Progress(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """How far a run has come."""

    total: Int64 = 0
    """Tasks in all; 0 while it is not known."""
    done: Int64 = 0
    """Tasks that ended, well or not."""


class Run(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A run and what is known of it."""

    id: str = ""
    """Identifier of the run."""
    name: str = ""
    """Name given by the user."""
    project: str = ""
    """Project it belongs to."""
    spec: RunSpec | None = None
    """What it is to do."""
    status: RunStatus = RunStatus.UNSPECIFIED
    """How far along it is."""
    created_at: Timestamp | None = None
    """When it was asked for."""
    started_at: Timestamp | None = None
    """When it began."""
    finished_at: Timestamp | None = None
    """When it ended."""
    error: str = ""
    """Why it could not finish; empty when it could."""
    progress: Progress | None = None
    """How many of its tasks have ended."""
    summaries: list[MetricSummary] = []
    """Its metrics."""
    gates: list[GateResult] = []
    """Its gates."""
    target_usage: Usage | None = None
    """What the target used, all tasks together."""
    judge_usage: Usage | None = None
    """What the judges used, all tasks together."""
    dataset_sha256: str = ""
    """Digest of the dataset's content, in lower-case hexadecimal."""
    records: Int64 = 0
    """Records it covers."""
    labels: dict[str, str] = {}
    """Labels given by the user."""
    created_by: str = ""
    """Who asked for it."""
    archived_at: Timestamp | None = None
    """When it was put away; absent when it was not."""
    imported: bool = False
    """True when it was made elsewhere and imported."""
    evaluation_contract: RunEvaluationContract | None = None
    """What exactly measured it."""
    manifest: RunManifest | None = None
    """What it takes to repeat it."""


class BoundRunEvaluator(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """An evaluator with everything that decides its scores."""

    name: str = ""
    """Name its results carry."""
    manifest: EvaluatorManifest | None = None
    """What it says about itself."""
    params: JsonObject = {}
    """Its parameters, defaults filled in."""
    judge: str = ""
    """Name of its judge; empty when it has none."""
    judge_settings_sha256: str = ""
    """Digest of everything that decides how the judge answers, in lower-case hexadecimal."""
    prompt_sha256: dict[str, str] = {}
    """Digest of each prompt it uses by the prompt's name, in lower-case hexadecimal."""


class RunEvaluationContract(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """What exactly measured a run."""

    evaluators: list[BoundRunEvaluator] = []
    """The evaluators."""
    settings_sha256: str = ""
    """Digest of all settings that decide scores, in lower-case hexadecimal."""
    server_version: str = ""
    """Version of Evals.si that measured."""


class RunManifest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """What it takes to repeat a run, and what could not be held fast. Never holds a secret."""

    run_id: str = ""
    """Identifier of the run."""
    name: str = ""
    """Name given by the user."""
    project: str = ""
    """Project it belongs to."""
    evalsi_version: str = ""
    """Version of Evals.si."""
    python_version: str = ""
    """Version of Python, for example "3.11.7"."""
    platform: str = ""
    """Operating system and machine, for example "Linux-6.1-x86_64"."""
    packages: dict[str, str] = {}
    """Versions of the packages that can change scores, by name."""
    argv: list[str] = []
    """The command line, secrets replaced."""
    git: GitState | None = None
    """State of the repository the run was started in; absent outside of one."""
    started_at: Timestamp | None = None
    """When it began."""
    finished_at: Timestamp | None = None
    """When it ended; absent when it was stopped."""
    dataset: DatasetManifest | None = None
    """What was scored."""
    evaluators: list[BoundRunEvaluator] = []
    """The evaluators with their parameters and prompts."""
    judges: list[JudgeManifest] = []
    """The judges with their settings."""
    summary: SummaryOptions | None = None
    """How it was summed up, defaults filled in."""
    seeds: dict[str, Int64] = {}
    """Seed of each random choice by its purpose, for example "sample" or "bootstrap"."""
    price_table_version: str = ""
    """Version of the price table."""
    unpinned: list[Unpinned] = []
    """What could not be held fast."""
    settings_sha256: str = ""
    """Digest of all settings that decide scores, in lower-case hexadecimal."""
    status: RunStatus = RunStatus.UNSPECIFIED
    """How the run ended."""
    target_usage: Usage | None = None
    """What the target used, all tasks together; absent when outputs existed."""
    judge_usage: Usage | None = None
    """What the judges used, all evaluations together; absent when none was asked."""
    trials: Int32 = 0
    """Times each case was asked; 0 when outputs existed."""
    spec: RunSpec | None = None
    """What the run was to do; absent for a call that had no spec."""
    warnings: list[str] = []
    """What a reader of the figures should know."""
    labels: dict[str, str] = {}
    """Labels given by the user."""


class GitState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """State of a git repository."""

    commit: str = ""
    """The commit, in lower-case hexadecimal."""
    branch: str = ""
    """Name of the branch; empty when none is checked out."""
    dirty: bool = False
    """True when files differ from the commit."""


class DatasetManifest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What was scored."""

    source: str = ""
    """Where it came from: a path, an address or "inline"."""
    sha256: str = ""
    """Digest of the records that were scored, in lower-case hexadecimal."""
    records: Int64 = 0
    """Records that were scored."""
    rejected: Int64 = 0
    """Lines or rows that were left out because they could not be read."""
    mapping: dict[str, str] = {}
    """Column or path in the source for each field of a record."""
    where: str = ""
    """Condition in CEL that records had to meet; empty for none."""
    limit: Int64 = 0
    """Most records taken; 0 for all."""
    sample: Int64 = 0
    """Records drawn at random; 0 when all were taken in order."""
    revision: str = ""
    """Version or commit of the source, where it has one."""


class JudgeManifest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A judge and everything that decides how it answers. Never holds a secret."""

    name: str = ""
    """Name the run knows it by."""
    provider: str = ""
    """How it is reached: "openai-compatible" or "anthropic"."""
    model: str = ""
    """Model that was asked for."""
    reported_models: list[str] = []
    """Models the provider says answered, where it says so."""
    base_url: str = ""
    """Address of the API, without user name, password and query."""
    settings: JsonObject = {}
    """Settings that decide the answer, such as temperature and token limit."""
    settings_sha256: str = ""
    """Digest of the settings, in lower-case hexadecimal."""
    usage: Usage | None = None
    """What it used, all evaluations together."""


class Unpinned(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Something that can change when the run is repeated."""

    what: str = ""
    """What, for example "judge model gpt-4o"."""
    why: str = ""
    """Why it could not be held fast."""
