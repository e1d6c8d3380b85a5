"""Tables of the commands about access: names that other people chose, shown as text and nothing else."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from evalsi.cli.terminal import console, say


def print_rows(columns: Sequence[str], rows: Iterable[Sequence[str]], *, nothing: str = "none") -> None:
    """Prints a table, or the word `nothing` where there are no rows."""
    from rich.table import Table
    from rich.text import Text

    from evalsi.core.inert import printable

    listed = list(rows)
    if not listed:
        say(nothing)
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in listed:
        table.add_row(*(Text(printable(cell, one_line=True)) for cell in row))
    console().print(table)


def when(moment: datetime | None) -> str:
    """A moment to the minute, UTC; a dash for none."""
    return moment.strftime("%Y-%m-%d %H:%M") if moment else "-"
