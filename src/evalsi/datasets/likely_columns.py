"""Which column of a table is likeliest meant by a field of a record: what tables of others call questions and answers.

Its own module because runs, gradings and uploads find late that a column was not mapped, and then propose the same.
"""

import difflib
from collections.abc import Iterable, Sequence

from evalsi.core.inert import printable
from evalsi.schema import Record

OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "input": ("question", "prompt", "query", "instruction", "problem", "text"),
    "output": ("answer", "response", "completion", "prediction", "actual_output"),
    "reference": ("expected", "expected_output", "ground_truth", "gold", "target", "label", "solution", "answer"),
    "context": ("contexts", "passages", "documents", "retrieved"),
}
"""What such a column is usually called, the likeliest first."""
_MOST_COLUMNS = 12


def likely_column(field: str, columns: Sequence[str]) -> str:
    """The column that is likeliest meant by `field` or `metadata.NAME`; "" where none looks like it."""
    name = field.removeprefix("metadata.")
    plain = {column.casefold().replace("-", "_"): column for column in reversed(columns)}
    exact = next((plain[each] for each in (name, *OTHER_NAMES.get(field, ())) if each in plain), None)
    within = exact or next((column for column in columns if name in column.casefold()), None)
    return within or next(iter(difflib.get_close_matches(name, columns, n=1)), "")


def listed_columns(columns: Sequence[str]) -> str:
    """The columns for a sentence; of very many the first."""
    shown = ", ".join(columns[:_MOST_COLUMNS]) + (", …" if len(columns) > _MOST_COLUMNS else "")
    return printable(shown, one_line=True)


def what_to_map(records: Iterable[Record]) -> str:
    """What to say of records that have nothing but columns of other names; "" where one has something, or there are none."""
    columns: dict[str, None] = {}
    for record in records:
        content = (record.input, record.output, record.reference, record.trajectory, record.usage)
        if record.context or any(each is not None for each in content):
            return ""
        columns.update(dict.fromkeys(record.metadata))
    if not columns:
        return ""
    left, flags = list(columns), list[str]()
    for field in ("input", "reference", "output", "context"):
        if column := likely_column(field, left):
            left.remove(column)
            flags.append(f"--map {field}={column}")
    advice = " ".join(flags) or "--map input=COLUMN"
    return (
        f"no record has an input, output or reference; the columns are {listed_columns(list(columns))}; "
        + printable(f"name the right ones: {advice}", one_line=True)
    )
