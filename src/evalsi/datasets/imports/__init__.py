"""Logs of other tools: Inspect, lm-evaluation-harness, promptfoo, DeepEval, OpenAI evals; traces. The face of this package."""

from evalsi.datasets.imports.imported_log import (
    ImportedLog,
    ImportedSample,
    ReportedMetric,
    UnreadableSample,
)
from evalsi.datasets.imports.log_rows import LogRows
from evalsi.datasets.imports.open_log import SCHEMES, is_log_address, open_logs
from evalsi.datasets.imports.trace_log import samples_of_otlp, spans_of_file

__all__ = [
    "SCHEMES",
    "ImportedLog",
    "ImportedSample",
    "LogRows",
    "ReportedMetric",
    "UnreadableSample",
    "is_log_address",
    "open_logs",
    "samples_of_otlp",
    "spans_of_file",
]
