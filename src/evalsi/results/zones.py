"""Zones: per segment and evaluator, how many rows ended how, between which bounds each output lies, and marks of the ids.

A page of failures or of lowest scores is found by reading only segments that can hold such rows (a zone map, as column
stores keep them: Graefe, "Fast loads and fast queries", 2009), a record by reading only segments with a mark of its id:
four bytes of checksum, so that of a million rows one segment in a thousand is read for nothing. What the rows took stands
there too, for whoever continues the run. Segments of earlier versions have less of this, or none, and are read.
"""

from collections.abc import Sequence
from zlib import crc32

import msgspec

from evalsi.engine.columns import EvaluatorColumns
from evalsi.results.segment_spend import SegmentSpend, spend_of
from evalsi.schema import Record

CODES = 5
"""Outcome codes there are; see `evalsi.engine.columns`."""


class Zone(msgspec.Struct, frozen=True, array_like=True):
    """One evaluator over one segment."""

    evaluator: str
    outcomes: list[int]
    """Rows per outcome code, shape (CODES,)."""
    bounds: dict[str, tuple[float, float]]
    """Lowest and highest value by metric. A metric without any value is not there."""


class _Zones(msgspec.Struct, frozen=True):
    """What is stored. Earlier versions stored a list of zones alone."""

    zones: list[Zone]
    ids: bytes
    """A mark of each record's id."""
    spent: SegmentSpend | None = None
    """Missing in what earlier versions stored."""


class _Spent(msgspec.Struct, frozen=True):
    """The part of `_Zones` that a run reads when it is continued."""

    spent: SegmentSpend | None = None


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[Zone] | _Zones)
_SPENT = msgspec.msgpack.Decoder(_Spent)
_WITH_IDS = (0x82, 0x83)
"""First byte of a `_Zones`: a map of two, or with what was spent of three."""


def encode_zones(columns: Sequence[EvaluatorColumns], records: Sequence[Record]) -> bytes:
    """The zones of a batch, for `Segment.zones`."""
    marks = b"".join(_mark(each.id) for each in records)
    return _ENCODER.encode(_Zones([_zone(each) for each in columns], marks, spend_of(columns, records)))


def decode_zones(body: bytes) -> list[Zone] | None:
    """The zones in what `encode_zones` gave; None for a segment that has none."""
    if not body:
        return None
    found = _DECODER.decode(body)
    return found.zones if isinstance(found, _Zones) else found


def decode_spend(body: bytes) -> SegmentSpend | None:
    """What the segment's rows took; None where its writer did not add it up."""
    return _SPENT.decode(body).spent if body[:1] == b"\x83" else None


def may_hold_record(body: bytes, record_id: str) -> bool:
    """False only where no record of the segment has the id. Nothing is decoded: there may be thousands to ask."""
    return not body or body[0] not in _WITH_IDS or _mark(record_id) in body


def _mark(record_id: str) -> bytes:
    return crc32(record_id.encode("utf-8", "surrogatepass")).to_bytes(4, "little")


def _zone(columns: EvaluatorColumns) -> Zone:
    bounds: dict[str, tuple[float, float]] = {}
    for output, column in columns.columns.items():
        present = [value for value in column.values if value == value]
        if present:
            bounds[columns.metric(output)] = (min(present), max(present))
    return Zone(columns.evaluator, [columns.outcomes.count(code) for code in range(CODES)], bounds)
