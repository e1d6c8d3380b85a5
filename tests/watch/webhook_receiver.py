"""A receiver of messages on this machine, for tests: what it heard, and what it answers."""

import http.server
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple


class Heard(NamedTuple):
    """A message."""

    path: str
    headers: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b""


@dataclass
class Receiver:
    port: int = 0
    status: int = 200
    heard: list[tuple[dict[str, str], bytes]] = field(default_factory=list[tuple[dict[str, str], bytes]])
    answer: Callable[[Heard], Answer] | None = None
    """What is answered to a message, in place of `status`."""
    when_heard: Callable[[], None] = lambda: None
    """Called before a message is answered."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def receiver() -> Iterator[Receiver]:
    found = Receiver()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.heard.append((dict(self.headers), body))
            found.when_heard()
            answer = Answer(found.status)
            if found.answer is not None:
                answer = found.answer(Heard(self.path, dict(self.headers), body))
            self.send_response(answer.status)
            if answer.status == 302:
                self.send_header("Location", f"http://127.0.0.1:{found.port}/elsewhere")
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the library
            """Tests print nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
