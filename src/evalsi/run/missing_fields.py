"""Whether some record of a dataset has what the evaluators and the target of a run need, seen before anybody is asked.

Its own module because a column that was not mapped is found on every row or on none: such a run would pay for each
answer and then skip all of them. A field that some records have and others lack is no mistake; those rows are skipped.
"""

from collections.abc import Mapping, Sequence

from evalsi.core.errors import InvalidSpecError
from evalsi.core.inert import printable
from evalsi.datasets import Dataset
from evalsi.datasets.likely_columns import likely_column, listed_columns
from evalsi.engine.requirements import unmet
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.ports.target import Target
from evalsi.schema import Record

_GIVEN = frozenset({"input", "reference", "context"})
"""What no target gives."""
_OWN = _GIVEN | {"output", "trajectory", "usage"}
"""What records must bring along where nobody is asked."""


def needed_fields(evaluators: Sequence[BoundEvaluator], target: Target | None) -> dict[str, str]:
    """What the dataset must give, and who needs it first."""
    needs = frozenset[str]() if target is None else target.needs
    needed = dict.fromkeys(sorted(needs), "the target")
    asks = target is not None and "output" not in needs
    for evaluator in evaluators:
        for name in sorted(evaluator.needs & (_GIVEN if asks else _OWN)):
            needed.setdefault(name, evaluator.name)
    return needed


def refuse_missing_fields(dataset: Dataset, needed: Mapping[str, str], *, is_chosen: bool, where: str) -> None:
    """Looks for the first record with each field; reads all of them only where a field is nowhere.

    Args:
        needed: By field, who needs it.
        is_chosen: Whether the records are some of the rows: a column that is there may then be empty in these.
        where: The place of the dataset in the specification.

    Raises: InvalidSpecError: no record has one of them.
    """
    if not needed:
        return
    facts = dataset.scan()
    missing = [name for name in needed if not (is_chosen and _is_column(name, facts.columns))]
    columns: dict[str, None] = {}
    for record in dataset.records():
        missing = [name for name in missing if not _has(record, name)]
        if not missing:
            return
        columns.update(dict.fromkeys(record.metadata))
    if facts.records:
        raise _refusal(missing, needed, list(columns), facts.records, where)


def _is_column(name: str, columns: Sequence[str]) -> bool:
    field, _, key = name.partition(".")
    return field in columns or (field == "metadata" and key in columns)


def _has(record: Record, name: str) -> bool:
    field, _, key = name.partition(".")
    if field == "metadata":
        return key in record.metadata if key else bool(record.metadata)
    return not unmet(frozenset((field,)), (record,))


def _refusal(
    missing: Sequence[str], needed: Mapping[str, str], columns: list[str], records: int, where: str
) -> InvalidSpecError:
    who = " and ".join(dict.fromkeys(needed[name] for name in missing))
    nowhere = " and ".join(missing)
    what = f"none of the {records:,} records has" if records > 1 else "the only record has no"
    sentence = f"{what} {nowhere if records == 1 else _with_article(nowhere)}, which {who} must have"
    if not columns:
        hint = "give the rows such a column, or leave out what needs it"
    else:
        mapping = ", ".join(f"{name}: {likely_column(name, columns) or 'COLUMN'}" for name in missing)
        hint = f"other columns are {listed_columns(columns)}; write mapping: {{{mapping}}} under spec.dataset, or leave out what needs it"
    return InvalidSpecError(printable(sentence, one_line=True), where=where, hint=printable(hint, one_line=True))


def _with_article(names: str) -> str:
    if names.startswith(("metadata", "usage")):
        return names
    return f"an {names}" if names[0] in "aeiou" else f"a {names}"
