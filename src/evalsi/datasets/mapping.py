"""`--map field=expression`: which columns become which fields of a record.

An expression is the name of a column, else a path into one (`data.q`, `messages.0.content`), else, with braces, a
template (`Q: {question} ({topic})`; `{{` and `}}` are braces). A column mapped whole is used up: it does not go to
metadata as well. A column only looked into or quoted in a template stays in metadata.

What is no column of a row is looked for in the row's `metadata`: that is where the columns of a table are once it was
written down as records, in a dataset of a server or a file, and a mapping means the same before and after.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from evalsi.core.content import json_text
from evalsi.core.errors import InvalidSpecError, UnknownNameError
from evalsi.datasets.rows import Row, RowError

FIELDS = (
    "id",
    "input",
    "output",
    "reference",
    "context",
    "trajectory",
    "usage",
    "metadata",
    "provenance",
    "check",
    "notes",
    "stop_reason",
)
"""What a record has, by the names that rows use."""

_OPEN_FIELDS = ("metadata", "usage")
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+")
_MISSING: Any = object()


class UnmappedColumnError(UnknownNameError):
    """A mapping names a column that none of the rows has.

    Args:
        field: What the column was mapped to.
        column: What was written.
        columns: Those that there are.
    """

    def __init__(self, field: str, column: str, columns: Iterable[str], *, where: str) -> None:
        self.field = field
        super().__init__(f"column mapped to {field}:", column, columns, where=where)


class FieldMap:
    """A mapping made ready: every expression is parsed once.

    Raises:
        UnknownNameError: the record has no such field.
        InvalidSpecError: a template has a brace too many.
    """

    def __init__(self, mapping: Mapping[str, str]) -> None:
        self._sources = [(target, expression, _reader(target, expression)) for target, expression in mapping.items()]
        self.roots: dict[str, str] = {}
        """Column that must exist somewhere, and the field it is mapped to."""
        for target, expression, _ in self._sources:
            _check_target(target)
            for path in _paths(expression):
                self.roots.setdefault(path, target)

    def __bool__(self) -> bool:
        return bool(self._sources)

    def unknown(self, columns: Iterable[str]) -> tuple[str, str] | None:
        """The first (column, field) whose column is none of `columns`, in which those within `metadata` count."""
        known = set(columns)
        for path, target in self.roots.items():
            if path not in known and path.partition(".")[0] not in known:
                return path.partition(".")[0], target
        return None

    def apply(self, row: Row, columns: Sequence[str] | None = None) -> Row:
        """A new row with the fields that are asked for; `row` is unchanged.

        Args:
            row: As read.
            columns: Of the table, where the format declares them: one that the row lacks is then an empty cell.

        Raises:
            RowError: the row lacks a mapped column.
        """
        mapped: Row = {}
        used: set[str] = set()
        full = row if columns is None else {**dict.fromkeys(columns), **row}
        for target, expression, read in self._sources:
            value = read(full)
            if value is _MISSING:
                raise RowError(f"field {target} is missing: the row has no {expression!r}")
            used.add(expression)
            field, _, key = target.partition(".")
            if key:
                mapped.setdefault(field, {})[key] = value
            else:
                mapped[field] = value
        return self._with_rest(row, mapped, used)

    def _with_rest(self, row: Row, mapped: Row, used: set[str]) -> Row:
        """Columns that are not used up stay; one whose name a mapped field now bears moves to metadata."""
        displaced: Row = {}
        for column, value in row.items():
            if column in used:
                continue
            if column == "metadata" and isinstance(value, dict) and not used.isdisjoint(cast("Row", value)):
                inner = cast("Row", value)
                value = {key: each for key, each in inner.items() if key not in used or key in row}  # noqa: PLW2901
            if column not in mapped:
                mapped[column] = value
            elif column in _OPEN_FIELDS and isinstance(value, dict) and isinstance(mapped[column], dict):
                mapped[column] = {**cast("Row", value), **cast("Row", mapped[column])}
            else:
                displaced[column] = value
        if displaced:
            metadata = mapped.get("metadata")
            mapped["metadata"] = {**displaced, **(cast("Row", metadata) if isinstance(metadata, dict) else {})}
        return mapped


def _check_target(target: str) -> None:
    field, _, key = target.partition(".")
    if field not in FIELDS:
        raise UnknownNameError("record field", field, FIELDS)
    if "." in target and (field not in _OPEN_FIELDS or not key):
        raise InvalidSpecError(
            f"{target!r} cannot be mapped", hint=f"only {' and '.join(_OPEN_FIELDS)} have fields of their own"
        )


def _paths(expression: str) -> list[str]:
    """The columns or paths an expression reads."""
    if "{" not in expression and "}" not in expression:
        return [expression]
    return [piece for kind, piece in _pieces(expression) if kind]


def _pieces(template: str) -> list[tuple[bool, str]]:
    """(whether it is a path, text) of each piece of a template."""
    pieces: list[tuple[bool, str]] = []
    for piece in _PIECE.finditer(template):
        text = piece[0]
        if text in ("{{", "}}"):
            pieces.append((False, text[0]))
        elif text in ("{", "}") or piece[1] == "":
            raise InvalidSpecError(
                f"{template!r} has {'an empty placeholder' if piece[1] == '' else f'a single {text!r}'}",
                where=f"map:1:{piece.start() + 1}",
                hint="write {column}, and {{ or }} for a brace",
            )
        elif piece[1] is not None:
            pieces.append((True, piece[1].strip()))
        else:
            pieces.append((False, text))
    return pieces


def _reader(target: str, expression: str) -> Callable[[Row], Any]:
    if "{" not in expression and "}" not in expression:
        return _path_reader(expression)
    pieces = [(_path_reader(text) if is_path else None, text) for is_path, text in _pieces(expression)]

    def fill(row: Row) -> Any:
        if expression in row:
            return row[expression]
        filled: list[str] = []
        for read, text in pieces:
            if read is None:
                filled.append(text)
                continue
            value = read(row)
            if value is _MISSING:
                raise RowError(f"field {target} is missing: the row has no {text!r}")
            filled.append("" if value is None else json_text(value))
        return "".join(filled)

    return fill


def _path_reader(path: str) -> Callable[[Row], Any]:
    look = _within(path)

    def read(row: Row) -> Any:
        value = look(row)
        if value is _MISSING and isinstance(metadata := row.get("metadata"), dict):
            return look(cast("Row", metadata))
        return value

    return read


def _within(path: str) -> Callable[[Row], Any]:
    steps = path.split(".")

    def read(row: Row) -> Any:
        if path in row:
            return row[path]
        if len(steps) == 1:
            return _MISSING
        value: Any = row
        for step in steps:
            if isinstance(value, dict):
                value = cast("Row", value).get(step, _MISSING)
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(cast("list[Any]", value)):
                value = cast("list[Any]", value)[int(step)]
            else:
                return _MISSING
        return value

    return read
