"""Whether a stored segment is what it says it is: asked of what comes from elsewhere, before it is stored.

Its own module because the store trusts what it holds, and so does everybody who reads from it: rows that are counted
otherwise than they are there would make every report of the run fail, or speak of other records.
"""

from math import isinf
from typing import get_args

import msgspec

from evalsi.core.errors import InvalidDataError
from evalsi.engine.columns import Column, EvaluatorColumns, Kind
from evalsi.ports.run_store import Segment
from evalsi.results.stored_rows import WHOLE, rows_of
from evalsi.results.zones import CODES

_KINDS = frozenset(get_args(Kind))


def check_segment(segment: Segment) -> None:
    """Raises: InvalidDataError: records or results cannot be read, or are not as many as is said."""
    rows = rows_of(segment)
    if segment.index != WHOLE and len(rows.records) != segment.rows:
        raise InvalidDataError(f"there are {len(rows.records)} records where {segment.rows} are announced")
    try:
        found = rows.columns
    except (msgspec.MsgspecError, ValueError) as error:
        raise InvalidDataError(f"the results cannot be read: {error}") from error
    for columns in found:
        size = columns.rows if segment.index == WHOLE else segment.rows
        if not size or not _are_sound(columns, size):
            raise InvalidDataError(f"the results of {columns.evaluator!r} are not those of {segment.rows} records")


def _are_sound(columns: EvaluatorColumns, size: int) -> bool:
    return (
        columns.rows == size
        and max(columns.outcomes) < CODES
        and all(0 <= row < size for row in columns.notes)
        and all(_is_sound(column, size) for column in columns.columns.values())
    )


def _is_sound(column: Column, size: int) -> bool:
    return (
        column.kind in _KINDS
        and len(column.values) == size
        and not any(map(isinf, column.values))
        and (column.objects is None or len(column.objects) == size)
    )
