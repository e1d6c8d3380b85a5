"""Whether the head of an archived run names a run: its id, its times, the numbers of its segments.

Its own module because an archive comes from anybody, and what is wrong in its head is found before anything is unpacked.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from evalsi.core.errors import InvalidDataError
from evalsi.ports.run_store import RunRow

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_MOST_ROWS = 1 << 40
_WHOLE_RUN = -1
"""Index of the segment that speaks of the run as a whole, and of no row."""


def check_row(run: RunRow) -> None:
    """Raises: InvalidDataError: the run has no id that is one, or a time that is none."""
    if not _ID.match(run.id):
        raise InvalidDataError("the id of the run is none: it consists of up to 64 letters, digits, - and _")
    for name, moment in (
        ("created_at", run.created_at),
        ("finished_at", run.finished_at),
        ("archived_at", run.archived_at),
    ):
        if moment is not None:
            try:
                datetime.fromisoformat(moment)
            except ValueError:
                raise InvalidDataError(f"{name} of the run is no time in ISO 8601") from None


def check_places(segments: Sequence[tuple[int, int, int]]) -> None:
    """Of each segment (index, first row, rows). Raises: InvalidDataError: a number is none, or an index is used twice."""
    seen: set[int] = set()
    for index, first_row, rows in segments:
        if index in seen or not _WHOLE_RUN <= index < _MOST_ROWS:
            raise InvalidDataError(f"the number of a segment, {index}, is used twice or is none")
        seen.add(index)
        if not 0 <= rows < _MOST_ROWS or not min(index, 0) <= first_row < _MOST_ROWS:
            raise InvalidDataError(f"segment {index} is said to hold {rows} rows from {first_row} on, which cannot be")
