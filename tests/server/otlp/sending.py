"""Spans and the ways to send them, for tests of what receives them."""

import gzip
import json
import secrets
import time
from typing import Any

import zstandard

from evalsi.schema.otlp_wire import otlp_messages
from evalsi.traces import Span
from evalsi.traces.otlp_writing import encode_otlp_protobuf
from tests.server.running_server import RunningServer

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}
PACKINGS: dict[str, Any] = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress}


def a_trace(spans: int = 3, trace_id: str = "", resource: dict[str, Any] | None = None) -> list[Span]:
    """A root and spans below it, ended now."""
    trace_id = trace_id or secrets.token_hex(16)
    now_ns = time.time_ns()
    root = secrets.token_hex(8)
    return [
        Span(
            trace_id=trace_id,
            span_id=secrets.token_hex(8) if number else root,
            parent_span_id=root if number else "",
            name=f"step {number}" if number else "answer",
            start_ns=now_ns - 5_000_000,
            end_ns=now_ns,
            attributes={"gen_ai.operation.name": "chat", "gen_ai.output.messages": f"text {number}"},
            resource={"service.name": "shop", **(resource or {})},
        )
        for number in range(spans)
    ]


def body_of(*spans: Span) -> bytes:
    return encode_otlp_protobuf(spans)


def post(
    server: RunningServer,
    body: bytes,
    headers: dict[str, str] | None = None,
    key: str = "",
    path: str = "/v1/traces",
) -> tuple[int, dict[str, str], bytes]:
    more = {"authorization": f"Bearer {key}"} if key else {}
    return server.request("POST", path, body, {**(headers or PROTOBUF), **more})


def stored(server: RunningServer, trace_id: str, project: str = "", key: str = "") -> Any:
    """The trace as the server gives it; None when it has none."""
    query = f"?project={project}" if project else ""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    status, _, body = server.request("GET", f"/v1alpha1/traces/{trace_id}{query}", None, headers)
    return json.loads(body) if status == 200 else None


def status_of(body: bytes) -> Any:
    """A `google.rpc.Status` in protobuf."""
    return otlp_messages().Status.FromString(body)


def partial_success(body: bytes) -> tuple[int, str]:
    response = otlp_messages().Response.FromString(body)
    return response.partial_success.rejected_spans, response.partial_success.error_message
