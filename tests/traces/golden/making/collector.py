# pyright: basic, reportMissingImports=false
"""A model that answers by script and a collector that keeps what is exported, on one local port.

The model knows one conversation: the first request is answered with a tool call, the next with text. Bodies posted to
/v1/traces are decoded with OpenTelemetry's own messages and written as OTLP JSON.
"""

import base64
import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 15,
    "total_tokens": 135,
    "prompt_tokens_details": {"cached_tokens": 100},
    "completion_tokens_details": {"reasoning_tokens": 5},
}
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "lamp_state", "arguments": '{"room": "hall"}'},
}


class Collector(BaseHTTPRequestHandler):
    """Both servers: POST /v1/chat/completions and POST /v1/traces."""

    protocol_version = "HTTP/1.1"

    groups: list[dict[str, Any]] = []  # noqa: RUF012 - one server per process
    logs: list[dict[str, Any]] = []  # noqa: RUF012

    def do_POST(self) -> None:
        body = (
            self._chunks()
            if "content-length" not in self.headers
            else self.rfile.read(int(self.headers["content-length"]))
        )
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        if self.path.endswith("/v1/traces"):
            self.groups.extend(hex_ids(body).get("resourceSpans", []))
            self._answer(b"", "application/x-protobuf")
        elif self.path.endswith("/v1/logs"):
            self.logs.extend(hex_ids_of_logs(body).get("resourceLogs", []))
            self._answer(b"", "application/x-protobuf")
        elif self.path.endswith("/chat/completions"):
            self._answer(json.dumps(completion(json.loads(body))).encode(), "application/json")
        else:
            self._answer(b"{}", "application/json")

    def _chunks(self) -> bytes:
        """A chunked body: JavaScript's exporter sends no length."""
        body = b""
        while length := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            body += self.rfile.read(length)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Quiet."""


def completion(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a chat request, by whether the tool has been asked already."""
    answered = any(message.get("role") == "tool" for message in request["messages"])
    said: dict[str, Any] = {"role": "assistant", "content": "Yes, it is on." if answered else None}
    if not answered:
        said["tool_calls"] = [CALL]
    return {
        "id": "chatcmpl-2" if answered else "chatcmpl-1",
        "object": "chat.completion",
        "created": 1767323045,
        "model": "small-1-2026-01-01",
        "choices": [{"index": 0, "message": said, "finish_reason": "stop" if answered else "tool_calls"}],
        "usage": {**USAGE, "prompt_tokens": 150, "total_tokens": 165} if answered else USAGE,
    }


def hex_ids(body: bytes) -> dict[str, Any]:
    """An export request as OTLP JSON: as protobuf's JSON, but with ids in hexadecimal and enums as numbers."""
    request = MessageToDict(ExportTraceServiceRequest.FromString(body), use_integers_for_enums=True)
    for group in request.get("resourceSpans", []):
        for scoped in group.get("scopeSpans", []):
            for span in scoped.get("spans", []):
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64decode(span[key]).hex()
                span.pop("links", None)
    return request


def hex_ids_of_logs(body: bytes) -> dict[str, Any]:
    """The same for a request of logs."""
    request = MessageToDict(ExportLogsServiceRequest.FromString(body), use_integers_for_enums=True)
    for group in request.get("resourceLogs", []):
        for scoped in group.get("scopeLogs", []):
            for record in scoped.get("logRecords", []):
                for key in ("traceId", "spanId"):
                    if key in record:
                        record[key] = base64.b64decode(record[key]).hex()
    return request


def start() -> str:
    """Starts both and returns their address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
