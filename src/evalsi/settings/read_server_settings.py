"""From `evalsi.yaml` to settings that make sense. Mistakes are reported together, with their lines, before anything starts.

Its own module because it reads what the schema does not describe: Structs of `settings.server`, by their types. What always
holds: nothing is put in from the environment, so no message and no log can show what a variable holds.
"""

import ipaddress
import re
import types
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from evalsi.access.api_key import is_digest
from evalsi.access.caller import EVERY_PROJECT
from evalsi.access.roles import role_named
from evalsi.core.errors import EvalsiError, InvalidSpecError, NotFoundError, suggestion
from evalsi.documents.json_tree import read_json
from evalsi.documents.placed_tree import PlacedTree, below
from evalsi.documents.yaml_tree import read_yaml
from evalsi.schema.json_text import parse_duration, parse_timestamp
from evalsi.settings.server import (
    SINK_KINDS,
    JudgeSettings,
    OtlpSettings,
    ProjectOtlpSettings,
    RawJson,
    RedactionSettings,
    ServerSettings,
    SinkSettings,
    TargetSettings,
    TlsSettings,
)
from evalsi.settings.server_sinks import kinds_of, sink_address, sink_name

__all__ = ["placed_server_settings", "read_server_settings"]

LATER = frozenset(
    {
        "agents",
        "authorization",
        "cluster",
        "mcp",
    }
    | {"sources", "wasm", "webhooks"}
)
"""Parts of the published interface that this version does not serve: refused by name, so that nobody relies on them."""
LATER_INSIDE = {
    "auth": frozenset({"jwt", "trusted_proxy", "cli_login", "max_token_bytes"}),
    "metrics": frozenset({"listen"}),
    "rate_limits": frozenset({"api", "guardrails"}),
    "rbac": frozenset({"roles"}),
    "storage": frozenset({"clickhouse"}),
    "sandbox": frozenset(
        {"firecracker", "pod", "rootfs", "read_only_paths", "work_dir", "launcher", "cgroup_cpus", "min_isolation"}
        | {"image_signatures"}
    ),
    "worker": frozenset({"command", "pools", "start_timeout"}),
}
_LARGEST_FILE = 1 << 20
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")
_PLACE = re.compile(r"\[\d+\]")
_DAYS = re.compile(r"(\d+(?:\.\d+)?)d\Z")
_KINDS: dict[type[Any], str] = {
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
}
_WRONG = object()
PartT = TypeVar("PartT", bound=msgspec.Struct)


def read_server_settings(path: Path) -> ServerSettings:
    """The settings in a YAML or JSON file.

    Raises:
        NotFoundError: there is no such file.
        InvalidSpecError: something in it is wrong. `problems` holds every key and value that cannot be read, each with
            its place; where all can be read, everything that makes no sense.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise NotFoundError(f"the configuration file {path} cannot be read: {error.strerror}") from None
    if len(raw) > _LARGEST_FILE:
        raise InvalidSpecError("is larger than a configuration file can be", where=str(path))
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InvalidSpecError("the file is not UTF-8", where=f"{path}:{line}") from None
    tree = read_json(text, str(path)) if path.suffix == ".json" else _read_yaml(text, str(path))
    settings = _Reader(tree).struct(tree.value, ServerSettings, "")
    if not tree.problems and isinstance(settings, ServerSettings):
        _Checks(tree).check(settings)
    if tree.problems:
        raise InvalidSpecError.of(tree.problems)
    return cast("ServerSettings", settings)


def placed_server_settings(path: Path) -> ServerSettings:
    """The settings in a file, with their relative paths below its folder. Raises: as `read_server_settings`."""
    server, folder = read_server_settings(path), path.parent
    auth = server.auth
    if auth is not None and auth.tls is not None:
        tls = TlsSettings(cert_file=str(folder / auth.tls.cert_file), key_file=str(folder / auth.tls.key_file))
        auth = msgspec.structs.replace(auth, tls=tls)
    datasets = str(folder / server.datasets_dir) if server.datasets_dir else ""
    mappings = [str(folder / name) for name in server.traces.mappings]
    service = _placed(server.worker.sandbox_service, folder, "ca_file", "cert_file", "key_file")
    sandbox = _placed(server.sandbox, folder, "image_key", "packages_dir", "bwrap_path", "cache_dir", "cgroup")
    machines = _placed(server.sandbox.firecracker, folder, "binary", "kernel")
    return msgspec.structs.replace(
        server,
        data_dir=str(folder / server.data_dir),
        datasets_dir=datasets,
        auth=auth,
        worker=msgspec.structs.replace(server.worker, sandbox_service=service),
        sandbox=msgspec.structs.replace(sandbox, firecracker=machines),
        traces=msgspec.structs.replace(server.traces, mappings=mappings),
    )


def _placed(part: PartT, folder: Path, *names: str) -> PartT:
    """The part of the settings with these paths below `folder`, those that are given and relative."""
    return msgspec.structs.replace(
        part, **{name: str(folder / getattr(part, name)) for name in names if getattr(part, name)}
    )


def _read_yaml(text: str, source: str) -> PlacedTree:
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.split("\n")):
        return PlacedTree(source=source, value={})  # nothing is said: all defaults
    return read_yaml(text, source)


class _Reader:
    """Turns plain values into Structs by their types; notes what does not fit."""

    def __init__(self, tree: PlacedTree) -> None:
        self._tree = tree

    def struct(self, value: Any, kind: type[msgspec.Struct], path: str) -> Any:
        if value is None:
            value = {}
        if not isinstance(value, dict):
            return self._wrong(path, "must be a mapping", value)
        hints = get_type_hints(kind, include_extras=True)
        found: dict[str, Any] = {}
        for key, item in cast("dict[str, Any]", value).items():
            here = below(path, key) if path else key
            if key not in hints:
                self._unknown(path, key, here, list(hints))
                continue
            read = self.value(item, hints[key], here)
            if read is not _WRONG:
                found[key] = read
        missing = [field.name for field in msgspec.structs.fields(kind) if field.required and field.name not in value]
        for name in missing:
            self._tree.add(path, f"{path} needs {name}")
        return _WRONG if missing or self._tree.problems else kind(**found)

    def value(self, value: Any, hint: Any, path: str) -> Any:
        """`value` as the type `hint` says, or `_WRONG`."""
        origin = get_origin(hint)
        if origin in (Union, types.UnionType):
            if value is None:
                return None
            (hint,) = (each for each in get_args(hint) if each is not type(None))
            origin = get_origin(hint)
        if hasattr(hint, "__metadata__"):
            return value if hint == RawJson else self._duration(value, path)
        if origin is Literal:
            return self._word(value, get_args(hint), path)
        if origin is list:
            return self._list(value, get_args(hint)[0], path)
        if origin is dict:
            return self._mapping(value, get_args(hint)[1], path)
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            return self.struct(value, hint, path)
        return self._scalar(value, hint, path)

    def _scalar(self, value: Any, hint: Any, path: str) -> Any:
        if hint is str:
            if not isinstance(value, str):
                return self._wrong(path, "must be text", value)
            if "${" in value:
                self._tree.add(
                    path,
                    f"{path} holds ${{…}}, and nothing is put in here",
                    hint="name the variable in a key ending in _env",
                )
                return _WRONG
            return value
        if hint is bool:
            return value if isinstance(value, bool) else self._wrong(path, "must be true or false", value)
        if isinstance(value, bool) or not isinstance(value, int if hint is int else (int, float)):
            return self._wrong(path, "must be a whole number" if hint is int else "must be a number", value)
        if value < 0:
            return self._wrong(path, "must be 0 or more", value)
        return hint(value)

    def _duration(self, value: Any, path: str) -> Any:
        days = _DAYS.match(value) if isinstance(value, str) else None
        seconds = float(days[1]) * 86400 if days else parse_duration(value) if isinstance(value, str) else None
        if seconds is None or seconds <= 0:
            return self._wrong(path, 'must be a length of time such as "30s", "5m", "168h" or "30d"', value)
        return seconds

    def _word(self, value: Any, words: tuple[str, ...], path: str) -> Any:
        if value in words:
            return value
        near = suggestion(value, words) if isinstance(value, str) else None
        return self._wrong(path, f"must be one of {', '.join(words)}", value, hint=near)

    def _list(self, value: Any, hint: Any, path: str) -> Any:
        if not isinstance(value, list):
            return self._wrong(path, "must be a list", value)
        items = [self.value(item, hint, below(path, place)) for place, item in enumerate(cast("list[Any]", value))]
        return _WRONG if any(item is _WRONG for item in items) else items

    def _mapping(self, value: Any, hint: Any, path: str) -> Any:
        if not isinstance(value, dict):
            return self._wrong(path, "must be a mapping", value)
        items = {key: self.value(item, hint, below(path, key)) for key, item in cast("dict[str, Any]", value).items()}
        return _WRONG if any(item is _WRONG for item in items.values()) else items

    def _unknown(self, path: str, key: str, here: str, known: list[str]) -> None:
        if key in (LATER if not path else LATER_INSIDE.get(_PLACE.sub("[]", path), ())):
            message = f"{here} belongs to a part that this version does not serve"
            hint = "remove it"
        else:
            message, hint = f"unknown key {here}", suggestion(key, known)
        self._tree.add(here, message, hint=hint, at_key=True)

    def _wrong(self, path: str, must: str, value: Any, *, hint: str | None = None) -> Any:
        # A value may be a secret that somebody wrote into the wrong place; only its kind is shown.
        name = next((name for kind, name in _KINDS.items() if type(value) is kind), "nothing")
        self._tree.add(path, f"{path or 'the file'} {must}, not {name}", hint=hint)
        return _WRONG


class _Checks:
    """What no type can say."""

    def __init__(self, tree: PlacedTree) -> None:
        self._tree = tree

    def check(self, settings: ServerSettings) -> None:
        self._listen(settings)
        self._judges_and_targets(settings)
        self._keys_and_roles(settings)
        self._outbound(settings)
        self._sinks(settings)
        self._policies(settings)
        for name in settings.projects:
            if not _NAME.match(name):
                self._say(below("projects", name), "is no name", "use 1 to 63 lower-case letters, digits and dashes")
        for name in ("batch_size", "parallelism", "max_records"):
            if getattr(settings.evaluate, name) == 0:
                self._say(f"evaluate.{name}", "must be above 0")
        for name in ("max_concurrent", "lease_ttl", "adopt_interval"):
            if getattr(settings.runs, name) == 0:
                self._say(f"runs.{name}", "must be above 0")
        self._traffic(settings)
        postgres = settings.storage.postgres
        if postgres is not None and not (postgres.dsn or postgres.dsn_env):
            self._say("storage.postgres", "names no database", "give dsn_env")
        if postgres is not None and re.search(r"://[^/@]*:[^/@]+@|password=", postgres.dsn):
            self._say("storage.postgres.dsn", "holds a password", "put the whole address into a variable: dsn_env")
        self._sandboxes(settings)
        tls = settings.auth.tls if settings.auth else None
        if tls is not None and not (tls.cert_file and tls.key_file):
            self._say("auth.tls", "needs cert_file and key_file")

    def _sandboxes(self, settings: ServerSettings) -> None:
        service = settings.worker.sandbox_service
        if service.address and not re.match(r"[^\s/:]+:\d{1,5}\Z|\[[0-9a-fA-F:]+\]:\d{1,5}\Z", service.address):
            self._say(
                "worker.sandbox_service.address", "must be an address and a port, such as sandboxes.internal:8090"
            )
        if bool(service.cert_file) != bool(service.key_file) or (service.cert_file and not service.ca_file):
            self._say("worker.sandbox_service", "needs ca_file, cert_file and key_file together")
        for name in ("max_sandboxes", "idle_timeout_s"):
            if getattr(settings.sandbox, name) <= 0:
                self._say(f"sandbox.{name}", "must be above 0")

    def _listen(self, settings: ServerSettings) -> None:
        places = {
            "listen": settings.listen,
            "otlp.http_listen": settings.otlp.http_listen,
            "otlp.grpc_listen": settings.otlp.grpc_listen,
        }
        for path, listen in places.items():
            host, colon, port = listen.rpartition(":")
            if (listen or path == "listen") and not (colon and host and port.isdecimal() and int(port) <= 65535):
                self._say(path, "must be an address and a port, such as 127.0.0.1:8080")

    def _traffic(self, settings: ServerSettings) -> None:
        otlp, redaction = settings.otlp, settings.traces.redaction
        for name in OtlpSettings.__struct_fields__:
            if name.startswith("max_") and name != "max_traces" and getattr(otlp, name) == 0:
                self._say(f"otlp.{name}", "must be above 0")
        for project, own in otlp.projects.items():
            for name in ProjectOtlpSettings.__struct_fields__:
                if name != "max_age" and getattr(own, name) is not None and getattr(own, name) <= 0:
                    self._say(f"{below('otlp.projects', project)}.{name}", "must be above 0")
            if otlp.max_waiting_bytes < (own.max_request_bytes or 0):
                where = f"{below('otlp.projects', project)}.max_request_bytes"
                self._say(where, "must not be above otlp.max_waiting_bytes")
        if otlp.grace > otlp.limit:
            self._say("otlp.grace", "must not be longer than otlp.limit")
        if otlp.max_waiting_bytes < otlp.max_request_bytes:
            self._say("otlp.max_waiting_bytes", "must not be less than otlp.max_request_bytes")
        if not 0 <= redaction.presidio.min_score <= 1:
            self._say("traces.redaction.presidio.min_score", "must be from 0 to 1")
        if redaction.presidio.deadline <= 0:
            self._say("traces.redaction.presidio.deadline", "must be above 0")
        if redaction != RedactionSettings():
            from evalsi.settings.redaction_rules import redaction_rules  # detectors are slow to load

            try:
                redaction_rules(redaction)
            except EvalsiError as error:
                path = f"traces.redaction.{error.where}" if error.where else "traces.redaction.pii"
                self._tree.add(path, f"{path}: {error.message}", hint=error.hint)
        for subject in settings.rate_limits.principals:
            self._subject(below("rate_limits.principals", subject), subject)

    def _judges_and_targets(self, settings: ServerSettings) -> None:
        named: dict[str, JudgeSettings | TargetSettings] = {}
        named |= {below("judges", name): judge for name, judge in settings.judges.items()}
        named |= {below("targets", name): target for name, target in settings.targets.items()}
        for path, part in named.items():
            if not part.model:
                self._say(path, "needs a model")
            if part.base_url and not re.match(r"https?://[^\s/@]+(/|\Z)", part.base_url):
                self._say(f"{path}.base_url", "must be an address that begins with http:// or https://")
            self._variable(f"{path}.api_key_env", part.api_key_env)
            if isinstance(part, TargetSettings):
                for header, variable in part.headers_env.items():
                    self._variable(below(f"{path}.headers_env", header), variable)
        if settings.default_judge and settings.default_judge not in settings.judges:
            self._say("default_judge", "names no judge", suggestion(settings.default_judge, settings.judges))
        for place, grant in enumerate(settings.credentials.grants):
            self._variable(f"credentials.grants[{place}].env", grant.env or " ")
        if settings.storage.s3 is not None:
            self._variable("storage.s3.access_key_env", settings.storage.s3.access_key_env)
            self._variable("storage.s3.secret_key_env", settings.storage.s3.secret_key_env)

    def _keys_and_roles(self, settings: ServerSettings) -> None:
        keys = settings.auth.api_keys.keys if settings.auth else []
        seen: set[str] = set()
        for place, key in enumerate(keys):
            path = f"auth.api_keys.keys[{place}]"
            if not _NAME.match(key.name):
                self._say(f"{path}.name", "is no name", "use 1 to 63 lower-case letters, digits and dashes")
            if key.name in seen:
                self._say(f"{path}.name", f"is given to two keys: {key.name}")
            seen.add(key.name)
            if not is_digest(key.key):
                self._say(
                    f"{path}.key",
                    "must be the digest of a key, sha256:…",
                    "a key itself never stands here: evalsi auth hash-key",
                )
            if key.expires_at and parse_timestamp(key.expires_at) is None:
                self._say(f"{path}.expires_at", "must be a time such as 2027-01-01T00:00:00Z")
            for project, roles in key.roles.items():
                self._roles(below(f"{path}.roles", project), project, roles)
        for place, subject in enumerate(settings.rbac.owners):
            self._subject(f"rbac.owners[{place}]", subject)
        for project, bindings in settings.rbac.projects.items():
            path = below("rbac.projects", project)
            self._roles(path, project, list(bindings))
            for role, subjects in bindings.items():
                for place, subject in enumerate(subjects):
                    self._subject(below(below(path, role), place), subject)

    def _roles(self, path: str, project: str, roles: list[str]) -> None:
        if project != EVERY_PROJECT and not _NAME.match(project):
            self._say(
                path, "is no name of a project", "use lower-case letters, digits and dashes, or * for every project"
            )
        for role in roles:
            try:
                role_named(role)
            except EvalsiError as error:
                self._tree.add(path, f"{path}: {error.message}", hint=error.hint)

    def _subject(self, path: str, subject: str) -> None:
        if not subject.startswith("key:") or not _NAME.match(subject.removeprefix("key:")):
            self._say(path, "must be a subject such as key:ci", "other kinds of subject are not served")

    def _outbound(self, settings: ServerSettings) -> None:
        for place, network in enumerate(settings.outbound.allow_networks):
            try:
                ipaddress.ip_network(network)
            except ValueError:
                self._say(f"outbound.allow_networks[{place}]", "must be a network such as 10.7.0.0/16")

    def _sinks(self, settings: ServerSettings) -> None:
        seen: dict[str, int] = {}
        for place, sink in enumerate(settings.sinks):
            path = f"sinks[{place}]"
            kinds, name = kinds_of(sink), sink_name(sink)
            if len(kinds) != 1:
                said = f"says {' and '.join(kinds)}" if kinds else f"says none of {', '.join(SINK_KINDS)}"
                self._say(path, f"{said}; it needs exactly one")
                continue
            if not _NAME.match(name):
                self._say(f"{path}.name", "is no name", "use 1 to 63 lower-case letters, digits and dashes")
            if name in seen:
                self._say(path, f"is called {name!r}, as sinks[{seen[name]}] is", "give it a name")
            seen.setdefault(name, place)
            self._sink(f"{path}.{kinds[0]}", sink, kinds[0])

    def _sink(self, path: str, sink: SinkSettings, kind: str) -> None:
        if not re.match(r"https?://[^\s/@]+(/|\Z)", sink_address(sink)):
            self._say(f"{path}.{SINK_KINDS[kind]}", "must be an address that begins with http:// or https://")
        part = getattr(sink, kind)
        for name in part.__struct_fields__:
            if name == "headers_env":
                for header, variable in part.headers_env.items():
                    self._variable(below(f"{path}.headers_env", header), variable)
            elif name.endswith("_env"):
                self._variable(f"{path}.{name}", getattr(part, name))
        mlflow = sink.mlflow
        if mlflow is not None and bool(mlflow.username_env) != bool(mlflow.password_env):
            self._say(path, "needs username_env and password_env together")
        if mlflow is not None and mlflow.token_env and mlflow.username_env:
            self._say(path, "names both a token and a user", "give one of token_env and username_env")
        if sink.langfuse is not None and not (sink.langfuse.public_key_env and sink.langfuse.secret_key_env):
            self._say(path, "needs public_key_env and secret_key_env")

    def _policies(self, settings: ServerSettings) -> None:
        if not settings.policies:
            return
        from evalsi.settings.redaction_rules import presidio_options
        from evalsi.watch.policy import KnownNames
        from evalsi.watch.read_policy import check_value

        names = [sink_name(sink) for sink in settings.sinks if kinds_of(sink)]
        presidio = presidio_options(settings.traces.redaction.presidio)
        known = KnownNames(judges=list(settings.judges) or None, sinks=names, presidio=presidio)
        for place, value in enumerate(settings.policies):
            check_value(self._tree, value, f"policies[{place}]", known)

    def _variable(self, path: str, name: str) -> None:
        if name and not _VARIABLE.match(name):
            self._say(path, "must be the name of an environment variable", "a key itself never stands here")

    def _say(self, path: str, message: str, hint: str | None = None) -> None:
        self._tree.add(path, f"{path} {message}", hint=hint)
