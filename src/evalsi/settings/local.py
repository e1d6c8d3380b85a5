"""The settings of one machine: what the environment says. The only reader of it.

Its own module because commands that work without a server need these alone. docs/reference/settings.md is generated from
this file.
"""

import ipaddress
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from urllib.parse import urlsplit

from evalsi.core.address_fence import AddressFence, IpNetwork
from evalsi.core.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class JudgeDefaults:
    """The judge that is used when none is named on the command line. Empty by default: nobody is billed by surprise."""

    provider: str = ""
    """EVALSI_JUDGE_PROVIDER: `openai-compatible` or `anthropic`."""
    model: str = ""
    """EVALSI_JUDGE_MODEL: the model, as the provider names it."""
    base_url: str = ""
    """EVALSI_JUDGE_BASE_URL: address of the API, e.g. http://127.0.0.1:8000/v1."""
    api_key_env: str = ""
    """EVALSI_JUDGE_API_KEY_ENV: name of the variable that holds the key; by default the provider's usual one."""
    effort: str = ""
    """EVALSI_JUDGE_EFFORT: reasoning effort, in the provider's words."""


@dataclass(frozen=True, kw_only=True)
class RemoteSandboxSettings:
    """A host of sandboxes (`evalsi sandbox serve`) that runs programs in place of this machine."""

    address: str = ""
    """EVALSI_SANDBOX_ADDR: address of a host of sandboxes, HOST:PORT; empty runs programs on this machine."""
    tls_ca: Path | None = None
    """EVALSI_SANDBOX_TLS_CA: the authority of the certificate of the host of sandboxes, PEM; without it no TLS is spoken."""
    tls_cert: Path | None = None
    """EVALSI_SANDBOX_TLS_CERT: our certificate, PEM, which the host of sandboxes asks for."""
    tls_key: Path | None = None
    """EVALSI_SANDBOX_TLS_KEY: the key of our certificate, PEM."""
    server_name: str = ""
    """EVALSI_SANDBOX_TLS_SERVER_NAME: the name in the certificate of the host of sandboxes, where the address is another."""


@dataclass(frozen=True, kw_only=True)
class SandboxSettings:
    """How programs that nobody trusts are fenced in on this machine. Everything is found out where nothing is said."""

    drivers: tuple[str, ...] = ()
    """EVALSI_SANDBOX_DRIVERS: the kinds of sandbox that may be used, comma-separated; all by default."""
    prefer: str = ""
    """EVALSI_SANDBOX_PREFER: `strongest` or `quickest` of the kinds that are strong enough. By default the strongest for commands, and
    for small Python programs, as graders run, the strongest that starts in milliseconds, with namespaces at least."""
    allow_none: bool = True
    """EVALSI_SANDBOX_ALLOW_NONE: whether a spec that says `min_isolation: none` may have programs run without any fence; 0 forbids it.
    Servers forbid it unless their configuration allows it."""
    firecracker: Path | None = None
    """EVALSI_SANDBOX_FIRECRACKER: the program of Firecracker; by default the system's."""
    qemu: Path | None = None
    """EVALSI_SANDBOX_QEMU: the program of QEMU; by default the system's."""
    kernel: Path | None = None
    """EVALSI_SANDBOX_KERNEL: the kernel of virtual machines: its file, or the folder of an unpacked package; by default one of /boot."""
    emulation: bool = False
    """EVALSI_SANDBOX_EMULATION: 1 allows virtual machines on an emulated processor, where there is no hardware for them."""
    machine_memory_mib: int = 1024
    """EVALSI_SANDBOX_MACHINE_MEMORY: MiB of memory that programs of one virtual machine may use at most."""
    gvisor: Path | None = None
    """EVALSI_SANDBOX_RUNSC: the program of gVisor; by default the system's."""
    bubblewrap: Path | None = None
    """EVALSI_SANDBOX_BWRAP: the bubblewrap program; by default the system's, else that of the extra `sandbox`."""
    python: str = ""
    """EVALSI_SANDBOX_PYTHON: the Python that runs inside; every user must be able to read it."""
    images: Path | None = None
    """EVALSI_SANDBOX_IMAGES: the folder in which images are kept; by default one of the user's, or of the system's for root."""
    registry_credentials: Path | None = None
    """EVALSI_SANDBOX_REGISTRY_CREDENTIALS: a file with logins to registries, as `docker login` writes it."""
    image_key: Path | None = None
    """EVALSI_SANDBOX_IMAGE_KEY: a public key in PEM; only images that cosign signed with its other half are used."""
    allow_network: bool = True
    """EVALSI_SANDBOX_ALLOW_NETWORK: whether sandboxes may reach hosts that are named for them; 0 forbids it. Servers forbid it unless
    their configuration allows it."""
    allowed_images: tuple[str, ...] | None = None
    """EVALSI_SANDBOX_ALLOWED_IMAGES: the images of registries that may be used, comma-separated: `ghcr.io/acme/*`, `python:3.12`,
    `python@sha256:…`, or `sha256:…` alone; `none` for no image. All by default."""
    allow_local_images: bool = True
    """EVALSI_SANDBOX_ALLOW_LOCAL_IMAGES: whether images in files and folders may be used; 0 forbids it."""
    image_cache_mb: int = 0
    """EVALSI_SANDBOX_IMAGE_CACHE_MB: mebibytes of images that are kept; those unused for longest go first. No limit by default."""
    packages: Path | None = None
    """EVALSI_SANDBOX_PACKAGES: a folder of Python packages that programs may import, as `pip install --target` fills it."""
    egress_networks: tuple[IpNetwork, ...] = ()
    """EVALSI_SANDBOX_EGRESS_NETWORKS: networks, comma-separated, that sandboxes may be allowed to reach although they are not public:
    a mirror of packages in the house, say `10.1.2.3/32`."""
    control_group: Path | None = None
    """EVALSI_SANDBOX_CGROUP: a version 2 control group that is delegated to the user of evalsi."""
    remote: RemoteSandboxSettings = field(default_factory=RemoteSandboxSettings)
    """The host that runs programs in place of this machine, where one is named."""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "SandboxSettings":
        names = environment.get("EVALSI_SANDBOX_DRIVERS", "").split(",")

        def path(name: str) -> Path | None:
            return Path(environment[name]) if environment.get(name) else None

        def switch(name: str) -> bool:
            return environment.get(name, "1").lower() not in ("0", "false", "no")

        return cls(
            drivers=tuple(name.strip() for name in names if name.strip()),
            prefer=environment.get("EVALSI_SANDBOX_PREFER", ""),
            allow_none=switch("EVALSI_SANDBOX_ALLOW_NONE"),
            allow_network=switch("EVALSI_SANDBOX_ALLOW_NETWORK"),
            allowed_images=_images(environment.get("EVALSI_SANDBOX_ALLOWED_IMAGES", "*")),
            allow_local_images=switch("EVALSI_SANDBOX_ALLOW_LOCAL_IMAGES"),
            image_cache_mb=_whole_number(environment, "EVALSI_SANDBOX_IMAGE_CACHE_MB"),
            packages=path("EVALSI_SANDBOX_PACKAGES"),
            firecracker=path("EVALSI_SANDBOX_FIRECRACKER"),
            qemu=path("EVALSI_SANDBOX_QEMU"),
            kernel=path("EVALSI_SANDBOX_KERNEL"),
            emulation=environment.get("EVALSI_SANDBOX_EMULATION", "") == "1",
            machine_memory_mib=_whole_number(environment, "EVALSI_SANDBOX_MACHINE_MEMORY", 1024),
            gvisor=path("EVALSI_SANDBOX_RUNSC"),
            bubblewrap=path("EVALSI_SANDBOX_BWRAP"),
            python=environment.get("EVALSI_SANDBOX_PYTHON", ""),
            images=path("EVALSI_SANDBOX_IMAGES"),
            registry_credentials=path("EVALSI_SANDBOX_REGISTRY_CREDENTIALS"),
            image_key=path("EVALSI_SANDBOX_IMAGE_KEY"),
            egress_networks=_networks(environment, "EVALSI_SANDBOX_EGRESS_NETWORKS"),
            control_group=path("EVALSI_SANDBOX_CGROUP"),
            remote=RemoteSandboxSettings(
                address=environment.get("EVALSI_SANDBOX_ADDR", ""),
                tls_ca=path("EVALSI_SANDBOX_TLS_CA"),
                tls_cert=path("EVALSI_SANDBOX_TLS_CERT"),
                tls_key=path("EVALSI_SANDBOX_TLS_KEY"),
                server_name=environment.get("EVALSI_SANDBOX_TLS_SERVER_NAME", ""),
            ),
        )


def _anywhere(_variable: str, _url: str) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings. Build it with `from_environment`; tests build it directly."""

    directory: Path = Path(".evalsi")
    """EVALSI_DIR: the folder of the local store, made when first needed."""
    cache_dir: Path | None = None
    """EVALSI_CACHE_DIR: the folder of `judge-cache.db`, `reward-cache.db` and `scans`; by default that of the store."""
    prices: Path | None = None
    """EVALSI_PRICES: a JSON file with prices that go before the shipped table."""
    plugins: Path | None = None
    """EVALSI_PLUGINS: a YAML file that lists programs which grade, each in an environment of its own."""
    trace_endpoint: str = ""
    """EVALSI_TRACE_ENDPOINT: address of an OTLP receiver that gets spans of evalsi's own work, such as
    http://127.0.0.1:4318/v1/traces; empty for none."""
    server: str = ""
    """EVALSI_SERVER: address of the server that commands speak to, such as https://evals.example.com."""
    project: str = ""
    """EVALSI_PROJECT: the project on the server that commands are about; by default the server's usual one."""
    api_key: str = field(default="", repr=False)
    """EVALSI_API_KEY: the key that is shown to the server; goes before one that `evalsi login` kept."""
    credentials: Path = Path("~/.config/evalsi/credentials")
    """EVALSI_CREDENTIALS: the file in which `evalsi login` keeps keys; by default in the folder of the user's settings."""
    service: str = ""
    """OTEL_SERVICE_NAME: the name of the app in what `evalsi.log` sends; by default `app`."""
    proxy: str = ""
    """HTTPS_PROXY or HTTP_PROXY: how model providers are reached; empty for directly."""
    github_actions: bool = False
    """GITHUB_ACTIONS: whether this is a job of GitHub Actions, which sets it; `--ci github` and `--ci none` decide it."""
    github_step_summary: Path | None = None
    """GITHUB_STEP_SUMMARY: the file that GitHub shows as the summary of the job."""
    github_workspace: Path | None = None
    """GITHUB_WORKSPACE: the folder the repository is checked out in; annotations name files from there."""
    reward_spec: Path | None = None
    """EVALSI_REWARD_SPEC: the reward spec that the functions for verl and OpenRLHF load."""
    reward_server: str = ""
    """EVALSI_REWARD_SERVER: address of the server that they have score; empty for this machine."""
    judge: JudgeDefaults = field(default_factory=JudgeDefaults)
    fence: AddressFence | None = None
    """Where addresses in specs may lead; a server sets it, because there it is not the operator who writes specs."""
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Where secrets are looked up by name; never printed, never stored."""
    may_send: Callable[[str, str], bool] = field(default=_anywhere, repr=False)
    """Whether a provider's usual key, which a spec did not name, may go to an address that it did; a server sets it."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Settings":
        """Reads `environment`, by default the process's own."""
        env = os.environ if environment is None else environment
        judge = JudgeDefaults(
            **{entry.name: env.get(f"EVALSI_JUDGE_{entry.name.upper()}", "") for entry in fields(JudgeDefaults)}
        )
        cache_dir, prices, plugins = (env.get(f"EVALSI_{name}") for name in ("CACHE_DIR", "PRICES", "PLUGINS"))
        reward_spec = env.get("EVALSI_REWARD_SPEC")
        summary, workspace = env.get("GITHUB_STEP_SUMMARY"), env.get("GITHUB_WORKSPACE")
        return cls(
            directory=Path(env.get("EVALSI_DIR") or ".evalsi"),
            cache_dir=Path(cache_dir) if cache_dir else None,
            prices=Path(prices) if prices else None,
            plugins=Path(plugins) if plugins else None,
            trace_endpoint=env.get("EVALSI_TRACE_ENDPOINT", ""),
            server=env.get("EVALSI_SERVER", ""),
            project=env.get("EVALSI_PROJECT", ""),
            api_key=env.get("EVALSI_API_KEY", ""),
            credentials=Path(env.get("EVALSI_CREDENTIALS") or _credentials_below(env.get("XDG_CONFIG_HOME"))),
            service=env.get("OTEL_SERVICE_NAME", ""),
            proxy=env.get("HTTPS_PROXY")
            or env.get("https_proxy")
            or env.get("HTTP_PROXY")
            or env.get("http_proxy")
            or "",
            github_actions=env.get("GITHUB_ACTIONS") == "true",
            github_step_summary=Path(summary) if summary else None,
            github_workspace=Path(workspace) if workspace else None,
            reward_spec=Path(reward_spec) if reward_spec else None,
            reward_server=env.get("EVALSI_REWARD_SERVER", ""),
            judge=judge,
            sandbox=SandboxSettings.of(env),
            environment=env,
        )

    @property
    def database(self) -> Path:
        return self.directory / "evalsi.db"

    @property
    def reply_cache(self) -> Path:
        return (self.cache_dir or self.directory) / "judge-cache.db"

    @property
    def scans(self) -> Path:
        """What first passes over datasets found."""
        return (self.cache_dir or self.directory) / "scans"

    @property
    def reward_cache(self) -> Path:
        return (self.cache_dir or self.directory) / "reward-cache.db"

    def proxy_for(self, url: str) -> str:
        """The proxy on the way to a server; "" for one on this machine, which is reached directly."""
        host = urlsplit(url).hostname or ""
        return "" if host in ("localhost", "::1") or host.startswith("127.") else self.proxy

    def unnamed_key(self, variable: str, url: str) -> str:
        """A provider's usual key for an address of a spec that names no key; "" where there is none or it may not go there."""
        return self.environment.get(variable, "") if self.may_send(variable, url) else ""

    def secret(self, name: str) -> str:
        """The value of the environment variable `name`.

        Raises: UsageError: it is not set. The message has its name, never a value.
        """
        value = self.environment.get(name, "")
        if not value:
            raise UsageError(f"the environment variable {name} is not set", hint=f"export {name}=… and run again")
        return value


def _images(words: str) -> tuple[str, ...] | None:
    """The patterns in a list; None where it allows all."""
    names = tuple(word.strip() for word in words.split(",") if word.strip())
    return None if "*" in names or not names else tuple(name for name in names if name != "none")


def _whole_number(environment: Mapping[str, str], name: str, default: int = 0) -> int:
    """Raises: UsageError: it is no whole number above 0, or 0 where that is the default."""
    word = environment.get(name) or str(default)
    if not word.isdecimal() or (int(word) == 0 and default):
        raise UsageError(f"{name} is {word!r}, which is no whole number{' above 0' if default else ''}", where=name)
    return int(word)


def _networks(environment: Mapping[str, str], name: str) -> tuple[IpNetwork, ...]:
    words = [word.strip() for word in environment.get(name, "").split(",") if word.strip()]
    try:
        return tuple(ipaddress.ip_network(word) for word in words)
    except ValueError as error:
        raise UsageError(f"the environment variable {name}: {error}", where=name, hint="write 10.1.2.0/24") from error


def _credentials_below(folder: str | None) -> str:
    return f"{folder or '~/.config'}/evalsi/credentials"
