"""What a project may use in a day, and how long its runs stay: refused, ended and tidied by the rules of the operator."""

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalsi.core.clock import SystemClock
from evalsi.infra.objects import open_objects
from evalsi.infra.store.open_stores import open_stores
from evalsi.infra.store.project_stores import SqlProjectStores
from evalsi.ports.run_store import RunQuery
from evalsi.schema import CreateRunRequest, DatasetSource, EvaluatorRef, RunSpec, Target
from evalsi.schema.proto_codec import encode
from evalsi.settings.server import RunSettings
from evalsi.testing.run_queue_suite import asked
from evalsi.testing.run_store_suite import a_manifest, a_run, ended
from evalsi.wiring.run_serving import tidy_runs
from tests.command_line import write_jsonl
from tests.run.logged_model import logged_model
from tests.server.running_server import RunningServer, running_server, wait_until

DAY_S = 86400.0


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, str]]:
    """A server whose project `small` may use few tokens a day, and a model."""
    folder = tmp_path_factory.mktemp("limited")
    (folder / "datasets").mkdir()
    write_jsonl(folder / "datasets" / "data.jsonl", [{"id": f"r{n}", "input": f"question {n}"} for n in range(3000)])
    (folder / "evalsi.yaml").write_text(
        "data_dir: data\ndatasets_dir: datasets\nprojects: {small: {}, large: {}}\n"
        "outbound: {allow_networks: [127.0.0.0/8]}\n"
        "quotas: {projects: {small: {target_tokens_per_day: 200}}}\n"
    )
    with (
        logged_model(folder / "questions.log", latency_s=0.02) as model,
        running_server(folder, ("--config", "evalsi.yaml")) as server,
    ):
        yield server, model


def request(model: str, project: str) -> dict[str, Any]:
    target = {"connector": "openai-compatible", "model": "stand-in", "base_url": model, "max_concurrency": 4}
    spec = {
        "target": target,
        "dataset": {"path": "data.jsonl"},
        "evaluators": [{"ref": "regex-match", "params": {"pattern": "."}}],
    }
    return {"name": "asking", "project": project, "spec": spec}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="servers run on Linux")
def test_a_project_that_has_used_its_tokens_is_stopped_and_told_on_every_protocol(
    limited: tuple[RunningServer, str],
) -> None:
    server, model = limited
    status, answer = server.post("/v1/runs", request(model, "small"))
    assert status == 200, answer
    address = f"/v1/runs/{answer['run']['id']}"
    assert wait_until(lambda: server.get(address)[1]["run"]["status"] == "RUN_STATUS_ERROR", 60)
    run = server.get(address)[1]["run"]
    today = datetime.now(UTC).date().isoformat()
    assert run["error"] == f"project small has used its 200 target tokens of {today}"
    assert run["progress"]["done"] < 3000

    status, _, body = server.request("POST", "/v1/runs", json.dumps(request(model, "small")))
    assert (status, json.loads(body)["code"], json.loads(body)["error"]) == (429, 8, "quota")
    sentence = json.loads(body)["message"]
    assert sentence.startswith(f"project small has used its 200 target tokens of {today}; ask again after midnight UTC")
    status, answer = server.post("/evalsi.v1alpha1.RunService/CreateRun", request(model, "small"), _JSON)
    assert (status, answer["code"], answer["message"]) == (429, "resource_exhausted", sentence)
    grpc = pytest.importorskip("grpc")
    spec = RunSpec(
        target=Target(connector="openai-compatible", model="stand-in", base_url=model, max_concurrency=4),
        dataset=DatasetSource(path="data.jsonl"),
        evaluators=[EvaluatorRef(ref="exact-match")],
    )
    with grpc.insecure_channel(server.address) as channel:
        create: Any = channel.unary_unary("/evalsi.v1alpha1.RunService/CreateRun")
        with pytest.raises(grpc.RpcError) as caught:
            create(encode(CreateRunRequest(project="small", spec=spec)), timeout=30)
    error: Any = caught.value
    assert (error.code().name, error.details()) == ("RESOURCE_EXHAUSTED", sentence)

    # Other projects, and runs that ask nobody, are not concerned.
    assert server.post("/v1/runs", {**request(model, "large"), "validateOnly": True})[0] == 200
    asks_nobody = request(model, "small")
    del asks_nobody["spec"]["target"]
    assert server.post("/v1/runs", asks_nobody)[0] == 200


_JSON = {"content-type": "application/json"}


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[SqlProjectStores]:
    objects = open_objects(f"file://{tmp_path / 'objects'}", cache=tmp_path / "cache")
    with closing(open_stores(str(tmp_path / "evalsi.db"), objects)) as stores:
        yield stores


def finished(stores: SqlProjectStores, run_id: str, *, days_ago: float, project: str = "default") -> None:
    at = (datetime.now(UTC) - timedelta(days=days_ago)).isoformat(timespec="milliseconds")
    store = stores.of(project)
    store.create(a_run(run_id, project=project, created_at=at), a_manifest())
    store.finish(msgspec.structs.replace(ended(store.run(run_id)), finished_at=at), a_manifest(), [])


def listed(stores: SqlProjectStores, *, archived: bool | None = None) -> set[str]:
    return {row.id for row in stores.page(None, RunQuery(archived=archived), size=1000).runs}


def test_runs_go_when_their_time_is_over_by_the_rule_of_their_project(stores: SqlProjectStores) -> None:
    for project in ("default", "short", "long"):
        for days_ago in (0.5, 2, 20):
            finished(stores, f"{project}-{days_ago}", days_ago=days_ago, project=project)
    plan = RunSettings(retention=10 * DAY_S, project_retention={"short": DAY_S, "long": 99 * DAY_S})
    assert tidy_runs(stores, plan, SystemClock()) == 3
    assert listed(stores) == {"default-0.5", "default-2", "short-0.5", "long-0.5", "long-2", "long-20"}
    assert tidy_runs(stores, plan, SystemClock()) == 0


def test_runs_leave_the_lists_before_they_leave_the_store(stores: SqlProjectStores) -> None:
    for days_ago in (1, 5, 50):
        finished(stores, f"r{days_ago}", days_ago=days_ago)
    plan = RunSettings(retention=30 * DAY_S, archive_after=3 * DAY_S)
    assert tidy_runs(stores, plan, SystemClock()) == 2
    assert (listed(stores, archived=False), listed(stores, archived=True)) == ({"r1"}, {"r5"})
    assert tidy_runs(stores, plan, SystemClock()) == 0


@pytest.mark.slow
def test_many_runs_are_tidied_in_one_go(stores: SqlProjectStores) -> None:
    for number in range(620):
        finished(stores, f"r{number}", days_ago=9)
    assert tidy_runs(stores, RunSettings(archive_after=DAY_S), SystemClock()) == 620
    assert tidy_runs(stores, RunSettings(retention=DAY_S), SystemClock()) == 620
    assert listed(stores) == set()


def test_runs_that_wait_or_are_worked_on_stay_however_old_they_are(stores: SqlProjectStores) -> None:
    old = (datetime.now(UTC) - timedelta(days=99)).isoformat(timespec="milliseconds")
    stores.queue.submit(asked("waiting", created_at=old))
    stores.of("default").create(a_run("written", created_at=old), a_manifest())
    plan = RunSettings(retention=DAY_S, archive_after=DAY_S)
    assert tidy_runs(stores, plan, SystemClock()) == 0
    assert listed(stores, archived=False) == {"waiting", "written"}
