"""The same methods by stock clients: grpcio, connectrpc's form, `buf curl`, health and reflection."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import grpc
import pytest

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
    "options", [("--protocol", "grpc", "--http2-prior-knowledge"), ("--protocol", "grpcweb"), ("--protocol", "connect")]
)
def test_buf_curl_speaks_each_protocol(server: RunningServer, options: tuple[str, ...]) -> None:
    buf = Path(sys.executable).parent / "buf"
    for path, body in ((EVALUATE, json.dumps(EXACT)), (STREAM, stream_text())):
        if path == STREAM and "--protocol" in options and "grpc" not in options:
            continue  # a stream both ways needs HTTP/2, which only gRPC is spoken over
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
