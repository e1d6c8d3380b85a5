"""OpenTelemetry's own exporters against the server: both protocols, the main port and ports of OTLP's own, keys and projects."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from tests.command_line import evalsi
from tests.server.otlp.sending import a_trace, body_of, post, status_of, stored
from tests.server.running_server import RunningServer, running_server

CONFIGURATION = """
data_dir: store
auth: {}
projects: {shop: {}, billing: {}, narrow: {}}
otlp: {http_listen: "127.0.0.1:0", grpc_listen: "127.0.0.1:0"}
rate_limits: {projects: {narrow: {ingest: {per_second: 0.01, burst: 1}}}, principals: {"key:slow": {ingest: {per_second: 0.01, burst: 2}}, "key:small": {ingest: {bytes_per_second: 10, burst_bytes: 100}}}}
traces: {redaction: {pii: [email], keys: [password]}}
"""
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


class Asking:
    """A server that asks for keys, and the keys."""

    def __init__(self, server: RunningServer, folder: Path, root: str) -> None:
        self.server = server
        self.root = root
        self._folder = folder
        self.ports = [line["port"] for line in server.lines if line.get("event") == "otlp"]

    def key(self, name: str, *roles: str, label: str = "") -> str:
        options = [word for role in roles for word in ("--role", role)]
        labels = ["--label", label] if label else []
        env = {"EVALSI_DIR": str(self._folder / "store")}
        return evalsi(
            "auth", "keys", "create", name, *options, *labels, "--local", cwd=self._folder, env=env
        ).out.strip()


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Generator[Asking]:
    folder = tmp_path_factory.mktemp("asking")
    (folder / "evalsi.yaml").write_text(CONFIGURATION, encoding="utf-8")
    env = {"EVALSI_DIR": str(folder / "store")}
    root = evalsi("auth", "keys", "create", "root", "--role", "*=owner", "--local", cwd=folder, env=env).out.strip()
    with running_server(folder, ["--config", "evalsi.yaml"]) as running:
        yield Asking(running, folder, root)


def sent_by(exporter: SpanExporter, **attributes: Any) -> tuple[str, SpanExportResult]:
    """The id of a trace that was sent by an exporter, and what the exporter says of it."""
    results: list[SpanExportResult] = []

    class Watched(SpanExporter):
        def export(self, spans: Any) -> SpanExportResult:
            results.append(exporter.export(spans))
            return results[-1]

    provider = TracerProvider(resource=Resource.create({"service.name": "shop", **attributes}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(Watched()))
    with provider.get_tracer("test").start_as_current_span("answer") as span:
        span.set_attribute("gen_ai.output.messages", "write to kim@example.org")
        trace_id = f"{span.get_span_context().trace_id:032x}"
    exporter.shutdown()
    return trace_id, results[0]


def exporter_of(asking: Asking, protocol: str, port: int, key: str, *, packed: bool = False) -> SpanExporter:
    if protocol == "http":
        return HttpExporter(
            endpoint=f"http://127.0.0.1:{port}/v1/traces",
            headers={"authorization": f"Bearer {key}"},
            compression=Compression.Gzip if packed else Compression.NoCompression,
            timeout=10,
        )
    return GrpcExporter(
        endpoint=f"http://127.0.0.1:{port}",
        insecure=True,
        headers=(("authorization", f"Bearer {key}"),),
        compression=grpc.Compression.Gzip if packed else grpc.Compression.NoCompression,
        timeout=10,
    )


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("port", ["main", "first", "second"])
@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_opentelemetrys_exporters_are_understood_on_every_port(
    asking: Asking, protocol: str, port: str, *, packed: bool
) -> None:
    number = {"main": asking.server.port, "first": asking.ports[0], "second": asking.ports[1]}[port]
    trace_id, result = sent_by(exporter_of(asking, protocol, number, asking.root, packed=packed))
    assert result is SpanExportResult.SUCCESS
    found = stored(asking.server, trace_id, key=asking.root)
    assert "[EMAIL]" in str(found)
    assert "kim@" not in str(found)


def test_ports_of_otlp_serve_nothing_else(asking: Asking) -> None:
    ports = RunningServer(asking.server.process, [], asking.ports[0])
    for path in ("/v1alpha1/traces", "/healthz", "/metrics", "/ui/"):
        assert ports.request("GET", path)[0] == 404
    with grpc.insecure_channel(f"127.0.0.1:{asking.ports[1]}") as channel:
        call: Any = channel.unary_unary("/evalsi.v1alpha1.AuthService/WhoAmI")
        with pytest.raises(grpc.RpcError) as refused:
            call(b"", timeout=5)
    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_traces_go_to_the_project_of_their_key_with_its_labels(asking: Asking) -> None:
    key = asking.key("of-shop", "shop=ingest", label="team=web")
    spans = a_trace(resource={"evalsi.label.team": "forged"})
    assert post(asking.server, body_of(*spans), key=key)[0] == 200
    found = stored(asking.server, spans[0].trace_id, "shop", asking.root)
    assert found["summary"]["project"] == "shop"
    assert found["summary"]["labels"] == {"team": "web"}
    assert stored(asking.server, spans[0].trace_id, "default", asking.root) is None


def test_a_named_project_counts_where_the_key_may_write(asking: Asking) -> None:
    key = asking.key("of-two", "shop=ingest", "billing=ingest")
    to_billing = a_trace(resource={"evalsi.project": "billing"})
    assert post(asking.server, body_of(*to_billing), key=key)[0] == 200
    assert stored(asking.server, to_billing[0].trace_id, "billing", asking.root) is not None
    status, _, body = post(asking.server, body_of(*a_trace()), key=key)
    assert status == 403
    assert "evalsi.project" in status_of(body).message
    status, _, body = post(asking.server, body_of(*a_trace(resource={"evalsi.project": "default"})), key=key)
    assert (status, status_of(body).code) == (403, 7)
    status, _, body = post(asking.server, body_of(*a_trace(resource={"evalsi.project": "nowhere"})), key=asking.root)
    assert (status, status_of(body).code) == (404, 5)


def test_spans_for_a_forbidden_project_are_rejected_and_the_others_stored(asking: Asking) -> None:
    key = asking.key("of-billing", "billing=ingest")
    mine, other = a_trace(), a_trace(2, resource={"evalsi.project": "shop"})
    status, _, body = post(asking.server, body_of(*mine, *other), key=key)
    assert status == 200
    assert b"may not write" in body
    assert stored(asking.server, mine[0].trace_id, "billing", asking.root) is not None
    assert stored(asking.server, other[0].trace_id, "shop", asking.root) is None


def test_without_a_key_or_a_right_nothing_is_taken(asking: Asking) -> None:
    reader = asking.key("reader", "shop=viewer")
    for key, expected in (("", 401), ("evk_" + "x" * 43, 401), (reader, 403)):
        status, headers, body = post(asking.server, body_of(*a_trace()), key=key)
        assert (status, status_of(body).code) == (expected, {401: 16, 403: 7}[expected])
        assert (headers.get("www-authenticate") == "Bearer") == (expected == 401)
    _, result = sent_by(exporter_of(asking, "grpc", asking.server.port, reader))
    assert result is SpanExportResult.FAILURE


def test_who_sends_too_fast_is_told_when_to_come_again(asking: Asking) -> None:
    slow, small = asking.key("slow", "shop=ingest"), asking.key("small", "shop=ingest")
    body = body_of(*a_trace())
    assert [post(asking.server, body, key=slow)[0] for _ in range(3)] == [200, 200, 429]
    status, headers, told = post(asking.server, body, key=slow)
    assert status == 429
    assert 50 <= int(headers["retry-after"]) <= 100
    assert status_of(told).details[0].type_url == "type.googleapis.com/google.rpc.RetryInfo"
    assert [post(asking.server, body, key=small)[0] for _ in range(2)] == [200, 429]
    with grpc.insecure_channel(f"127.0.0.1:{asking.server.port}") as channel:
        call: Any = channel.unary_unary(EXPORT)
        with pytest.raises(grpc.RpcError) as refused:
            call(body, timeout=5, metadata=(("authorization", f"Bearer {slow}"),))
    error: Any = refused.value
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    packed = next(value for name, value in error.trailing_metadata() if name == "grpc-status-details-bin")
    assert status_of(packed).details[0].type_url == "type.googleapis.com/google.rpc.RetryInfo"


def test_a_project_may_have_a_rate_of_its_own_for_all_of_its_keys(asking: Asking) -> None:
    one, other = asking.key("narrow-one", "narrow=ingest"), asking.key("narrow-other", "narrow=ingest")
    body = body_of(*a_trace())
    assert [post(asking.server, body, key=key)[0] for key in (one, other, one)] == [200, 429, 429]
    assert "project 'narrow' may send 0.01 requests" in status_of(post(asking.server, body, key=other)[2]).message


@pytest.mark.parametrize(
    ("message", "code"), [(b"\xff\xfe", "INVALID_ARGUMENT"), (b"x" * (33 << 20), "RESOURCE_EXHAUSTED")]
)
def test_grpc_refuses_with_the_status_that_otlp_asks_for(asking: Asking, message: bytes, code: str) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{asking.server.port}") as channel:
        call: Any = channel.unary_unary(EXPORT)
        with pytest.raises(grpc.RpcError) as refused:
            call(message, timeout=20, metadata=(("authorization", f"Bearer {asking.root}"),))
    assert refused.value.code().name == code


def test_what_was_redacted_is_nowhere_in_the_store(asking: Asking) -> None:
    spans = a_trace(1)
    spans[0].attributes["password"] = "hunter2hunter2"
    spans[0].attributes["gen_ai.input.messages"] = '[{"content": "I am kim.secret\\u0040example.org"}]'
    assert post(asking.server, body_of(*spans), key=asking.root)[0] == 200
    found = str(stored(asking.server, spans[0].trace_id, key=asking.root))
    assert "[REDACTED]" in found
    for secret in ("hunter2", "kim.secret"):
        assert secret not in found
