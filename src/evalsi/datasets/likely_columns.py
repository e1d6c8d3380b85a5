"""Which column of a table is likeliest meant by a field of a record: what tables of others call questions and answers.

Its own module because runs, gradings and uploads find late that a column was not mapped, and then propose the same.
"""

import difflib
import re
import shlex
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
    names = (name, *OTHER_NAMES.get(field, ()))
    plain = {re.sub(r"\W+", "_", column.casefold()): column for column in reversed(columns)}
    exact = next((plain[each] for each in names if each in plain), None)
    # `bot_answer` is an answer.
    within = exact or next((plain[each] for word in names for each in plain if f"_{word}_" in f"_{each}_"), None)
    return within or next(iter(difflib.get_close_matches(name, columns, n=1)), "")


def map_flags(fields: Iterable[str], columns: Sequence[str]) -> str:
    """`--map` for each field, as it is typed, with a column of its own; with COLUMN where none looks like it."""
    left, flags = list(columns), list[str]()
    for field in fields:
        column = likely_column(field, left)
        if column:
            left.remove(column)
        flags.append(f"--map {shlex.quote(f'{field}={column}')}" if column else f"--map {field}=COLUMN")
    return " ".join(flags)


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
    left = list(columns)
    fields = [field for field in ("input", "reference", "output", "context") if likely_column(field, left)]
    advice = printable(map_flags(fields or ["input"], left), one_line=True)
    shown = listed_columns(left)
    return f"no record has an input, output or reference; the columns are {shown}; name the right ones: {advice}"
