"""What nobody should send: the server answers with a clear status, goes on serving, and its memory stays where it was."""

import gzip
import json
import random
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import grpc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalsi.schema.otlp_wire import otlp_messages
from tests.server.otlp.sending import JSON, PACKINGS, PROTOBUF, a_trace, body_of, post, stored
from tests.server.running_server import RunningServer, running_server
from tests.server.test_full_disk import server_on_a_small_disk
from tests.server.test_hammered_runs import resident_bytes
from tests.thoroughness import repeats

MOST_RESIDENT_BYTES = 400 << 20
ANSWERS = {200, 400, 413, 415, 429, 503}
SOUND = body_of(*a_trace(5))
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


def some_logs() -> bytes:
    """A message, a judgement and a line of a log."""
    messages = otlp_messages()
    request = messages.LogsRequest()
    records = request.resource_logs.add().scope_logs.add().log_records
    at = {"trace_id": b"\1" * 16, "span_id": b"\2" * 8, "time_unix_nano": 1}
    said = messages.KeyValueList(values=[messages.KeyValue(key="content")])
    said.values[0].value.string_value = "hello"
    records.add(event_name="gen_ai.user.message", **at).body.kvlist_value = said.SerializeToString()
    judged = records.add(event_name="gen_ai.evaluation.result", **at)
    judged.attributes.add(key="gen_ai.evaluation.score.value").value.double_value = 0.5
    records.add().body.string_value = "started"
    return request.SerializeToString()


SOUND_LOGS = some_logs()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("hostile")) as running:
        yield running


def is_well(server: RunningServer) -> bool:
    spans = a_trace()
    return post(server, body_of(*spans))[0] == 200 and stored(server, spans[0].trace_id) is not None


_JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["resourceSpans", "scopeSpans", "spans", "resource", "attributes", "key", "value", "traceId", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(
    st.one_of(
        st.tuples(st.just(PROTOBUF), st.binary(max_size=200)),
        st.tuples(st.just(PROTOBUF), st.integers(0, len(SOUND)).map(lambda at: SOUND[:at])),
        st.tuples(
            st.just(PROTOBUF),
            st.tuples(st.integers(0, len(SOUND) - 1), st.integers(0, 255)).map(
                lambda change: SOUND[: change[0]] + bytes([change[1]]) + SOUND[change[0] + 1 :]
            ),
        ),
        st.tuples(st.just(JSON), st.binary(max_size=100)),
        st.tuples(st.just(JSON), _JSON_VALUES.map(lambda value: json.dumps(value).encode())),
        st.tuples(
            st.sampled_from(["gzip", "zstd", "deflate"]).map(lambda name: {**PROTOBUF, "content-encoding": name}),
            st.binary(max_size=60),
        ),
    )
)
@settings(max_examples=repeats(150, 3000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_body_gets_a_clear_status(server: RunningServer, sent: tuple[dict[str, str], bytes]) -> None:
    headers, body = sent
    gets_a_clear_status(server, headers, body, "/v1/traces")


def gets_a_clear_status(server: RunningServer, headers: dict[str, str], body: bytes, path: str) -> None:
    status, answered, content = post(server, body, headers, path=path)
    assert status in ANSWERS
    assert answered["content-type"] == headers["content-type"]
    if headers is JSON:
        json.loads(content)


_JSON_LOGS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("gen_ai.choice"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "resourceLogs scopeLogs logRecords resource attributes key value traceId spanId body eventName "
                "timeUnixNano kvlistValue values".split()
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(
    st.one_of(
        st.tuples(st.just(PROTOBUF), st.binary(max_size=200)),
        st.tuples(st.just(PROTOBUF), st.integers(0, len(SOUND_LOGS)).map(lambda at: SOUND_LOGS[:at])),
        st.tuples(
            st.just(PROTOBUF),
            st.tuples(st.integers(0, len(SOUND_LOGS) - 1), st.integers(0, 255)).map(
                lambda change: SOUND_LOGS[: change[0]] + bytes([change[1]]) + SOUND_LOGS[change[0] + 1 :]
            ),
        ),
        st.tuples(st.just(JSON), st.binary(max_size=100)),
        st.tuples(st.just(JSON), _JSON_LOGS.map(lambda value: json.dumps(value).encode())),
    )
)
@settings(max_examples=repeats(150, 3000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_body_of_logs_gets_a_clear_status(server: RunningServer, sent: tuple[dict[str, str], bytes]) -> None:
    headers, body = sent
    gets_a_clear_status(server, headers, body, "/v1/logs")


def test_the_server_is_well_after_all_that(server: RunningServer) -> None:
    assert is_well(server)
    assert not [line for line in server.lines if line.get("event") in ("crash", "no JSON")]


def monsters() -> dict[str, tuple[dict[str, str], bytes]]:
    messages = otlp_messages()
    wide = messages.Span(trace_id=b"\1" * 16, span_id=b"\2" * 8)
    for number in range(100_000):
        wide.attributes.add(key=f"k{number}").value.int_value = number
    request = messages.Request()
    request.resource_spans.add().scope_spans.add().spans.append(wide.SerializeToString())
    many = messages.Request()
    scoped = many.resource_spans.add().scope_spans.add()
    scoped.spans.extend(
        messages.Span(trace_id=number.to_bytes(16, "big"), span_id=b"\2" * 8).SerializeToString()
        for number in range(1, 70_000)
    )
    empty = messages.Request()
    empty.resource_spans.extend(messages.ResourceSpans() for _ in range(500_000))
    crowd = messages.Request()
    crowd.resource_spans.add().scope_spans.add().spans.extend([b""] * 5_000_000)
    deep: bytes = messages.AnyValue(string_value="x").SerializeToString()
    for _ in range(3_000):
        deep = messages.AnyValue(
            array_value=messages.ArrayValue(values=[messages.AnyValue.FromString(deep)]).SerializeToString()
        ).SerializeToString()
    nested = messages.Span(trace_id=b"\3" * 16, span_id=b"\2" * 8)
    nested.attributes.add(key="deep").value.MergeFromString(deep)
    deeper = messages.Request()
    deeper.resource_spans.add().scope_spans.add().spans.append(nested.SerializeToString())
    gzipped = {**PROTOBUF, "content-encoding": "gzip"}
    return {
        "100,000 attributes": (PROTOBUF, request.SerializeToString()),
        "70,000 traces": (gzipped, gzip.compress(many.SerializeToString(), 1)),
        "500,000 resources": (PROTOBUF, empty.SerializeToString()),
        "16,000,000 resources": (PROTOBUF, b"\x0a\x00" * 16_000_000),
        "5,000,000 spans of one scope": (PROTOBUF, crowd.SerializeToString()),
        "3,000 levels": (PROTOBUF, deeper.SerializeToString()),
        "JSON of 100,000 levels": (JSON, b'{"resourceSpans":' + b"[" * 100_000),
        "JSON of a million numbers": (JSON, b'{"x":[' + b"1," * 1_000_000 + b"1]}"),
        "a gzip bomb": (gzipped, gzip.compress(bytes(200 << 20), 9)),
        "a zstd bomb": ({**PROTOBUF, "content-encoding": "zstd"}, PACKINGS["zstd"](bytes(200 << 20))),
    }


@pytest.mark.slow
def test_monsters_are_taken_or_refused_within_memory(server: RunningServer) -> None:
    for name, (headers, body) in monsters().items():
        assert post(server, body, headers)[0] in ANSWERS, name
        assert resident_bytes(server.process.pid) < MOST_RESIDENT_BYTES, name
    assert is_well(server)


def log_monsters() -> dict[str, tuple[dict[str, str], bytes]]:
    messages = otlp_messages()
    empty = messages.ReadLogsRequest()
    empty.resource_logs.add().scope_logs.add().log_records.extend([b""] * 3_000_000)
    deep = '{"kvlistValue":{"values":[{"key":"content","value":' * 3_000
    wide = messages.LogsRequest()
    record = wide.resource_logs.add().scope_logs.add().log_records.add(event_name="gen_ai.user.message")
    record.trace_id, record.span_id = b"\1" * 16, b"\2" * 8
    for number in range(100_000):
        record.attributes.add(key=f"k{number}").value.int_value = number
    gzipped = {**PROTOBUF, "content-encoding": "gzip"}
    return {
        "3,000,000 records": (PROTOBUF, empty.SerializeToString()),
        "100,000 attributes": (PROTOBUF, wide.SerializeToString()),
        "3,000 levels": (JSON, ('{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":' + deep).encode()),
        "9 MiB": (PROTOBUF, bytes(9 << 20)),
        "a gzip bomb": (gzipped, gzip.compress(bytes(200 << 20), 9)),
    }


@pytest.mark.slow
def test_monsters_among_logs_are_taken_or_refused_within_memory(server: RunningServer) -> None:
    for name, (headers, body) in log_monsters().items():
        assert post(server, body, headers, path="/v1/logs")[0] in ANSWERS, name
        assert resident_bytes(server.process.pid) < MOST_RESIDENT_BYTES, name
    assert is_well(server)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_a_flood_of_64_mib_bodies_is_refused_and_memory_stays_flat(tmp_path: Path, protocol: str) -> None:
    with running_server(tmp_path) as server:
        flood(server, protocol)


def flood(server: RunningServer, protocol: str) -> None:
    body = random.Random(1).randbytes(1 << 20) * 64
    peak = [0]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], resident_bytes(server.process.pid))

    def send() -> None:
        for _ in range(2):
            if protocol == "http":
                try:
                    post(server, body)
                except OSError:
                    """The answer came, and the connection went, while it was still sending."""
            else:
                with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
                    call: Any = channel.unary_unary(EXPORT)
                    with pytest.raises(grpc.RpcError) as refused:
                        call(body, timeout=30)
                    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED

    watching = threading.Thread(target=watch)
    watching.start()
    senders = [threading.Thread(target=send) for _ in range(4)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join(60)
    done.set()
    watching.join()
    assert peak[0] < MOST_RESIDENT_BYTES, peak[0] >> 20
    assert is_well(server)


@pytest.mark.slow
def test_a_full_disk_refuses_and_takes_again_when_there_is_room(tmp_path: Path) -> None:
    with server_on_a_small_disk(tmp_path) as (server, disk):
        kept = a_trace()
        assert post(server, body_of(*kept))[0] == 200
        disk.fill()
        noise = a_trace(200)
        for span in noise:
            span.attributes["noise"] = random.Random(span.span_id).randbytes(3000).hex()
        status, headers, content = post(server, body_of(*noise))
        assert status == 503
        assert "retry-after" in headers
        assert b"room" in content or b"full" in content
        assert stored(server, kept[0].trace_id) is not None
        assert stored(server, noise[0].trace_id) is None
        disk.make_room()
        assert post(server, body_of(*noise))[0] == 200
        assert stored(server, noise[0].trace_id)["summary"]["spans"] == 200
