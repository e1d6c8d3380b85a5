"""Scores as assessments in a real MLflow server, which this installs."""

import asyncio
import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalsi.infra.sinks.mlflow_sink import MlflowSink
from evalsi.ports.score_sink import TAKEN, OutgoingMetric, OutgoingRun, OutgoingScores, SinkReceipt
from evalsi.traces.otlp_writing import encode_otlp_protobuf
from tests.infra.sinks.published_products import answer_of, free_port, started
from tests.infra.sinks.told_scores import AT_MS, endpoint, of_session, outgoing, told, withdrawing
from tests.own_environment import own_environment
from tests.thoroughness import THOROUGH
from tests.watch.live_traffic import spans_of, trace_id

REQUIREMENT = "mlflow==3.17.2"
JSON = {"Content-Type": "application/json"}
PROTOBUF = {"Content-Type": "application/x-protobuf", "x-mlflow-experiment-id": "0"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.interop,
    pytest.mark.xdist_group("mlflow"),
    pytest.mark.skipif(not THOROUGH, reason="installing and starting MLflow takes more than a minute"),
]


@pytest.fixture(scope="module")
def mlflow(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    folder: Path = tmp_path_factory.mktemp("mlflow")
    python = own_environment(folder / "env", [REQUIREMENT])
    port = free_port()
    options = ["--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--artifacts-destination", str(folder)]
    command = [str(python), "-m", "mlflow", "server", *options, "--host", "127.0.0.1", "--port", str(port)]
    quiet = {
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    }
    with started([*command, "--workers", "1"], folder, port, "/health", quiet) as url:
        for number in (1, 2, 3, 4):
            status, _ = answer_of(f"{url}/v1/traces", encode_otlp_protobuf(spans_of(number)), PROTOBUF)
            assert status == 200
        yield url


def sent(url: str, *deliveries: OutgoingScores, experiment: str = "") -> list[SinkReceipt]:
    async def send() -> list[SinkReceipt]:
        sink = MlflowSink(endpoint=endpoint(url), experiment=experiment)
        try:
            return list(await sink.send(deliveries))
        finally:
            await sink.close()

    return asyncio.run(send())


def assessments(url: str, number: int) -> dict[str, Any]:
    """By name, each there once."""
    status, found = answer_of(f"{url}/api/3.0/mlflow/traces/tr-{trace_id(number)}")
    assert status == 200
    listed = found["trace"]["trace_info"].get("assessments", [])
    by_name = {each["assessment_name"]: each for each in listed}
    assert len(by_name) == len(listed)
    return by_name


def test_scores_are_assessments_of_their_trace_and_their_step(mlflow: str) -> None:
    assert sent(mlflow, told(1)) == [TAKEN]
    found = assessments(mlflow, 1)
    assert {name: each["feedback"].get("value") for name, each in found.items()} == {
        "tone": 0.5,
        "polite": False,
        "topic": "refunds",
        "parts": {"a": [1, 2]},
        "slow": None,
        "length": 3,
    }
    assert found["tone"]["rationale"] == "warm"
    assert found["tone"]["source"] == {"source_type": "CODE", "source_id": "builtin/tone@1.0.0"}
    assert found["polite"]["source"]["source_type"] == "LLM_JUDGE"
    assert found["slow"]["feedback"]["error"]["error_code"] == "timeout"
    assert found["length"]["span_id"] == spans_of(1)[1].span_id
    assert "span_id" not in found["tone"]
    assert found["tone"]["metadata"]["evalsi.policy"] == "answers"


def test_what_is_sent_again_is_there_once_and_a_later_revision_changes_it(mlflow: str) -> None:
    for delivery in (told(2), told(2), told(2, revision=2, value=0.75)):
        assert sent(mlflow, delivery) == [TAKEN]
    found = assessments(mlflow, 2)
    assert found["tone"]["feedback"]["value"] == 0.75
    assert {each["metadata"]["evalsi.revision"] for each in found.values()} == {"2"}


def test_what_is_not_there_any_more_is_deleted_and_what_never_was_is_no_trouble(mlflow: str) -> None:
    for delivery in (told(4), withdrawing(4, "topic", "length", "patience")):
        assert sent(mlflow, delivery) == [TAKEN]
    assert assessments(mlflow, 4).keys() == {"tone", "polite", "parts", "slow"}


def test_what_a_person_overruled_is_not_told_once_more(mlflow: str) -> None:
    sent(mlflow, told(3))
    mine = assessments(mlflow, 3)["tone"]
    said = {
        "assessment": {
            "assessment_name": "tone",
            "trace_id": mine["trace_id"],
            "source": {"source_type": "HUMAN", "source_id": "jane"},
            "create_time": mine["create_time"],
            "last_update_time": mine["create_time"],
            "feedback": {"value": 1.0},
            "overrides": mine["assessment_id"],
            "valid": True,
        }
    }
    address = f"{mlflow}/api/3.0/mlflow/traces/{mine['trace_id']}/assessments"
    assert answer_of(address, json.dumps(said).encode(), {"Content-Type": "application/json"})[0] == 200
    assert sent(mlflow, told(3, revision=2)) == [TAKEN]
    _, found = answer_of(f"{mlflow}/api/3.0/mlflow/traces/{mine['trace_id']}")
    of_tone = [
        (each["source"]["source_type"], each["valid"])
        for each in found["trace"]["trace_info"]["assessments"]
        if each["assessment_name"] == "tone"
    ]
    assert sorted(of_tone) == [("CODE", False), ("HUMAN", True)]


def test_a_trace_that_is_not_there_yet_costs_only_its_own_delivery(mlflow: str) -> None:
    found = sent(mlflow, told(1), told(9), told(2, revision=2, value=0.75))
    assert [each.state for each in found] == ["taken", "missing", "taken"]
    assert found[1].error == "127.0.0.1 does not know the trace"


def test_the_score_of_a_session_stands_on_its_first_trace(mlflow: str) -> None:
    assert sent(mlflow, of_session(1, "s1")) == [TAKEN]
    found = assessments(mlflow, 1)["patience"]
    assert found["metadata"]["mlflow.assessment.onlineScoringSessionId"] == "s1"


@pytest.mark.parametrize("experiment", ["", "nightly"])
def test_a_run_is_logged_once_to_its_experiment_which_is_made(mlflow: str, experiment: str) -> None:
    metric = OutgoingMetric(metric="exact-match.pass@2", n=10, mean=0.75, low=0.5, high=0.875, skipped=1)
    whole = OutgoingRun(
        id=f"r1-{experiment}",
        name="first",
        began_ms=AT_MS,
        ended_ms=AT_MS + 9,
        labels={"team": "ops"},
        metrics=[metric],
    )
    for mean in (0.25, 0.75):
        told_now = msgspec.structs.replace(whole, metrics=[msgspec.structs.replace(metric, mean=mean)])
        delivery = msgspec.structs.replace(outgoing(1), run=told_now)
        assert sent(mlflow, delivery, experiment=experiment) == [TAKEN]
    name = experiment or "Default"
    _, found = answer_of(f"{mlflow}/api/2.0/mlflow/experiments/get-by-name?experiment_name={name}")
    wanted = {"experiment_ids": [found["experiment"]["experiment_id"]]}
    _, runs = answer_of(f"{mlflow}/api/2.0/mlflow/runs/search", json.dumps(wanted).encode(), JSON)
    (run,) = runs["runs"]
    assert (run["info"]["run_name"], run["info"]["status"], run["info"]["end_time"]) == ("first", "FINISHED", AT_MS + 9)
    assert {each["key"]: each["value"] for each in run["data"]["metrics"]} == {
        "exact-match.pass_2": 0.75,
        "exact-match.pass_2.low": 0.5,
        "exact-match.pass_2.high": 0.875,
        "exact-match.pass_2.n": 10,
        "exact-match.pass_2.skipped": 1,
        "exact-match.pass_2.errors": 0,
    }
    tags = {each["key"]: each["value"] for each in run["data"]["tags"]}
    assert (tags["evalsi.project"], tags["evalsi.label.team"]) == ("default", "ops")


def test_another_server_at_that_address_is_no_mlflow() -> None:
    from tests.watch.webhook_receiver import receiver

    with receiver() as heard:
        (found,) = sent(heard.url, told(1))
    assert found.state == "trouble"
