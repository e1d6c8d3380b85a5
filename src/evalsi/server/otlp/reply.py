"""Answers as OTLP wants them: how much was taken, or a `google.rpc.Status`, in the encoding of the request.

Its own module because HTTP and gRPC say the same things. Source: OTLP 1.x, "OTLP/HTTP Response" and "OTLP/gRPC Throttling".
"""

from typing import Literal, TypeAlias

import msgspec

from evalsi.schema.otlp_wire import otlp_messages
from evalsi.server.fault import Fault

Encoding: TypeAlias = Literal["protobuf", "json"]
Signal: TypeAlias = Literal["traces", "logs"]
CONTENT_TYPES: dict[Encoding, str] = {"protobuf": "application/x-protobuf", "json": "application/json"}
_REJECTED: dict[Signal, str] = {"traces": "rejectedSpans", "logs": "rejectedLogRecords"}
_RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a request that was taken."""

    rejected: int = 0
    """Spans, or log records."""
    message: str = ""
    """Why they were rejected, as a sentence; empty when none was."""


def reply_bytes(taken: Taken, encoding: Encoding, signal: Signal) -> bytes:
    """An `ExportTraceServiceResponse` or `ExportLogsServiceResponse`; empty when everything was taken."""
    if encoding == "json":
        if not taken.message:
            return b"{}"
        rejected = {_REJECTED[signal]: str(taken.rejected), "errorMessage": taken.message}
        return msgspec.json.encode({"partialSuccess": rejected})
    response = otlp_messages().Response()
    if taken.message:
        response.partial_success.rejected_spans = taken.rejected
        response.partial_success.error_message = taken.message
    return response.SerializeToString()


def status_bytes(fault: Fault, encoding: Encoding) -> bytes:
    """A `google.rpc.Status`; with a `RetryInfo` where the same request may be sent again."""
    retry_s = fault.retry_after_s
    if encoding == "json":
        details = [] if retry_s is None else [{"@type": _RETRY_INFO, "retryDelay": f"{retry_s:.3f}s"}]
        return msgspec.json.encode({"code": fault.grpc_status, "message": fault.message, "details": details})
    messages = otlp_messages()
    status = messages.Status(code=fault.grpc_status, message=fault.message)
    if retry_s is not None:
        info = messages.RetryInfo()
        info.retry_delay.seconds = int(retry_s)
        info.retry_delay.nanos = round((retry_s - int(retry_s)) * 1e9)
        status.details.add(type_url=_RETRY_INFO, value=info.SerializeToString())
    return status.SerializeToString()
