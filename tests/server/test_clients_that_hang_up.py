"""A stream that has nothing to say for long ends when its client hangs up, whatever the protocol."""

import socket
from collections.abc import Iterator

import pytest

from tests.server.running_server import RunningServer, running_server, wait_until

pytestmark = pytest.mark.slow

FRAME = b"\0\0\0\0\2{}"
EMPTY_FRAME = b"\0\0\0\0\0"
WATCH = b"/evalsi.v1alpha1.TraceService/WatchTraces"


def asked(path: bytes, kind: bytes, body: bytes) -> bytes:
    head = b"POST %b HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
    return head % (path, kind, len(body)) + body


REQUESTS = {
    "connect in JSON": asked(WATCH, b"application/connect+json", FRAME),
    "connect in binary": asked(WATCH, b"application/connect+proto", EMPTY_FRAME),
    "gRPC-Web": asked(WATCH, b"application/grpc-web+proto", EMPTY_FRAME),
    "gRPC-Web as text": asked(WATCH, b"application/grpc-web-text", b"AAAAAAA="),
    "REST": b"GET /v1/traces:watch HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("left")) as server:
        yield server


@pytest.mark.parametrize("request_bytes", REQUESTS.values(), ids=REQUESTS)
def test_a_silent_stream_ends_when_its_client_hangs_up(server: RunningServer, request_bytes: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(request_bytes)
        assert wait_until(lambda: server.metric("evalsi_calls_in_flight") == 1)
    assert wait_until(lambda: server.metric("evalsi_calls_in_flight") == 0)


def test_a_call_that_takes_one_message_refuses_two(server: RunningServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.settimeout(60)
        client.sendall(asked(WATCH, b"application/connect+json", FRAME * 2))
        said = b""
        while b"more than one message" not in said:
            piece = client.recv(4096)
            assert piece, said
            said += piece


def test_a_request_that_comes_in_pieces_is_whole_in_the_end(server: RunningServer) -> None:
    request = REQUESTS["connect in JSON"]
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        for at in range(0, len(request), 40):
            client.sendall(request[at : at + 40])
            assert server.get("/v1/runs")[0] == 200
        assert wait_until(lambda: server.metric("evalsi_calls_in_flight") == 1)
    assert wait_until(lambda: server.metric("evalsi_calls_in_flight") == 0)
