"""Traces in files as logs: OTLP, one record per trace, and ATIF, one record per trajectory. They carry no scores."""

from collections.abc import Callable, Iterator
from pathlib import Path

from evalsi.core.errors import InvalidDataError
from evalsi.datasets.byte_source import ByteSource
from evalsi.datasets.imports.imported_log import NOT_SCORED, ImportedLog, ImportedSample, UnreadableSample
from evalsi.datasets.imports.log_file import MAX_DOCUMENT_BYTES, lines_of
from evalsi.schema import DatasetManifest, RunManifest, RunStatus
from evalsi.traces import (
    AtifDocument,
    DecodedSpans,
    Tracing,
    by_trace,
    decode_atif,
    decode_otlp,
    default_tracing,
    record_of_atif,
)
from evalsi.traces.record_of_trace import record_of_trace

_Reader = Callable[[], Iterator[ImportedSample | UnreadableSample]]


def read_otlp_file(path: Path) -> list[ImportedLog]:
    """The traces in a file of OTLP, JSON or protobuf, packed or not.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: it is no OTLP, or holds no span.
    """
    traces = len(by_trace(spans_of_file(path).spans))
    return [_log(path, "otlp", traces, lambda: samples_of_otlp(path, default_tracing()))]


def read_atif_file(path: Path) -> list[ImportedLog]:
    """The trajectories in a file of ATIF: one document, or one per line.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: it is no ATIF.
    """
    documents = _documents(path)
    return [_log(path, "atif", len(documents), lambda: _samples_of_atif(path))]


def is_otlp(head: bytes) -> bool:
    """Whether a file that begins so may be OTLP in JSON. Protobuf has no mark: such a file has to be named."""
    return head.lstrip().startswith(b"{") and b'"resourceSpans"' in head


def is_atif(head: bytes) -> bool:
    """Whether a file that begins so may be ATIF."""
    return head.lstrip().startswith(b"{") and b'"ATIF-v' in head


def _log(path: Path, tool: str, records: int, read: _Reader) -> ImportedLog:
    return ImportedLog(
        label=path.stem,
        path=path,
        tool=tool,
        tool_version="",
        manifest=RunManifest(
            name=path.stem,
            dataset=DatasetManifest(source=str(path), records=records),
            status=RunStatus.SUCCEEDED,
        ),
        read_samples=read,
    )


def spans_of_file(path: Path) -> DecodedSpans:
    """The spans of a file of OTLP, JSON or protobuf, packed or not. Raises: as `read_otlp_file`."""
    decoded = decode_otlp(_content(path), str(path))
    if not decoded.spans and not decoded.rejected:
        hint = "OTLP JSON is an object with resourceSpans; records, as 'evalsi traces export' writes them, are for 'evalsi eval'"
        raise InvalidDataError("holds no span", where=str(path), hint=hint)
    return decoded


def samples_of_otlp(path: Path, tracing: Tracing) -> Iterator[ImportedSample | UnreadableSample]:
    """A record per trace of the file, read by these conventions, then the spans that cannot be taken.

    Raises: as `read_otlp_file`.
    """
    decoded = decode_otlp(_content(path), str(path))
    for trace_id, spans in by_trace(decoded.spans).items():
        yield ImportedSample(f"{path}: trace {trace_id}", record_of_trace(spans, tracing), [], NOT_SCORED)
    for rejected in decoded.rejected:
        yield UnreadableSample(f"{path}: {rejected.where}", rejected.reason)


def _samples_of_atif(path: Path) -> Iterator[ImportedSample | UnreadableSample]:
    for place, document in _documents(path):
        identifier = path.stem if place == str(path) else f"{path.stem}-{place.rpartition(':')[2]}"
        yield ImportedSample(place, record_of_atif(document, identifier), [], NOT_SCORED)


def _documents(path: Path) -> list[tuple[str, AtifDocument]]:
    """The documents with their places. A document over several lines is one; several lines are a document each."""
    lines = list(lines_of(path))
    if not lines:
        raise InvalidDataError("the file is empty", where=str(path))
    if len(lines) == 1 or not lines[0][1].rstrip().endswith(b"}"):
        return [(str(path), decode_atif(b"\n".join(line for _, line in lines), str(path)))]
    return [(place, decode_atif(line, place)) for place, line in lines]


def _content(path: Path) -> bytes:
    content = bytearray()
    for block in ByteSource(str(path), path).blocks():
        content += block
        if len(content) > MAX_DOCUMENT_BYTES:
            raise InvalidDataError("unpacks to more than 4 GiB", where=str(path))
    return bytes(content)
