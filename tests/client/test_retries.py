"""What the client does when a server is busy, gone, slow or no server of ours: against one that does as it is told."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalsi
from evalsi import schema
from evalsi.client.retrying import RetryPlan, told_wait_s
from evalsi.core.errors import (
    CallDeadlineError,
    EvalsiError,
    ForbiddenError,
    NotFoundError,
    OverloadedError,
    QuotaError,
    UnauthenticatedError,
)

QUICK = RetryPlan(first_wait_s=0.01, longest_wait_s=0.05)


@dataclass
class Told:
    """A server that answers what it was told, in order; the last answer again and again."""

    answers: list[tuple[int, dict[str, str], Any]]
    arrived: list[tuple[str, dict[str, str]]] = field(default_factory=list[tuple[str, dict[str, str]]])
    times_s: list[float] = field(default_factory=list[float])
    url: str = ""


@contextmanager
def told(*answers: tuple[int, dict[str, str], Any]) -> Iterator[Told]:
    found = Told(list(answers))

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            found.arrived.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            found.times_s.append(monotonic())
            status, headers, body = found.answers.pop(0) if len(found.answers) > 1 else found.answers[0]
            if status == 0:
                self.close_connection = True
                return
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        found.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()


BUSY = (503, {"Retry-After": "0"}, {"code": 8, "message": "busy", "error": "overloaded"})
GOOD = (200, {}, {"run": {"id": "one"}})


def test_a_call_is_made_again_under_the_same_key() -> None:
    with (
        told(BUSY, (0, {}, b""), (502, {}, b"<html>"), GOOD) as server,
        evalsi.Client(server.url, retries=QUICK) as client,
    ):
        answer = client.create_run(schema.CreateRunRequest(name="a"))
        assert answer.run is not None
        assert answer.run.id == "one"
        keys = [headers["idempotency-key"] for _, headers in server.arrived]
        assert len(keys) == 4
        assert len(set(keys)) == 1
        client.create_run(schema.CreateRunRequest(name="a"))
        assert server.arrived[-1][1]["idempotency-key"] != keys[0]


def test_a_key_of_the_callers_own_is_sent() -> None:
    with told(GOOD) as server, evalsi.Client(server.url) as client:
        client.create_run(schema.CreateRunRequest(name="a"), idempotency_key="mine")
        assert server.arrived[0][1]["idempotency-key"] == "mine"


def test_calls_that_change_nothing_are_repeated_without_a_key() -> None:
    with told(BUSY, GOOD) as server, evalsi.Client(server.url, retries=QUICK) as client:
        client.get_run(schema.GetRunRequest(id="one"))
        assert [path for path, _ in server.arrived] == ["/v1alpha1/runs/one"] * 2
        assert all("idempotency-key" not in headers for _, headers in server.arrived)


def test_a_server_that_stays_busy_is_said_to_be_so() -> None:
    with told(BUSY) as server, evalsi.Client(server.url, retries=QUICK) as client:
        with pytest.raises(OverloadedError, match="busy"):
            client.get_run(schema.GetRunRequest(id="one"))
        assert len(server.arrived) == 4


def test_the_wait_that_a_server_asks_for_is_kept() -> None:
    busy = (503, {"Retry-After": "0.3"}, {"code": 8, "message": "busy"})
    with told(busy, GOOD) as server, evalsi.Client(server.url, retries=QUICK) as client:
        client.get_run(schema.GetRunRequest(id="one"))
        assert 0.3 <= server.times_s[1] - server.times_s[0] < 5


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (400, {"code": 3, "message": "no", "error": "quota"}, QuotaError),
        (401, {"code": 16, "message": "who?"}, UnauthenticatedError),
        (403, {"code": "permission_denied", "message": "no"}, ForbiddenError),
        (429, {"code": 8, "message": "used up", "error": "quota"}, QuotaError),
        (404, b"<html>nothing here</html>", NotFoundError),
        (500, {"message": 5}, EvalsiError),
        (500, b"", EvalsiError),
        (500, b"[" * 100_000, EvalsiError),
        (200, b"<html>welcome</html>", EvalsiError),
        (200, {"run": {"id": 7}}, EvalsiError),
        (302, b"", EvalsiError),
    ],
)
def test_every_answer_of_others_is_an_error_of_the_tree(status: int, body: Any, error: type[EvalsiError]) -> None:
    with told((status, {"Location": "http://127.0.0.1:1/"}, body)) as server:
        with evalsi.Client(server.url, api_key="evk_secret", retries=QUICK) as client, pytest.raises(error) as caught:
            client.get_run(schema.GetRunRequest(id="one"))
        assert len(server.arrived) == 1
        assert "evk_secret" not in str(caught.value)


def test_nobody_there_is_one_sentence() -> None:
    with (
        evalsi.Client("http://127.0.0.1:1", retries=QUICK) as client,
        pytest.raises(NotFoundError, match="evalsi serve"),
    ):
        client.get_run(schema.GetRunRequest(id="one"))


def test_a_server_that_never_answers_is_given_up() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with evalsi.Client(url, timeout_s=0.3) as client, pytest.raises(CallDeadlineError, match=r"0\.3"):
            client.get_run(schema.GetRunRequest(id="one"))


@settings(deadline=None)
@given(attempt=st.integers(1, 10), told_s=st.none() | st.floats(0, 100))
def test_waits_are_within_their_bounds(attempt: int, told_s: float | None) -> None:
    plan = RetryPlan()
    wait_s = plan.wait_s(attempt, told_s)
    if attempt >= plan.attempts or (told_s is not None and told_s > 60):
        assert wait_s is None
    elif told_s is not None:
        assert wait_s is not None
        assert told_s <= wait_s <= told_s * 1.25 + 1e-9
    else:
        assert wait_s is not None
        assert 0 <= wait_s <= plan.longest_wait_s


@pytest.mark.parametrize(("text", "seconds"), [("2", 2.0), ("0.5", 0.5), ("", None), ("-1", None), ("nan", None), ("inf", None), ("Fri, 31 Dec 1999 23:59:59 GMT", None)])  # fmt: skip
def test_only_seconds_are_read_from_retry_after(text: str, seconds: float | None) -> None:
    assert told_wait_s(text) == seconds
