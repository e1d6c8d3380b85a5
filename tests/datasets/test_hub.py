"""`hf://` through the real hub library, against a server that speaks as the hub does: its API, its files, its refusals."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

pytestmark = pytest.mark.slow

COMMIT = "a" * 40
FILES = {
    "README.md": b"---\nlicense: mit\n---\n# Sums\n",
    "data/test.jsonl": b'{"id":"1","question":"2+2?","answer":"4"}\n{"id":"2","question":"3+3?","answer":"6"}\n',
    "data/train.jsonl": b'{"id":"3","question":"1+1?","answer":"2"}\n',
}


class _Hub(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked: list[str]

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - its name in the base class

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.asked.append(path)
        api, files = "/api/datasets/acme/sums", "/datasets/acme/sums/resolve/"
        if path == api or path.startswith(f"{api}/revision/"):
            siblings = [{"rfilename": name, "size": len(body)} for name, body in FILES.items()]
            return self._answer(200, {"id": "acme/sums", "sha": COMMIT, "private": False, "siblings": siblings})
        if path.startswith(f"{api}/tree/"):
            folder = path.removeprefix(f"{api}/tree/").partition("/")[2]
            return self._answer(200, [entry for entry in _tree() if _parent(str(entry["path"])) == folder])
        name = path.removeprefix(files).partition("/")[2]
        if path.startswith(files) and name in FILES:
            return self._answer(200, FILES[name], {"etag": f'"{_digest(name)}"', "x-repo-commit": COMMIT})
        missing = "EntryNotFound" if path.startswith(files) else "RepoNotFound"
        return self._answer(404, {}, {"x-error-code": missing, "x-repo-commit": COMMIT})

    def _answer(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _digest(name: str) -> str:
    return hashlib.sha1(FILES[name], usedforsecurity=False).hexdigest()


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _tree() -> list[dict[str, object]]:
    files = [{"type": "file", "path": name, "size": len(body), "oid": _digest(name)} for name, body in FILES.items()]
    return [{"type": "directory", "path": "data", "size": 0, "oid": "b" * 40}, *files]


@pytest.fixture
def hub() -> Generator[str]:
    _Hub.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def _eval(hub: str, folder: Path, address: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evalsi", "eval", "--data", address, "--evaluators", "exact-match"]
    columns = ["--map", "output=answer", "--map", "reference=answer", "--format", "json", "--quiet"]
    environment = {**os.environ, "HF_ENDPOINT": hub, "HF_HOME": str(folder / "hub"), "NO_PROXY": "127.0.0.1"}
    return subprocess.run(
        [*command, *columns], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_a_split_of_a_hub_dataset_is_scored_and_nothing_but_the_dataset_is_asked_for(hub: str, tmp_path: Path) -> None:
    ended = _eval(hub, tmp_path, "hf://acme/sums?split=test")
    assert ended.returncode == 0, ended.stderr
    (summary,) = json.loads(ended.stdout)
    assert (summary["metric"], summary["n"], summary["mean"]) == ("exact-match", 2, 1.0)
    assert [path for path in _Hub.asked if "/acme/sums" not in path] == []


@pytest.mark.parametrize(
    ("address", "said"),
    [("hf://acme/none", "acme/none"), ("hf://acme/sums?split=dev", "Unknown split")],
    ids=["no such dataset", "no such split"],
)
def test_what_the_hub_refuses_is_one_sentence(hub: str, tmp_path: Path, address: str, said: str) -> None:
    ended = _eval(hub, tmp_path, address)
    assert ended.returncode in (1, 2)
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_a_hub_without_an_address_is_told_at_once_and_in_one_sentence(tmp_path: Path) -> None:
    ended = _eval("http://hub.invalid", tmp_path, "hf://acme/sums?split=test")
    assert "check the name, the split and the network" in ended.stderr
    assert "OfflineMode" in ended.stderr, "the library was not left to try for half a minute"
    assert len(ended.stderr.strip().splitlines()) == 1


def test_without_a_network_the_error_is_clear(tmp_path: Path) -> None:
    ended = _eval("http://127.0.0.1:9", tmp_path, "hf://acme/sums?split=test")
    assert len(ended.stderr.strip().splitlines()) == 1
    assert ended.returncode in (1, 2)
    assert "check the name, the split and the network" in ended.stderr
    assert "Traceback" not in ended.stderr
