"""Two servers on one PostgreSQL are one: what was done at one holds at the other, and neither's folder is needed."""

import json
import shutil
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from evalsi.core.errors import UsageError
from evalsi.settings import Settings
from evalsi.settings.server import PostgresSettings, ServerSettings, StorageSettings
from evalsi.wiring.store_address import store_address
from tests.command_line import evalsi
from tests.postgres_server import postgres_server
from tests.server.running_server import RECORD, RunningServer, running_server, wait_until

RUN = {
    "name": "shared",
    "spec": {
        "dataset": {"catalog": {"name": "capitals", "version": "1"}},
        "evaluators": [{"ref": "exact-match"}],
    },
}


class Pair(NamedTuple):
    one: RunningServer
    other: RunningServer
    root: dict[str, str]
    address: str


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with postgres_server() as postgres:
        address = postgres.new_database("shared")
        folders = [tmp_path_factory.mktemp(name) for name in ("one", "other")]
        env = {"THE_DATABASE": address}
        for folder in folders:
            (folder / "evalsi.yaml").write_text(
                "data_dir: store\nauth: {}\nstorage: {postgres: {dsn_env: THE_DATABASE}}\nruns: {adopt_interval: 500ms}\n"
            )
        keys = ("auth", "keys", "create", "root", "--role", "*=owner", "--local", "--config", "evalsi.yaml")
        root = evalsi(*keys, cwd=folders[0], env=env).out.strip()
        arguments = ("--config", "evalsi.yaml")
        with (
            running_server(folders[0], arguments, env) as one,
            running_server(folders[1], arguments, env) as other,
        ):
            yield Pair(one, other, {"Authorization": f"Bearer {root}"}, address)
        # Nothing but what can be made again, and the folder of datasets that the operator puts there.
        for folder in folders:
            shutil.rmtree(folder / "store" / "cache", ignore_errors=True)
            assert [path for path in (folder / "store").rglob("*") if path.is_file()] == []


def asked(server: RunningServer, verb: str, path: str, headers: dict[str, str], message: Any = None) -> Any:
    body = message if isinstance(message, str) or message is None else json.dumps(message)
    status, _, answer = server.request(verb, path, body, headers)
    assert status in (200, 201), answer
    return json.loads(answer)


def test_a_key_that_one_made_opens_the_other_until_it_is_revoked(pair: Pair) -> None:
    made = asked(
        pair.one, "POST", "/v1alpha1/apikeys", pair.root, {"name": "ci", "roles": {"default": {"roles": ["viewer"]}}}
    )
    key = {"Authorization": f"Bearer {made['secret']}"}
    assert asked(pair.other, "GET", "/v1alpha1/whoami", key)["principal"]["subject"] == "key:ci"
    asked(pair.other, "POST", "/v1alpha1/apikeys/ci:revoke", pair.root)
    assert wait_until(lambda: pair.one.request("GET", "/v1alpha1/whoami", None, key)[0] == 401)


def test_a_project_is_there_at_both(pair: Pair) -> None:
    asked(pair.one, "POST", "/v1alpha1/projects", pair.root, {"name": "billing"})
    listed = asked(pair.other, "GET", "/v1alpha1/projects", pair.root)["projects"]
    assert "billing" in [project["name"] for project in listed]


def test_the_audit_log_of_both_is_one_chain(pair: Pair) -> None:
    for number in range(5):
        for server in (pair.one, pair.other):
            asked(server, "POST", "/v1alpha1/projects", pair.root, {"name": f"p{number}-{server.port}"})
    for server in (pair.one, pair.other):
        report = asked(server, "GET", "/v1alpha1/audit:verify", pair.root)
        assert report["ok"], report
        assert int(report["checked"]) >= 10


def test_a_call_that_is_sent_again_to_the_other_is_not_made_again(pair: Pair) -> None:
    key = {**pair.root, "Idempotency-Key": "once"}
    first = asked(pair.one, "POST", "/v1alpha1/projects", key, {"name": "once"})
    assert asked(pair.other, "POST", "/v1alpha1/projects", key, {"name": "once"}) == first
    status, _, _ = pair.other.request("POST", "/v1alpha1/projects", json.dumps({"name": "twice"}), key)
    assert status == 409


def test_a_run_asked_for_at_one_over_data_of_the_other_is_read_at_both(pair: Pair) -> None:
    lines = "".join(json.dumps({**RECORD, "id": str(number)}) + "\n" for number in range(50))
    path = "/v1alpha1/datasets/capitals/upload?version=1"
    asked(pair.other, "POST", path, {**pair.root, "Content-Type": "application/jsonl"}, lines)
    run = asked(pair.one, "POST", "/v1alpha1/runs", pair.root, RUN)["run"]["id"]

    def ended() -> bool:
        status = asked(pair.other, "GET", f"/v1alpha1/runs/{run}", pair.root)["run"]["status"]
        assert status not in ("RUN_STATUS_FAILED", "RUN_STATUS_ERROR", "RUN_STATUS_CANCELLED"), status
        return status == "RUN_STATUS_SUCCEEDED"

    assert wait_until(ended, 60)
    results = [asked(server, "GET", f"/v1alpha1/runs/{run}/results?page_size=100", pair.root) for server in pair[:2]]
    assert results[0] == results[1]
    assert len(results[0]["results"]) == 50


def test_a_database_whose_variable_is_not_set_is_named() -> None:
    server = ServerSettings(storage=StorageSettings(postgres=PostgresSettings(dsn_env="NOT_SET")))
    with pytest.raises(UsageError, match="NOT_SET"):
        store_address(server, Settings(environment={}))
