"""Consecutive rows of a run as the store keeps them: records as JSON Lines, results in packed columns.

Its own module because both who writes a run and who reads one need exactly this form.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar

import msgspec

from evalsi.core.errors import InvalidDataError
from evalsi.engine.columns import EvaluatorColumns, unpack
from evalsi.ports.run_store import Segment
from evalsi.schema import Record

T = TypeVar("T")

WHOLE = -1
"""Index of the segment that holds the results of dataset and session scope; it has no records."""

RECORDS = msgspec.json.Decoder(Record)
_LINES = msgspec.json.Encoder()


@dataclass(frozen=True)
class GradedRows:
    """Consecutive records and what was said about them. Either is decoded only when asked for."""

    first_row: int
    records_jsonl: bytes
    results: list[EvaluatorColumns] | Callable[[], list[EvaluatorColumns]]
    """The columns, or what makes them."""
    source: str = ""
    """Where they were read from, for errors."""

    @cached_property
    def record_lines(self) -> list[bytes]:
        return self.records_jsonl.splitlines()

    @cached_property
    def columns(self) -> list[EvaluatorColumns]:
        return self.results() if callable(self.results) else self.results

    @cached_property
    def records(self) -> list[Record]:
        return self.decoded(RECORDS)

    def record(self, row: int) -> Record:
        """The record of one row, without decoding the others. Raises: as `decoded`."""
        return self._decoded(RECORDS, self.record_lines[row : row + 1])[0]

    def decoded(self, decoder: "msgspec.json.Decoder[T]") -> list[T]:
        """Every record as `decoder` reads it: whole, or the part of it that is needed.

        Raises: InvalidDataError: a line is no record, which happens only to files that were damaged or made by hand.
        """
        return self._decoded(decoder, self.record_lines)

    def decoded_at_once(self, decoder: "msgspec.json.Decoder[list[T]]", one: "msgspec.json.Decoder[T]") -> list[T]:
        """As `decoded`, by a decoder of lists: a call for all lines costs much less than one for each.

        Args:
            one: Reads a single line; asked where the lines are not all sound, to say which is not.
        Raises: as `decoded`.
        """
        try:
            found = decoder.decode(b"[%b]" % self.records_jsonl.removesuffix(b"\n").replace(b"\n", b","))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            found = []
        return found if len(found) == self.rows else self._decoded(one, self.record_lines)

    def _decoded(self, decoder: "msgspec.json.Decoder[T]", lines: list[bytes]) -> list[T]:
        try:
            return [decoder.decode(line) for line in lines]
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InvalidDataError(
                f"a record after row {self.first_row} cannot be read: {error}", where=self.source
            ) from error

    @cached_property
    def rows(self) -> int:
        whole = self.records_jsonl.removesuffix(b"\n")
        # Not `count`, which looks at one byte at a time.
        return len(whole) - len(whole.replace(b"\n", b"")) + 1 if whole else 0


def encode_records(records: list[Record]) -> bytes:
    """Records as JSON Lines, in the form that `GradedRows` reads."""
    return _LINES.encode_lines(records)


def rows_of(segment: Segment) -> GradedRows:
    return GradedRows(segment.first_row, segment.records, partial(unpack, segment.results))
