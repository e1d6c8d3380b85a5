"""Reads files of spans as the tests want them: one record per trace."""

from pathlib import Path

from evalsi.schema import Record, Trajectory
from evalsi.traces import by_trace, decode_otlp, default_tracing
from evalsi.traces.record_of_trace import record_of_trace

GOLDEN = Path(__file__).parent / "golden"


def records_of(path: Path) -> list[Record]:
    """The record of each trace in the file."""
    spans = decode_otlp(path.read_bytes(), str(path)).spans
    return [record_of_trace(group, default_tracing()) for group in by_trace(spans).values()]


def record_of(path: Path) -> Record:
    """The record of the only trace in the file."""
    (record,) = records_of(path)
    return record


def trajectory_of(record: Record) -> Trajectory:
    assert record.trajectory is not None
    return record.trajectory
