"""Zones: per segment and evaluator, how many rows ended how, and between which bounds each output lies.

A page of failures or of lowest scores is found by reading only segments that can hold such rows (a zone map, as column
stores keep them: Graefe, "Fast loads and fast queries", 2009). Segments of earlier versions have none and are read.
"""

from collections.abc import Sequence

import msgspec

from evalsi.engine.columns import EvaluatorColumns

CODES = 5
"""Outcome codes there are; see `evalsi.engine.columns`."""


class Zone(msgspec.Struct, frozen=True, array_like=True):
    """One evaluator over one segment."""

    evaluator: str
    outcomes: list[int]
    """Rows per outcome code, shape (CODES,)."""
    bounds: dict[str, tuple[float, float]]
    """Lowest and highest value by metric. A metric without any value is not there."""


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[Zone])


def encode_zones(columns: Sequence[EvaluatorColumns]) -> bytes:
    """The zones of a batch, for `Segment.zones`."""
    return _ENCODER.encode([_zone(each) for each in columns])


def decode_zones(body: bytes) -> list[Zone] | None:
    """The inverse of `encode_zones`; None for a segment that has none."""
    return _DECODER.decode(body) if body else None


def _zone(columns: EvaluatorColumns) -> Zone:
    bounds: dict[str, tuple[float, float]] = {}
    for output, column in columns.columns.items():
        present = [value for value in column.values if value == value]
        if present:
            bounds[columns.metric(output)] = (min(present), max(present))
    return Zone(columns.evaluator, [columns.outcomes.count(code) for code in range(CODES)], bounds)
