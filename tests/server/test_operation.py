"""Starting, stopping, TLS, and clients that mean no good or know no better."""

import asyncio
import html
import json
import os
import pty
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import grpc
import httpx
import pytest
from openapi_spec_validator import validate  # pyright: ignore[reportUnknownVariableType]

from evalsi.server.one_port import HEAD_S
from evalsi.server.tls import Certificates
from tests.command_line import command, environment
from tests.server.hostile_plugin import install_hostile_plugin
from tests.server.running_server import EXACT, RunningServer, running_server, wait_until


def test_the_server_is_ready_soon_and_says_so(server: RunningServer) -> None:
    assert server.request("GET", "/healthz")[::2] == (200, b"ok\n")
    assert server.get("/readyz") == (200, {"ready": True})


def test_metrics_are_histograms_by_method_and_count_workers(server: RunningServer) -> None:
    server.post("/v1/evaluate", EXACT)
    labels = 'code="ok",le="+Inf",method="EvaluationService.Evaluate",protocol="rest"'
    assert server.metric(f"evalsi_call_seconds_bucket{{{labels}}}") >= 1
    assert server.metric('evalsi_workers{pool="cpu"}') >= 1
    assert server.metric('evalsi_queue_depth{pool="judge"}') == 0


def test_the_log_is_json_and_holds_no_body(server: RunningServer) -> None:
    server.post("/v1/evaluate", {**EXACT, "records": [{"id": "1", "output": {"text": "very private"}}]})
    text = json.dumps(server.lines)
    assert "private" not in text
    assert not [line for line in server.lines if line["event"] in ("no JSON", "crash")]


def test_the_description_of_the_api_is_valid_and_served(server: RunningServer) -> None:
    status, found = server.get("/openapi.json")
    assert status == 200
    validate(found)
    assert "/v1alpha1/evaluate" in found["paths"]
    status, headers, page = server.request("GET", "/docs")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"://" not in page.replace(b"http://127.0.0.1:8080", b"")
    assert b"<tr id=EvaluationService.Evaluate><td><a href=#EvaluationService.Evaluate>" in page
    operations = [one for path in found["paths"].values() for one in path.values()]
    assert len(operations) > 50
    for one in operations:
        assert html.escape(one["summary"]).encode() in page, one["operationId"]


@pytest.mark.parametrize("listen", ["0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:80"])
def test_a_server_that_others_can_reach_is_not_started_by_accident(tmp_path: Path, listen: str) -> None:
    command = [sys.executable, "-m", "evalsi", "serve", "--listen", listen]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 2
    assert "--no-auth" in done.stderr


def test_an_address_that_is_taken_is_one_sentence(server: RunningServer, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "evalsi", "serve", "--listen", server.address]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "in use" in done.stderr


def test_a_server_with_keys_answers_those_who_have_one(tmp_path: Path) -> None:
    (tmp_path / "evalsi.yaml").write_text("data_dir: store\nevaluate: {max_records: 2}\nauth: {}\n")
    environment = {**os.environ, "EVALSI_DIR": str(tmp_path / "store")}
    make = [sys.executable, "-m", "evalsi", "auth", "keys", "create", "first", "--role", "*=owner", "--local"]
    made = subprocess.run(make, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=30)
    assert made.returncode == 0, made.stderr
    found = re.search(r"evk_[\w-]+", made.stdout)
    assert found is not None
    with running_server(tmp_path, ("--config", "evalsi.yaml")) as server:
        key = {"authorization": f"Bearer {found[0]}"}
        status, headers, _ = server.request("POST", "/v1/evaluate", json.dumps(EXACT))
        assert (status, headers["www-authenticate"]) == (401, "Bearer")
        assert server.post("/v1/evaluate", EXACT, key)[0] == 200
        records = [{"id": str(number)} for number in range(3)]
        assert server.post("/v1/evaluate", {**EXACT, "records": records}, key)[0] == 400
        with grpc.insecure_channel(server.address) as channel:
            call = channel.unary_unary("/evalsi.v1alpha1.CatalogService/ListEvaluators")
            with pytest.raises(grpc.RpcError) as caught:
                call(b"", timeout=10)
            error: Any = caught.value
            assert error.code() is grpc.StatusCode.UNAUTHENTICATED
            assert call(b"", metadata=(("authorization", key["authorization"]),), timeout=10)
        assert found[0] not in json.dumps(server.lines)


@pytest.mark.slow
def test_calls_under_way_are_finished_before_the_server_stops(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(install_hostile_plugin(tmp_path))}
    with running_server(tmp_path, (), environment) as server:
        records = [{"id": str(number)} for number in range(20)]
        answers: list[int] = []

        def call() -> None:
            answers.append(server.post("/v1/evaluate", {"records": records, "evaluators": [{"ref": "sleeps"}]})[0])

        caller = threading.Thread(target=call)
        caller.start()
        assert wait_until(lambda: server.metric("evalsi_workers_busy") == 1)
        begun = monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == 0
        caller.join()
        assert answers == [200]
        assert monotonic() - begun < 25, "the time that is left to calls is not waited out"


@pytest.mark.slow
def test_a_client_that_is_slow_to_ask_is_cut_off(server: RunningServer) -> None:
    begun = monotonic()
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
        try:
            for letter in b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-very-long-name: " + b"y" * 200:
                client.sendall(bytes([letter]))
                sleep(0.2)
                if monotonic() - begun > HEAD_S + 15:
                    break
        except OSError:
            pass
        assert HEAD_S - 1 < monotonic() - begun < HEAD_S + 15
    assert server.request("GET", "/healthz")[0] == 200


def test_a_head_without_end_is_refused(server: RunningServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\n")
        answer = b""
        try:
            for number in range(20_000):
                client.sendall(b"x-%d: y\r\n" % number)
            answer = client.recv(1000)
        except OSError:
            pass
        assert b" 200 " not in answer


@pytest.mark.slow
def test_a_stream_without_end_is_refused_and_costs_no_memory(server: RunningServer) -> None:
    before = resident_kib(server)
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
        client.sendall(b"POST /v1/evaluate HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
        answer = b""
        try:
            for _ in range(100):
                client.sendall(b"100000\r\n" + b" " * (1 << 20) + b"\r\n")
            answer = client.recv(1000)
        except OSError:
            answer = answer or b" 413 "
        assert b" 413 " in answer
    assert wait_until(lambda: resident_kib(server) < before + (100 << 10))


@pytest.mark.slow
def test_ten_thousand_connections_that_come_and_go_leave_nothing_behind(server: RunningServer) -> None:
    server.request("GET", "/healthz")
    files = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
    beginnings = (b"", b"PRI * HT", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HT", b"\x16\x03\x01\x02")

    async def drop(number: int) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(beginnings[number % len(beginnings)])
        writer.transport.abort()

    async def drop_all() -> None:
        for first in range(0, 10_000, 200):
            await asyncio.gather(*(drop(first + number) for number in range(200)))

    asyncio.run(drop_all())
    assert server.post("/v1/evaluate", EXACT)[0] == 200
    assert wait_until(lambda: len(list(Path(f"/proc/{server.process.pid}/fd").iterdir())) <= files + 5)
    assert not [line for line in server.lines if line["event"] in ("no JSON", "crash")]


def resident_kib(server: RunningServer) -> int:
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0])


def make_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    chain, key = folder / "chain.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(key), "-out", str(chain), "-days", "2", "-subj", f"/CN={name}"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    return chain, key


def test_tls_serves_browsers_and_grpc_on_the_same_port(tmp_path: Path) -> None:
    chain, key = make_certificate(tmp_path, "first")
    with running_server(tmp_path, ("--tls-cert", str(chain), "--tls-key", str(key))) as server:
        url = f"https://{server.address}/v1/evaluate"
        for http in ("--http1.1", "--http2"):
            command = ["curl", "-sS", http, "--cacert", str(chain), "-d", json.dumps(EXACT), url]
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
            assert '"passed":true' in done.stdout
        trusted = ssl.create_default_context(cafile=str(chain))
        with httpx.Client(
            http1=False, http2=True, verify=trusted, timeout=30
        ) as client:  # offers h2 alone, as gRPC does
            found = client.post(url, json=EXACT)
        assert (found.http_version, '"passed":true' in found.text) == ("HTTP/2", True)
        credentials = grpc.ssl_channel_credentials(chain.read_bytes())
        with grpc.secure_channel(server.address, credentials) as channel:
            answer = channel.unary_unary("/evalsi.v1alpha1.CatalogService/ListEvaluators")(b"", timeout=10)
            assert len(answer) > 1000


def test_new_certificates_are_taken_up_and_broken_ones_are_not(tmp_path: Path) -> None:
    chain, key = make_certificate(tmp_path, "first")
    certificates = Certificates(chain=chain, key=key)
    context = certificates.context()
    assert certificates.reload_into(context) is False
    sleep(0.01)
    make_certificate(tmp_path, "second")
    assert certificates.reload_into(context) is True
    sleep(0.01)
    key.write_text("broken")
    with pytest.raises(ssl.SSLError):
        certificates.reload_into(context)


@pytest.mark.slow
def test_who_starts_a_server_on_a_terminal_is_told_the_address_of_its_pages(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command("serve", "--listen", "127.0.0.1:0"), cwd=tmp_path, env=environment(), stdin=theirs, stderr=theirs
    )
    os.close(theirs)
    try:
        with os.fdopen(ours, errors="replace") as said:
            line = next(line for line in said if line.startswith("pages: "))
            with urllib.request.urlopen(line.split()[1], timeout=30) as page:
                assert page.status == 200
            process.terminate()
            assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
