"""Traces of any convention as one kind of trajectory. Pure: no clock, no network, no store. The face of this package."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalsi.traces.atif_form import AtifDocument
    from evalsi.traces.atif_reading import decode_atif, record_of_atif, trajectory_of_atif
    from evalsi.traces.atif_writing import atif_of_trajectory, encode_atif
    from evalsi.traces.mapping import Mapping, read_mapping, shipped_mappings
    from evalsi.traces.otlp_file import decode_otlp
    from evalsi.traces.otlp_json import decode_otlp_json
    from evalsi.traces.otlp_protobuf import decode_otlp_protobuf
    from evalsi.traces.source_reading import Mappers, shipped_mappers
    from evalsi.traces.span import DecodedSpans, RejectedSpan, Span, SpanEvent
    from evalsi.traces.tool_calls import MadeCall, arguments_of, tool_calls_of
    from evalsi.traces.trajectory import Tracing, by_trace, default_tracing, total_usage, trajectory_of_spans

__all__ = [
    "AtifDocument",
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
    "shipped_mappers",
    "shipped_mappings",
    "tool_calls_of",
    "total_usage",
    "trajectory_of_atif",
    "trajectory_of_spans",
]

_HOMES = {
    "AtifDocument": "atif_form",
    "DecodedSpans": "span",
    "MadeCall": "tool_calls",
    "Mappers": "source_reading",
    "Mapping": "mapping",
    "RejectedSpan": "span",
    "Span": "span",
    "SpanEvent": "span",
    "Tracing": "trajectory",
    "arguments_of": "tool_calls",
    "atif_of_trajectory": "atif_writing",
    "by_trace": "trajectory",
    "decode_atif": "atif_reading",
    "decode_otlp": "otlp_file",
    "decode_otlp_json": "otlp_json",
    "decode_otlp_protobuf": "otlp_protobuf",
    "default_tracing": "trajectory",
    "encode_atif": "atif_writing",
    "read_mapping": "mapping",
    "record_of_atif": "atif_reading",
    "shipped_mappers": "source_reading",
    "shipped_mappings": "mapping",
    "tool_calls_of": "tool_calls",
    "total_usage": "trajectory",
    "trajectory_of_atif": "atif_reading",
    "trajectory_of_spans": "trajectory",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
