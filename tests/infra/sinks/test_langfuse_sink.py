"""Scores in Langfuse: its server needs more than a package index has, so this asks a stand-in that checks every request by the
models of the published client (`langfuse_stand_in`)."""

import asyncio
import base64
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evalsi.infra.sinks.langfuse_sink import LangfuseSink
from evalsi.ports.score_sink import TAKEN, OutgoingScores, SinkReceipt
from tests.infra.sinks.published_products import answer_of, free_port, started
from tests.infra.sinks.told_scores import endpoint, of_session, outgoing, score, told, withdrawing
from tests.own_environment import own_environment
from tests.watch.live_traffic import spans_of, trace_id

REQUIREMENT = "langfuse==5.0.4"
KINDS = ("lists", "single")

pytestmark = [pytest.mark.slow, pytest.mark.interop, pytest.mark.xdist_group("langfuse")]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own_environment(tmp_path_factory.mktemp("langfuse") / "env", [REQUIREMENT])


@contextmanager
def langfuse(python: Path, folder: Path, kind: str) -> Generator[str]:
    port = free_port()
    command = [str(python), str(Path(__file__).with_name("langfuse_stand_in.py")), kind, str(port)]
    with started(command, folder, port, "/kept") as url:
        yield url


@pytest.fixture(params=KINDS)
def url(python: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Generator[str]:
    with langfuse(python, tmp_path, request.param) as found:
        yield found


def sent(url: str, *rounds: list[OutgoingScores], secret: str = "sk-test") -> list[list[SinkReceipt]]:
    pair = base64.b64encode(f"pk-test:{secret}".encode()).decode()

    async def send() -> list[list[SinkReceipt]]:
        sink = LangfuseSink(endpoint(url, headers=lambda: {"Authorization": f"Basic {pair}"}))
        try:
            return [list(await sink.send(deliveries)) for deliveries in rounds]
        finally:
            await sink.close()

    return asyncio.run(send())


def kept(url: str) -> dict[str, Any]:
    """By name, each there once."""
    _, found = answer_of(f"{url}/kept")
    by_name = {each["name"]: each for each in found.values()}
    assert len(by_name) == len(found)
    return by_name


def test_scores_are_of_their_trace_and_their_step(url: str) -> None:
    assert sent(url, [told(1)]) == [[TAKEN]]
    found = kept(url)
    assert {name: (each["dataType"], each["value"]) for name, each in found.items()} == {
        "tone": ("NUMERIC", 0.5),
        "polite": ("BOOLEAN", 0.0),
        "topic": ("CATEGORICAL", "refunds"),
        "length": ("NUMERIC", 3.0),
    }
    assert {each["traceId"] for each in found.values()} == {trace_id(1)}
    assert found["length"]["observationId"] == spans_of(1)[1].span_id
    assert "observationId" not in found["tone"]
    assert found["tone"]["comment"] == "warm"


def test_what_is_sent_again_is_there_once_and_a_later_revision_changes_it(url: str) -> None:
    assert sent(url, [told(2)], [told(2)], [told(2, revision=2, value=0.75)]) == [[TAKEN]] * 3
    assert kept(url)["tone"]["value"] == 0.75


def test_what_is_not_there_any_more_is_deleted_and_what_never_was_is_no_trouble(url: str) -> None:
    assert sent(url, [told(4)], [withdrawing(4, "topic", "length", "patience")]) == [[TAKEN]] * 2
    assert kept(url).keys() == {"tone", "polite"}


def test_a_score_that_is_rejected_costs_only_its_own_delivery(url: str) -> None:
    poison = outgoing(9, score(9, "poison", number=1.0))
    (found,) = sent(url, [told(1), poison, of_session(3, "s3")])
    assert [each.state for each in found] == ["taken", "refused", "taken"]
    assert kept(url).keys() == {"tone", "polite", "topic", "length", "patience"}
    assert kept(url)["patience"]["sessionId"] == "s3"


def test_a_wrong_key_is_trouble_that_an_operator_ends(url: str) -> None:
    (found,) = sent(url, [told(1), told(2)], secret="sk-other")
    assert [(each.state, each.error) for each in found] == [("trouble", "127.0.0.1 answered with HTTP status 401")] * 2
    assert answer_of(f"{url}/asked")[1] == 1


def test_many_scores_are_one_request_where_that_is_taken_and_one_each_elsewhere(python: Path, tmp_path: Path) -> None:
    counts: dict[str, int] = {}
    for kind in KINDS:
        folder = tmp_path / kind
        folder.mkdir()
        with langfuse(python, folder, kind) as url:
            sent(url, [told(1)], [told(2)])
            counts[kind] = answer_of(f"{url}/asked")[1]
    # The list that was refused taught that one at a time is wanted.
    assert counts == {"lists": 2, "single": 1 + 8}
