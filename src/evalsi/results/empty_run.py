"""A run that has nothing to show: stopped by a wrong key before its first answer, or with errors alone.

Its own module because such a run is the newest of its name, and who compares or reports by name means the one before it.
It is refused and that one is named: to read the older one unasked would let a gate pass on answers of yesterday.
"""

from typing import Literal, TypeAlias

from evalsi.core.errors import NothingScoredError
from evalsi.ports.run_store import NOTHING_SCORED, RunRow
from evalsi.results.run_library import RunLibrary

Need: TypeAlias = Literal["", "records", "scores"]
"""What a run must have to be read: nothing, records of any outcome, or at least one score."""

_UNDER_WAY = ("waiting", "running")


def refuse_empty_run(library: RunLibrary, row: RunRow, reference: str, need: Need) -> None:
    """Lets every run pass that is under way or has what is needed.

    Args:
        reference: What was written to name it.

    Raises: NothingScoredError: it has not; names the newest run of the same name that has.
    """
    if not need or row.status in _UNDER_WAY or _has(library, row, need):
        return
    what = "has no records" if not row.rows else "scored nothing"
    state = "" if row.status == "succeeded" else row.status
    by_name = bool(row.name) and reference == row.name
    if by_name:
        message = f"the newest run named {row.name!r} ({row.id}{state and f', {state}'}) {what}"
    else:
        message = f"run {row.id}{state and f' ({state})'} {what}"
    same = library.runs(labels={}, name=row.name) if row.name else []
    older = next((each for each in same if each.status not in _UNDER_WAY and _has(library, each, need)), None)
    hint = f"see: evalsi runs show {row.id} --errors" if row.rows else "make it again"
    if older is not None:
        day = older.created_at[:16].replace("T", " ")
        hint = f"the newest of that name that has some is of {day}; name it by its id: {older.id}"
    raise NothingScoredError(message, hint=hint)


def _has(library: RunLibrary, row: RunRow, need: Need) -> bool:
    if need == "records" or not row.rows:
        # Of one that was stopped a server counts answers that are not graded yet.
        return row.rows > 0 and (row.status == "succeeded" or library.open(row.id).count_records() > 0)
    # The headline is of means alone: a run of labels has none, and is looked at.
    if row.headline not in ("", NOTHING_SCORED):
        return True
    return any(summary.n for summary in library.open(row.id).summaries)
