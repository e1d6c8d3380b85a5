"""The same methods by stock clients: grpcio, connectrpc's form, `buf curl`, health and reflection."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from queue import Queue
from typing import Any

import grpc
import httpx
import pytest
from hpack import Encoder

from evalsi.schema import (
    Content,
    EvaluateRequest,
    EvaluateResponse,
    EvaluateStreamConfig,
    EvaluateStreamRequest,
    EvaluateStreamResponse,
    EvaluatorRef,
    ListEvaluatorsRequest,
    ListEvaluatorsResponse,
    Record,
)
from evalsi.schema.json_codec import decode as decode_json
from evalsi.schema.proto_codec import decode, encode
from evalsi.server.first_frames import PREFACE
from tests.server.running_server import EXACT, RunningServer

ROOT = Path(__file__).parents[2]
EVALUATE = "/evalsi.v1alpha1.EvaluationService/Evaluate"
STREAM = "/evalsi.v1alpha1.EvaluationService/EvaluateStream"
LIST = "/evalsi.v1alpha1.CatalogService/ListEvaluators"


def record(name: str) -> Record:
    return Record(id=name, output=Content(text="Paris"), reference=Content(text="Paris"))


def request(*, ref: str = "exact-match") -> EvaluateRequest:
    return EvaluateRequest(records=[record("1")], evaluators=[EvaluatorRef(ref=ref)])


@pytest.fixture(scope="module")
def channel(server: RunningServer) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(server.address) as channel:
        yield channel


def test_grpc_answers_a_call(channel: grpc.Channel) -> None:
    call = channel.unary_unary(EVALUATE)
    found = decode(call(encode(request()), timeout=10), EvaluateResponse)
    assert found.results[0].scores[0].passed is True
    listed = decode(channel.unary_unary(LIST)(encode(ListEvaluatorsRequest()), timeout=10), ListEvaluatorsResponse)
    assert len(listed.evaluators) > 50


def test_grpc_tells_a_fault_as_a_status_with_our_sentence(channel: grpc.Channel) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(EVALUATE)(encode(request(ref="exact-mach")), timeout=10)
    error: Any = caught.value
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "exact-match" in error.details()
    assert dict(error.trailing_metadata())["evalsi-error"] == "unknown-name"
    with pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(EVALUATE)(b"\xff\xff", timeout=10)
    error = caught.value
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_a_stream_gives_a_result_before_the_next_record_is_sent(channel: grpc.Channel) -> None:
    sent: Queue[bytes | None] = Queue()
    answers = channel.stream_stream(STREAM)(iter(sent.get, None), timeout=20)
    config = EvaluateStreamConfig(evaluators=[EvaluatorRef(ref="exact-match")])
    sent.put(encode(EvaluateStreamRequest(config=config)))
    for number in range(5):
        sent.put(encode(EvaluateStreamRequest(record=record(str(number)))))
        answer = decode(next(answers), EvaluateStreamResponse)
        assert answer.result is not None
        assert answer.result.record_id == str(number)
    sent.put(None)
    last = decode(next(answers), EvaluateStreamResponse)
    assert last.summaries is not None
    assert last.summaries.summaries[0].n == 5
    assert next(answers, None) is None


def test_a_large_stream_is_summed_up_like_one_call(channel: grpc.Channel) -> None:
    records = [
        Record(id=str(n), output=Content(text="Paris" if n % 3 else "Rome"), reference=Content(text="Paris"))
        for n in range(2500)
    ]
    refs = [EvaluatorRef(ref="exact-match"), EvaluatorRef(ref="corpus-bleu")]

    def messages() -> Iterator[bytes]:
        yield encode(EvaluateStreamRequest(config=EvaluateStreamConfig(evaluators=refs)))
        for one in records:
            yield encode(EvaluateStreamRequest(record=one))

    answers = [decode(one, EvaluateStreamResponse) for one in channel.stream_stream(STREAM)(messages(), timeout=60)]
    *results, last = answers
    assert sorted(int(one.result.record_id or -1) for one in results if one.result) == [-1, *range(2500)]
    whole = decode(
        channel.unary_unary(EVALUATE)(encode(EvaluateRequest(records=records, evaluators=refs)), timeout=60),
        EvaluateResponse,
    )
    assert last.summaries is not None
    for streamed, called in zip(last.summaries.summaries, whole.summaries, strict=True):
        assert (streamed.metric, streamed.n, streamed.errors) == (called.metric, called.n, called.errors)
        assert streamed.mean == pytest.approx(called.mean, rel=1e-12)


def test_a_stream_must_begin_with_its_configuration(channel: grpc.Channel) -> None:
    sent = iter([encode(EvaluateStreamRequest(record=record("1")))])
    with pytest.raises(grpc.RpcError) as caught:
        list(channel.stream_stream(STREAM)(sent, timeout=10))
    error: Any = caught.value
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "configuration" in error.details()


def test_health_says_that_every_service_serves(channel: grpc.Channel) -> None:
    from grpc_health.v1 import health_pb2

    pb: Any = health_pb2
    for name in ("", "evalsi.v1alpha1.EvaluationService"):
        answer = channel.unary_unary("/grpc.health.v1.Health/Check")(
            pb.HealthCheckRequest(service=name).SerializeToString(), timeout=10
        )
        assert pb.HealthCheckResponse.FromString(answer).status == pb.HealthCheckResponse.SERVING


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_reflection_describes_every_service_in_both_versions(channel: grpc.Channel, version: str) -> None:
    from grpc_reflection.v1alpha import reflection_pb2

    pb: Any = reflection_pb2
    call = channel.stream_stream(f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo")
    asked = [pb.ServerReflectionRequest(list_services="")]
    (answer,) = call(iter([one.SerializeToString() for one in asked]), timeout=10)
    names = [one.name for one in pb.ServerReflectionResponse.FromString(answer).list_services_response.service]
    assert "evalsi.v1alpha1.EvaluationService" in names
    asked = [pb.ServerReflectionRequest(file_containing_symbol=name) for name in names]
    for one in call(iter([one.SerializeToString() for one in asked]), timeout=10):
        found = pb.ServerReflectionResponse.FromString(one)
        assert len(found.file_descriptor_response.file_descriptor_proto) >= 1


@pytest.mark.parametrize(
    "options",
    [
        ("--protocol", "grpc", "--http2-prior-knowledge"),
        ("--protocol", "grpcweb"),
        ("--protocol", "grpcweb", "--http2-prior-knowledge"),
        ("--protocol", "connect"),
        ("--protocol", "connect", "--http2-prior-knowledge"),
    ],
)
def test_buf_curl_speaks_each_protocol(server: RunningServer, options: tuple[str, ...]) -> None:
    buf = Path(sys.executable).parent / "buf"
    for path, body in ((EVALUATE, json.dumps(EXACT)), (STREAM, stream_text())):
        if path == STREAM and "--http2-prior-knowledge" not in options:
            continue  # a stream both ways needs HTTP/2
        command = [
            str(buf),
            "curl",
            "--schema",
            str(ROOT / "proto"),
            *options,
            "-d",
            body,
            f"http://{server.address}{path}",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        assert '"passed": true' in done.stdout


H2C = ("curl", "-sS", "--http2-prior-knowledge", "-w", "\\n%{http_code} %{http_version}")


def over_http2(server: RunningServer, path: str, *arguments: str, body: str | None = None) -> tuple[bytes, str]:
    """What curl is answered over HTTP/2 without TLS, and the status with the version of HTTP."""
    data = ("--data-binary", "@-") if body is not None else ()
    command = [*H2C, *data, *arguments, f"http://{server.address}{path}"]
    done = subprocess.run(command, input=(body or "").encode(), capture_output=True, check=True, timeout=60)
    answer, _, told = done.stdout.rpartition(b"\n")
    return answer, told.decode()


def test_everything_that_is_answered_over_http_is_answered_over_http2(server: RunningServer) -> None:
    json_type = ("-H", "content-type: application/json")
    answer, told = over_http2(server, EVALUATE, *json_type, body=json.dumps(EXACT))
    assert (told, decode_json(answer, EvaluateResponse).summaries[0].n) == ("200 2", 1)
    answer, told = over_http2(server, "/v1/evaluate", body=json.dumps(EXACT))
    assert (told, decode_json(answer, EvaluateResponse).summaries[0].n) == ("200 2", 1)
    answer, told = over_http2(server, EVALUATE, *json_type, body='{"evaluators": [{"ref": "no"}]}')
    assert (told, json.loads(answer)["code"]) == ("400 2", "invalid_argument")
    assert over_http2(server, "/healthz")[1] == "200 2"
    assert over_http2(server, "/nowhere")[1] == "404 2"


def test_bodies_larger_than_the_windows_of_http2_pass_both_ways(server: RunningServer) -> None:
    records = [{"id": f"r{row}", "output": {"text": "Paris " * 200}, "reference": {"text": "x"}} for row in range(4000)]
    body = json.dumps({"records": records, "evaluators": EXACT["evaluators"]})
    assert len(body) > 4 << 20
    answer, told = over_http2(server, "/v1/evaluate", body=body)
    assert (told, len(answer) > 1 << 20) == ("200 2", True)
    assert decode_json(answer, EvaluateResponse).summaries[0].n == 4000


def test_many_calls_share_one_connection_of_http2(server: RunningServer) -> None:
    address = f"http://{server.address}"

    async def ask() -> list[int]:
        async with httpx.AsyncClient(http1=False, http2=True, base_url=address, timeout=30) as client:
            await client.get("/healthz")
            async with client.stream("POST", STREAM, content=envelopes(), headers=CONNECT_STREAM) as streamed:
                pieces = [piece async for piece in streamed.aiter_bytes()]
            found = await asyncio.gather(*(client.post("/v1/evaluate", json=EXACT) for _ in range(60)))
            assert b'"passed":true' in b"".join(pieces)
            assert {answer.http_version for answer in found} == {"HTTP/2"}
            return [answer.status_code for answer in found]

    assert asyncio.run(ask()) == [200] * 60


CONNECT_STREAM = {"content-type": "application/connect+json"}


async def envelopes() -> AsyncIterator[bytes]:
    """A configuration and a record, as messages of a Connect stream."""
    for message in ({"config": {"evaluators": EXACT["evaluators"]}}, {"record": EXACT["records"][0]}):
        text = json.dumps(message).encode()
        yield b"\0" + len(text).to_bytes(4, "big") + text


def test_a_channel_that_calls_after_a_while_and_one_that_is_cut_into_bytes_reach_grpc(server: RunningServer) -> None:
    call = bytes.fromhex("000000040000000000") + headers_of(b"application/grpc", f"{LIST}")
    acknowledged = bytes.fromhex("000000040100000000")
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        sent = PREFACE + call[:9] + acknowledged + call[9:] + acknowledged
        for at in range(len(sent)):
            client.sendall(sent[at : at + 1])
        client.sendall(bytes.fromhex("000005000100000001") + b"\0\0\0\0\0")
        received = b""
        while b"grpc-status" not in received and len(received) < 1 << 24:
            piece = client.recv(1 << 16)
            assert piece, received[-200:]
            received += piece
            client.sendall(bytes.fromhex("000004080000000000") + (1 << 16).to_bytes(4, "big"))
            client.sendall(bytes.fromhex("000004080000000001") + (1 << 16).to_bytes(4, "big"))


def headers_of(kind: bytes, path: str) -> bytes:
    fields = [(b":method", b"POST"), (b":scheme", b"http"), (b":path", path.encode()), (b":authority", b"x"),
              (b"content-type", kind), (b"te", b"trailers")]  # fmt: skip
    block = Encoder().encode(fields)
    return len(block).to_bytes(3, "big") + bytes([1, 4]) + (1).to_bytes(4, "big") + block


def test_streams_that_are_opened_only_to_be_reset_end_the_connection(server: RunningServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        client.sendall(PREFACE + bytes.fromhex("000000040000000000"))
        encoder = Encoder()
        fields = [(b":method", b"POST"), (b":scheme", b"http"), (b":path", b"/v1/evaluate"), (b":authority", b"x")]
        with suppress(ConnectionError):
            for number in range(1, 2001, 2):
                block = encoder.encode(fields)
                stream = number.to_bytes(4, "big")
                client.sendall(len(block).to_bytes(3, "big") + b"\1\4" + stream + block)
                client.sendall(b"\0\0\4\3\0" + stream + (8).to_bytes(4, "big"))
        with suppress(ConnectionError):
            while client.recv(1 << 16):
                pass
    assert server.get("/v1alpha1/evaluators")[0] == 200


def stream_text() -> str:
    config = {"config": {"evaluators": EXACT["evaluators"]}}
    return json.dumps(config) + json.dumps({"record": EXACT["records"][0]})


def test_connect_answers_json_and_binary_and_tells_faults_in_its_words(server: RunningServer) -> None:
    json_type, binary_type = {"content-type": "application/json"}, {"content-type": "application/proto"}
    status, headers, body = server.request("POST", EVALUATE, json.dumps(EXACT), json_type)
    assert (status, headers["content-type"]) == (200, "application/json")
    assert decode_json(body, EvaluateResponse).summaries[0].n == 1
    status, headers, body = server.request("POST", EVALUATE, encode(request()), binary_type)
    assert (status, headers["content-type"]) == (200, "application/proto")
    assert decode(body, EvaluateResponse).summaries[0].n == 1
    status, _, body = server.request("POST", EVALUATE, encode(request(ref="no")), binary_type)
    assert (status, json.loads(body)["code"]) == (400, "invalid_argument")
    status, _, body = server.request("POST", EVALUATE.replace("Evaluate", "Evaporate"), "{}", json_type)
    assert status == 501


def test_a_key_makes_one_call_in_every_protocol(server: RunningServer) -> None:
    headers = {"content-type": "application/json", "idempotency-key": "shared"}
    first = server.request("POST", EVALUATE, json.dumps(EXACT), headers)
    again = server.request("POST", "/v1/evaluate", json.dumps(EXACT), headers)
    assert first[2] == again[2]
    assert server.request("POST", EVALUATE, "{}", headers)[0] in (400, 409)


def test_a_connect_call_that_changes_nothing_may_be_a_get(server: RunningServer) -> None:
    status, _, body = server.request("GET", f"{LIST}?connect=v1&encoding=json&message=%7B%7D")
    assert status == 200
    assert len(json.loads(body)["evaluators"]) > 50
    assert server.request("GET", f"{EVALUATE}?connect=v1&encoding=json&message=%7B%7D")[0] == 405


def test_the_connectrpc_client_speaks_to_it(server: RunningServer) -> None:
    """The published library as a client, over a codec that leaves bytes as they are."""
    import asyncio

    from connectrpc.client import ConnectClient
    from connectrpc.compat import google_protobuf_codecs
    from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType

    from evalsi.schema.proto_codec import from_wire, message_class, to_wire

    async def call() -> Any:
        method = MethodInfo(
            name="Evaluate",
            service_name="evalsi.v1alpha1.EvaluationService",
            input=message_class(EvaluateRequest),
            output=message_class(EvaluateResponse),
            idempotency_level=IdempotencyLevel.UNKNOWN,
            stream_type=StreamType.UNARY,
        )
        async with ConnectClient(f"http://{server.address}", codec=google_protobuf_codecs()[0]) as client:
            return await client.execute_unary(request=to_wire(request()), method=method)

    found = from_wire(asyncio.run(call()), EvaluateResponse)
    assert found.summaries[0].n == 1
