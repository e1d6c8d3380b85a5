"""OpenTelemetry's messages of traces and logs in protobuf, as far as they are used here; needs no code of OpenTelemetry.

Its own module because the messages are not those of our schema, and because how they are declared is what makes them quick
and lenient: a span is declared as bytes in what holds it, so that one damaged span spoils no other and its bytes can be
kept as they came; lists and maps within values are bytes too, so that no depth of nesting refuses a request; and the
syntax is proto2's, in which a text that is no UTF-8 is handed over as bytes instead of refusing everything around it.
On the wire all of this is OpenTelemetry's own form. Fields that are not declared are kept where a message is written again.
"""

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

_TYPES = {
    "double": 1,
    "int64": 3,
    "fixed64": 6,
    "bool": 8,
    "string": 9,
    "bytes": 12,
    "uint32": 13,
    "enum": 5,  # read as int32, so that a number nobody knows yet is kept
    "fixed32": 7,
}
_PACKAGE = "evalsi.otlp"

# Message, then its fields: name, number, type; "*" before a type is a list of it.
# Source: opentelemetry-proto, trace/v1/trace.proto, common/v1/common.proto, resource/v1/resource.proto,
# collector/trace/v1/trace_service.proto, and the same for logs; google/rpc/status.proto and error_details.proto.
_MESSAGES: dict[str, tuple[tuple[str, int, str], ...]] = {
    # 1000 is what OTLP before 0.15 called a library; its fields are those of a scope.
    "Request": (("resource_spans", 1, "*ResourceSpans"),),
    "ResourceSpans": (
        ("resource", 1, "bytes"),
        ("scope_spans", 2, "*ScopeSpans"),
        ("schema_url", 3, "string"),
        ("library_spans", 1000, "*ScopeSpans"),
    ),
    "ScopeSpans": (("scope", 1, "bytes"), ("spans", 2, "*bytes"), ("schema_url", 3, "string")),
    "Resource": (("attributes", 1, "*KeyValue"), ("dropped_attributes_count", 2, "uint32")),
    "Scope": (("name", 1, "string"), ("version", 2, "string"), ("attributes", 3, "*KeyValue")),
    "Span": (
        ("trace_id", 1, "bytes"),
        ("span_id", 2, "bytes"),
        ("trace_state", 3, "string"),
        ("parent_span_id", 4, "bytes"),
        ("name", 5, "string"),
        ("kind", 6, "enum"),
        ("start_time_unix_nano", 7, "fixed64"),
        ("end_time_unix_nano", 8, "fixed64"),
        ("attributes", 9, "*KeyValue"),
        ("dropped_attributes_count", 10, "uint32"),
        ("events", 11, "*Event"),
        ("links", 13, "*Link"),
        ("status", 15, "SpanStatus"),
        ("flags", 16, "fixed32"),
    ),
    "SpanStatus": (("message", 2, "string"), ("code", 3, "enum")),
    "Event": (("time_unix_nano", 1, "fixed64"), ("name", 2, "string"), ("attributes", 3, "*KeyValue")),
    "Link": (("trace_id", 1, "bytes"), ("span_id", 2, "bytes"), ("attributes", 4, "*KeyValue")),
    "KeyValue": (("key", 1, "string"), ("value", 2, "AnyValue")),
    "AnyValue": (
        ("string_value", 1, "string"),
        ("bool_value", 2, "bool"),
        ("int_value", 3, "int64"),
        ("double_value", 4, "double"),
        ("array_value", 5, "bytes"),
        ("kvlist_value", 6, "bytes"),
        ("bytes_value", 7, "bytes"),
    ),
    "ArrayValue": (("values", 1, "*AnyValue"),),
    "KeyValueList": (("values", 1, "*KeyValue"),),
    "Response": (("partial_success", 1, "PartialSuccess"),),
    "PartialSuccess": (("rejected_spans", 1, "int64"), ("error_message", 2, "string")),
    "LogsRequest": (("resource_logs", 1, "*ResourceLogs"),),
    "ResourceLogs": (("resource", 1, "bytes"), ("scope_logs", 2, "*ScopeLogs"), ("schema_url", 3, "string")),
    "ScopeLogs": (("scope", 1, "bytes"), ("log_records", 2, "*LogRecord"), ("schema_url", 3, "string")),
    # Log records as they came: most are left out, and one by one they take no more memory than their bytes.
    "ReadLogsRequest": (("resource_logs", 1, "*ReadResourceLogs"),),
    "ReadResourceLogs": (("resource", 1, "bytes"), ("scope_logs", 2, "*ReadScopeLogs")),
    "ReadScopeLogs": (("scope", 1, "bytes"), ("log_records", 2, "*bytes")),
    "LogRecord": (
        ("time_unix_nano", 1, "fixed64"),
        ("severity_number", 2, "enum"),
        ("severity_text", 3, "string"),
        ("body", 5, "AnyValue"),
        ("attributes", 6, "*KeyValue"),
        ("flags", 8, "fixed32"),
        ("trace_id", 9, "bytes"),
        ("span_id", 10, "bytes"),
        ("observed_time_unix_nano", 11, "fixed64"),
        ("event_name", 12, "string"),
    ),
    "Status": (("code", 1, "enum"), ("message", 2, "string"), ("details", 3, "*Detail")),
    "Detail": (("type_url", 1, "string"), ("value", 2, "bytes")),
    "RetryInfo": (("retry_delay", 1, "Delay"),),
    "Delay": (("seconds", 1, "int64"), ("nanos", 2, "enum")),
}
_READ = {"*KeyValue": "*bytes"} | {f"*{name}": f"*Read{name}" for name in ("ResourceSpans", "ScopeSpans", "Event")}
for _name in ("Request", "ResourceSpans", "ScopeSpans", "Span", "Event", "Resource"):
    # What is only read, whole: spans are taken apart with what holds them, attributes are handed over in their bytes.
    _MESSAGES[f"Read{_name}"] = tuple(
        (name, number, "*ReadSpan" if name == "spans" else _READ.get(kind, kind))
        for name, number, kind in _MESSAGES[_name]
    )


class OtlpMessages(NamedTuple):
    """Protobuf's classes. Their objects are written and read by the names of fields above."""

    Request: Any
    """`ExportTraceServiceRequest`, which is also `TracesData`."""
    ResourceSpans: Any
    ScopeSpans: Any
    Resource: Any
    Scope: Any
    Span: Any
    ReadRequest: Any
    """A `Request` with its spans, which is damaged where one of them is."""
    ReadSpan: Any
    """A `Span` whose attributes, and those of its events, are bytes, each a `KeyValue`: most have been read before."""
    ReadResource: Any
    """A `Resource` with attributes of that kind."""
    KeyValue: Any
    AnyValue: Any
    ArrayValue: Any
    KeyValueList: Any
    Response: Any
    """`ExportTraceServiceResponse`, and `ExportLogsServiceResponse`, in which rejected are log records."""
    LogsRequest: Any
    """`ExportLogsServiceRequest`."""
    ReadLogsRequest: Any
    """The same, in which every `LogRecord` is bytes."""
    LogRecord: Any
    Status: Any
    """`google.rpc.Status`."""
    RetryInfo: Any
    """`google.rpc.RetryInfo`."""


@cache
def damage() -> type[Exception]:
    """What reading bytes that are no such message raises."""
    from google.protobuf.message import DecodeError

    return DecodeError


@cache
def otlp_messages() -> OtlpMessages:
    """The classes, in a pool of their own, so that an OpenTelemetry in the same process is not disturbed."""
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass

    pool = DescriptorPool()
    pool.Add(_file())
    return OtlpMessages(
        *(GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in OtlpMessages._fields)
    )


def _file() -> "FileDescriptorProto":
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

    file = FileDescriptorProto(name="evalsi/otlp.proto", package=_PACKAGE, syntax="proto2")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field_name, number, kind in fields:
            field = message.field.add(name=field_name, number=number)
            single = kind.removeprefix("*")
            field.label = FieldDescriptorProto.LABEL_REPEATED if kind != single else FieldDescriptorProto.LABEL_OPTIONAL
            if single in _TYPES:
                field.type = FieldDescriptorProto.Type.ValueType(_TYPES[single])
            else:
                field.type = FieldDescriptorProto.TYPE_MESSAGE
                field.type_name = f".{_PACKAGE}.{single}"
        if name == "AnyValue":
            message.oneof_decl.add(name="value")
            for field in message.field:
                field.oneof_index = 0
    return file
