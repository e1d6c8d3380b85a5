"""An S3 of our own for tests, in a process of its own: moto's server with one bucket."""

import http.client
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.command_line import environment

_PROGRAM = """
import time
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
time.sleep(3600)
"""


@dataclass(frozen=True)
class S3Server:
    """Where it is, and what is in its bucket."""

    process: "subprocess.Popen[str]"
    port: int
    bucket: str = "evalsi"

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def options(self) -> dict[str, str]:
        """As `open_objects` takes them."""
        return {
            "endpoint": self.endpoint,
            "region": "us-east-1",
            "access_key_id": "AKIAHUNTER2",
            "secret_access_key": "hunter2",
            "allow_http": "true",
        }

    def asked(self, verb: str, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(verb, path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def s3_server() -> Generator[S3Server]:
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    server = S3Server(process, int(process.stdout.readline()))
    try:
        assert server.asked("PUT", f"/{server.bucket}")[0] == 200
        yield server
    finally:
        server.stop()
        process.stdout.close()
