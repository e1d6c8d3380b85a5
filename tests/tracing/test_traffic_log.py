"""What an app logs arrives as it was said, and a server that is away costs the app nothing but what waited."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from evalsi.client.background_sender import BackgroundSender, ComeAgainError, SendPlan
from evalsi.client.server_address import ServerAddress
from evalsi.client.traffic_log import LoggedCall, LoggedUsage, TrafficLog
from evalsi.schema import Feedback
from tests.server.running_server import PATIENCE_S, RunningServer, running_server, wait_until

QUICK = SendPlan(interval_s=0.01)
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    """One that has loaded what it takes traces with: a process that ends waits a few seconds for its answer, no longer."""
    with running_server(tmp_path_factory.mktemp("log")) as running:
        log = TrafficLog(ServerAddress(url=f"http://{running.address}"), plan=QUICK)
        log.feedback(Feedback(key="first", name="thumbs", passed=True))
        trace_id = log.log(LoggedCall(output="first"))
        assert log.close(PATIENCE_S)
        trace_of(running, trace_id)
        yield running


def trace_of(server: RunningServer, trace_id: str) -> Any:
    status, found = server.get(f"/v1alpha1/traces/{trace_id}")
    assert status == 200, found
    return found


def app(code: str, server: str, **more: str) -> str:
    """What a process prints that runs `code` with evalsi installed."""
    env = {**os.environ, "EVALSI_SERVER": server, **more}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


def test_what_was_logged_is_a_trace_with_all_that_was_said(server: RunningServer) -> None:
    log = TrafficLog(ServerAddress(url=f"http://{server.address}"), service="shop", plan=QUICK)
    call = LoggedCall(
        input=[{"role": "user", "content": "may I?"}],
        output="yes",
        context=["a passage"],
        usage=LoggedUsage(model="gpt-4o", input_tokens=7, output_tokens=3, cost_usd=0.5),
        duration_s=1.5,
        session_id="s1",
        user_id="u1",
        key="order-7",
        labels={"tier": "gold"},
        metadata={"n": 5},
    )
    trace_id = log.log(call)
    log.feedback(Feedback(key="order-7", name="thumbs", passed=True))
    assert log.close(PATIENCE_S)
    found = trace_of(server, trace_id)
    record, summary = found["record"], found["summary"]
    assert record["input"]["text"] == "may I?"
    assert record["output"]["text"] == "yes"
    assert record["context"] == [{"text": "a passage"}]
    assert record["usage"]["inputTokens"] == 7
    assert record["usage"]["costUsd"] == 0.5
    assert (summary["service"], summary["sessionId"], summary["userId"]) == ("shop", "s1", "u1")
    assert summary["labels"] == {"tier": "gold"}
    assert log.dropped == 0


def test_what_was_not_timed_has_no_duration_and_no_latency_of_zero(server: RunningServer) -> None:
    log = TrafficLog(ServerAddress(url=f"http://{server.address}"), plan=QUICK)
    untimed, timed = log.log(LoggedCall(output="x")), log.log(LoggedCall(output="x", duration_s=0.25))
    assert log.close(PATIENCE_S)
    found = [trace_of(server, one) for one in (untimed, timed)]
    assert ["duration" in each["summary"] for each in found] == [False, True]
    assert found[1]["summary"]["duration"] == "0.25s"


def test_messages_that_were_logged_are_a_conversation_whatever_they_are_wrapped_in(server: RunningServer) -> None:
    class Reply:
        def model_dump(self, mode: str) -> dict[str, str]:
            return {"role": "assistant", "content": "yes"} if mode == "json" else {}

    log = TrafficLog(ServerAddress(url=f"http://{server.address}"), plan=QUICK)
    turns = [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": [{"type": "text", "text": "may I?"}]},
    ]
    for model in ("", "gpt-4o"):
        for given in (turns, {"messages": turns}, turns[1]):
            trace_id = log.log(LoggedCall(input=given, output=Reply(), usage=LoggedUsage(model=model)))
            assert log.flush(PATIENCE_S)
            record = trace_of(server, trace_id)["record"]
            assert (record["input"]["text"], record["output"]["text"]) == ("may I?", "yes")
    trace_id = log.log(LoggedCall(input=["may", "I?"], output={"allowed": True}, usage=LoggedUsage(model="gpt-4o")))
    assert log.close(PATIENCE_S)
    record = trace_of(server, trace_id)["record"]
    assert (record["input"]["json"], record["output"]["json"]) == (["may", "I?"], {"allowed": True})


def test_the_app_is_called_what_its_environment_or_the_call_says(server: RunningServer) -> None:
    code = "import evalsi; print(evalsi.log(output='a'), evalsi.log(output='a', service='till'))"
    for variables, names in (({"OTEL_SERVICE_NAME": "shop"}, ("shop", "till")), ({}, ("app", "till"))):
        ids = app(code, f"http://{server.address}", **variables).split()
        assert tuple(trace_of(server, trace_id)["summary"]["service"] for trace_id in ids) == names


def test_a_process_that_ends_sends_what_is_left_and_feedback_joins_it(server: RunningServer) -> None:
    code = (
        "import evalsi\n"
        "trace_id = evalsi.log(input='q', output='a', error='late', labels={'a': 'b'})\n"
        "evalsi.feedback(False, trace_id=trace_id, comment='no')\n"
        "print(trace_id)"
    )
    found = trace_of(server, app(code, f"http://{server.address}"))
    assert found["summary"]["error"] is True
    assert [said["comment"] for said in found["feedback"]] == ["no"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_sends_its_own_and_nothing_of_its_parents(server: RunningServer) -> None:
    code = (
        "import os, evalsi\n"
        "parent = evalsi.log(output='parent')\n"
        "reading, writing = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    child = evalsi.log(output='child')\n"
        "    evalsi.flush(60)\n"
        "    os.write(writing, child.encode())\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "evalsi.flush(50)\n"
        "print(parent, os.read(reading, 100).decode())"
    )
    parent, child = app(code, f"http://{server.address}").split()
    for trace_id, said in ((parent, "parent"), (child, "child")):
        assert trace_of(server, trace_id)["record"]["output"]["text"] == said


def test_a_server_that_is_away_neither_stops_the_app_nor_holds_its_end_up() -> None:
    code = (
        "import time, evalsi\n"
        "began = time.perf_counter()\n"
        "for _ in range(3000):\n"
        "    evalsi.log(output='x')\n"
        "print(time.perf_counter() - began)"
    )
    began = time.monotonic()
    assert float(app(code, NOWHERE)) < 5
    assert time.monotonic() - began < 30


def test_importing_evalsi_loads_neither_protobuf_nor_opentelemetry() -> None:
    code = (
        "import sys, evalsi, evalsi.tracing\n"
        "print(*sorted(m for m in sys.modules if m.split('.')[0] in ('google', 'opentelemetry', 'msgspec')))"
    )
    assert app(code, NOWHERE) == ""


def test_what_waits_is_bounded_and_what_is_dropped_is_counted() -> None:
    held = threading.Event()

    def send(items: Sequence[int]) -> None:
        del items
        held.wait(10)

    sender = BackgroundSender(send, SendPlan(most_waiting=5, most_at_once=1, interval_s=0))
    taken = [sender.add(number) for number in range(20)]
    assert 5 <= sum(taken) <= 6
    assert sender.dropped == 20 - sum(taken)
    assert not sender.flush(0.05)
    held.set()
    assert sender.close(PATIENCE_S)
    assert not sender.add(1)


def test_a_flush_that_gave_up_hurries_nothing_that_comes_later() -> None:
    held = threading.Event()
    sent: list[list[int]] = []

    def send(items: Sequence[int]) -> None:
        sent.append(list(items))
        held.wait(PATIENCE_S)

    sender = BackgroundSender(send, SendPlan(interval_s=3600))
    sender.add(1)
    assert wait_until(lambda: not sender.flush(0.05) and sent)
    held.set()
    sender.add(2)
    assert not wait_until(lambda: len(sent) > 1, 0.2)
    sender.add(3)
    assert sender.flush(PATIENCE_S)
    assert sent == [[1], [2, 3]]


def test_a_server_that_asks_for_patience_gets_the_same_again_and_a_refusal_is_final() -> None:
    sent: list[list[int]] = []

    def send(items: Sequence[int]) -> None:
        sent.append(list(items))
        if len(sent) < 3:
            raise ComeAgainError("not now", 0.01)
        if len(sent) > 3:
            raise ValueError("never")

    sender = BackgroundSender(send, SendPlan(interval_s=0.01))
    sender.add(1)
    assert sender.flush(PATIENCE_S)
    assert sent == [[1], [1], [1]]
    assert sender.dropped == 0
    sender.add(2)
    assert sender.flush(PATIENCE_S)
    assert (len(sent), sender.dropped) == (4, 1)


def test_feedback_about_nothing_is_dropped_and_said(caplog: pytest.LogCaptureFixture) -> None:
    log = TrafficLog(ServerAddress(url=NOWHERE), plan=QUICK)
    log.feedback(Feedback(name="thumbs", passed=True))
    assert log.dropped == 1
    assert "about nothing" in caplog.text


def test_a_refusal_is_told_in_the_words_of_the_server(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "evalsi.yaml").write_text("auth: {}\n")
    with running_server(tmp_path, ("--config", "evalsi.yaml")) as server:
        log = TrafficLog(ServerAddress(url=f"http://{server.address}"), plan=QUICK)
        log.log(LoggedCall(output="x"))
        log.feedback(Feedback(key="k", name="thumbs", passed=False))
        log.close(PATIENCE_S)
    refused = [record.getMessage() for record in caplog.records]
    wanted = (
        f"1 item not sent to evalsi: http://{server.address} refused with 401: this server asks who is calling, and "
    )
    assert len(refused) == 2
    assert all(text.startswith(wanted) and text.endswith("…'") for text in refused), refused


def test_a_key_is_not_sent_on_to_where_a_server_redirects(tmp_path: Path) -> None:
    import http.server

    seen: list[str] = []

    class Redirecting(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.path)
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(307)
            self.send_header("location", "/elsewhere")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the base class
            """Quiet."""

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Redirecting)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    try:
        address = ServerAddress(url=f"http://127.0.0.1:{listening.server_port}", api_key="evk_secret")
        log = TrafficLog(address, plan=QUICK)
        log.log(LoggedCall(output="x"))
        assert log.close(PATIENCE_S)
        assert wait_until(lambda: log.dropped == 1)
        assert seen == ["/v1/traces"]
    finally:
        listening.shutdown()
        listening.server_close()


def test_anything_can_be_logged() -> None:
    log = TrafficLog(ServerAddress(url=NOWHERE), plan=SendPlan(tries=1))

    class Refusing:
        def model_dump(self, mode: str) -> None:
            raise ValueError(mode)

    endless: list[Any] = []
    endless.append(endless)
    for value in (None, 5, {"a": {1, 2}}, object(), b"x", [json, "y"], {("a", 1): 2}, 10**400, Refusing(), endless):
        assert len(log.log(LoggedCall(input=value, output=value, metadata={"v": value}))) == 32
