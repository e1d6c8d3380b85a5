"""Spans of the server's own work, as a receiver of OTLP gets them from the real exporter."""

import asyncio
import gzip
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.own_traces import span, trace_with
from evalsi.infra.models.http_client import HttpClient
from evalsi.testing.stand_in_model import Behaviour, StandInModel
from tests.server.running_server import running_server, wait_until

collector = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
SECRET = "what nobody may see in a span"


@contextmanager
def receiver() -> Iterator[tuple[str, list[Any]]]:
    """Its address, and the spans that arrived so far."""
    spans: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            request = collector.ExportTraceServiceRequest.FromString(body)
            spans.extend(s for r in request.resource_spans for scope in r.scope_spans for s in scope.spans)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/traces", spans
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.slow
def test_calls_evaluators_judges_and_runs_are_spans_of_the_callers_trace(tmp_path: Path) -> None:
    with StandInModel(Behaviour()) as model, receiver() as (endpoint, spans):
        (tmp_path / "evalsi.yaml").write_text(
            f"""
            data_dir: store
            judges: {{house: {{model: gpt-4o-mini, base_url: "{model.base_url}", api_key_env: JUDGE_KEY}}}}
            """
        )
        env = {"JUDGE_KEY": "sk-of-nobody", "EVALSI_TRACE_ENDPOINT": endpoint}
        with running_server(tmp_path, ("--config", "evalsi.yaml"), env) as server:
            record = {"id": "1", "input": {"text": SECRET}, "output": {"text": SECRET}, "reference": {"text": SECRET}}
            asking = {
                "records": [record],
                "evaluators": [
                    {"ref": "answer-relevance", "judge": "house"},
                    {"ref": "regex-match", "params": {"pattern": "(?=x)x"}},
                ],
            }
            trace = {"traceparent": f"00-{TRACE}-{PARENT}-01", "content-type": "application/json"}
            assert server.post("/v1/evaluate", asking, trace)[0] == 200
            assert (
                server.post("/v1/evaluate", {"records": [record], "evaluators": [{"ref": "no-such"}]}, trace)[0] == 400
            )
            run = {"dataset": {"inline": {"records": [record]}}, "evaluators": [{"ref": "exact-match"}]}
            assert server.post("/v1/runs", {"spec": run})[0] == 200
            assert wait_until(lambda: {"run", "run chunk", "judge"} <= {span.name for span in spans}, 30)
            assert wait_until(lambda: sum(span.name == "EvaluationService.Evaluate" for span in spans) == 2)
            assert not [line for line in server.lines if line["event"] == "no JSON"]
        by_id = {span.span_id: span for span in spans}
        ours = [span for span in spans if span.trace_id.hex() == TRACE]
        assert {span.name for span in ours} == {"EvaluationService.Evaluate", "grade", "evaluator", "judge"}
        calls = [span for span in ours if span.name == "EvaluationService.Evaluate"]
        assert {span.parent_span_id.hex() for span in calls} == {PARENT}
        assert sorted(span.status.code for span in calls) == [0, 2]
        (judge,) = (span for span in ours if span.name == "judge")
        assert above(judge, by_id) == ["evaluator", "grade", "EvaluationService.Evaluate"]
        (chunk,) = (span for span in spans if span.name == "run chunk")
        assert above(chunk, by_id) == ["run"]
        everything = "".join(str(span) for span in spans)
        assert SECRET not in everything
        assert "sk-of-nobody" not in everything


def test_what_is_asked_over_the_network_carries_the_trace() -> None:
    heads: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    async def ask() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        async with server:
            for _ in range(2):
                client = HttpClient(headers={})
                with span("judge"):
                    await client.send("POST", url, None, timeout_s=5, connect_s=5)
                await client.close()
                trace_with(None)

    from evalsi.infra.open_telemetry import OpenTelemetry

    with receiver() as (endpoint, _):
        trace_with(OpenTelemetry(endpoint, "test"))
        try:
            asyncio.run(ask())
        finally:
            trace_with(None)
    assert re.search(rb"\r\ntraceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-0[13]\r\n", heads[0])
    assert b"traceparent" not in heads[1]


def above(span: Any, by_id: dict[bytes, Any]) -> list[str]:
    """Names of the spans that a span lies in, the nearest first."""
    names: list[str] = []
    while (span := by_id.get(span.parent_span_id)) is not None:
        names.append(span.name)
    return names
