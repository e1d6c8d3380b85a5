"""Every setting of a server: the keys of `evalsi.yaml`, their defaults, and what they decide.

Its own module because the reader, the reference page and the example are all held to it. What always holds: no field holds
a secret, only the name of the environment variable that does, or a digest. docs/reference/server-settings.md is generated
from the docstrings.
"""

from typing import Annotated, Any, Literal, TypeAlias

import msgspec

Duration: TypeAlias = Annotated[float, msgspec.Meta(extra={"form": "duration"})]
"""Seconds; in the file a text such as "30s", "5m", "168h" or "30d"."""

RawJson: TypeAlias = Annotated[Any, msgspec.Meta(extra={"form": "raw"})]
"""A part that has a schema of its own."""


class PostgresSettings(msgspec.Struct, frozen=True, kw_only=True):
    """PostgreSQL in place of SQLite."""

    dsn: str = ""
    """Address of the database without a password, such as postgresql://evalsi@db.example.com/evalsi."""
    dsn_env: str = ""
    """Name of the environment variable with the whole address, password included; goes before `dsn`."""


class SqliteSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The database in `data_dir`, used when no PostgreSQL is named."""

    synchronous: Literal["full", "normal"] = "full"
    """`full`: what was acknowledged survives a power failure. `normal`: it survives the death of the process."""


class S3Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Where large objects are kept, when not in `data_dir`."""

    endpoint: str = ""
    """Address of the service; empty for Amazon's."""
    bucket: str = ""
    """The bucket; empty keeps objects in `data_dir`."""
    region: str = ""
    """Region of the bucket."""
    access_key_env: str = ""
    """Name of the environment variable with the access key."""
    secret_key_env: str = ""
    """Name of the environment variable with the secret key."""
    insecure: bool = False
    """Whether http is used instead of https."""
    path_style: bool = False
    """Whether the bucket is part of the path instead of the host's name."""


class StorageSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where everything is kept."""

    postgres: PostgresSettings | None = None
    sqlite: SqliteSettings = SqliteSettings()
    s3: S3Settings | None = None


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How runs are executed and how long they stay."""

    max_concurrent: int = 4
    """Runs that are executed at once, of all projects together."""
    lease_ttl: Duration = 30.0
    """How long a run whose worker is not heard of counts as being executed; then another takes it over."""
    adopt_interval: Duration = 10.0
    """How often runs without a living worker are looked for."""
    retention: Duration | None = None
    """How long finished runs are kept; without it for ever."""
    project_retention: dict[str, Duration] = {}
    """The same for single projects."""
    archive_after: Duration | None = None
    """When finished runs leave the lists, though not the store; without it never."""
    project_archive_after: dict[str, Duration] = {}
    """The same for single projects."""


class SandboxServiceSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A host of sandboxes (`evalsi sandbox serve`) that runs programs in place of this machine."""

    address: str = ""
    """Its address, host:port; empty runs programs on this machine."""
    ca_file: str = ""
    """Authority of its certificate, PEM; without it no TLS is spoken."""
    cert_file: str = ""
    """Our certificate, PEM, which it asks for."""
    key_file: str = ""
    """Key of our certificate, PEM."""
    server_name: str = ""
    """Name in its certificate, where the address is another."""


class FirecrackerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Machines of Firecracker, each with a kernel of its own."""

    binary: str = ""
    """The firecracker program; empty for the system's."""
    kernel: str = ""
    """Kernel of virtual machines, also of QEMU's: its file, or the folder of an unpacked package; empty for one of /boot."""
    memory_mb: int = 0
    """Mebibytes of memory that programs of one machine may use; 0 for the usual 1024."""


class SandboxHostSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How this machine fences in programs that users send, and what they may ask for."""

    ladder: list[str] = []
    """Kinds of sandbox that may be used; empty for all."""
    prefer: Literal["", "strongest", "quickest"] = ""
    """Which of the kinds that are strong enough; empty for the strongest for commands, and a quick one for small programs."""
    allow_none: bool = False
    """Whether a spec may say `min_isolation: none`, and its programs then run without any fence where none works."""
    allow_network: bool = False
    """Whether a sandbox may reach hosts that who makes it names."""
    allowed_images: list[str] = []
    """Images that users may name: `ghcr.io/acme/*`, `python:3.12`, `python@sha256:…`, or `sha256:…` alone. Empty for none."""
    allow_local_images: bool = False
    """Whether users may name images in files and folders of this machine."""
    image_key: str = ""
    """Public key, PEM; only images that cosign signed with its other half are used."""
    image_cache_mb: int = 0
    """Mebibytes of images that are kept; those unused for longest go first. 0 for no limit."""
    packages_dir: str = ""
    """Folder of Python packages that programs may import, as `pip install --target` fills it."""
    bwrap_path: str = ""
    """The bubblewrap program; empty for the system's."""
    cache_dir: str = ""
    """Folder in which images are kept; empty for the usual one."""
    cgroup: str = ""
    """Version 2 control group that is delegated to the user of the server."""
    firecracker: FirecrackerSettings = FirecrackerSettings()
    max_sandboxes: int = 64
    """Sandboxes that `evalsi sandbox serve` lends at once."""
    idle_timeout_s: float = 300.0
    """Seconds without a call after which it takes one back."""


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The processes that compute and judge."""

    concurrency: int = 0
    """Processes that compute; 0 for one per core."""
    no_cache: bool = False
    """Whether replies of judges are asked for again instead of taken from the cache."""
    sandbox_service: SandboxServiceSettings = SandboxServiceSettings()


class JudgeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A judge that specs and requests name."""

    provider: Literal["openai-compatible", "anthropic"] = "openai-compatible"
    """Protocol of the provider."""
    model: str = ""
    """The model, as the provider names it."""
    base_url: str = ""
    """Address of the API; empty for the provider's own. It may lead anywhere: it is the operator's word."""
    api_key_env: str = ""
    """Name of the environment variable with the key; empty for the provider's usual one."""
    max_tokens: int = 0
    """Most tokens of a reply; 0 for the usual number."""
    temperature: float | None = None
    """Temperature; without it 0, for verdicts that repeat."""
    effort: str = ""
    """Reasoning effort, in the provider's words."""
    response_format: Literal["json_schema", "text"] = "json_schema"
    """Whether the provider is asked to enforce the form of a reply."""
    timeout_s: float = 0.0
    """Seconds that one call may take; 0 for the usual time."""
    requests_per_minute: float = 0.0
    """Most calls per minute; 0 for no limit."""
    projects: list[str] = []
    """Projects that may use it; empty for all."""


class TargetSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A target that specs name with `target: {name: …}`."""

    connector: Literal["openai-compatible", "anthropic"] = "openai-compatible"
    """Protocol of the provider."""
    model: str = ""
    """The model, as the provider names it."""
    base_url: str = ""
    """Address of the API; empty for the provider's own. It may lead anywhere: it is the operator's word."""
    api_key_env: str = ""
    """Name of the environment variable with the key; empty for the provider's usual one."""
    headers_env: dict[str, str] = {}
    """More headers: name of the header, and name of the environment variable with its value."""
    timeout_s: float = 0.0
    """Seconds that one call may take; 0 for the usual time."""
    max_concurrency: int = 0
    """Most calls at once; 0 for the usual number."""
    requests_per_minute: float = 0.0
    """Most calls per minute; 0 for no limit."""
    projects: list[str] = []
    """Projects that may use it; empty for all."""


class OtelSinkSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A receiver of OTLP over HTTP, such as a collector: scores arrive as `gen_ai.evaluation.result` events."""

    endpoint: str
    """Its address, such as http://otel-collector:4318; `/v1/logs` is added."""
    headers_env: dict[str, str] = {}
    """Headers: name of the header, and name of the environment variable with its value."""
    service_name: str = "evalsi"
    """What the events call their sender."""
    audit: bool = False
    """Whether the audit log goes there too, each entry as an `evalsi.audit` event; with `projects`, that of these projects."""
    trace_feedback: bool = False
    """Whether scores of every policy go there, and not only of those that name it."""


class MlflowSinkSettings(msgspec.Struct, frozen=True, kw_only=True):
    """MLflow: scores become assessments on traces that it has too."""

    tracking_uri: str
    """Its address, such as http://mlflow:5000."""
    experiment: str = ""
    """Name of the experiment that runs are logged to; it is made where there is none. Empty for MLflow's own default."""
    token_env: str = ""
    """Name of the environment variable with its token."""
    username_env: str = ""
    """Name of the environment variable with a user's name, where it asks for one."""
    password_env: str = ""
    """Name of the environment variable with that user's password."""
    trace_feedback: bool = False
    """Whether scores of every policy go there, and not only of those that name it."""


class LangfuseSinkSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Langfuse: scores arrive at traces that it has too."""

    host: str = "https://cloud.langfuse.com"
    """Its address."""
    public_key_env: str
    """Name of the environment variable with the public key."""
    secret_key_env: str
    """Name of the environment variable with the secret key."""
    trace_feedback: bool = False
    """Whether scores of every policy go there, and not only of those that name it."""


class PhoenixSinkSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Arize Phoenix: scores become annotations of spans that it has too."""

    endpoint: str
    """Its address, such as http://phoenix:6006."""
    api_key_env: str = ""
    """Name of the environment variable with its key."""
    trace_feedback: bool = False
    """Whether scores of every policy go there, and not only of those that name it."""


class WebhookSinkSettings(msgspec.Struct, frozen=True, kw_only=True):
    """An address of your own: scores arrive as JSON, many at once."""

    url: str
    """The address."""
    secret_env: str = ""
    """Name of the environment variable with what messages are signed with, as those of alerts are."""
    headers_env: dict[str, str] = {}
    """Headers: name of the header, and name of the environment variable with its value."""
    trace_feedback: bool = False
    """Whether scores of every policy go there, and not only of those that name it."""


class SinkSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A place that scores of policies and runs are taken to. Exactly one of otel, mlflow, langfuse, phoenix and webhook says which."""

    name: str = ""
    """What policies and runs call it; empty for `otel`, `mlflow`, `langfuse`, `phoenix` or `webhook`."""
    projects: list[str] = []
    """Projects whose policies and runs may use it; empty for all."""
    give_up_after: Duration = 86_400.0
    """How long a score is tried to be taken there. What is given up is counted."""
    runs: bool = False
    """Whether scores of every run go there, and not only of those that name it."""
    otel: OtelSinkSettings | None = None
    mlflow: MlflowSinkSettings | None = None
    langfuse: LangfuseSinkSettings | None = None
    phoenix: PhoenixSinkSettings | None = None
    webhook: WebhookSinkSettings | None = None


SINK_KINDS = {"otel": "endpoint", "mlflow": "tracking_uri", "langfuse": "host", "phoenix": "endpoint", "webhook": "url"}
"""The keys of a sink that say its kind, and which key below each holds its address."""


class CredentialGrant(msgspec.Struct, frozen=True, kw_only=True):
    """A credential that specs may name."""

    env: str
    """Name of the environment variable that holds it."""
    projects: list[str] = []
    """Projects that may name it; empty for all."""
    hosts: list[str] = []
    """Hosts that it may be sent to, with `*.example.com` for everything below one; empty for the provider's own."""
    allow_http: bool = False
    """Whether it may travel unencrypted."""


class CredentialSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Which credentials specs may name."""

    enforce: bool = True
    """Whether only granted ones may be named. False lets every spec send every variable of the server anywhere."""
    grants: list[CredentialGrant] = []
    """The credentials."""


class EvaluateSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Calls that score records while the caller waits."""

    batch_size: int = 32
    """Records of a stream that are graded at once."""
    parallelism: int = 8
    """Batches of one stream that are graded side by side."""
    max_records: int = 10_000
    """Most records in one call."""


class RewardSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Calls that score rollouts for trainers."""

    max_rollouts: int = 16_384
    """Most rollouts in one call."""
    max_inflight: int = 65_536
    """Most rollouts that are scored or wait for it, of all calls together; a further call is told to come again."""


class QuotaSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a project may use. Without a number there is no limit."""

    max_concurrent_runs: int | None = None
    """Runs that are executed at once."""
    max_stored_runs: int | None = None
    """Runs that are kept."""
    max_reward_rollouts: int | None = None
    """Rollouts that are scored, or wait for it, at once."""
    judge_tokens_per_day: int | None = None
    """Tokens that judges may use in a day, which begins at midnight UTC."""
    target_tokens_per_day: int | None = None
    """Tokens that targets may use in a day, which begins at midnight UTC."""


class QuotasSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What projects may use."""

    default: QuotaSettings = QuotaSettings()
    projects: dict[str, QuotaSettings] = {}

    def of(self, project: str) -> QuotaSettings:
        """The quotas of a project: its own, and where it says nothing the default ones."""
        own = self.projects.get(project)
        if own is None:
            return self.default
        merged = {
            name: getattr(self.default, name) if getattr(own, name) is None else getattr(own, name)
            for name in QuotaSettings.__struct_fields__
        }
        return QuotaSettings(**merged)


class OutboundSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where addresses in specs may lead: to public addresses, and besides to these."""

    allow_hosts: list[str] = []
    """Hosts that users may name wherever they lead, with `*.example.com` for everything below one."""
    allow_networks: list[str] = []
    """Networks that users may reach although they are not public, such as 10.7.0.0/16."""


class ConfiguredKey(msgspec.Struct, frozen=True, kw_only=True):
    """An API key that is kept in this file."""

    name: str
    """Its name; in bindings it is `key:<name>`."""
    key: str
    """`sha256:` and the digest of the key, as `evalsi auth hash-key` prints it. Never the key itself."""
    roles: dict[str, list[str]] = {}
    """Roles by project; `*` is every project."""
    labels: dict[str, str] = {}
    """What else is to be known of it."""
    expires_at: str = ""
    """When it ends, such as 2027-01-01T00:00:00Z; empty for never."""


class ApiKeySettings(msgspec.Struct, frozen=True, kw_only=True):
    """API keys beside those that are made over the API."""

    keys: list[ConfiguredKey] = []
    """The keys."""


class TlsSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The certificate of the server. Files are read again when they change."""

    cert_file: str = ""
    """The certificate with its chain, PEM."""
    key_file: str = ""
    """Its private key, PEM."""


class AuthSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Who may call. Without this part nobody is asked, and the server listens on this machine alone."""

    mode: Literal["required", "off"] = "required"
    """`required`: every call needs an API key. `off`: everybody may do everything."""
    api_keys: ApiKeySettings = ApiKeySettings()
    tls: TlsSettings | None = None
    allow_plaintext: bool = False
    """Whether keys may travel unencrypted off this machine, for a server behind a proxy that ends TLS."""


class RbacSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Roles that are given in this file, beside those that are given over the API."""

    owners: list[str] = []
    """Subjects, such as `key:root`, that may do everything."""
    projects: dict[str, dict[str, list[str]]] = {}
    """By project, and in it by role: the subjects that have it."""


class AuditSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The log of refused and changing calls."""

    retention: Duration = 2160 * 3600.0
    """How long entries are kept."""


class LogSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the server writes about itself on standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least important messages that are written."""
    format: Literal["json", "text"] = "json"
    """`json`: a line is an object. `text`: for a person at a terminal."""


class MetricSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the server counts, at `/metrics`."""

    public: bool = False
    """Whether everybody may read it. Otherwise, where `auth` is on, a key with the permission metrics.read is needed."""


class PageSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The web pages."""

    disabled: bool = False
    """Whether there are none."""


class ProjectSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A project that is there from the start."""

    description: str = ""
    """What it is for, in a sentence for people."""


class ProjectOtlpSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of what is received for one project."""

    max_age: Duration | None = None
    """Spans that ended longer ago are rejected."""
    max_request_bytes: int | None = None
    """Largest request, unpacked: of a key that is for this project as much as this is read, and of another one a request
    that names the project is refused when it is larger."""
    max_request_spans: int | None = None
    """Most spans for the project in one request; further ones are rejected."""
    max_trace_spans: int | None = None
    """Most spans of one trace; further ones are rejected."""
    max_attributes: int | None = None
    """Most attributes of one span; further ones are left out and counted."""
    max_attribute_bytes: int | None = None
    """Longest text of an attribute; a longer one is cut, and says so at its end."""


class OtlpSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Traces that are received as OTLP. The main port always takes them, at `/v1/traces` and over gRPC."""

    http_listen: str = ""
    """A further address and port for OTLP over HTTP, usually 127.0.0.1:4318; empty for none."""
    grpc_listen: str = ""
    """A further address and port for OTLP over gRPC, usually 127.0.0.1:4317; empty for none."""
    grace: Duration = 10.0
    """How long a trace must be quiet, once its root has ended, to count as complete."""
    limit: Duration = 600.0
    """When a trace counts as complete after its first span, whatever it lacks."""
    max_traces: int = 0
    """Most traces that wait to be complete: of more, the oldest count as complete at once, and once more if spans of theirs
    come later. They wait on the disk and not in memory: 0 is no limit."""
    session_quiet: Duration = 1800.0
    """How long a session must be quiet to count as ended."""
    max_age: Duration | None = None
    """Spans that ended longer ago are rejected; without it none are."""
    max_request_bytes: int = 32 << 20
    """Largest request, unpacked."""
    max_waiting_bytes: int = 64 << 20
    """Most bytes of requests that are read or wait to be stored, all together; a further one is told to come again."""
    max_request_spans: int = 65_536
    """Most spans of one request; further ones are rejected."""
    max_trace_spans: int = 10_000
    """Most spans of one trace; further ones are rejected."""
    max_attributes: int = 1_000
    """Most attributes of one span; further ones are left out and counted."""
    max_attribute_bytes: int = 1 << 20
    """Longest text of an attribute; a longer one is cut, and says so at its end."""
    projects: dict[str, ProjectOtlpSettings] = {}
    """Limits of projects by name, in place of those above; what is not said is as above."""


class PresidioSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What Presidio looks for where `pii` names it. It needs the extra `presidio` and reads each text with a language model."""

    entities: list[str] = msgspec.field(default_factory=lambda: ["PERSON", "LOCATION"])
    """Presidio's names of what is replaced; an empty list for everything that it knows in the language."""
    language: str = "en"
    """Language of the texts, as a code of two letters."""
    model: str | None = "en_core_web_lg"
    """The spaCy model, which must be installed; null for none, and then no names or places are found."""
    min_score: float = 0.5
    """Confidence from 0 to 1 below which a find is left alone."""
    deadline: Duration = 2.0
    """Time for one text; what was not looked at by then is replaced."""


class RedactionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What is taken out of traces before they are stored. It costs time for each span; without rules it costs none."""

    disabled: bool = False
    """Whether the rules below are left aside."""
    keys: list[str] = []
    """Attributes, and keys of JSON in them, whose values are replaced. `*` stands for any text."""
    patterns: list[str] = []
    """Expressions in RE2's syntax whose matches are replaced."""
    pii: list[str] = []
    """Detectors whose finds are replaced: `secret`, `email`, `phone`, `card`, `iban`, `ip`, `ssn`, `presidio`."""
    presidio: PresidioSettings = PresidioSettings()
    drop_attributes: list[str] = []
    """Attributes that are left out."""
    keep_attributes: list[str] = []
    """When there are any, attributes that none of these names is left out; `evalsi.project` stays, which says where it belongs."""


class TraceSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Traces that are kept."""

    workers: int = 0
    """Most processes that complete traces and evaluate them by policies; 0 for one for each processor, at most 2. One is
    always there, and further ones while it does not keep up."""
    retention: Duration | None = 168 * 3600.0
    """How long traces are kept after their last span came, and feedback about none that is there after it came; null for ever."""
    project_retention: dict[str, Duration] = {}
    """The same for projects by name, in place of it."""
    redaction: RedactionSettings = RedactionSettings()
    mappings: list[str] = []
    """Files with mappings of your own, in JSON, that spans are read by before those that are shipped."""


class RateSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How much may come in. 0 is no limit."""

    per_second: float = 0.0
    """Requests in a second, on average."""
    burst: int = 0
    """Requests that may come at once; 0 for those of one second."""
    bytes_per_second: float = 0.0
    """Bytes of requests in a second, unpacked, on average."""
    burst_bytes: int = 0
    """Bytes that may come at once; 0 for those of ten seconds."""


class PrincipalRateSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one project, or of one caller in place of those of its project."""

    ingest: RateSettings = RateSettings()


class RateLimitSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How much callers may send; who sends more is told to come again later."""

    disabled: bool = False
    """Whether there are no limits, whatever is written here."""
    ingest: RateSettings = RateSettings()
    projects: dict[str, PrincipalRateSettings] = {}
    """By name of the project that a caller's key writes to, in place of the above."""
    principals: dict[str, PrincipalRateSettings] = {}
    """By subject, such as `key:collector`."""


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    listen: str = "127.0.0.1:8080"
    """Address and port. Off this machine, `auth` is needed."""
    data_dir: str = ".evalsi"
    """Folder of everything that is kept; made when it is missing. Relative paths of this file are relative to its folder."""
    datasets_dir: str = ""
    """Folder that dataset paths in specs are below; empty for `datasets` in `data_dir`. Nothing outside it is read."""
    storage: StorageSettings = StorageSettings()
    projects: dict[str, ProjectSettings] = {}
    """Projects that are there from the start, by name."""
    auth: AuthSettings | None = None
    rbac: RbacSettings = RbacSettings()
    audit: AuditSettings = AuditSettings()
    judges: dict[str, JudgeSettings] = {}
    """Judges by name."""
    default_judge: str = ""
    """The judge that is used when none is named; empty for none."""
    targets: dict[str, TargetSettings] = {}
    """Targets by name."""
    sinks: list[SinkSettings] = []
    """Places that scores of policies and runs are taken to."""
    credentials: CredentialSettings = CredentialSettings()
    outbound: OutboundSettings = OutboundSettings()
    quotas: QuotasSettings = QuotasSettings()
    runs: RunSettings = RunSettings()
    evaluate: EvaluateSettings = EvaluateSettings()
    rewards: RewardSettings = RewardSettings()
    otlp: OtlpSettings = OtlpSettings()
    traces: TraceSettings = TraceSettings()
    policies: list[RawJson] = []
    """Policies that are there from the start, each as `POST /v1alpha1/policies` takes one. They replace those of their names."""
    rate_limits: RateLimitSettings = RateLimitSettings()
    worker: WorkerSettings = WorkerSettings()
    sandbox: SandboxHostSettings = SandboxHostSettings()
    log: LogSettings = LogSettings()
    metrics: MetricSettings = MetricSettings()
    ui: PageSettings = PageSettings()


OWN_MACHINE = ServerSettings(
    credentials=CredentialSettings(enforce=False),
    outbound=OutboundSettings(allow_networks=["0.0.0.0/0", "::/0"]),
    sandbox=SandboxHostSettings(allow_none=True, allow_network=True, allowed_images=["*"], allow_local_images=True),
)
"""A server without a file, that only its own machine reaches: whoever uses it is its operator, and may name every
credential, address and image, as on the command line."""
