"""What went wrong in a run, record by record: a line below the figures of a command, and the table of `runs show --errors`.

Its own module because `eval`, `run`, `rescore` and `runs show` say it in the same words.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from evalsi.cli.table import print_table, text, whole
from evalsi.cli.terminal import say

if TYPE_CHECKING:
    from evalsi.engine.columns import EvaluatorColumns
    from evalsi.results.graded_run import GradedRun
    from evalsi.schema import Record


_SHOWN = 160


class Mishaps(NamedTuple):
    """What is said about a run beside its figures. Read while its store is open."""

    why_nothing: str
    """Why nothing was scored; "" where something was."""
    example: str
    """A record that failed, and why; "" where none did."""


def mishaps_of(run: "GradedRun") -> Mishaps:
    from evalsi.results.nothing_scored import error_example, why_nothing_scored

    is_scored = any(summary.n for summary in run.summaries)
    return Mishaps("" if is_scored else why_nothing_scored(run), error_example(run))


def say_errors(run: "GradedRun", example: str) -> None:
    """How many results are errors, of which kinds, and one of them."""
    errors = sum(summary.errors for summary in run.summaries)
    if not errors:
        return
    kinds = sorted({kind for summary in run.summaries for kind in summary.error_kinds})
    if errors == 1:
        say(f"1 result is an error ({kinds[0]}); it is in no mean")
    else:
        say(f"{errors:,} results are errors ({', '.join(kinds)}); they are in no mean")
    say(f"  e.g. {example}")


def print_bad_records(run: "GradedRun", *, errors: bool, failed: bool, most: int) -> None:
    """A table of results that are errors, and of verdicts that did not pass."""
    rows: list[tuple[str, ...]] = []
    hidden = 0
    for row in _bad_results(run, errors=errors, failed=failed):
        if len(rows) < most:
            rows.append(row)
        else:
            hidden += 1
    print_table(
        (text("record"), text("metric"), whole("result"), text("why")),
        rows,
        nothing=_none(errors=errors, failed=failed),
    )
    if hidden:
        say(f"and {hidden:,} more; --limit shows more, and 'evalsi runs export' writes all")


def _none(*, errors: bool, failed: bool) -> str:
    said = [*(["no result is an error"] if errors else []), *(["no verdict failed"] if failed else [])]
    return ", and ".join(said)


def _bad_results(run: "GradedRun", *, errors: bool, failed: bool) -> Iterator[tuple[str, ...]]:
    directions = {summary.metric: summary.higher_is_better for summary in run.summaries}
    for rows in run.read_rows():
        for place in range(rows.rows):
            for columns in rows.columns:
                for metric, result, why in _told(columns, place, directions, errors=errors, failed=failed):
                    record = rows.records[place]
                    yield _which(record, run.manifest.trials), metric, result, why or _answer(record)
    for columns in run.whole:
        for place in range(columns.rows):
            for told in _told(columns, place, directions, errors=errors, failed=failed):
                yield ("", *told)


def _which(record: "Record", trials: int) -> str:
    """The record, and the trial where there are several."""
    made_by = record.provenance.run if record.provenance is not None else None
    return f"{record.id} (trial {made_by.trial})" if trials > 1 and made_by is not None else record.id


def _answer(record: "Record") -> str:
    """What was said instead of what."""
    from evalsi.core.content import text_of

    said, wanted = text_of(record.output), text_of(record.reference)
    shown = [f"{name}: {' '.join(words.split())[:_SHOWN]}" for name, words in (("output", said), ("reference", wanted))]
    return "; ".join(shown if wanted else shown[:1])


def _told(
    columns: "EvaluatorColumns", place: int, directions: Mapping[str, bool | None], *, errors: bool, failed: bool
) -> Iterator[tuple[str, str, str]]:
    from evalsi.engine.columns import ERROR, SCORED, Note

    note = columns.notes.get(place) or Note()
    if columns.outcomes[place] == ERROR and errors:
        yield columns.evaluator, str(note.error_kind), note.reason
    if columns.outcomes[place] != SCORED or not failed:
        return
    for output, column in columns.columns.items():
        metric = columns.metric(output)
        # Where nobody said which way is better, neither verdict is a failure.
        is_better = directions.get(metric, True)
        if column.kind == "passed" and is_better is not None and bool(column.values[place]) is not is_better:
            yield metric, "failed", note.explanations.get(output, "")
