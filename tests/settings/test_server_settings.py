"""evalsi.yaml: the example holds every key, mistakes are named with their lines, and no secret is ever shown."""

import ast
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from evalsi.core.errors import InvalidSpecError, NotFoundError, UsageError
from evalsi.settings.open_door import check_door, is_on_this_machine
from evalsi.settings.read_server_settings import LATER, read_server_settings
from evalsi.settings.server import AuthSettings, QuotaSettings, ServerSettings, TlsSettings
from evalsi.settings.server_keys import server_keys
from tests.docs.pages import ROOT

EXAMPLE = ROOT / "examples/server/evalsi.yaml"


def read(folder: Path, text: str) -> ServerSettings:
    path = folder / "evalsi.yaml"
    path.write_text(text, encoding="utf-8")
    return read_server_settings(path)


def mistakes(folder: Path, text: str) -> list[str]:
    with pytest.raises(InvalidSpecError) as refusal:
        read(folder, text)
    return [str(problem).replace(f"{folder}/", "") for problem in refusal.value.problems]


def paths_in(value: Any, above: str = "") -> set[str]:
    """Keys of the example as the reference writes them."""
    known = {key.path for key in server_keys()}
    if above in known:
        return {above}
    if isinstance(value, list):
        return set().union(*(paths_in(item, f"{above}[]") for item in cast("list[Any]", value)))
    found: set[str] = set()
    for name, item in cast("dict[str, Any]", value).items():
        here = f"{above}.{name}" if above else name
        inside = any(path == here or path.startswith((f"{here}.", f"{here}[")) for path in known)
        found |= paths_in(item, here if inside else f"{above}.<name>")
    return found


def test_the_example_is_right_and_holds_every_key() -> None:
    settings = read_server_settings(EXAMPLE)
    assert paths_in(yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))) == {key.path for key in server_keys()}
    assert settings.runs.retention == 365 * 86400
    assert settings.judges["house"].projects == ["billing"]


def test_every_key_is_read_by_what_it_decides_about() -> None:
    """A key that nothing reads would be a promise that nobody keeps: it is refused instead."""
    own = {"server.py", "server_keys.py", "read_server_settings.py", "local.py"}
    read: set[str] = set()
    for path in (ROOT / "src/evalsi").rglob("*.py"):
        if path.name in own and path.parent.name == "settings":
            continue
        if path.relative_to(ROOT / "src/evalsi").parts[0] not in ("settings", "wiring", "server", "cli"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        read |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names = {key.path.rpartition(".")[2].removesuffix("[]") for key in server_keys()} - {"<name>"}
    assert sorted(names - read) == []


def test_keys_of_workers_that_are_not_served_are_refused(tmp_path: Path) -> None:
    for key in ("start_timeout: 60s", "command: [python3]", "pools: [cpu]"):
        (said,) = mistakes(tmp_path, f"worker: {{{key}}}")
        assert "does not serve" in said


def test_every_key_says_what_it_decides() -> None:
    assert [key.path for key in server_keys() if len(key.meaning) < 10] == []


@pytest.mark.parametrize("text", ["", "# nothing\n\n", "{}"])
def test_a_file_that_says_nothing_gives_the_defaults(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == ServerSettings()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"nothere\.yaml"):
        read_server_settings(tmp_path / "nothere.yaml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("listn: a", "evalsi.yaml:1:1: unknown key listn; did you mean 'listen'?"),
        ("runs:\n  lease: 30s", "evalsi.yaml:2:3: unknown key runs.lease"),
        ("judges:\n  a:\n    modle: x", "evalsi.yaml:3:5: unknown key judges.a.modle; did you mean 'model'?"),
        ("credentials: {grants: [{hosts: []}]}", "credentials.grants[0] needs env"),
        ("sinks: [{}]", "sinks[0] says none of otel, mlflow, langfuse, phoenix, webhook; it needs exactly one"),
        (
            "sinks: [{mlflow: {tracking_uri: http://m}, otel: {endpoint: http://c}}]",
            "sinks[0] says otel and mlflow; it needs exactly one",
        ),
        ("sinks: [{mflow: {}}]", "unknown key sinks[0].mflow; did you mean 'mlflow'?"),
        ("sinks: [{mlflow: {}}]", "sinks[0].mlflow needs tracking_uri"),
        ("sinks: [{mlflow: {tracking_uri: 'file:///x'}}]", "sinks[0].mlflow.tracking_uri must be an address"),
        ("sinks: [{webhook: {url: 'https://u:p@h/'}}]", "sinks[0].webhook.url must be an address"),
        ("sinks: [{otel: {endpoint: http://c, audit: 'on'}}]", "sinks[0].otel.audit must be true or false"),
        (
            "sinks: [{mlflow: {tracking_uri: http://m, username_env: U}}]",
            "sinks[0].mlflow needs username_env and password_env together",
        ),
        (
            "sinks: [{mlflow: {tracking_uri: http://m, token_env: T, username_env: U, password_env: P}}]",
            "sinks[0].mlflow names both a token and a user",
        ),
        ("sinks: [{langfuse: {public_key_env: P}}]", "sinks[0].langfuse needs secret_key_env"),
        ("sinks: [{phoenix: {endpoint: http://p}, name: A_b}]", "sinks[0].name is no name"),
        (
            "sinks: [{phoenix: {endpoint: http://p}}, {name: phoenix, otel: {endpoint: http://c}}]",
            "sinks[1] is called 'phoenix', as sinks[0] is",
        ),
        (
            "sinks: [{otel: {endpoint: http://c, headers_env: {Authorization: 'Bearer x'}}}]",
            "sinks[0].otel.headers_env.Authorization must be the name of an environment variable",
        ),
        (
            "sinks: [{otel: {endpoint: http://c}}]\n"
            "policies: [{name: a, stages: [{evaluators: [{ref: length}]}], sinks: [oltp]}]",
            "policies[0].sinks[0] must be one of otel, not 'oltp'",
        ),
        (
            "policies: [{name: a, stages: [{evaluators: [{ref: length}]}], sinks: [otel]}]",
            "policies[0].sinks[0] is 'otel', and the operator has named no sinks",
        ),
        ("runs: {lease_ttl: 30}", 'runs.lease_ttl must be a length of time such as "30s"'),
        ("runs: {lease_ttl: -5s}", "runs.lease_ttl must be a length of time"),
        ("runs: {max_concurrent: -1}", "runs.max_concurrent must be 0 or more"),
        ("runs: {max_concurrent: 0}", "runs.max_concurrent must be above 0"),
        ("otlp: {projects: {a: {max_request_spans: 0}}}", "otlp.projects.a.max_request_spans must be above 0"),
        ("otlp: {projects: {a: {max_trace_spans: 0}}}", "otlp.projects.a.max_trace_spans must be above 0"),
        (
            "otlp: {projects: {a: {max_request_bytes: 99999999999}}}",
            "otlp.projects.a.max_request_bytes must not be above otlp.max_waiting_bytes",
        ),
        ("runs: {max_concurrent: 1.5}", "runs.max_concurrent must be a whole number"),
        ("runs: {max_concurrent: true}", "runs.max_concurrent must be a whole number"),
        ("ui: {disabled: 1}", "ui.disabled must be true or false"),
        (
            "log: {level: warn}",
            "log.level must be one of debug, info, warning, error, not text; did you mean 'warning'?",
        ),
        ("listen: 8080", "listen must be text"),
        ("listen: '8080'", "listen must be an address and a port"),
        ("judges: []", "judges must be a mapping"),
        ("judges: {a: {base_url: 'http://x'}}", "judges.a needs a model"),
        ("judges: {a: {model: m, base_url: 'http://u:p@x'}}", "judges.a.base_url must be an address"),
        ("judges: {a: {model: m}}\ndefault_judge: b", "evalsi.yaml:2:16: default_judge names no judge"),
        ("rbac: {owners: [ann]}", "rbac.owners[0] must be a subject such as key:ci"),
        ("rbac: {projects: {default: {viewr: ['key:a']}}}", "unknown role 'viewr'; did you mean 'viewer'?"),
        ("rbac: {roles: []}", "rbac.roles belongs to a part that this version does not serve"),
        ("outbound: {allow_networks: [10.0.0.1/8]}", "outbound.allow_networks[0] must be a network"),
        ("storage: {postgres: {}}", "storage.postgres names no database"),
        ("data_dir: ${HOME}/x", "data_dir holds ${…}, and nothing is put in here"),
        ("listen: a:1\nlisten: b:2", "duplicate key listen"),
        ("a: !!python/object:os.system x", "tags that build objects are refused"),
        ("[1]", "the file must be a mapping, not a list"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    assert any(said in mistake for mistake in mistakes(tmp_path, text)), mistakes(tmp_path, text)


def test_mistakes_are_reported_together(tmp_path: Path) -> None:
    assert len(mistakes(tmp_path, "listn: a\nruns: {lease_ttl: 3}\nlog: {level: x}\n")) == 3


@pytest.mark.parametrize("part", sorted(LATER))
def test_parts_that_are_not_served_are_refused_by_name(tmp_path: Path, part: str) -> None:
    (said,) = mistakes(tmp_path, f"{part}: {{}}")
    assert "does not serve" in said


@pytest.mark.parametrize(
    "text",
    [
        "auth: {api_keys: {keys: [{name: ci, key: evk_hunter2hunter2hunter2}]}}",
        "auth: {api_keys: {keys: [{name: ci, key: [evk_hunter2hunter2hunter2]}]}}",
        "judges: {a: {model: m, api_key_env: sk-hunter2-hunter2}}",
        "targets: {a: {model: m, headers_env: {Authorization: Bearer hunter2}}}",
        "sinks: [{mlflow: {tracking_uri: 'http://u:hunter2@m', token_env: hunter2-hunter2}}]",
        "sinks: [{langfuse: {public_key_env: pk-hunter2, secret_key_env: sk-hunter2}}]",
        "credentials: {grants: [{env: 'sk-hunter2'}]}",
        "storage: {postgres: {dsn: 'postgresql://u:hunter2@db/x'}}",
        "storage: {postgres: {dsn: 'host=db password=hunter2'}}",
        "storage: {s3: {secret_key_env: hunter2/hunter2+hunter2}}",
        "log: {level: hunter2}",
        "listen: {key: hunter2}",
    ],
)
def test_a_secret_in_the_wrong_place_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    said = mistakes(tmp_path, text)
    assert said
    assert "hunter2" not in " ".join(said)


@pytest.mark.parametrize(
    ("listen", "here"),
    [
        ("127.0.0.1:1", True),
        ("127.9.9.9:1", True),
        ("localhost:1", True),
        ("[::1]:1", True),
        ("0.0.0.0:1", False),
        ("[::]:1", False),
        ("10.0.0.1:1", False),
        ("0:1", False),
        ("evals.example.com:443", False),
    ],
)
def test_a_server_off_this_machine_needs_a_watched_door(listen: str, here: bool) -> None:
    assert is_on_this_machine(listen) == here
    open_door = ServerSettings(listen=listen)
    plain = ServerSettings(listen=listen, auth=AuthSettings())
    if here:
        assert check_door(open_door, no_auth=False) == check_door(plain, no_auth=False) == []
        return
    with pytest.raises(UsageError, match="nobody would be asked"):
        check_door(open_door, no_auth=False)
    with pytest.raises(UsageError, match="nobody would be asked"):
        check_door(ServerSettings(listen=listen, auth=AuthSettings(mode="off")), no_auth=False)
    with pytest.raises(UsageError, match="unencrypted"):
        check_door(plain, no_auth=False)
    (warning,) = check_door(open_door, no_auth=True)
    assert "may do everything" in warning
    for auth in (AuthSettings(allow_plaintext=True), AuthSettings(tls=TlsSettings(cert_file="c", key_file="k"))):
        assert check_door(ServerSettings(listen=listen, auth=auth), no_auth=False) == []


def test_a_project_has_its_own_quotas_and_else_the_default_ones(tmp_path: Path) -> None:
    quotas = read(
        tmp_path, "quotas: {default: {max_stored_runs: 5, max_concurrent_runs: 1}, projects: {a: {max_stored_runs: 9}}}"
    ).quotas
    assert quotas.of("a") == QuotaSettings(max_stored_runs=9, max_concurrent_runs=1)
    assert quotas.of("b") == QuotaSettings(max_stored_runs=5, max_concurrent_runs=1)
