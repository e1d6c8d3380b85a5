"""OTLP over HTTP as senders meet it: every encoding, every refusal, and an answer that means stored."""

import json
import socket
import time
import zlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import grpc
import msgspec
import pytest
import zstandard

from evalsi.traces import Span
from evalsi.traces.span import SpanEvent
from tests.case_files import CASES
from tests.server.otlp.sending import (
    JSON,
    PACKINGS,
    PROTOBUF,
    a_trace,
    body_of,
    partial_success,
    post,
    status_of,
    stored,
)
from tests.server.running_server import RunningServer, running_server
from tests.traces.otlp_encoding import encode_request

ROWS: list[dict[str, Any]] = json.loads((CASES / "files" / "H06_id_variants.json").read_text())
REJECTED = {"base64 id (wrong for OTLP JSON)": 1, "all zero trace id": 1, "31 digits": 1, "two good one bad": 1}
SMALL = """
projects: {tight: {}}
otlp:
  max_request_bytes: 2000000
  max_waiting_bytes: 4000000
  max_trace_spans: 30
  max_attribute_bytes: 20000
  max_age: 14600d
  projects: {tight: {max_trace_spans: 5, max_attribute_bytes: 100, max_attributes: 4, max_age: 1h}}
"""


@pytest.fixture(scope="module")
def taking(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("taking")
    (folder / "evalsi.yaml").write_text(SMALL, encoding="utf-8")
    with running_server(folder, ["--config", "evalsi.yaml"]) as running:
        yield running


@pytest.mark.parametrize("packing", ["", "gzip", "zstd"])
@pytest.mark.parametrize("encoding", ["protobuf", "json"])
def test_what_was_answered_with_200_is_stored(taking: RunningServer, encoding: str, packing: str) -> None:
    request = json.loads((CASES / "files" / "H01_genai.json").read_bytes())
    trace = a_trace()[0].trace_id
    old = request["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"]
    now = str(time.time_ns())
    text = json.dumps(request).replace(old, trace)
    request = json.loads(text)
    for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        span["endTimeUnixNano"] = now
    body = json.dumps(request).encode() if encoding == "json" else encode_request(request)
    headers = dict(JSON if encoding == "json" else PROTOBUF)
    if packing:
        body, headers["content-encoding"] = PACKINGS[packing](body), packing
    status, answered, content = post(taking, body, headers)
    assert (status, content) == (200, b"{}" if encoding == "json" else b"")
    assert answered["content-type"] == headers["content-type"]
    assert stored(taking, trace)["record"]["id"] == trace


def test_a_body_in_chunks_without_its_length_is_taken(taking: RunningServer) -> None:
    spans = a_trace()
    body = body_of(*spans)
    with socket.create_connection(("127.0.0.1", taking.port)) as wire:
        wire.sendall(b"POST /v1/traces HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-protobuf\r\n")
        wire.sendall(b"transfer-encoding: chunked\r\n\r\n")
        for at in range(0, len(body), 100):
            piece = body[at : at + 100]
            wire.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        wire.sendall(b"0\r\n\r\n")
        assert wire.recv(100).startswith(b"HTTP/1.1 200")
    assert stored(taking, spans[0].trace_id) is not None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_the_rows_of_the_case_are_answered_as_it_says(taking: RunningServer, row: dict[str, Any]) -> None:
    status, _, content = post(taking, json.dumps(row["body"]).encode(), JSON)
    answer = json.loads(content)
    rejected = REJECTED.get(row["name"], 0)
    assert status == 200
    assert answer.get("partialSuccess", {}).get("rejectedSpans", "0") == str(rejected)
    if "base64" in row["name"]:
        assert "'ok'" in answer["partialSuccess"]["errorMessage"]
        assert "base64" in answer["partialSuccess"]["errorMessage"]


def test_a_request_that_is_sent_again_changes_nothing(taking: RunningServer) -> None:
    body = body_of(*a_trace())
    before = taking.metric("evalsi_spans_ingested_total")
    assert [post(taking, body)[0] for _ in range(3)] == [200] * 3
    assert taking.metric("evalsi_spans_ingested_total") == before + 3


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        ({}, b"x", 415),
        ({"content-type": "text/plain"}, b"x", 415),
        ({**PROTOBUF, "content-encoding": "br"}, b"x", 415),
        (PROTOBUF, b"\xff\xfe\xfd", 400),
        (JSON, b'{"resourceSpans": [', 400),
        (JSON, b'{"resourceSpans": 5}', 400),
        (JSON, b"[" * 50_000, 400),
        (JSON, b'{"a": "\xff\xfe"}', 400),
        ({**PROTOBUF, "content-encoding": "gzip"}, b"no gzip", 400),
        ({**PROTOBUF, "content-encoding": "gzip"}, zlib.compress(b"x" * 100, wbits=31)[:-9], 400),
        ({**PROTOBUF, "content-encoding": "zstd"}, b"no zstd", 400),
        ({**PROTOBUF, "content-encoding": "zstd"}, zstandard.compress(b"x" * 100)[:-2], 400),
        (PROTOBUF, b"x" * 2_000_001, 413),
        (JSON, b" " * 500_001, 413),
    ],
)
def test_what_cannot_be_taken_is_refused_in_the_encoding_it_came_in(
    taking: RunningServer, headers: dict[str, str], body: bytes, expected: int
) -> None:
    status, answered, content = post(taking, body, headers or {"x": "y"})
    assert status == expected
    if headers.get("content-type") == PROTOBUF["content-type"]:
        assert answered["content-type"] == PROTOBUF["content-type"]
        told = status_of(content)
        assert told.code in (3, 8)
        assert told.message
    else:
        assert answered["content-type"] == "application/json"
        assert json.loads(content)["code"] in (3, 8)


OWN_LIMITS = """
projects: {small: {}, large: {}}
otlp:
  grace: 0.2s
  max_request_bytes: 100000
  max_request_spans: 40
  projects:
    default: {max_request_bytes: 200000, max_request_spans: 50}
    small: {max_request_bytes: 60000, max_request_spans: 4}
    large: {max_request_bytes: 400000, max_request_spans: 60}
"""


@pytest.fixture(scope="module")
def dividing(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    """A server whose projects take different sizes of requests; who calls is one of the default project."""
    folder: Path = tmp_path_factory.mktemp("dividing")
    (folder / "evalsi.yaml").write_text(OWN_LIMITS, encoding="utf-8")
    with running_server(folder, ["--config", "evalsi.yaml"]) as running:
        yield running


def sized(size_bytes: int, project: str = "", spans: int = 1) -> bytes:
    """A request of about that size, a little less."""
    texts = {"padding": "x" * ((size_bytes - 700 * spans) // spans)}
    resource = {"evalsi.project": project} if project else {}
    made = a_trace(spans, resource=resource)
    return body_of(*(msgspec.structs.replace(span, attributes=texts) for span in made))


@pytest.mark.parametrize("packing", ["", "gzip"])
def test_a_project_has_its_own_size_of_requests(dividing: RunningServer, packing: str) -> None:
    def sent(body: bytes) -> tuple[int, str]:
        headers = {**PROTOBUF, "content-encoding": packing} if packing else PROTOBUF
        # Texts that repeat themselves would be refused as a bomb.
        status, _, answer = post(dividing, PACKINGS[packing](body) if packing else body, headers)
        return status, status_of(answer).message if status != 200 else ""

    assert sent(sized(190_000))[0] == 200
    status, said = sent(sized(210_000))
    assert (status, "200,000 bytes that are taken" in said) == (413, True)
    assert sent(sized(55_000, "small"))[0] == 200
    status, said = sent(sized(70_000, "small"))
    assert (status, "60,000 bytes that are taken for the project 'small'" in said) == (413, True)
    # What a project may have more is known too late for one that the request names.
    assert sent(sized(190_000, "large"))[0] == 200
    assert sent(sized(210_000, "large"))[0] == 413


@pytest.mark.parametrize(("size_bytes", "project", "said"), [(210_000, "", "200,000"), (70_000, "small", "60,000")])
def test_the_size_of_a_project_holds_over_grpc_too(
    dividing: RunningServer, size_bytes: int, project: str, said: str
) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{dividing.port}") as channel:
        export: Any = channel.unary_unary("/opentelemetry.proto.collector.trace.v1.TraceService/Export")
        export(sized(size_bytes - 20_000, project), timeout=20)
        with pytest.raises(grpc.RpcError) as refused:
            export(sized(size_bytes, project), timeout=20)
    answer: Any = refused.value
    assert f"{said} bytes that are taken" in answer.details()


def test_what_is_too_large_for_a_project_that_a_request_names_is_not_stored_in_part(dividing: RunningServer) -> None:
    own, named = a_trace(1), a_trace(1, resource={"evalsi.project": "small"})
    padded = [msgspec.structs.replace(span, attributes={"padding": "x" * 40_000}) for span in (*own, *named)]
    assert post(dividing, body_of(*padded))[0] == 413
    assert stored(dividing, own[0].trace_id) is None
    for span in padded:
        assert post(dividing, body_of(span))[0] == 200
    assert stored(dividing, own[0].trace_id)
    assert stored(dividing, named[0].trace_id, "small")


@pytest.mark.parametrize(("project", "most"), [("", 50), ("small", 4), ("large", 60)])
def test_a_project_has_its_own_number_of_spans_in_a_request(dividing: RunningServer, project: str, most: int) -> None:
    spans = a_trace(70, resource={"evalsi.project": project} if project else {})
    status, _, answer = post(dividing, body_of(*spans))
    rejected, message = partial_success(answer)
    assert (status, rejected) == (200, 70 - most)
    assert f"a request has at most {most} spans" in message
    assert stored(dividing, spans[0].trace_id, project)["summary"]["spans"] == most


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
def test_a_bomb_is_refused_by_its_first_pieces(taking: RunningServer, packing: str) -> None:
    bomb = PACKINGS[packing](bytes(1_900_000))
    status, _, content = post(taking, bomb, {**PROTOBUF, "content-encoding": packing})
    assert status == 413
    assert "times its size" in status_of(content).message


def test_other_verbs_are_addresses_of_the_schema(taking: RunningServer) -> None:
    status, _, content = taking.request("GET", "/v1/traces")
    assert status == 200
    assert "traces" in json.loads(content)


def test_limits_reject_spans_with_their_reason_and_count_them(taking: RunningServer) -> None:
    many, old = a_trace(32), a_trace(1)
    one = [msgspec.structs.replace(old[0], end_ns=5)]
    for spans, reason, count in ((many, "trace_full", 2), (one, "too_old", 1)):
        name = f'evalsi_spans_dropped_total{{reason="{reason}"}}'
        before = taking.metric(name)
        status, _, content = post(taking, body_of(*spans))
        rejected, told = partial_success(content)
        assert (status, rejected) == (200, count)
        assert told.startswith("spans that were not taken: ")
        assert taking.metric(name) == before + count


def test_a_trace_that_grows_beyond_its_limit_over_many_requests_is_stopped(taking: RunningServer) -> None:
    trace = a_trace(1)[0].trace_id
    answers = [partial_success(post(taking, body_of(*a_trace(10, trace)))[2])[0] for _ in range(4)]
    assert answers == [0, 0, 0, 10]


def test_a_project_may_have_limits_of_its_own(taking: RunningServer) -> None:
    tight = {"evalsi.project": "tight"}
    name = 'evalsi_spans_dropped_total{reason="trace_full"}'
    before = taking.metric(name)
    assert partial_success(post(taking, body_of(*a_trace(6, resource=tight)))[2])[0] == 1
    trace = a_trace(1)[0].trace_id
    grown = [partial_success(post(taking, body_of(*a_trace(3, trace, tight)))[2])[0] for _ in range(2)]
    assert grown == [0, 3]
    assert taking.metric(name) == before + 4
    (old,) = a_trace(1, resource=tight)
    two_hours_ago = msgspec.structs.replace(old, end_ns=old.end_ns - 7_200_000_000_000)
    rejected, told = partial_success(post(taking, body_of(two_hours_ago))[2])
    assert (rejected, "ended longer ago than is taken" in told) == (1, True)
    (long,) = a_trace(1, resource=tight)
    long.attributes.update({"gen_ai.output.messages": "y" * 9_000} | {f"k{number}": 1 for number in range(9)})
    assert post(taking, body_of(long))[0] == 200
    (step,) = stored(taking, long.trace_id, "tight")["record"]["trajectory"]["steps"]
    assert "[cut: 8900 bytes]" in json.dumps(step)
    assert sum(each.startswith("k") for each in step["attributes"]) == 2


def large(spans: list[Span]) -> list[Span]:
    """The same spans in a body that is not read where it arrives."""
    for span in spans:
        span.attributes["gen_ai.output.messages"] = "lamp " * 3_000
    return spans


def test_a_large_body_is_counted_limited_and_split_by_project_like_a_small_one(taking: RunningServer) -> None:
    whole, full = large(a_trace(4)), large(a_trace(32))
    name = 'evalsi_spans_dropped_total{reason="trace_full"}'
    before, dropped = taking.metric("evalsi_spans_ingested_total"), taking.metric(name)
    assert post(taking, body_of(*whole))[::2] == (200, b"")
    assert partial_success(post(taking, body_of(*full))[2])[0] == 2
    assert taking.metric("evalsi_spans_ingested_total") == before + 4 + 30
    assert taking.metric(name) == dropped + 2
    grown = [partial_success(post(taking, body_of(*large(a_trace(10, whole[0].trace_id))))[2])[0] for _ in range(3)]
    assert grown == [0, 0, 10]
    own, others = large(a_trace(4)), large(a_trace(4, resource={"evalsi.project": "tight"}))
    assert post(taking, body_of(*own, *others))[::2] == (200, b"")
    assert stored(taking, own[0].trace_id) and not stored(taking, own[0].trace_id, "tight")
    assert stored(taking, others[0].trace_id, "tight") and not stored(taking, others[0].trace_id)


def test_what_a_large_body_says_of_quality_is_heard(taking: RunningServer) -> None:
    spans = large(a_trace(4))
    said = {"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.value": 0.25}
    spans[1].events.append(SpanEvent(name="gen_ai.evaluation.result", time_ns=spans[1].end_ns, attributes=said))
    assert post(taking, body_of(*spans))[::2] == (200, b"")
    (heard,) = stored(taking, spans[0].trace_id)["feedback"]
    assert heard["name"] == "tone"


def test_a_large_body_that_is_damaged_is_refused_and_stores_nothing(taking: RunningServer) -> None:
    spans = large(a_trace(4))
    assert post(taking, body_of(*spans)[:-5])[0] == 400
    assert stored(taking, spans[0].trace_id) is None


def test_a_long_text_is_cut_with_a_mark(taking: RunningServer) -> None:
    (span,) = a_trace(1)
    span.attributes["gen_ai.output.messages"] = "y" * 30_000
    assert post(taking, body_of(span))[0] == 200
    found = json.dumps(stored(taking, span.trace_id))
    assert "[cut: 10000 bytes]" in found
    assert "y" * 20_001 not in found


def test_a_sender_that_trickles_holds_nobody_up_and_holds_no_memory(taking: RunningServer) -> None:
    slow: list[socket.socket] = []
    try:
        for _ in range(50):
            wire = socket.create_connection(("127.0.0.1", taking.port))
            wire.sendall(b"POST /v1/traces HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-protobuf\r\n")
            wire.sendall(b"content-length: 1000000\r\n\r\nabc")
            slow.append(wire)
        assert taking.metric("evalsi_otlp_waiting_bytes") < 1000
        assert post(taking, body_of(*a_trace()))[0] == 200
    finally:
        for wire in slow:
            wire.close()


def test_more_than_fits_is_told_to_come_again_at_once(taking: RunningServer) -> None:
    body = b"\x0a\x80" + b"x" * 1_900_000  # held until it is read to its end
    slow: list[socket.socket] = []
    try:
        for _ in range(2):
            wire = socket.create_connection(("127.0.0.1", taking.port))
            wire.sendall(b"POST /v1/traces HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-protobuf\r\n")
            wire.sendall(f"content-length: {len(body) + 1}\r\n\r\n".encode() + body)
            slow.append(wire)
        deadline = time.monotonic() + 10
        while taking.metric("evalsi_otlp_waiting_bytes") < 3_700_000 and time.monotonic() < deadline:
            time.sleep(0.02)
        status, answered, content = post(taking, b"x" * 900_000)
        assert status == 503
        assert answered["retry-after"] == "1"
        told = status_of(content)
        assert told.details[0].type_url.endswith("google.rpc.RetryInfo")
    finally:
        for wire in slow:
            wire.close()
    assert post(taking, body_of(*a_trace()))[0] == 200
