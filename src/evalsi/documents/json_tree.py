"""JSON turned into a placed tree.

Its own module because the parsers at hand give values without places and let the last of two equal keys win. Strings
and numbers are read by the standard library; only brackets, colons and commas are read here.
"""

import json
import re
from bisect import bisect_right
from math import isfinite
from typing import Any

from evalsi.core.errors import InvalidSpecError
from evalsi.documents.placed_tree import PlacedTree, Spot, below
from evalsi.schema.schema_error import DEPTH_LIMIT

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORDS = {"true": True, "false": False, "null": None}
_MAX_DIGITS = 400
_LEFT_OUT = "?"
"""Path of values that are read only to find their end."""


def read_json(text: str, source: str) -> PlacedTree:
    """The document in `text`.

    Raises: InvalidSpecError: it is malformed or nested too deep; `where` is the place.
    """
    reader = _Reader(text, source)
    end = reader.value(0, "", Spot(0, 0), 0)[1]
    end = reader.space(end)
    if end != len(text):
        raise reader.malformed("something follows the document", end)
    return reader.tree


class _Reader:
    def __init__(self, text: str, source: str) -> None:
        self.tree = PlacedTree(source=source)
        self._text = text
        self._lines = [0, *(match.end() for match in re.finditer(r"\n", text))]

    def space(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at

    def malformed(self, problem: str, at: int) -> InvalidSpecError:
        line, column = self._place(at)
        return InvalidSpecError(f"the JSON is malformed: {problem}", where=f"{self.tree.source}:{line}:{column}")

    def value(self, at: int, path: str, key: Spot, depth: int) -> tuple[Any, int]:
        """The value that begins at or after `at`, and where it ends."""
        at = self.space(at)
        line, column = self._place(at)
        spot = Spot(line, column, key.line, key.column)
        if depth > DEPTH_LIMIT:
            raise InvalidSpecError(
                f"the file is nested deeper than {DEPTH_LIMIT} levels", where=f"{self.tree.source}:{line}:{column}"
            )
        value, end, spot = self._read(at, path, spot, depth)
        self.tree.spots[path] = spot
        if depth == 0:
            self.tree.value = value
        return value, end

    def _read(self, at: int, path: str, spot: Spot, depth: int) -> tuple[Any, int, Spot]:
        first = self._text[at : at + 1]
        if first == "{":
            return *self._object(at + 1, path, depth), spot
        if first == "[":
            return *self._list(at + 1, path, depth), spot
        if first == '"':
            value, end = self._string(at)
            exact = self._text[at + 1 : end - 1] == value
            return value, end, spot._replace(start=spot.column if exact else -1)
        for word, meaning in _WORDS.items():
            if self._text.startswith(word, at):
                return meaning, at + len(word), spot._replace(written=word)
        number = _NUMBER.match(self._text, at)
        if number is None:
            raise self.malformed(
                "a value is missing" if first in ("", ",", "}", "]") else f"{first!r} begins no value", at
            )
        written = number[0]
        if len(written) > _MAX_DIGITS:
            raise self.malformed(f"a number has more than {_MAX_DIGITS} digits", at)
        value = float(written) if number[2] or number[3] else int(written)
        if not isfinite(value):
            raise self.malformed("a number is too large", at)
        return value, number.end(), spot._replace(written=written)

    def _object(self, at: int, path: str, depth: int) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        at = self.space(at)
        while self._text[at : at + 1] != "}":
            if self._text[at : at + 1] != '"':
                raise self.malformed("a key in double quotes is missing", at)
            key_spot = Spot(*self._place(at))
            key, at = self._string(at)
            at = self.space(at)
            if self._text[at : at + 1] != ":":
                raise self.malformed(f"':' is missing after the key {key!r}", at)
            if key in found:
                self.tree.problems.append(
                    InvalidSpecError(
                        f"duplicate key {key}, line {key_spot.line}",
                        where=f"{self.tree.source}:{key_spot.line}:{key_spot.column}",
                    )
                )
                at = self.value(at + 1, _LEFT_OUT, Spot(0, 0), depth + 1)[1]
            else:
                found[key], at = self.value(at + 1, below(path, key), key_spot, depth + 1)
            at = self._comma(at, "}")
        return found, at + 1

    def _list(self, at: int, path: str, depth: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        at = self.space(at)
        while self._text[at : at + 1] != "]":
            item, at = self.value(at, below(path, len(found)), Spot(0, 0), depth + 1)
            found.append(item)
            at = self._comma(at, "]")
        return found, at + 1

    def _comma(self, at: int, closing: str) -> int:
        """Past a comma, or at the closing bracket."""
        at = self.space(at)
        here = self._text[at : at + 1]
        if here == closing:
            return at
        if here != ",":
            raise self.malformed(f"',' or '{closing}' is missing", at)
        after = self.space(at + 1)
        if self._text[after : after + 1] == closing:
            raise self.malformed(f"a comma stands before '{closing}'", at)
        return after

    def _string(self, at: int) -> tuple[str, int]:
        token = _STRING.match(self._text, at)
        if token is None:
            raise self.malformed("a text does not end in its line", at)
        try:
            return json.loads(token[0]), token.end()
        except json.JSONDecodeError as error:
            raise self.malformed(f"{error.msg[:1].lower()}{error.msg[1:]}", at + error.pos) from None

    def _place(self, at: int) -> tuple[int, int]:
        line = bisect_right(self._lines, at)
        return line, at - self._lines[line - 1] + 1
