"""`evalsi.tracing.register` in real apps: with a provider and without, forked, ended, and with a server that is away."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from typing import Any

import pytest

from tests.server.running_server import RunningServer, running_server

SPAN = """
from opentelemetry import trace
def one(name):
    with trace.get_tracer("app").start_as_current_span(name) as span:
        span.set_attribute("gen_ai.operation.name", "chat")
        span.set_attribute("output.value", name)
        span.set_attribute("tags", ["a", "b"])
        span.add_event("seen", {"n": 5})
        return f"{span.get_span_context().trace_id:032x}"
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("register")) as running:
        yield running


def app(code: str, server: str) -> str:
    env = {**os.environ, "EVALSI_SERVER": server, "OTEL_SERVICE_NAME": "shop"}
    done = subprocess.run(
        [sys.executable, "-c", SPAN + code], env=env, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


def trace_of(server: RunningServer, trace_id: str, project: str = "default") -> Any:
    status, found = server.get(f"/v1alpha1/traces/{trace_id}?project={project}")
    return found if status == 200 else None


def test_an_app_without_a_provider_gets_one_and_its_spans_arrive_when_it_ends(server: RunningServer) -> None:
    code = "import evalsi\nevalsi.tracing.register()\nprint(one('hello'))"
    found = trace_of(server, app(code, f"http://{server.address}"))
    assert found["summary"]["service"] == "shop"
    assert found["record"]["output"]["text"] == "hello"


def test_the_apps_own_provider_keeps_its_exporters_and_a_server_is_added_once(server: RunningServer) -> None:
    code = """
import evalsi
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
own = InMemorySpanExporter()
provider = TracerProvider(shutdown_on_exit=False)
provider.add_span_processor(SimpleSpanProcessor(own))
trace.set_tracer_provider(provider)
for _ in range(2):
    assert evalsi.tracing.register(project="web") is provider
trace_id = one("both")
print(trace_id, len(own.get_finished_spans()))
"""
    trace_id, own = app(code, f"http://{server.address}").split()
    assert own == "1"
    found = trace_of(server, trace_id, "web")
    assert found["summary"]["spans"] == 1
    assert json.dumps(found).count('"seen"') <= 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_is_traced_too(server: RunningServer) -> None:
    code = """
import os, evalsi
provider = evalsi.tracing.register()
one("before")
provider.force_flush()
reading, writing = os.pipe()
if os.fork() == 0:
    os.write(writing, one("child").encode())
    provider.force_flush()
    os._exit(0)
os.wait()
print(os.read(reading, 100).decode())
"""
    found = trace_of(server, app(code, f"http://{server.address}"))
    assert found["record"]["output"]["text"] == "child"


def test_a_server_that_is_away_or_refuses_is_never_raised_into_the_app() -> None:
    code = "import evalsi\nevalsi.tracing.register('http://127.0.0.1:9')\nprint([one('x') for _ in range(3)][0])"
    assert len(app(code, "")) == 32
