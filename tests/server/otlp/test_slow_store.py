"""A store that lets everybody wait: what was taken is counted and held to its account, also when its sender has given up."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from evalsi.server.otlp.trace_sizes import TraceSizes
from tests.server.otlp.sending import a_trace, body_of, partial_success, post, stored
from tests.server.running_server import RunningServer, running_server, wait_until
from tests.server.test_full_disk import server_on_a_small_disk

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
WAITING = "evalsi_otlp_waiting_bytes"
CANCELLED = 'evalsi_call_seconds_count{code="cancelled"'


@contextmanager
def held_up(folder: Path) -> Generator[None]:
    """Meanwhile nobody can write to the server's traces."""
    with closing(sqlite3.connect(folder / "store" / "traces.db", isolation_level=None, timeout=60)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def gives_up(server: RunningServer, body: bytes) -> None:
    """A sender that hangs up when all that it sent has come."""
    held, cancelled = server.metric(WAITING), server.metric(CANCELLED)
    with grpc.insecure_channel(server.address) as channel:
        call: Any = channel.unary_unary(EXPORT)
        sending = call.future(body)
        assert wait_until(lambda: server.metric(WAITING) == held + len(body))
        sending.cancel()
    assert wait_until(lambda: server.metric(CANCELLED) == cancelled + 1)


@pytest.mark.parametrize("kib", [1, 100])
def test_bytes_are_held_until_they_are_stored_also_when_the_sender_has_given_up(tmp_path: Path, kib: int) -> None:
    with running_server(tmp_path) as server:
        assert post(server, body_of(*a_trace()))[0] == 200
        spans = a_trace(4)
        spans[1].attributes["gen_ai.output.messages"] = "lamp " * 200 * kib
        spans[2].attributes["gen_ai.output.messages"] = "hall " * 200 * kib
        body = body_of(*spans)
        before = server.metric("evalsi_spans_ingested_total"), server.metric("evalsi_ingested_bytes_total")
        with held_up(tmp_path):
            gives_up(server, body)
            gives_up(server, body)
            assert server.metric(WAITING) == 2 * len(body)
            assert server.request("GET", "/healthz")[0] == 200
        assert wait_until(lambda: server.metric(WAITING) == 0)
        assert stored(server, spans[0].trace_id)["summary"]["spans"] == 4
        # Both were carried out to their end, and the second changed nothing.
        assert server.metric("evalsi_spans_ingested_total") == before[0] + 4
        assert server.metric("evalsi_ingested_bytes_total") == before[1] + 2 * len(body)


def test_what_is_rejected_is_counted_also_when_the_sender_has_given_up(tmp_path: Path) -> None:
    (tmp_path / "evalsi.yaml").write_text("data_dir: store\notlp: {max_trace_spans: 30}\n", encoding="utf-8")
    with running_server(tmp_path, ["--config", "evalsi.yaml"]) as server:
        spans = a_trace(32)
        for span in spans:
            span.attributes["gen_ai.output.messages"] = "lamp " * 1_000
        with held_up(tmp_path):
            gives_up(server, body_of(*spans))
        assert wait_until(lambda: server.metric(WAITING) == 0)
        assert server.metric('evalsi_spans_dropped_total{reason="trace_full"}') == 2


@pytest.mark.slow
@pytest.mark.parametrize("letters", [20, 6000])
def test_a_request_that_is_refused_for_long_is_not_too_much_for_its_trace_afterwards(
    tmp_path: Path, letters: int
) -> None:
    with server_on_a_small_disk(tmp_path) as (server, disk):
        assert post(server, body_of(*a_trace()))[0] == 200
        spans = a_trace(100)
        for span in spans:
            span.attributes["noise"] = span.span_id * (letters // 16 + 1)
        body = body_of(*spans)
        disk.fill()
        while post(server, body_of(*a_trace(100)))[0] == 200:
            """What is free within its files is used up."""
        for _ in range(101):  # of 10,000 spans that a trace may have
            assert post(server, body)[0] == 503
        disk.make_room()
        status, _, content = post(server, body)
        assert (status, partial_success(content)[0]) == (200, 0)
        assert stored(server, spans[0].trace_id)["summary"]["spans"] == 100


def test_spans_that_are_taken_back_do_not_count() -> None:
    sizes, trace = TraceSizes(), ("default", b"a")
    assert sizes.add(trace, 6, 10)
    for _ in range(3):
        assert sizes.add(trace, 4, 10)
        assert not sizes.add(trace, 1, 10)
        sizes.take_back(trace, 4)
    sizes.take_back(("default", b"nobody knows"), 4)
    assert not sizes.add(trace, 5, 10)
