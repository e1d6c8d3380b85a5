"""Policies over the network: applied, carried out by a worker on what arrives, read; and a worker that is killed."""

import json
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from time import time
from typing import Any

import pytest

from evalsi.traces.otlp_writing import encode_otlp_protobuf
from tests.command_line import evalsi
from tests.server.running_server import RunningServer, is_alive, running_server, wait_until
from tests.watch.live_traffic import NOON, spans_of, trace_id
from tests.watch.webhook_receiver import receiver

CONFIG = """
listen: 127.0.0.1:0
otlp: {grace: 0.2s}
runs: {lease_ttl: 2s}
outbound: {allow_networks: [127.0.0.0/8]}
policies:
  - name: configured
    stages: [{evaluators: [{ref: secret-leak}]}]
"""
POLICY = {"name": "answers", "stages": [{"evaluators": [{"ref": "pii-leak"}, {"ref": "length", "name": "words"}]}]}
LEAK = "My address is jane@example.com."
PROTOBUF = {"Content-Type": "application/x-protobuf"}


@pytest.fixture
def server(tmp_path: Path) -> Generator[RunningServer]:
    with configured(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    """A server on which nothing is changed."""
    with configured(tmp_path_factory.mktemp("refusing")) as found:
        yield found


@contextmanager
def configured(folder: Path) -> Generator[RunningServer]:
    (folder / "evalsi.yaml").write_text(CONFIG, encoding="utf-8")
    with running_server(folder, ["--config", "evalsi.yaml"]) as found:
        yield found


def send(server: RunningServer, *numbers: int, **about: Any) -> None:
    """Traces of just now."""
    begun_s = time() - NOON.timestamp() - 1
    for number in numbers:
        body = encode_otlp_protobuf(spans_of(number, begun_s=begun_s, **about))
        status, _, answer = server.request("POST", "/v1/traces", body, PROTOBUF)
        assert status == 200, answer


def stats(server: RunningServer, name: str = "answers") -> dict[str, Any]:
    status, answer = server.get(f"/v1alpha1/policies/{name}/stats")
    assert status == 200, answer
    return answer["stats"]


def evaluated(server: RunningServer, name: str = "answers") -> int:
    return int(stats(server, name)["tracesEvaluated"])


def watch_worker(server: RunningServer) -> int:
    """The process that watches."""
    for pid in server.children():
        if b"watch" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
            return pid
    return 0


def test_a_policy_is_applied_carried_out_and_read(server: RunningServer) -> None:
    status, answer = server.post("/v1alpha1/policies", POLICY)
    assert (status, answer["policy"]["project"]) == (200, "default")
    send(server, 1, 2)
    send(server, 3, answer=LEAK)
    assert wait_until(lambda: evaluated(server) == 3, 20)
    told = {each["metric"]: each for each in stats(server)["metrics"]}
    assert (int(told["pii-leak"]["n"]), told["pii-leak"]["mean"]) == (3, pytest.approx(2 / 3))
    assert told["pii-leak"]["ci"]["method"] == "wilson"

    def graded_by() -> set[str]:
        _, found = server.get(f"/v1alpha1/traces/{trace_id(3)}")
        return {each["policy"] for each in found["policies"]}

    # Figures are stored before the trace that they are of.
    assert wait_until(lambda: graded_by() == {"answers", "configured"}, 10)
    labels = '{policy="answers",project="default",stage="evaluated"}'
    assert server.metric(f"evalsi_policy_traces_total{labels}") == 3
    assert server.metric('evalsi_policy_metric_samples{metric="pii-leak",policy="answers",project="default"}') == 3
    _, listed = server.get("/v1alpha1/policies")
    assert [each["name"] for each in listed["policies"]] == ["answers", "configured"]
    _, tried = server.post("/v1alpha1/policies:test", {"policy": {**POLICY, "selector": "error"}})
    assert (int(tried["seen"]), int(tried.get("matched", 0))) == (3, 0)
    sides = {"baseline": {"version": "1.0"}, "candidate": {"version": "2.0"}}
    _, compared = server.post("/v1alpha1/policies/answers:compare", sides)
    assert {each["verdict"] for each in compared["comparisons"]} == {"inconclusive"}
    status, _, _ = server.request("DELETE", "/v1alpha1/policies/answers")
    assert status == 200
    assert server.get("/v1alpha1/policies/answers/stats")[0] == 404


def test_the_past_is_worked_through_when_somebody_asks_for_it(server: RunningServer) -> None:
    send(server, 1, 2, 3)
    assert wait_until(lambda: evaluated(server, "configured") == 3, 20)
    server.post("/v1alpha1/policies", POLICY)
    status, answer = server.post("/v1alpha1/policies/answers:backfill", {})
    assert (status, int(answer["queued"])) == (200, 3)
    assert wait_until(lambda: evaluated(server) == 3, 20)


def test_the_command_line_says_what_it_put_in_line_and_which_score_is_which(
    server: RunningServer, tmp_path: Path
) -> None:
    errors = [{"evaluators": [{"ref": "tool-errors"}, {"ref": "step-budget"}]}]
    server.post("/v1alpha1/policies", {"name": "errors", "stages": errors})
    send(server, 1, 2, session="s1")
    assert wait_until(lambda: evaluated(server, "errors") == 2, 20)
    words = [{"evaluators": [{"ref": "length"}]}]
    server.post("/v1alpha1/policies", {"name": "visits", "scope": "POLICY_SCOPE_SESSION", "stages": words})
    server.post("/v1alpha1/policies", {"name": "words", "stages": words})
    at = ("--server", f"http://{server.address}")
    assert "1 session is queued" in evalsi("policy", "backfill", "visits", *at, cwd=tmp_path).err
    assert "2 traces are queued" in evalsi("policy", "backfill", "words", *at, cwd=tmp_path).err
    told: list[str] = []

    def is_told() -> bool:
        told[:] = evalsi("traces", "show", trace_id(1), *at, cwd=tmp_path).out.splitlines()
        return any("policy errors" in line for line in told)

    assert wait_until(is_told, 20)
    (line,) = [line for line in told if line.lstrip().startswith("step-budget")]
    assert len(line.split(", ")) > 1
    assert all(len(each.split()) == 2 for each in line.split(", ")[1:]), line


@pytest.mark.parametrize(
    ("changed", "status", "told"),
    [
        ({"selector": "servce == 'x'"}, 400, "selector: unknown name 'servce'; did you mean 'service'?"),
        ({"stages": [{"evaluators": [{"ref": "/tmp/x.py:y"}]}]}, 400, "a server runs only evaluators"),
        ({"stages": [{"evaluators": [{"ref": "toxicity"}]}]}, 400, "asks a judge, and none is named"),
        ({"judge": "nobody"}, 400, "judge must be one of"),
        (
            {"alerts": [{"metric": "pii-leak", "below": 0.5, "webhook": "http://10.0.0.1/x"}]},
            400,
            "may not have it called",
        ),
        (
            {
                "alerts": [
                    {"metric": "pii-leak", "below": 0.5, "webhook": "https://hooks.example.com", "secretEnv": "HOME"}
                ]
            },
            403,
            "the credential HOME is not granted",
        ),
    ],
)
def test_what_a_server_does_not_do_is_refused(refusing: RunningServer, changed: Any, status: int, told: str) -> None:
    found, answer = refusing.post("/v1alpha1/policies", {**POLICY, **changed})
    assert found == status
    assert told in answer["message"]


def test_checking_a_policy_changes_nothing(refusing: RunningServer) -> None:
    assert refusing.post("/v1alpha1/policies?validateOnly=true", POLICY)[0] == 200
    assert refusing.get("/v1alpha1/policies/answers/stats")[0] == 404


def test_a_policy_of_the_settings_that_is_wrong_stops_the_start_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "evalsi.yaml").write_text(CONFIG.replace("secret-leak", "secret-leek"), encoding="utf-8")
    done = evalsi("serve", "--config", "evalsi.yaml", cwd=tmp_path)
    assert done.status == 2
    assert "evalsi.yaml:8:" in done.err
    assert "did you mean 'secret-leak'?" in done.err


@pytest.mark.slow
def test_a_killed_worker_loses_nothing_doubles_nothing_and_an_alert_is_told_once(server: RunningServer) -> None:
    with receiver() as heard:
        alert = {"metric": "pii-leak", "below": 0.9, "webhook": f"http://127.0.0.1:{heard.port}/hook"}
        server.post("/v1alpha1/policies", {**POLICY, "alerts": [alert]})
        total = 0
        for round_number in range(4):
            numbers = range(100 + 60 * round_number, 160 + 60 * round_number)
            send(server, *numbers, answer=LEAK)
            total += 60
            assert wait_until(lambda: evaluated(server) > total - 60, 60)  # noqa: B023 - asked at once
            worker = watch_worker(server)
            assert worker, server.lines
            os.kill(worker, signal.SIGKILL)
            assert wait_until(lambda: not is_alive(worker), 5)  # noqa: B023 - asked at once
        assert wait_until(lambda: evaluated(server) == total, 60)
        told = {each["metric"]: each for each in stats(server)["metrics"]}
        assert int(told["pii-leak"]["n"]) == total
        (state,) = stats(server)["alerts"]
        assert state["firing"] is True
        assert wait_until(lambda: bool(heard.heard), 30)
        keys = {headers["Evalsi-Delivery"] for headers, _ in heard.heard}
        assert len(keys) == 1
        assert json.loads(heard.heard[0][1])["metric"] == "pii-leak"
