"""A collector that others make stands between an app and the server: Rotel, whose program comes in its wheel.

OpenTelemetry's own collector is in no package index; this one speaks the same protocol on both sides, batches, and tries
again while the server is away.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from tests.docs.pages import ROOT, blocks_of
from tests.server.otlp.sending import stored
from tests.server.running_server import RunningServer, running_server, wait_until

ROTEL = "rotel==0.0.1a15"
SPANS = 600
"""Of one trace: more than a batch."""

pytestmark = [pytest.mark.slow, pytest.mark.interop]


@pytest.fixture(scope="module")
def rotel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The collector's program."""
    folder = tmp_path_factory.mktemp("rotel")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    uv = ["uv", "pip", "install", "--quiet", "--no-deps", "--python", sys.executable]
    for command in (uv, install):
        try:
            done = subprocess.run(
                [*command, "--target", str(folder), ROTEL], capture_output=True, text=True, check=False, timeout=240
            )
        except FileNotFoundError:
            continue
        program = folder / "rotel" / "rotel-agent"
        if done.returncode == 0 and program.exists():
            program.chmod(0o755)
            return program
    pytest.skip(f"{ROTEL} cannot be installed here")


def recipe() -> dict[str, str]:
    """The variables that the guide sets for it."""
    page = ROOT / "docs/guides/sending-traces.md"
    block = next(block for block in blocks_of(page) if "ROTEL_EXPORTERS" in block.text)
    return dict(line.split("=", 1) for line in block.text.splitlines())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def collecting(rotel: Path, folder: Path, server: str, protocol: str) -> Generator[dict[str, int]]:
    """The collector, sending to a server; its ports by protocol."""
    ports = {"grpc": free_port(), "http": free_port()}
    variables = {name: value.replace("http://127.0.0.1:8080", server) for name, value in recipe().items()}
    environment = {
        "PATH": os.environ["PATH"],
        **variables,
        "ROTEL_EXPORTER_EVALSI_PROTOCOL": protocol,
        "ROTEL_OTLP_GRPC_ENDPOINT": f"127.0.0.1:{ports['grpc']}",
        "ROTEL_OTLP_HTTP_ENDPOINT": f"127.0.0.1:{ports['http']}",
    }
    with (folder / "rotel.log").open("wb") as log:
        process = subprocess.Popen([str(rotel), "start"], cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            assert wait_until(lambda: all(answers(port) for port in ports.values())), (folder / "rotel.log").read_text()
            yield ports
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            finally:
                process.kill()
                process.wait()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def send(exporter: SpanExporter) -> str:
    """A trace of many spans, by OpenTelemetry's SDK; its id."""
    provider = TracerProvider(resource=Resource.create({"service.name": "shop"}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span("answer") as root:
        root.set_attribute("output.value", "Yes, since eight.")
        for number in range(SPANS - 1):
            with tracer.start_as_current_span(f"step {number}"):
                pass
        trace_id = f"{root.get_span_context().trace_id:032x}"
    provider.force_flush()
    provider.shutdown()
    return trace_id


def exporter_to(ports: dict[str, int], protocol: str) -> SpanExporter:
    if protocol == "http":
        return HttpExporter(endpoint=f"http://127.0.0.1:{ports['http']}/v1/traces")
    return GrpcExporter(endpoint=f"http://127.0.0.1:{ports['grpc']}", insecure=True)


def spans_of(server: RunningServer, trace_id: str) -> int:
    found = stored(server, trace_id)
    return len(found["record"]["trajectory"]["steps"]) if found is not None else 0


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_what_an_app_sends_to_a_collector_arrives_whole_and_once(
    rotel: Path, tmp_path: Path, server: RunningServer, protocol: str
) -> None:
    with collecting(rotel, tmp_path, f"http://{server.address}", protocol) as ports:
        trace_id = send(exporter_to(ports, protocol))
        assert wait_until(lambda: spans_of(server, trace_id) == SPANS, 30), spans_of(server, trace_id)
    found = stored(server, trace_id)
    assert found["summary"]["service"] == "shop"
    assert found["record"]["output"] == {"text": "Yes, since eight."}


def test_what_a_collector_holds_while_the_server_is_away_arrives_later(rotel: Path, tmp_path: Path) -> None:
    port = free_port()
    with collecting(rotel, tmp_path, f"http://127.0.0.1:{port}", "http") as ports:
        trace_id = send(exporter_to(ports, "http"))
        until = monotonic() + 3
        while monotonic() < until:  # it tries and finds nobody
            assert not answers(port)
            sleep(0.2)
        with running_server(tmp_path, command=("serve", "--listen", f"127.0.0.1:{port}")) as late:
            assert wait_until(lambda: spans_of(late, trace_id) == SPANS, 60), spans_of(late, trace_id)
