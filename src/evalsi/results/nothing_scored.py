"""Why a run has no score, or some of its results are errors, in the words of one of its records.

A kind such as `exception` or `circuit_open` says what class of thing went wrong; what to do about it stands in the
reason of a record. Read from the stored rows, so that every face can say it: the command line, a notebook, a build.
"""

from collections import Counter
from collections.abc import Iterator

from evalsi.core.inert import printable
from evalsi.datasets.likely_columns import OTHER_NAMES, listed_columns, map_flags
from evalsi.datasets.row_ids import is_made
from evalsi.engine.columns import Note
from evalsi.engine.requirements import unmet
from evalsi.results.graded_run import GradedRun
from evalsi.schema import ErrorKind, Record

_LONGEST_REASON = 300


def why_nothing_scored(run: GradedRun) -> str:
    """The commonest reason, an example of it, and how to name the column that was not found."""
    reasons = Counter[str]()
    for summary in run.summaries:
        reasons.update({**summary.skip_reasons, **summary.error_kinds})
    if not reasons:
        return "see the notes of each metric"
    ((commonest, _),) = reasons.most_common(1)
    example = error_example(run, commonest)
    said = f"the commonest reason: {commonest}" + (f", e.g. {example}" if example else "")
    column = _column_to_map(run, commonest)
    return f"{said}; {column}" if column else said


def error_example(run: GradedRun, kind: str = "") -> str:
    """A record that failed and what was said about it; "" where none did.

    Args:
        kind: Only errors of this kind.
    """
    if not any(summary.errors for summary in run.summaries):
        return ""
    for name, note in _notes(run):
        if note.error_kind is not ErrorKind.UNSPECIFIED and kind in ("", str(note.error_kind)):
            reason = note.reason if len(note.reason) <= _LONGEST_REASON else note.reason[:_LONGEST_REASON] + "…"
            return printable(f"{name}: {reason}" if name else reason, one_line=True)
    return ""


def _notes(run: GradedRun) -> Iterator[tuple[str, Note]]:
    for rows in run.read_rows():
        for columns in rows.columns:
            for row, note in sorted(columns.notes.items()):
                identifier = rows.records[row].id[:80]
                # An id that was made from the content tells a person nothing.
                place = f" (number {rows.first_row + row + 1:,} of the run)" if is_made(identifier) else ""
                yield f"record {identifier}{place}", note
    for columns in run.whole:
        yield from (("", note) for note in columns.notes.values())


def _column_to_map(run: GradedRun, reason: str) -> str:
    """What to write where a field is missing from the record and other columns are there, as in a table of other names."""
    field = reason.rpartition(" ")[2]
    if field not in OTHER_NAMES or reason != f"the record has no {field}":
        return ""
    record = next((record for rows in run.read_rows() for record in rows.records), Record())
    others = list(record.metadata)
    if not others:
        return ""
    lacking = [each for each in _needed(run) if each != field and unmet(frozenset({each}), (record,))]
    # A column that may be several things goes to the field that has fewer other names.
    fields = sorted([field, *lacking], key=("input", "reference", "output", "context").index)
    advice = printable(map_flags(fields, others), one_line=True)
    return (
        f"other columns are {listed_columns(others)}; name the right {'one' if len(fields) == 1 else 'ones'}: {advice}"
    )


def _needed(run: GradedRun) -> list[str]:
    """The fields that an evaluator of the run requires, of those that a table may have under another name."""
    manifests = [bound.manifest for bound in run.manifest.evaluators if bound.manifest is not None]
    requires = [each.requires for each in manifests if each.requires is not None]
    return [name for name in OTHER_NAMES if any(getattr(each, name) for each in requires)]
