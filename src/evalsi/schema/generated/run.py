# Generated from proto/evalsi/v1alpha1/run.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""Runs: a target is asked about a dataset, its answers are scored, and gates decide."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.agent import AgentTarget, Environment, Harness, Pricing
from evalsi.schema.generated.evaluation_service import SummaryOptions
from evalsi.schema.generated.evaluator import EvaluatorManifest, EvaluatorRef
from evalsi.schema.generated.record import IsolationReport, Message, Record, Usage
from evalsi.schema.generated.score import ConfidenceInterval, MetricSummary
from evalsi.schema.scalar_types import Int32, Int64, JsonObject, Seconds, Timestamp
from evalsi.schema.schema_enum import SchemaEnum

__all__ = [
    "BoundRunEvaluator",
    "Budget",
    "CommandTarget",
    "DatasetManifest",
    "DatasetSource",
    "DatasetVersionRef",
    "EvalRun",
    "FewShotExample",
    "Gate",
    "GateResult",
    "GateStat",
    "GateVerdict",
    "GitState",
    "InlineRecords",
    "JudgeManifest",
    "JudgeSpec",
    "OnInconclusive",
    "Progress",
    "Run",
    "RunEvaluationContract",
    "RunManifest",
    "RunMetadata",
    "RunOutputs",
    "RunSpec",
    "RunStatus",
    "Sink",
    "Target",
    "Thinking",
    "ToolDefinition",
    "TraceQuery",
    "Unpinned",
]


class OnInconclusive(SchemaEnum):
    """What a gate that the data cannot decide means for the run."""

    UNSPECIFIED = "unspecified", 0, "ON_INCONCLUSIVE_UNSPECIFIED"
    """The default: an undecided bound counts as not met, an undecided comparison as met."""
    FAIL = "fail", 1, "ON_INCONCLUSIVE_FAIL"
    """The run fails: exit status 3."""
    PASS = "pass", 2, "ON_INCONCLUSIVE_PASS"
    """The gate is taken as met, and said to be undecided."""
    EXIT4 = "exit4", 3, "ON_INCONCLUSIVE_EXIT4"
    """The run is inconclusive, unless another gate fails: exit status 4."""


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
    COVERAGE = "coverage", 50, "GATE_STAT_COVERAGE"
    """Fraction of evaluations that were scored."""
    N = "n", 51, "GATE_STAT_N"
    """Number of scored values."""
    PASS_AT_K = "pass_at_k", 52, "GATE_STAT_PASS_AT_K"
    """Chance that at least one of k tries passes, unbiased, mean over the records."""
    PASS_HAT_K = "pass_hat_k", 53, "GATE_STAT_PASS_HAT_K"
    """Chance that all of k tries pass, unbiased, mean over the records."""
    LATENCY_MEAN = "latency_mean", 54, "GATE_STAT_LATENCY_MEAN"
    """Mean time of an answer, in seconds."""
    LATENCY_P50 = "latency_p50", 55, "GATE_STAT_LATENCY_P50"
    """Median time of an answer, in seconds."""
    LATENCY_P90 = "latency_p90", 56, "GATE_STAT_LATENCY_P90"
    """Time within which 90 of 100 answers came, in seconds."""
    LATENCY_P95 = "latency_p95", 57, "GATE_STAT_LATENCY_P95"
    """Time within which 95 of 100 answers came, in seconds."""
    LATENCY_P99 = "latency_p99", 58, "GATE_STAT_LATENCY_P99"
    """Time within which 99 of 100 answers came, in seconds."""
    COST_MEAN = "cost_mean", 59, "GATE_STAT_COST_MEAN"
    """Mean cost of an answer, in US dollars."""
    COST_P95 = "cost_p95", 60, "GATE_STAT_COST_P95"
    """Cost that 95 of 100 answers stay within, in US dollars."""
    COST_TOTAL = "cost_total", 61, "GATE_STAT_COST_TOTAL"
    """Cost of all answers and judgements together, in US dollars."""


class GateVerdict(SchemaEnum):
    """What was decided about a gate."""

    UNSPECIFIED = "unspecified", 0, "GATE_VERDICT_UNSPECIFIED"
    """Not decided yet."""
    PASSED = "passed", 1, "GATE_VERDICT_PASSED"
    """It was met."""
    FAILED = "failed", 2, "GATE_VERDICT_FAILED"
    """It was not met."""
    NO_DATA = "no_data", 3, "GATE_VERDICT_NO_DATA"
    """There is nothing to decide by; never a pass."""
    INCONCLUSIVE = "inconclusive", 4, "GATE_VERDICT_INCONCLUSIVE"
    """There is something, but too little to decide by."""


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


class EvalRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A file that starts a run: an envelope around RunSpec."""

    api_version: str = ""
    """Version of the form of this file: "evals.si/v1alpha1"."""
    kind: str = ""
    """What the file holds: "EvalRun"."""
    metadata: RunMetadata | None = None
    """Name, project and labels of the run."""
    spec: RunSpec | None = None
    """What the run is to do."""


class RunMetadata(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What a run is called and how it is found again."""

    name: str = ""
    """Name of the run: lower-case letters, digits and dashes, at most 63, as in a DNS label."""
    project: str = ""
    """Project the run belongs to; the label "evals.si/project" says the same."""
    labels: dict[str, str] = {}
    """Labels, always text."""
    description: str = ""
    """What the run is for, in a sentence for people."""


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
    judges: dict[str, JudgeSpec] = {}
    """Judges by the name that `judge` and the evaluators use for them."""
    on_inconclusive: OnInconclusive = OnInconclusive.UNSPECIFIED
    """What a gate that the data cannot decide means for the run."""
    sinks: list[Sink] = []
    """Files the results are written to, and places that the scores are taken to."""
    baseline: str = ""
    """What gates compare with when they name no baseline of their own: a run id, a file, "latest" or
    "latest(label=value)".
    """
    slices: list[str] = []
    """Paths such as "metadata.topic" whose values part the records into slices with summaries of their own: in the
    output of the command, in results files and in reports.
    """


class Target(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A model or agent under evaluation."""

    connector: str = ""
    """How to reach it: "openai-compatible", "anthropic", "recorded", or "none" for outputs in the dataset; empty when
    `agent`, `python` or `command` is set.
    """
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
    """API to use where a provider has several: "chat", "completions" or "responses"; empty for "chat"."""
    fallbacks: list[Target] = []
    """Targets asked in turn when this one keeps failing."""
    fallback_after: Int32 = 0
    """Failures in a row after which the next fallback is asked; 0 for the default."""
    name: str = ""
    """Name of the target in reports; by default the model or the program."""
    python: str = ""
    """Python callable that answers: "module:function" or "file.py:function". Stands in place of a connector."""
    config: JsonObject = {}
    """Settings handed to the Python callable."""
    command: CommandTarget | None = None
    """Program on this machine that answers. Stands in place of a connector."""
    prompt: str = ""
    """Template of the user's message with places such as {{ input }} and {{ metadata.topic }}; empty for the input as
    it is.
    """
    messages: list[Message] = []
    """Templates of all messages in order, in place of `prompt`; what fills a place is data and never read as a
    template.
    """
    few_shot: list[FewShotExample] = []
    """Examples shown before the input."""
    tools: list[ToolDefinition] = []
    """Tools the model may call; the calls are recorded, never carried out."""
    tool_choice: str = ""
    """Which tool is to be called: "auto", "none", "required" or a tool's name; empty for the provider's default."""
    json_mode: bool = False
    """Ask for an answer that is JSON."""
    response_schema: JsonObject = {}
    """JSON Schema the answer must follow, where the provider can enforce one."""
    logprobs: bool = False
    """Ask for the log-probabilities of the answer's tokens."""
    top_logprobs: Int32 = 0
    """Alternatives to each token asked for with the log-probabilities; 0 for none."""
    seed: Int64 | None = None
    """Seed of the first repetition, where the provider takes one; each further repetition counts it up. Absent for
    none.
    """
    top_p: float | None = None
    """Share of probability that tokens are drawn from; absent for the provider's default."""
    stop: list[str] = []
    """Texts that end an answer."""
    timeout: Seconds | None = None
    """Longest time one call may take; absent for the default. In seconds."""
    total_timeout: Seconds | None = None
    """Longest time one case may take, all its calls and waits together; absent for the default. In seconds."""
    max_retries: Int32 | None = None
    """Times a call that failed is made again; absent for the default, 0 for never."""
    requests_per_minute: float = 0.0
    """Most requests in a minute; 0 for no limit."""
    tokens_per_minute: float = 0.0
    """Most tokens read and written in a minute; 0 for no limit."""
    headers_env: dict[str, str] = {}
    """Environment variable for the value of each further header, by the header's name."""
    extra_body: JsonObject = {}
    """Further fields of the request body, sent as they are."""
    pricing: Pricing | None = None
    """Prices that stand in for the price table."""
    recording: str = ""
    """File of recorded answers, for the connector "recorded"."""


class CommandTarget(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A program on this machine, started once for each case and never through a shell."""

    argv: list[str] = []
    """Program and arguments; an argument may have places such as {{ input }}."""
    stdin: str = ""
    """What its standard input holds: "text" for the prompt (the default), "json" for the whole record, "none"."""
    stdout: str = ""
    """How its standard output is read: "text" (the default), "json", or "jsonl" for its last line."""
    output_path: str = ""
    """For "json": path of the answer in what it prints; empty for all of it."""
    usage_path: str = ""
    """For "json": path of the usage in what it prints."""
    workdir: str = ""
    """Folder it is started in; empty for the folder of the spec."""
    env_from: dict[str, str] = {}
    """Environment variable here for each environment variable there. It sees no others but PATH, HOME, LANG and TMPDIR.
    """


class FewShotExample(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """An example shown to the model before the input."""

    input: str = ""
    """What was asked."""
    output: str = ""
    """What was answered."""


class ToolDefinition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A tool offered to the model."""

    name: str = ""
    """Name of the tool."""
    description: str = ""
    """What it does, for the model to read."""
    parameters: JsonObject = {}
    """JSON Schema of its arguments."""
    strict: bool = False
    """Have the provider enforce the schema."""


class JudgeSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A judge and how it is asked. Never holds a secret."""

    provider: str = ""
    """How it is reached: "openai-compatible", "anthropic" or "recorded"."""
    model: str = ""
    """Name of the model."""
    base_url: str = ""
    """Address of the API; empty for the provider's own."""
    api_key_env: str = ""
    """Environment variable that holds the key; empty for the provider's usual one."""
    effort: str = ""
    """Effort of a reasoning model, for example "low" or "high"."""
    max_tokens: Int32 = 0
    """Most tokens in one reply; 0 for the default."""
    temperature: float | None = None
    """Sampling temperature; absent for the default."""
    top_p: float | None = None
    """Share of probability that tokens are drawn from; absent for the provider's default."""
    seed: Int64 | None = None
    """Seed, where the provider takes one; absent for none."""
    response_format: str = ""
    """How a reply is asked for: "json_schema" (the default) or "text", for servers that know no schemas."""
    requests_per_minute: float = 0.0
    """Most requests in a minute; 0 for no limit."""
    tokens_per_minute: float = 0.0
    """Most tokens read and written in a minute; 0 for no limit."""
    max_concurrency: Int32 = 0
    """Most requests at once; 0 for the default."""
    timeout: Seconds | None = None
    """Longest time one call may take; absent for the default. In seconds."""
    max_retries: Int32 | None = None
    """Times a call that failed is made again; absent for the default, 0 for never."""
    max_usd: float | None = None
    """Most US dollars this judge may cost; absent for no limit of its own."""
    max_total_tokens: Int64 = 0
    """Most tokens this judge may read and write; 0 for no limit of its own."""
    recording: str = ""
    """File of recorded replies, for the provider "recorded"."""


class Sink(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A file the results are written to, or a place of the server that the scores are taken to.

    One of `json`, `html`, `markdown`, `junit`, `csv`, `name`: form and path of the file, or the name of the place;
    exactly one is set. Paths are relative to the folder the command runs in.
    """

    json: str | None = None
    """The whole result as JSON, as `--output` writes it."""
    html: str | None = None
    """A report to read in a browser."""
    markdown: str | None = None
    """A report in Markdown, for example for a pull request."""
    junit: str | None = None
    """JUnit XML: a test for each gate and each case."""
    csv: str | None = None
    """One row for each result, as comma-separated values."""
    name: str | None = None
    """A sink of the server, as its settings call it. Only a server has them."""


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
    where: str = ""
    """Condition in CEL that a record must meet, for example "metadata.topic == 'refunds'"; empty for all."""
    sample: Int32 = 0
    """Records drawn at random from those that remain; 0 for all."""
    seed: Int64 = 0
    """Seed of the draw."""
    skip_invalid: bool = False
    """Leave out rows that cannot be read, and list them, in place of stopping."""
    format: str = ""
    """Form of the file: "jsonl", "json", "csv", "tsv" or "parquet"; empty to tell by name and content."""


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
    """A condition a metric must meet. No data never meets it. In files a text stands for a gate with `cel`."""

    metric: str = ""
    """Name of the metric; empty for a figure of the whole run."""
    stat: GateStat = GateStat.UNSPECIFIED
    """Figure of the metric that is compared."""
    min: float | None = None
    """Smallest value that passes; absent for no lower bound."""
    max: float | None = None
    """Largest value that passes; absent for no upper bound."""
    cel: str = ""
    """Condition in CEL, in place of everything else, for example "metric('exact-match').mean >= 0.8"."""
    slice: dict[str, str] = {}
    """Records the gate looks at, as the value wanted for each path, for example {metadata.topic: refunds}; empty for
    all.
    """
    k: Int32 = 0
    """For PASS_AT_K and PASS_HAT_K: how many tries; 0 for the number of trials."""
    baseline: str = ""
    """For a comparison: what to compare with, a run id, a file, "latest" or "latest(label=value)"; empty for the
    spec's.
    """
    max_drop: float | None = None
    """For a comparison: largest loss against the baseline that passes, in the metric's unit. Its presence makes the
    gate a comparison.
    """
    significance: float = 0.0
    """For a comparison: chance of a false alarm that is accepted, for example 0.05; 0 for the default of 0.05."""
    name: str = ""
    """Name of the gate in reports; empty to describe it by what it asks."""


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
    verdict: GateVerdict = GateVerdict.UNSPECIFIED
    """What was decided."""
    ci: ConfidenceInterval | None = None
    """Interval of the figure; absent when the data cannot carry one."""
    n: Int64 = 0
    """Values the figure rests on."""
    baseline_value: float | None = None
    """The same figure in the baseline; absent when there is none."""


class Budget(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Limits on what a run may use."""

    max_target_tokens: Int64 = 0
    """Most tokens read and written by the target; 0 for no limit."""
    max_judge_tokens: Int64 = 0
    """Most tokens read and written by judges; 0 for no limit."""
    max_usd: float | None = None
    """Most US dollars for target and judges together; absent for no limit."""
    max_wall_clock: Seconds | None = None
    """Longest time the run may take; absent for no limit. In seconds."""


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
    code_sha256: str = ""
    """Digest of the file that holds its code, in lower-case hexadecimal; empty for evaluators of evalsi, which have
    versions.
    """


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
    gates: list[GateResult] = []
    """The gates and what was decided about them."""
    spec_folder: str = ""
    """Folder that relative paths in `spec` start from; empty without a spec."""
    earlier_tries: Seconds | None = None
    """How long tries before the one that began at `started_at` worked, each up to its last sign of life. In seconds."""
    sandboxes: list[IsolationReport] = []
    """How the programs that evaluators ran were fenced in, every way once, the weakest first. Empty when none were run.
    """
    stopped_early: str = ""
    """Why it ended before everything was asked and graded, such as a budget that is used up; empty when it did not."""


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
    """Digest of the records that were scored, in lower-case hexadecimal; of a version in the catalogue its digest
    there.
    """
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
