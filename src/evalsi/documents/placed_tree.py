"""A document as plain values, and where in its file each of them stands.

Its own module because YAML, JSON, `--set` and the checks all speak of it: a check knows a path such as
`spec.gates[0].min`, a person needs a line.
"""

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evalsi.core.errors import InvalidSpecError
from evalsi.schema.schema_error import path_text

__all__ = ["PlacedTree", "Spot", "below"]

_LAST_STEP = re.compile(r"(\.[A-Za-z_][A-Za-z0-9_-]*|\[\d+\]|\[(['\"]).*\2\])\Z", re.DOTALL)


def below(path: str, key: str | int) -> str:
    """The path of a value within the value at `path`."""
    return path_text((path, key))


class Spot(NamedTuple):
    """Where one value stands. Lines and columns count from 1, columns in characters."""

    line: int
    column: int
    key_line: int = 0
    """Line of the key the value belongs to; 0 where it has none."""
    key_column: int = 0
    written: str = ""
    """A plain scalar as it was written, where its value is no text: `no` for false, `1.10` for 1.1."""
    start: int = -1
    """Offset of the first character of a scalar's content in the text; -1 where characters were escaped or folded."""
    plain: bool = False
    """Whether it is a scalar without quotes."""


@dataclass(slots=True)
class PlacedTree:
    """Plain values with their places, and the mistakes that were seen on the way."""

    source: str
    """What the file is called in messages."""
    value: Any = None
    spots: dict[str, Spot] = field(default_factory=dict[str, Spot])
    """By path as `path_text` writes it."""
    overridden: dict[str, str] = field(default_factory=dict[str, str])
    """Path of each value that the command line set, and the flag that did."""
    substituted: set[str] = field(default_factory=set[str])
    """Paths of texts into which environment variables were put."""
    unresolved: set[str] = field(default_factory=set[str])
    """Paths of texts with a variable that could not be replaced."""
    problems: list[InvalidSpecError] = field(default_factory=list[InvalidSpecError])

    def spot(self, path: str) -> Spot | None:
        """The place of the value at `path`, or of the nearest value above it."""
        while path and path not in self.spots:
            shorter = _LAST_STEP.sub("", path)
            path = shorter if shorter != path else ""
        return self.spots.get(path)

    def where(self, path: str, *, at_key: bool = False) -> str:
        """`file:line:column` of the value at `path` (or of its key), or the flag that set it."""
        upwards = path
        while upwards:
            if upwards in self.overridden:
                return self.overridden[upwards]
            shorter = _LAST_STEP.sub("", upwards)
            upwards = shorter if shorter != upwards else ""
        spot = self.spot(path)
        if spot is None:
            return self.source
        if (at_key or path not in self.spots) and spot.key_line:
            return f"{self.source}:{spot.key_line}:{spot.key_column}"
        return f"{self.source}:{spot.line}:{spot.column}"

    def inside(self, path: str, line: int, column: int) -> str:
        """The place of a character within the text at `path`, counted from 1 as in a compiler's message."""
        spot = self.spots.get(path)
        if spot is None or spot.start < 0 or line != 1:
            return self.where(path)
        return f"{self.source}:{spot.line}:{spot.start + column}"

    def add(self, path: str, message: str, *, hint: str | None = None, at_key: bool = False) -> None:
        """Notes a mistake at `path`."""
        self.note(self.where(path, at_key=at_key), message, hint)

    def note(self, where: str, message: str, hint: str | None = None) -> None:
        """Notes a mistake whose place is known already."""
        self.problems.append(InvalidSpecError(message, where=where, hint=hint))

    def has(self, path: str) -> bool:
        """Whether the document says anything at `path`."""
        return path in self.spots or path in self.overridden
