"""Rows of an answer on standard output as a table, CSV or JSON, a piece at a time.

Its own module because queries and slices print alike. Texts of records are made harmless for where they are shown, and
a number that is no number is empty.
"""

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any, cast

from evalsi.cli.table import Column, excerpt, number, print_table, text
from evalsi.cli.terminal import say
from evalsi.core.figure import figure
from evalsi.core.inert import inert_cell, printable

FORMATS = ("table", "csv", "json")
SHOWN_ROWS = 1000
"""Rows that a table shows; the other formats write all."""
NAME_WIDTH = 64
"""Texts that are no longer are names, which wrap on a narrow terminal; longer ones are cut there."""

Row = Sequence[Any]


def print_answer(
    columns: Sequence[str], pieces: Iterable[Sequence[Row]], output_format: str, *, json_columns: Sequence[int] = ()
) -> None:
    """Writes rows as they come.

    Args:
        columns: Their names; two may be alike.
        json_columns: Places of the columns whose texts are JSON.
    """
    match output_format:
        case "json":
            _print_json(columns, pieces, set(json_columns))
        case "csv":
            _print_csv(columns, pieces)
        case _:
            _print_table(columns, pieces)


def _print_json(columns: Sequence[str], pieces: Iterable[Sequence[Row]], parsed: set[int]) -> None:
    names = _distinct(columns)
    opening = "["
    for row in _rows(pieces):
        values = [
            json.loads(value) if place in parsed and isinstance(value, str) else plain(value)
            for place, value in enumerate(row)
        ]
        text = json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False, allow_nan=False)
        sys.stdout.write(f"{opening}\n  {text}")
        opening = ","
    sys.stdout.write("[]\n" if opening == "[" else "\n]\n")


def _print_csv(columns: Sequence[str], pieces: Iterable[Sequence[Row]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([inert_cell(name) for name in columns])
    for row in _rows(pieces):
        writer.writerow([_csv_cell(plain(value)) for value in row])


def _print_table(columns: Sequence[str], pieces: Iterable[Sequence[Row]]) -> None:

    rows: list[Row] = []
    left_out = False
    for row in _rows(pieces):
        if len(rows) == SHOWN_ROWS:
            left_out = True
            break
        rows.append([plain(value) for value in row])
    cells = [[_table_cell(value) for value in row] for row in rows]
    shown: list[Column] = []
    for place, name in enumerate(columns):
        longest = max((len(row[place]) for row in cells), default=0)
        fitted = text if longest <= NAME_WIDTH else excerpt
        shown.append(
            (number if any(_is_number(row[place]) for row in rows) else fitted)(printable(name, one_line=True))
        )
    print_table(shown, cells)
    if left_out:
        say(f"only the first {SHOWN_ROWS:,} rows are shown; --format csv or json writes all")


def plain(value: Any) -> Any:
    """A value as JSON knows it. What is no finite number becomes None; times become ISO 8601, spans seconds."""
    match value:
        case float():
            return value if isfinite(value) else None
        case None | bool() | int() | str():
            return value
        case Decimal():
            if not value.is_finite():
                return None
            return int(value) if value == value.to_integral_value() else float(value)
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return value.hex()
        case Mapping():
            pairs = cast("Mapping[Any, Any]", value)
            return {str(key): plain(held) for key, held in pairs.items()}
        case list() | tuple() | set():
            return [plain(held) for held in cast("list[Any]", value)]
        case _:
            return str(value)


def _rows(pieces: Iterable[Sequence[Row]]) -> Iterator[Row]:
    for piece in pieces:
        yield from piece


def _distinct(columns: Sequence[str]) -> list[str]:
    """The names with a number behind those that were there before."""
    names: list[str] = []
    for name in columns:
        number, wanted = 2, name
        while wanted in names:
            wanted, number = f"{name}_{number}", number + 1
        names.append(wanted)
    return names


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _csv_cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, dict)):
        value = json.dumps(value, ensure_ascii=False)
    return inert_cell(value) if isinstance(value, str) else value


def _table_cell(value: Any) -> str:
    if value is None:
        return figure(None)
    if isinstance(value, float):
        return figure(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, dict)):
        value = json.dumps(value, ensure_ascii=False)
    return printable(str(value), one_line=True)
