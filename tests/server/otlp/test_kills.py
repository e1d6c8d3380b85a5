"""A server that is killed again and again while traces come in: what was acknowledged is there, and nothing is there twice."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from evalsi.infra.store.open_stores import open_trace_store
from evalsi.ports.trace_store import TraceStore
from evalsi.traces import decode_otlp_protobuf
from tests.postgres_server import postgres_server
from tests.server.otlp.sending import PROTOBUF, a_trace, body_of
from tests.server.running_server import running_server
from tests.thoroughness import repeats

pytestmark = pytest.mark.slow

KILLS = repeats(5, 100)
KILLS_WITH_POSTGRESQL = repeats(3, 100)
SENDERS = 3
SPANS = 3
LONG = "lamp " * 8_000


class Sender(threading.Thread):
    """Sends one trace after the other, and each again until it is acknowledged; every second one in a large body."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.port = 0
        self.acknowledged: list[str] = []
        self.resent = 0
        self.told_to_stop = False

    def run(self) -> None:
        while not self.told_to_stop:
            spans = a_trace(SPANS)
            if len(self.acknowledged) % 2:  # what is not read where it arrives
                spans[-1].attributes["gen_ai.output.messages"] = LONG
            body = body_of(*spans)
            tries = 0
            while not self._is_taken(body):
                tries += 1
                if self.told_to_stop:
                    return
                sleep(0.02)
            self.resent += tries > 0
            self.acknowledged.append(spans[0].trace_id)

    def _is_taken(self, body: bytes) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        with closing(connection), suppress(OSError, http.client.HTTPException):
            connection.request("POST", "/v1/traces", body, PROTOBUF)
            answer = connection.getresponse()
            answer.read()
            return answer.status == 200
        return False


def killed_again_and_again(
    folder: Path, kills: int, environment: dict[str, str], options: tuple[str, ...]
) -> list[Sender]:
    senders = [Sender() for _ in range(SENDERS)]
    for number in range(kills):
        with running_server(folder, options, environment) as server:
            for sender in senders:
                sender.port = server.port
                if not number:
                    sender.start()
            before = sum(len(sender.acknowledged) for sender in senders)
            while sum(len(sender.acknowledged) for sender in senders) < before + 20 + 7 * number % 30:
                sleep(0.005)
            server.process.kill()
            server.process.wait()
    for sender in senders:
        sender.told_to_stop = True
        sender.join(15)
    return senders


def span_ids(store: TraceStore, trace_id: str) -> list[str]:
    return [span.span_id for body in store.spans("default", trace_id) for span in decode_otlp_protobuf(body).spans]


def check(store: TraceStore, senders: list[Sender], kills: int) -> None:
    acknowledged = [trace_id for sender in senders for trace_id in sender.acknowledged]
    assert len(acknowledged) >= kills * 20
    for trace_id in acknowledged:
        found = span_ids(store, trace_id)
        assert len(found) == len(set(found)) == SPANS
        assert store.summary("default", trace_id).spans == SPANS


def test_every_acknowledged_span_survives_in_sqlite(tmp_path: Path) -> None:
    senders = killed_again_and_again(tmp_path, KILLS, {}, ())
    store: Any
    with closing(open_trace_store(str(tmp_path / "store" / "evalsi.db"))) as store:
        check(store, senders, KILLS)


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with postgres_server() as postgres:
        yield postgres.new_database("kills")


def test_every_acknowledged_span_survives_in_postgresql(tmp_path: Path, database: str) -> None:
    (tmp_path / "evalsi.yaml").write_text("data_dir: store\nstorage: {postgres: {dsn_env: THE_DATABASE}}\n")
    senders = killed_again_and_again(
        tmp_path, KILLS_WITH_POSTGRESQL, {"THE_DATABASE": database}, ("--config", "evalsi.yaml")
    )
    store: Any
    with closing(open_trace_store(database)) as store:
        check(store, senders, KILLS_WITH_POSTGRESQL)
