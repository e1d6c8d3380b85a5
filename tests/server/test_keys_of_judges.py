"""The keys of the server's judges go where the server sends them, and to no address that a specification names."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.server.running_server import RunningServer, running_server, wait_until

pytestmark = pytest.mark.slow

SECRETS = {"OPENAI_API_KEY": "key-of-the-house-1", "ANTHROPIC_API_KEY": "key-of-the-house-2"}
VERDICT = {"message": {"content": "Verdict: CORRECT"}, "finish_reason": "stop"}
ANSWER = json.dumps({"choices": [VERDICT], "content": [{"type": "text", "text": "Verdict: CORRECT"}]}).encode()


@contextmanager
def listener() -> Generator[tuple[str, list[str]]]:
    """An address that writes down the headers of whoever asks it."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            heard.append(str(self.headers))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(ANSWER)))
            self.end_headers()
            self.wfile.write(ANSWER)

        def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", heard
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def serving(folder: Path, house_url: str) -> Generator[RunningServer]:
    """A server whose judges use the usual keys, at their usual addresses and at `house_url`."""
    (folder / "datasets").mkdir()
    (folder / "datasets" / "d.jsonl").write_text('{"id":"1","input":"q","output":"x","reference":"y"}\n')
    settings = {
        "data_dir": "store",
        "datasets_dir": "datasets",
        "outbound": {"allow_hosts": ["127.0.0.1"], "allow_networks": ["127.0.0.0/8"]},
        "judges": {
            "usual": {"provider": "openai-compatible", "model": "m"},
            "other": {"provider": "anthropic", "model": "m"},
            "house": {"provider": "openai-compatible", "model": "m", "base_url": house_url},
        },
    }
    (folder / "evalsi.yaml").write_text(json.dumps(settings))
    with running_server(folder, ["--config", "evalsi.yaml"], SECRETS) as server:
        yield server


def carried_out(server: RunningServer, **said: Any) -> None:
    spec = {"dataset": {"path": "d.jsonl"}, "evaluators": [{"ref": "exact-match"}], **said}
    status, answer = server.post("/v1alpha1/runs", {"spec": spec})
    assert status == 200, answer
    address = f"/v1alpha1/runs/{answer['run']['id']}"
    assert wait_until(lambda: server.get(address)[1]["run"]["status"] == "RUN_STATUS_SUCCEEDED")


def test_a_key_of_the_server_goes_to_no_address_that_a_specification_names(tmp_path: Path) -> None:
    with listener() as (url, heard), listener() as (house_url, house), serving(tmp_path, house_url) as server:
        for provider in ("openai-compatible", "anthropic"):
            judges = {"mine": {"provider": provider, "model": "m", "baseUrl": url}}
            carried_out(server, evaluators=[{"ref": "correctness", "judge": "mine"}], judges=judges)
            carried_out(server, target={"connector": provider, "model": "m", "baseUrl": url})
        carried_out(server, target={"agent": {"responses": {"model": "m", "baseUrl": url}}})
        assert len(heard) >= 5
        assert not [secret for secret in SECRETS.values() for headers in heard if secret in headers]
        # A judge of the server gets its key, at whatever address the operator gave it.
        carried_out(server, evaluators=[{"ref": "correctness", "judge": "house"}])
        assert house
        assert all(SECRETS["OPENAI_API_KEY"] in headers for headers in house)
