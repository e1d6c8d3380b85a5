"""Traces of any convention as one kind of trajectory. Pure: no clock, no network, no store. The face of this package."""

from evalsi.traces.assembly import Assembly, AssemblyRules, CompleteTrace
from evalsi.traces.atif_form import AtifDocument
from evalsi.traces.atif_reading import decode_atif, record_of_atif, trajectory_of_atif
from evalsi.traces.atif_writing import atif_of_trajectory, encode_atif
from evalsi.traces.mapping import Mapping, read_mapping, shipped_mappings
from evalsi.traces.otlp_file import decode_otlp
from evalsi.traces.otlp_json import decode_otlp_json
from evalsi.traces.otlp_protobuf import decode_otlp_protobuf
from evalsi.traces.record_of_trace import record_of_trace
from evalsi.traces.source_reading import Mappers, shipped_mappers
from evalsi.traces.span import DecodedSpans, RejectedSpan, Span, SpanEvent
from evalsi.traces.tool_calls import MadeCall, arguments_of, tool_calls_of
from evalsi.traces.trajectory import Tracing, by_trace, default_tracing, total_usage, trajectory_of_spans

__all__ = [
    "Assembly",
    "AssemblyRules",
    "AtifDocument",
    "CompleteTrace",
    "DecodedSpans",
    "MadeCall",
    "Mappers",
    "Mapping",
    "RejectedSpan",
    "Span",
    "SpanEvent",
    "Tracing",
    "arguments_of",
    "atif_of_trajectory",
    "by_trace",
    "decode_atif",
    "decode_otlp",
    "decode_otlp_json",
    "decode_otlp_protobuf",
    "default_tracing",
    "encode_atif",
    "read_mapping",
    "record_of_atif",
    "record_of_trace",
    "shipped_mappers",
    "shipped_mappings",
    "tool_calls_of",
    "total_usage",
    "trajectory_of_atif",
    "trajectory_of_spans",
]
