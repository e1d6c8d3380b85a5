"""YAML as a person writes it, turned into a placed tree without ever building an object or guessing twice.

PyYAML parses; what a scalar means is decided here, because its own constructor forgets places, lets the last of two
equal keys win and reads `010` as 8. What always holds: nothing is constructed but plain values; the work is bounded by
the size of the text, whatever aliases say; mistakes that leave the rest readable are collected.
"""

import math
import re
from typing import Any

import yaml

from evalsi.core.errors import InvalidSpecError
from evalsi.documents.placed_tree import PlacedTree, Spot, below
from evalsi.schema.schema_error import DEPTH_LIMIT

MAX_ALIASED_VALUES = 10_000
"""Values that aliases may stand for, all together. More is an attack or a mistake."""

_CORE = "tag:yaml.org,2002:"
_TEXT, _NULL, _BOOL, _INT, _FLOAT = (f"{_CORE}{name}" for name in ("str", "null", "bool", "int", "float"))
_PLAIN_TAGS = frozenset({_TEXT, _NULL, _BOOL, _INT, _FLOAT, f"{_CORE}map", f"{_CORE}seq"})
_TRAP_TAGS = frozenset({f"{_CORE}timestamp", f"{_CORE}value", f"{_CORE}merge"})
"""Tags that PyYAML gives to scalars without quotes; here they are text, except a merge key."""
_DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z")
_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?\Z")
_TRUE, _FALSE = frozenset({"true", "yes", "on"}), frozenset({"false", "no", "off"})
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_DIGITS = 400


def read_yaml(text: str, source: str) -> PlacedTree:
    """The one document in `text`.

    Raises: InvalidSpecError: it cannot be parsed, is empty, or holds several documents; `where` is the place.
    """
    tree = PlacedTree(source=source)
    node = _compose(text, source)
    if node is None:
        raise InvalidSpecError("the file is empty", where=source, hint="see: evalsi init")
    _Builder(tree, text).build(node)
    return tree


def plain_value(text: str) -> Any:
    """What a scalar without quotes means: null, true or false, a number, or else the text."""
    if text in _NULLS:
        return None
    if text in (text.lower(), text.upper(), text.capitalize()) and (word := text.lower()) in _TRUE | _FALSE:
        return word in _TRUE
    if _DECIMAL.match(text) and len(text) <= _MAX_DIGITS:
        return int(text)
    if _NUMBER.match(text) and math.isfinite(number := float(text)) and not re.match(r"[-+]?0[0-9]", text):
        return number
    return text


def _compose(text: str, source: str) -> "yaml.Node | None":
    loader = _LOADER(text)
    try:
        if not loader.check_node():
            return None
        node = loader.get_node()
        if loader.check_node():
            second = loader.get_node()
            raise InvalidSpecError(
                "the file holds more than one document",
                where=f"{source}:{second.start_mark.line + 1}:{second.start_mark.column + 1}",
                hint="put each run into a file of its own",
            )
    except yaml.YAMLError as error:
        raise _explained(error, text, source) from None
    except RecursionError:
        raise InvalidSpecError(f"the file is nested deeper than {DEPTH_LIMIT} levels", where=source) from None
    finally:
        loader.dispose()
    return None if node.tag == _NULL and isinstance(node, yaml.ScalarNode) and not node.value else node


def _explained(error: yaml.YAMLError, text: str, source: str) -> InvalidSpecError:
    mark: Any = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        position: int = getattr(error, "position", -1)
        if position < 0:
            return InvalidSpecError("the file is no YAML", where=source)
        before = text[:position]
        line, column = before.count("\n") + 1, position - before.rfind("\n")
        character = text[position : position + 1]
        return InvalidSpecError(
            f"the character U+{ord(character) if character else 0:04X} is not allowed in YAML",
            where=f"{source}:{line}:{column}",
        )
    line: int = mark.line + 1
    column: int = mark.column + 1
    lines = text.split("\n")
    shown = lines[line - 1] if line <= len(lines) else ""
    if "\t" in shown[: len(shown) - len(shown.lstrip())]:
        return InvalidSpecError(
            f"tab used for indentation, line {line}",
            where=f"{source}:{line}:{shown.index(chr(9)) + 1}",
            hint="use spaces",
        )
    words = str(getattr(error, "problem", None) or "it cannot be parsed")
    context = getattr(error, "context", None)
    alias = re.match(r"found undefined alias(?: '(.*)')?", words)
    if alias:
        return InvalidSpecError(
            f"no anchor {alias[1] or ''} to refer to with *{alias[1] or ''}".replace("  ", " "),
            where=f"{source}:{line}:{column}",
            hint="put text that begins with * in quotes",
        )
    return InvalidSpecError(
        f"the YAML is malformed: {words}" + (f" {context}" if context else ""),
        where=f"{source}:{line}:{column}",
        hint=_advice(words, shown),
    )


def _advice(words: str, shown: str) -> str | None:
    if "mapping values are not allowed" in words:
        return "put text that holds ': ' in quotes, or check the indentation"
    if "cannot start any token" in words:
        return "put text that begins with @, ` or % in quotes"
    if shown.rstrip().endswith(":") or "block" in words:
        return "check the indentation"
    return None


class _Builder:
    """Turns nodes into values. Keeps which nodes were seen, so that aliases are counted."""

    def __init__(self, tree: PlacedTree, text: str) -> None:
        self._tree = tree
        self._text = text
        self._seen: set[int] = set()
        self._open: set[int] = set()
        self._aliased = 0

    def build(self, node: Any) -> None:
        self._tree.value = self._value(node, "", Spot(0, 0), 0)

    def _value(self, node: Any, here: str, key: Spot, depth: int) -> Any:
        line, column = node.start_mark.line + 1, node.start_mark.column + 1
        spot = Spot(line, column, key.line, key.column)
        self._count(node, spot, depth)
        self._tree.spots[here] = spot
        if isinstance(node, yaml.ScalarNode):
            value, self._tree.spots[here] = self._scalar(node, here, spot)
            return value
        if node.tag not in _PLAIN_TAGS:
            self._refuse_tag(node, here)
            return None
        self._open.add(id(node))
        if isinstance(node, yaml.MappingNode):
            value = self._mapping(node, here, depth)
        else:
            value = [
                self._value(item, below(here, index), Spot(0, 0), depth + 1) for index, item in enumerate(node.value)
            ]
        self._open.discard(id(node))
        return value

    def _count(self, node: Any, spot: Spot, depth: int) -> None:
        where = f"{self._tree.source}:{spot.line}:{spot.column}"
        if depth > DEPTH_LIMIT:
            raise InvalidSpecError(f"the file is nested deeper than {DEPTH_LIMIT} levels", where=where)
        if id(node) in self._open:
            raise InvalidSpecError("an alias stands within what it stands for", where=where)
        if id(node) in self._seen:
            self._aliased += 1
            if self._aliased > MAX_ALIASED_VALUES:
                raise InvalidSpecError(f"aliases stand for more than {MAX_ALIASED_VALUES} values; refused", where=where)
        self._seen.add(id(node))

    def _mapping(self, node: Any, here: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: dict[str, tuple[Any, Spot]] = {}
        for key_node, value_node in node.value:
            key_spot = Spot(key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            where = f"{self._tree.source}:{key_spot.line}:{key_spot.column}"
            if not isinstance(key_node, yaml.ScalarNode):
                self._note("a key must be text", where)
                continue
            if key_node.tag == f"{_CORE}merge":
                self._merge(value_node, merged, where)
                continue
            if key_node.tag not in _PLAIN_TAGS | _TRAP_TAGS:
                self._refuse_tag(key_node, here, where)
                continue
            key = str(key_node.value)
            if key in found:
                first = self._tree.spots[below(here, key)]
                self._note(
                    f"duplicate key {key}, line {key_spot.line}", where, f"it was given in line {first.key_line} before"
                )
                continue
            found[key] = self._value(value_node, below(here, key), key_spot, depth + 1)
        for key, (value_node, key_spot) in merged.items():
            if key not in found:
                found[key] = self._value(value_node, below(here, key), key_spot, depth + 1)
        return found

    def _merge(self, node: Any, merged: dict[str, tuple[Any, Spot]], where: str) -> None:
        """Takes the entries that `<<` brings; of several sources the first that has a key wins."""
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for source in sources:
            if not isinstance(source, yaml.MappingNode):
                self._note("<< must stand for a mapping or a list of them", where)
                return
            for key_node, value_node in source.value:
                if isinstance(key_node, yaml.ScalarNode) and key_node.tag != f"{_CORE}merge":
                    spot = Spot(key_node.start_mark.line + 1, key_node.start_mark.column + 1)
                    merged.setdefault(str(key_node.value), (value_node, spot))

    def _scalar(self, node: Any, here: str, spot: Spot) -> tuple[Any, Spot]:
        text = str(node.value)
        plain = node.style is None or node.style == ""
        if node.tag not in _PLAIN_TAGS | _TRAP_TAGS:
            self._refuse_tag(node, here)
            return None, spot
        if not plain or (node.tag == _TEXT and not _NUMBER.match(text)):
            return text, spot._replace(start=self._content_column(node, text), plain=plain)
        value = plain_value(text)
        if isinstance(value, str) and node.tag in (_INT, _FLOAT):
            self._tree.add(
                here,
                f"{here or 'the document'} is {text}, a number that YAML readers read differently",
                hint="write it in decimal, or in quotes if it is text",
            )
            return None, spot
        written = "" if isinstance(value, str) else text
        return value, spot._replace(written=written, plain=True, start=self._content_column(node, text))

    def _content_column(self, node: Any, text: str) -> int:
        """Column before the first character of a scalar that stands on one line as it is; -1 for others."""
        start, end = node.start_mark, node.end_mark
        if start.line != end.line:
            return -1
        raw = self._text[start.index : end.index]
        offset = raw.find(text)
        return start.column + offset if offset >= 0 else -1

    def _refuse_tag(self, node: Any, here: str, where: str = "") -> None:
        where = where or f"{self._tree.source}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"
        tag = str(node.tag).replace(_CORE, "!!")
        subject = f"{here} has the tag {tag}" if here else f"the tag {tag}"
        self._note(f"{subject}; tags that build objects are refused, nothing is executed", where, "write plain values")

    def _note(self, message: str, where: str, hint: str | None = None) -> None:
        self._tree.problems.append(InvalidSpecError(message, where=where, hint=hint))
