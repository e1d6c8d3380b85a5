"""Scores leave a server for its sinks: named in its settings, by policies that may; and its workers may be killed meanwhile."""

import json
import os
import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from evalsi.access.audit_chain import verify
from evalsi.ports.access_store import AuditHead
from evalsi.schema import AuditEvent
from tests.command_line import evalsi
from tests.server.running_server import RunningServer, is_alive, running_server, wait_until
from tests.server.test_monitor_service import POLICY, send, stats, watch_worker
from tests.watch.live_traffic import trace_id
from tests.watch.webhook_receiver import Receiver, receiver

CONFIG = """
listen: 127.0.0.1:0
otlp: {{grace: 0.2s}}
runs: {{lease_ttl: 2s}}
projects: {{billing: {{}}}}
sinks:
  - name: scores
    webhook: {{url: "{hook}/in", secret_env: SCORES_SECRET, headers_env: {{X-Tenant: TENANT}}}}
  - runs: true
    otel: {{endpoint: "{collector}", headers_env: {{Authorization: COLLECTOR_KEY}}, trace_feedback: true}}
  - name: ledger
    projects: [billing]
    webhook: {{url: "{hook}/ledger"}}
"""
VARIABLES = {"SCORES_SECRET": "s3cret-for-tests", "TENANT": "acme", "COLLECTOR_KEY": "Bearer k3y-for-tests"}


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as found:
        yield found


@pytest.fixture
def collector() -> Iterator[Receiver]:
    with receiver() as found:
        yield found


@contextmanager
def configured(folder: Path, hook: Receiver, collector: Receiver) -> Generator[RunningServer]:
    said = CONFIG.format(hook=hook.url, collector=collector.url)
    (folder / "evalsi.yaml").write_text(said, encoding="utf-8")
    with running_server(folder, ["--config", "evalsi.yaml"], VARIABLES) as found:
        yield found


@pytest.fixture
def server(tmp_path: Path, hook: Receiver, collector: Receiver) -> Generator[RunningServer]:
    with configured(tmp_path, hook, collector) as found:
        yield found


def hooked(hook: Receiver) -> list[dict[str, Any]]:
    return [score for _, body in hook.heard for score in json.loads(body)["scores"]]


def events(collector: Receiver) -> list[Any]:
    return [
        record
        for _, body in collector.heard
        for group in ExportLogsServiceRequest.FromString(body).resource_logs
        for scope in group.scope_logs
        for record in scope.log_records
    ]


def test_scores_reach_the_sinks_that_a_policy_names_and_those_that_take_all(
    server: RunningServer, hook: Receiver, collector: Receiver, tmp_path: Path
) -> None:
    assert server.post("/v1alpha1/policies", {**POLICY, "sinks": ["scores"]})[0] == 200
    assert server.post("/v1alpha1/policies", {**POLICY, "name": "quiet"})[0] == 200
    send(server, 1, 2)
    assert wait_until(lambda: len(hooked(hook)) == 4 and len(events(collector)) == 8, 40), server.lines[-5:]
    assert {(score["policy"], score["trace_id"]) for score in hooked(hook)} == {
        ("answers", trace_id(1)),
        ("answers", trace_id(2)),
    }
    headers = hook.heard[0][0]
    assert headers["X-Tenant"] == "acme"
    assert headers["Evalsi-Signature"].startswith("t=")
    assert collector.heard[0][0]["Authorization"] == "Bearer k3y-for-tests"
    assert {record.trace_id.hex() for record in events(collector)} == {trace_id(1), trace_id(2)}

    def arrived() -> dict[str, int]:
        return {each["sink"]: int(each.get("delivered", 0)) for each in stats(server).get("sinks", [])}

    assert wait_until(lambda: arrived() == {"otel": 2, "scores": 2}, 20), arrived()
    labels = 'outcome="delivered",policy="answers",project="default",sink="scores"'
    assert server.metric(f"evalsi_sink_deliveries_total{{{labels}}}") == 2
    assert server.metric('evalsi_sink_waiting{policy="answers",project="default",sink="scores"}') == 0
    status, _, page = server.request("GET", "/ui/policies/answers")
    assert status == 200
    assert "Scores go to" in page.decode()
    shown = evalsi("policy", "stats", "answers", "--server", f"http://{server.address}", cwd=tmp_path)
    assert "sink scores: 2 delivered, 0 waiting, 0 given up" in shown.err + shown.out
    said = json.dumps(server.lines) + page.decode()
    assert not any(secret in said for secret in VARIABLES.values() if secret != "acme")


@pytest.mark.parametrize(
    ("project", "sinks", "told"),
    [
        ("default", ["score"], "sinks[0] must be one of scores, otel, not 'score'"),
        ("default", ["otel", "ledger"], "sinks[1] must be one of scores, otel, not 'ledger'"),
        ("billing", ["otel", "otel"], "sinks[1] is 'otel' once more"),
    ],
)
def test_a_sink_that_a_project_has_not_is_refused_with_the_nearest(
    server: RunningServer, project: str, sinks: list[str], told: str
) -> None:
    status, answer = server.post("/v1alpha1/policies", {**POLICY, "project": project, "sinks": sinks})
    assert status == 400
    assert told in answer["message"]
    assert server.post("/v1alpha1/policies", {**POLICY, "project": "billing", "sinks": ["ledger"]})[0] == 200


RUN = {
    "dataset": {
        "inline": {"records": [{"id": name, "output": {"text": name}, "reference": {"text": "a"}} for name in "ab"]}
    },
    "evaluators": [{"ref": "exact-match"}],
}


def test_scores_of_a_run_reach_the_sinks_that_it_names_and_those_that_take_all(
    server: RunningServer, hook: Receiver, collector: Receiver
) -> None:
    status, answer = server.post("/v1alpha1/runs", {"spec": {**RUN, "sinks": [{"name": "ledger"}]}})
    assert (status, "unknown sink 'ledger'" in answer["message"]) == (400, True)
    status, answer = server.post("/v1alpha1/runs", {"spec": {**RUN, "sinks": [{"name": "scores"}]}})
    assert status == 200, answer
    run_id = answer["run"]["id"]

    def arrived() -> dict[str, int]:
        sinks = server.get(f"/v1alpha1/runs/{run_id}")[1].get("sinks", [])
        return {each["sink"]: int(each.get("delivered", 0)) for each in sinks}

    # Two records and the run as a whole.
    assert wait_until(lambda: arrived() == {"otel": 3, "scores": 3}, 40), (arrived(), server.lines[-5:])
    assert {(score["run_id"], score["record_id"], score["metric"], score["value"]) for score in hooked(hook)} == {
        (run_id, "a", "exact-match", True),
        (run_id, "b", "exact-match", False),
    }
    assert {headers["Evalsi-Event"] for headers, _ in hook.heard} == {"run.scored"}
    told = [{each.key: each.value.string_value for each in record.attributes} for record in events(collector)]
    assert [(each["evalsi.run"], each["evalsi.record"]) for each in told] == [(run_id, "a"), (run_id, "b")]
    labels = 'outcome="delivered",policy="",project="default",sink="scores"'
    assert server.metric(f"evalsi_sink_deliveries_total{{{labels}}}") == 3
    assert "Scores go to" in server.request("GET", f"/ui/runs/{run_id}")[2].decode()


def test_the_scores_of_one_trace_have_an_address_of_their_own(server: RunningServer) -> None:
    server.post("/v1alpha1/policies", POLICY)
    send(server, 1, 2)

    def scored() -> bool:
        status, answer = server.get(f"/v1alpha1/traces/{trace_id(1)}/scores")
        return status == 200 and bool(answer.get("traces"))

    assert wait_until(scored, 30)
    _, found = server.get(f"/v1/traces/{trace_id(1)}/scores?policy=answers")
    assert [each["trace"]["traceId"] for each in found["traces"]] == [trace_id(1)]
    assert found == server.get(f"/v1alpha1/scores?traceId={trace_id(1)}&policy=answers")[1]


@pytest.mark.slow
def test_a_killed_worker_loses_no_score_and_tells_each_under_one_id(
    server: RunningServer, hook: Receiver, collector: Receiver
) -> None:
    server.post("/v1alpha1/policies", {**POLICY, "sinks": ["scores"]})
    total = 0
    for round_number in range(4):
        numbers = range(60 * round_number, 60 * (round_number + 1))
        send(server, *numbers)
        total += 60
        assert wait_until(lambda: len(hooked(hook)) > 2 * (total - 60), 90)  # noqa: B023 - asked at once
        worker = watch_worker(server)
        assert worker, server.lines
        os.kill(worker, signal.SIGKILL)
        assert wait_until(lambda: not is_alive(worker), 5)  # noqa: B023 - asked at once

    def all_there() -> bool:
        told = {(score["trace_id"], score["metric"]) for score in hooked(hook)}
        return len(told) == 2 * total and len({record.trace_id for record in events(collector)}) == total

    # What a killed worker had claimed is due again when its claim is over.
    assert wait_until(all_there, 240), stats(server)["sinks"]
    by_score: dict[tuple[str, str], set[str]] = {}
    for score in hooked(hook):
        by_score.setdefault((score["trace_id"], score["metric"]), set()).add(score["id"])
    assert {len(ids) for ids in by_score.values()} == {1}
    uids = {
        (record.trace_id, attribute.value.string_value)
        for record in events(collector)
        for attribute in record.attributes
        if attribute.key == "log.record.uid"
    }
    assert len(uids) == 2 * total


def audited(collector: Receiver) -> list[AuditEvent]:
    found = [record for record in events(collector) if record.event_name == "evalsi.audit"]
    return [msgspec.json.decode(record.body.string_value, type=AuditEvent) for record in found]


def test_the_audit_log_reaches_the_sink_that_has_it_once_also_over_restarts(
    tmp_path: Path, collector: Receiver
) -> None:
    said = f"""
listen: 127.0.0.1:0
auth: {{mode: required}}
sinks: [{{otel: {{endpoint: "{collector.url}", audit: true}}}}]
"""
    (tmp_path / "evalsi.yaml").write_text(said, encoding="utf-8")
    asked = ("auth", "keys", "create", "root", "--role", "*=owner", "--local", "--config", "evalsi.yaml")
    root = evalsi(*asked, cwd=tmp_path, env={"EVALSI_DIR": str(tmp_path / "store")}).out.strip()
    secrets, headers = [root], {"Authorization": f"Bearer {root}"}
    for count in (2, 3):
        with running_server(tmp_path, ["--config", "evalsi.yaml"]) as server:
            key = {"name": f"ci{count}", "roles": {"default": {"roles": ["viewer"]}}}
            status, answer = server.post("/v1alpha1/apikeys", key, headers=headers)
            assert status == 200, answer
            secrets.append(answer["secret"])
            told = f'evalsi_audit_deliveries_total{{outcome="delivered",sink="otel"}} {count}.0'.encode()
            measures = partial(server.request, "GET", "/metrics", headers=headers)
            assert wait_until(lambda told=told, measures=measures: told in measures()[2], 40), server.lines[-5:]
    found = audited(collector)
    assert [event.sequence for event in found] == [1, 2, 3]
    assert [event.resource for event in found] == ["root", "ci2", "ci3"]
    assert verify(found, AuditHead(last_sequence=3, last_hash=found[-1].hash)).ok
    assert not any(secret.encode() in body for secret in secrets for _, body in collector.heard)
