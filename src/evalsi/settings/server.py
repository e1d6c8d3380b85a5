"""Every setting of a server: the keys of `evalsi.yaml`, their defaults, and what they decide.

Its own module because the reader, the reference page and the example are all held to it. What always holds: no field holds
a secret, only the name of the environment variable that does, or a digest. docs/reference/server-settings.md is generated
from the docstrings.
"""

from typing import Annotated, Literal, TypeAlias

import msgspec

Duration: TypeAlias = Annotated[float, msgspec.Meta(extra={"form": "duration"})]
"""Seconds; in the file a text such as "30s", "5m", "168h" or "30d"."""


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


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The processes that compute and judge."""

    concurrency: int = 0
    """Processes that compute; 0 for one per core."""
    no_cache: bool = False
    """Whether replies of judges are asked for again instead of taken from the cache."""


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


class PageSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The web pages."""

    disabled: bool = False
    """Whether there are none."""


class ProjectSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A project that is there from the start."""

    description: str = ""
    """What it is for, in a sentence for people."""


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
    credentials: CredentialSettings = CredentialSettings()
    outbound: OutboundSettings = OutboundSettings()
    quotas: QuotasSettings = QuotasSettings()
    runs: RunSettings = RunSettings()
    evaluate: EvaluateSettings = EvaluateSettings()
    rewards: RewardSettings = RewardSettings()
    worker: WorkerSettings = WorkerSettings()
    log: LogSettings = LogSettings()
    ui: PageSettings = PageSettings()


OWN_MACHINE = ServerSettings(
    credentials=CredentialSettings(enforce=False), outbound=OutboundSettings(allow_networks=["0.0.0.0/0", "::/0"])
)
"""A server without a file, that only its own machine reaches: whoever uses it is its operator, and may name every
credential and address, as on the command line."""
