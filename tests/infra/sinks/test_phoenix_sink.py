"""Scores as annotations in a real Arize Phoenix server, which this installs. Starting one takes half a minute."""

import asyncio
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from evalsi.infra.sinks.phoenix_sink import PhoenixSink
from evalsi.ports.score_sink import TAKEN, OutgoingScores, SinkReceipt
from evalsi.traces.otlp_writing import encode_otlp_protobuf
from tests.infra.sinks.published_products import answer_of, free_port, started
from tests.infra.sinks.told_scores import endpoint, of_session, outgoing, score, told, withdrawing
from tests.own_environment import own_environment
from tests.server.running_server import wait_until
from tests.thoroughness import THOROUGH
from tests.watch.live_traffic import spans_of

REQUIREMENT = "arize-phoenix==20.26.1"
PROTOBUF = {"Content-Type": "application/x-protobuf"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.interop,
    pytest.mark.xdist_group("phoenix"),
    pytest.mark.skipif(not THOROUGH, reason="installing and starting Phoenix takes more than a minute"),
]


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    folder: Path = tmp_path_factory.mktemp("phoenix")
    python = own_environment(folder / "env", [REQUIREMENT])
    port = free_port()
    settings = {
        "PHOENIX_WORKING_DIR": str(folder / "work"),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    command = [str(python), "-m", "phoenix.server.main", "serve"]
    with started(command, folder, port, "/healthz", settings) as url:
        for number in (1, 2):
            spans = spans_of(number, attributes={"session.id": f"s{number}"})
            assert answer_of(f"{url}/v1/traces", encode_otlp_protobuf(spans), PROTOBUF)[0] == 200
        assert wait_until(lambda: [each.state for each in sent(url, ping(1), ping(2))] == ["taken"] * 2, 60)
        yield url


def ping(number: int) -> OutgoingScores:
    return outgoing(number, score(number, "ping", number=1.0))


def sent(url: str, *deliveries: OutgoingScores) -> list[SinkReceipt]:
    async def send() -> list[SinkReceipt]:
        sink = PhoenixSink(endpoint=endpoint(url))
        try:
            return list(await sink.send(deliveries))
        finally:
            await sink.close()

    return asyncio.run(send())


def annotations(url: str, number: int, place: int = 0) -> dict[str, Any]:
    """Of a span, by name, each there once."""
    span_id = spans_of(number)[place].span_id
    status, found = answer_of(f"{url}/v1/projects/default/span_annotations?span_ids={span_id}")
    assert status == 200
    by_name = {each["name"]: each for each in found["data"]}
    assert len(by_name) == len(found["data"])
    return by_name


def test_scores_are_annotations_of_the_span_that_was_evaluated(phoenix: str) -> None:
    assert sent(phoenix, told(1)) == [TAKEN]
    found = annotations(phoenix, 1)
    assert found.keys() == {"ping", "tone", "polite", "topic"}
    assert found["tone"]["result"] == {"label": None, "score": 0.5, "explanation": "warm"}
    assert found["tone"]["annotator_kind"] == "CODE"
    polite = found["polite"]
    assert (polite["result"]["label"], polite["result"]["score"], polite["annotator_kind"]) == ("fail", 0.0, "LLM")
    assert found["topic"]["result"]["label"] == "refunds"
    assert annotations(phoenix, 1, 1)["length"]["result"]["score"] == 3.0


def test_what_is_sent_again_is_there_once_and_a_later_revision_changes_it(phoenix: str) -> None:
    for delivery in (told(2), told(2), told(2, revision=2, value=0.75)):
        assert sent(phoenix, delivery) == [TAKEN]
    found = annotations(phoenix, 2)
    assert found["tone"]["result"]["score"] == 0.75
    assert found["tone"]["metadata"]["evalsi.revision"] == 2


def test_a_span_that_is_not_there_yet_costs_only_its_own_delivery(phoenix: str) -> None:
    found = sent(phoenix, told(1), told(9), told(2, revision=2, value=0.75))
    assert [each.state for each in found] == ["taken", "missing", "taken"]
    assert annotations(phoenix, 2)["tone"]["result"]["score"] == 0.75


def test_the_score_of_a_session_is_an_annotation_of_the_session(phoenix: str) -> None:
    assert sent(phoenix, of_session(1, "s1")) == [TAKEN]
    status, found = answer_of(f"{phoenix}/v1/projects/default/session_annotations?session_ids=s1")
    assert status == 200
    assert [(each["name"], each["result"]["score"]) for each in found["data"]] == [("patience", 0.25)]
    assert sent(phoenix, of_session(1, "elsewhere"))[0].state == "missing"


def test_a_name_that_phoenix_keeps_for_itself_is_told_under_another(phoenix: str) -> None:
    assert sent(phoenix, outgoing(1, score(1, "note", number=1.0))) == [TAKEN]
    assert "evalsi.note" in annotations(phoenix, 1)


def test_what_is_not_there_any_more_is_said_to_be_withdrawn(phoenix: str) -> None:
    assert sent(phoenix, withdrawing(1, "polite", revision=3)) == [TAKEN]
    polite = annotations(phoenix, 1)["polite"]["result"]
    assert (polite["label"], polite["score"]) == ("withdrawn", None)
    assert annotations(phoenix, 1)["tone"]["result"]["score"] == 0.5
