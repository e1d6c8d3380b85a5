"""The settings of one machine: what the environment says. The only reader of it.

Its own module because commands that work without a server need these alone. docs/reference/settings.md is generated from
this file.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from urllib.parse import urlsplit

from evalsi.core.address_fence import AddressFence
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
class SandboxSettings:
    """How programs that nobody trusts are fenced in on this machine. Everything is found out where nothing is said."""

    drivers: tuple[str, ...] = ()
    """EVALSI_SANDBOX_DRIVERS: the kinds of sandbox that may be used, comma-separated; all by default."""
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
    control_group: Path | None = None
    """EVALSI_SANDBOX_CGROUP: a version 2 control group that is delegated to the user of evalsi."""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "SandboxSettings":
        names = environment.get("EVALSI_SANDBOX_DRIVERS", "").split(",")

        def path(name: str) -> Path | None:
            return Path(environment[name]) if environment.get(name) else None

        return cls(
            drivers=tuple(name.strip() for name in names if name.strip()),
            gvisor=path("EVALSI_SANDBOX_RUNSC"),
            bubblewrap=path("EVALSI_SANDBOX_BWRAP"),
            python=environment.get("EVALSI_SANDBOX_PYTHON", ""),
            images=path("EVALSI_SANDBOX_IMAGES"),
            registry_credentials=path("EVALSI_SANDBOX_REGISTRY_CREDENTIALS"),
            image_key=path("EVALSI_SANDBOX_IMAGE_KEY"),
            control_group=path("EVALSI_SANDBOX_CGROUP"),
        )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings. Build it with `from_environment`; tests build it directly."""

    directory: Path = Path(".evalsi")
    """EVALSI_DIR: the folder of the local store, made when first needed."""
    cache_dir: Path | None = None
    """EVALSI_CACHE_DIR: the folder of `judge-cache.db` and `reward-cache.db`; by default that of the store."""
    prices: Path | None = None
    """EVALSI_PRICES: a JSON file with prices that go before the shipped table."""
    server: str = ""
    """EVALSI_SERVER: address of the server that commands speak to, such as https://evals.example.com."""
    project: str = ""
    """EVALSI_PROJECT: the project on the server that commands are about; by default the server's usual one."""
    api_key: str = field(default="", repr=False)
    """EVALSI_API_KEY: the key that is shown to the server; goes before one that `evalsi login` kept."""
    credentials: Path = Path("~/.config/evalsi/credentials")
    """EVALSI_CREDENTIALS: the file in which `evalsi login` keeps keys; by default in the folder of the user's settings."""
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

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Settings":
        """Reads `environment`, by default the process's own."""
        env = os.environ if environment is None else environment
        judge = JudgeDefaults(
            **{entry.name: env.get(f"EVALSI_JUDGE_{entry.name.upper()}", "") for entry in fields(JudgeDefaults)}
        )
        cache_dir, prices = env.get("EVALSI_CACHE_DIR"), env.get("EVALSI_PRICES")
        reward_spec = env.get("EVALSI_REWARD_SPEC")
        summary, workspace = env.get("GITHUB_STEP_SUMMARY"), env.get("GITHUB_WORKSPACE")
        return cls(
            directory=Path(env.get("EVALSI_DIR") or ".evalsi"),
            cache_dir=Path(cache_dir) if cache_dir else None,
            prices=Path(prices) if prices else None,
            server=env.get("EVALSI_SERVER", ""),
            project=env.get("EVALSI_PROJECT", ""),
            api_key=env.get("EVALSI_API_KEY", ""),
            credentials=Path(env.get("EVALSI_CREDENTIALS") or _credentials_below(env.get("XDG_CONFIG_HOME"))),
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
    def reward_cache(self) -> Path:
        return (self.cache_dir or self.directory) / "reward-cache.db"

    def proxy_for(self, url: str) -> str:
        """The proxy on the way to a server; "" for one on this machine, which is reached directly."""
        host = urlsplit(url).hostname or ""
        return "" if host in ("localhost", "::1") or host.startswith("127.") else self.proxy

    def secret(self, name: str) -> str:
        """The value of the environment variable `name`.

        Raises: UsageError: it is not set. The message has its name, never a value.
        """
        value = self.environment.get(name, "")
        if not value:
            raise UsageError(f"the environment variable {name} is not set", hint=f"export {name}=… and run again")
        return value


def _credentials_below(folder: str | None) -> str:
    return f"{folder or '~/.config'}/evalsi/credentials"
