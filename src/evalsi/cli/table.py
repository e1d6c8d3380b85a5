"""Every table of the command line, laid out in one place.

Its own module so that no command can cut what it prints: figures, ids, times and intervals are whole at any width, texts
wrap, excerpts of long texts shorten, a plot is the first to go. Where even that does not fit, each row becomes a block of
its own. A file or a pipe has no width, so nothing is cut there, and no line is filled up with blanks.
"""

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from evalsi.cli.terminal import console, say

if TYPE_CHECKING:
    from rich.text import Text

_GAP = 2
_NARROW_GAP = 1
_LEAST_TEXT = 12
_LEAST_EXCERPT = 20
_WIDEST_IN_A_FILE = 100
"""Columns of a file are no wider, lest one long cell spread every row; the cell itself is whole, and pushes what follows."""


class Fit(Enum):
    """What may become of a column that has too little room."""

    WHOLE = auto()
    FIGURE = auto()
    """Whole, and to the right."""
    TEXT = auto()
    EXCERPT = auto()
    PLOT = auto()


@dataclass(frozen=True)
class Column:
    """A column: its heading, and a shorter one for narrow terminals."""

    heading: str
    fit: Fit
    short: str = ""
    style: str = ""

    def narrowed(self) -> "Column":
        return replace(self, heading=self.short or self.heading)


def whole(heading: str, *, short: str = "") -> Column:
    """Ids, times, states and intervals: never cut."""
    return Column(heading, Fit.WHOLE, short)


def number(heading: str, *, short: str = "") -> Column:
    """Figures, to the right: never cut."""
    return Column(heading, Fit.FIGURE, short)


def text(heading: str) -> Column:
    """Names and sentences: they wrap."""
    return Column(heading, Fit.TEXT)


def excerpt(heading: str) -> Column:
    """The beginning of something long that another command shows whole."""
    return Column(heading, Fit.EXCERPT)


def plot(heading: str, *, style: str = "") -> Column:
    """A drawing of what other columns say in figures: left out where there is little room."""
    return Column(heading, Fit.PLOT, style=style)


def print_table(
    columns: Sequence[Column],
    rows: Iterable[Sequence["str | Text"]],
    *,
    nothing: str | None = None,
    headings: bool = True,
) -> None:
    """Writes a table to standard output: as wide as the terminal, or as it needs where there is none.

    Args:
        rows: Cells, each shown as text and nothing else.
        nothing: Said instead of a table without rows.
        headings: Whether the columns are named above.
    """
    listed = list(rows)
    if not listed and nothing is not None:
        say(nothing)
        return
    out = console()
    for line in lay_out(columns, listed, out.width if sys.stdout.isatty() else None, headings=headings):
        out.print(line, soft_wrap=True)


def lay_out(
    columns: Sequence[Column], rows: Sequence[Sequence["str | Text"]], width: int | None, *, headings: bool = True
) -> "list[Text]":
    """The lines of a table that is at most so wide; None is any width."""
    cells = [[_as_cell(cell, column) for cell, column in zip(row, columns, strict=True)] for row in rows]
    undrawn = {
        place for place, column in enumerate(columns) if column.fit is Fit.PLOT and not any(row[place] for row in cells)
    }
    columns, cells = _without(columns, cells, undrawn)
    natural = _natural(columns, cells, headings=headings)
    if width is None:
        widths = [min(each, _WIDEST_IN_A_FILE) for each in natural]
        return _lines(columns, cells, widths, gap=_GAP, headings=headings, is_cut=False)
    if sum(natural) + _GAP * (len(columns) - 1) > width:
        columns, cells = _without(
            columns, cells, {place for place, column in enumerate(columns) if column.fit is Fit.PLOT}
        )
    for gap in (_GAP, _NARROW_GAP):
        widths = _fitted(columns, _natural(columns, cells, headings=headings), width - gap * (len(columns) - 1))
        if widths is not None:
            return _lines(columns, cells, widths, gap=gap, headings=headings, is_cut=True)
        columns = [column.narrowed() for column in columns]
    return _blocks(columns, cells, width, headings=headings)


def _without(
    columns: Sequence[Column], rows: "Sequence[Sequence[Text]]", dropped: set[int]
) -> "tuple[list[Column], list[list[Text]]]":
    kept = [place for place in range(len(columns)) if place not in dropped]
    return [columns[place] for place in kept], [[row[place] for place in kept] for row in rows]


def _as_cell(cell: "str | Text", column: Column) -> "Text":
    from rich.text import Text

    from evalsi.core.inert import printable

    made = Text(printable(cell, one_line=True)) if isinstance(cell, str) else cell.copy()
    if column.style:
        made.stylize(column.style)
    return made


def _natural(columns: Sequence[Column], rows: "Sequence[Sequence[Text]]", *, headings: bool) -> list[int]:
    from rich.cells import cell_len

    return [
        max([cell_len(column.heading) if headings else 0, *(row[place].cell_len for row in rows)])
        for place, column in enumerate(columns)
    ]


def _fitted(columns: Sequence[Column], natural: Sequence[int], room: int) -> list[int] | None:
    """Widths that fit: excerpts give way first, then texts. None where what may not be cut has no room."""
    widths = list(natural)
    for fit, least in ((Fit.EXCERPT, _LEAST_EXCERPT), (Fit.TEXT, _LEAST_TEXT)):
        places = [place for place, column in enumerate(columns) if column.fit is fit]
        while (excess := sum(widths) - room) > 0 and places:
            place = max(places, key=lambda each: widths[each])
            second = max((widths[each] for each in places if each != place), default=0)
            lowest = min(least, natural[place])
            if widths[place] <= lowest:
                break
            # The widest comes down to the next one, and then they come down together.
            step = min(excess, max(1, widths[place] - max(second, lowest)))
            widths[place] -= step
    return widths if sum(widths) <= room else None


def _lines(
    columns: Sequence[Column],
    rows: "Sequence[Sequence[Text]]",
    widths: Sequence[int],
    *,
    gap: int,
    headings: bool,
    is_cut: bool,
) -> "list[Text]":
    from rich.text import Text

    lines: list[Text] = []
    if headings:
        names = [Text(column.heading, style="bold") for column in columns]
        rows = [names, *rows]
    for row in rows:
        pieces = [
            _pieces(cell, column, width) if is_cut else [cell]
            for cell, column, width in zip(row, columns, widths, strict=True)
        ]
        for level in range(max(map(len, pieces))):
            line = Text()
            for column, width, parts in zip(columns, widths, pieces, strict=True):
                part = parts[level] if level < len(parts) else Text()
                blanks = " " * max(0, width - part.cell_len)
                line.append_text(
                    Text.assemble(blanks, part) if column.fit is Fit.FIGURE else Text.assemble(part, blanks)
                )
                line.append(" " * gap)
            line.rstrip()
            lines.append(line)
    return lines


def _pieces(cell: "Text", column: Column, width: int) -> "list[Text]":
    """The lines of one cell."""
    if cell.cell_len <= width:
        return [cell]
    if column.fit is Fit.EXCERPT:
        cut = cell.copy()
        cut.truncate(width, overflow="ellipsis")
        return [cut]
    return _wrapped(cell, width)


_BLANK = re.compile(r"(?<![0-9],) ")
_MARK = re.compile(r"(?<=[\w\]])[-_/:.,](?![0-9])")


def _wrapped(cell: "Text", width: int) -> "list[Text]":
    """Lines that are at most so wide: broken at blanks, else behind one of the marks that names are made of, else anywhere.

    A number is never broken, and neither are the two ends of an interval, while they have room in a line.
    """
    pieces: list[Text] = []
    rest = cell
    while rest.cell_len > width:
        end = _columns_within(rest.plain, width)
        within = rest.plain[: end + 1]
        blanks = [found.start() for found in _BLANK.finditer(within) if found.start() > end // 3]
        marks = [found.end() for found in _MARK.finditer(within) if end // 3 < found.end() <= end]
        cut = blanks[-1] if blanks else marks[-1] if marks else end
        first, rest = rest.divide([cut])
        first.rstrip()
        pieces.append(first)
        lead = len(rest.plain) - len(rest.plain.lstrip(" "))
        rest = rest[lead:] if lead else rest
    return [*pieces, rest] if rest.plain or not pieces else pieces


def _columns_within(plain: str, width: int) -> int:
    """How many characters fit; one at least."""
    from rich.cells import cell_len

    taken = 0
    for place, character in enumerate(plain):
        taken += cell_len(character)
        if taken > width:
            return max(1, place)
    return len(plain)


def _blocks(columns: Sequence[Column], rows: "Sequence[Sequence[Text]]", width: int, *, headings: bool) -> "list[Text]":
    """Each row as its first cell and, below it, what the other columns say."""
    from rich.text import Text

    indent = "  "
    lines: list[Text] = []
    for row in rows:
        lines += _wrapped(row[0], width)
        line = Text(indent)
        for column, cell in zip(columns[1:], row[1:], strict=True):
            if not cell.plain:
                continue
            said = Text.assemble((column.heading, "dim"), " ", cell) if headings and column.heading else cell
            if line.plain.strip() and line.cell_len + _GAP + said.cell_len > width:
                lines.append(line)
                line = Text(indent)
            if line.plain.strip():
                line.append(" " * _GAP)
            if len(indent) + said.cell_len <= width:
                line.append_text(said)
                continue
            *first, last = _wrapped(said, width - len(indent))
            lines += [Text.assemble(indent, piece) for piece in first]
            line = Text.assemble(indent, last)
        if line.plain.strip():
            lines.append(line)
    return lines
