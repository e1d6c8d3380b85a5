"""AuthService on a port, for tests of what speaks to one: Connect's JSON over the standard library, and nothing else."""

import asyncio
import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evalsi.schema as types
from evalsi.core.clock import SystemClock
from evalsi.core.errors import EvalsiError
from evalsi.infra.store.open_stores import open_access_store
from evalsi.schema.json_codec import decode, encode_file
from evalsi.server.services.auth_service import AuthService
from evalsi.settings.server import ServerSettings
from evalsi.wiring.access import access_parts
from tests.access.calling import PYTHON_NAME, project_of_run


@dataclass
class Served:
    """A served AuthService."""

    address: str
    arrived: list[dict[str, str]]
    """Headers of every request."""


@contextmanager
def served_auth(folder: Path, settings: ServerSettings) -> Iterator[Served]:
    """AuthService over the store in `folder`, on a free port of this machine."""
    arrived: list[dict[str, str]] = []
    with closing(open_access_store(str(folder / "evalsi.db"))) as store:
        parts = access_parts(settings, store, project_of_run)
        service = AuthService(store, SystemClock(), parts.forget, parts.keys, parts.bindings)

        async def answer(name: str, headers: dict[str, str], content: bytes) -> bytes:
            caller = await parts.authenticator.authenticate(headers)
            method = name.removeprefix("/evalsi.v1alpha1.").replace("/", ".")
            request: Any = decode(content, getattr(types, f"{method.partition('.')[2]}Request"))
            await parts.guard.admit(caller, method, request)
            return encode_file(await getattr(service, PYTHON_NAME[method])(request, caller))

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                arrived.append(headers)
                content = self.rfile.read(int(headers["content-length"]))
                status = 200
                try:
                    body = asyncio.run(answer(self.path, headers, content))
                except EvalsiError as error:
                    status, body = error.http_status, body_of(error)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            try:
                yield Served(f"http://127.0.0.1:{server.server_address[1]}", arrived)
            finally:
                server.shutdown()
                thread.join()


def body_of(error: EvalsiError) -> bytes:
    return json.dumps({"code": error.code, "message": str(error)}).encode()
