"""`--where`: a CEL condition that a record must meet.

A condition is wrong or right before anything runs: it is compiled, its names are checked, and a row on which it has no
answer (a key that is not there, a text compared with a number) is refused by name. Leaving such a row out in silence
would change what the score is a mean of; `has(metadata.topic) && …` says that leaving it out is meant.
"""

import importlib
import re
from typing import Any, cast

import msgspec

from evalsi.core.condition_growth import growth_in
from evalsi.core.condition_mistakes import EQUAL_HINT, is_lone_equals, place_of
from evalsi.core.errors import InvalidSpecError, UnknownNameError, UsageError
from evalsi.datasets.rows import Part, Row
from evalsi.schema import Content, Record

VARIABLES = ("id", "input", "output", "reference", "metadata", "usage", "row")
"""What a condition may read: contents as text, JSON or null; `usage` with only what was measured; `row` as read."""

_PLACE = re.compile(r"<input>:(\d+):(\d+): ([^\n]*?)(?: \[[A-Z_]+\])?$", re.MULTILINE)
_UNDECLARED = re.compile(r"undeclared reference to '([\w.]+)'")
_MISSING_KEY = re.compile(r'[Kk]ey not found in map : "(\w+)"')
_INT64 = 2**63


class Condition:
    """A compiled condition.

    Raises:
        InvalidSpecError: it cannot be parsed, with `where:line:column`, gives no true or false, or may build far more than it
            reads.
        UnknownNameError: it reads a variable that there is not.
    """

    def __init__(self, expression: str) -> None:
        try:
            cel: Any = importlib.import_module("cel_expr_python.cel")
        except ImportError:
            raise UsageError("conditions need the package cel-expr-python, which this platform lacks") from None
        self._text = expression
        self._bool = cel.Type.BOOL
        self._error = cel.Type.ERROR
        environment = cel.NewEnv(variables=dict.fromkeys(VARIABLES, cel.Type.DYN))
        try:
            self._compiled = environment.compile(expression)
        except (RuntimeError, ValueError) as error:
            raise _explained(str(error)) from None
        kind = self._compiled.return_type()
        if kind.name() not in ("BOOL", "DYN"):
            raise InvalidSpecError(
                f"the condition {expression!r} gives {kind.name()}, not true or false", where="where:1:1"
            )
        if (growth := growth_in(expression)) is not None:
            line, column = place_of(expression, growth.at)
            raise InvalidSpecError(
                f"the condition cannot be used: {growth.message}", where=f"where:{line}:{column}", hint=growth.hint
            )

    def matches(self, record: Record, row: Row, part: Part, place: int) -> bool:
        """Whether the record meets the condition.

        Args:
            record: As scored.
            row: Its columns as read.
            part, place: Where the row is, for the message.

        Raises:
            InvalidSpecError: the condition has no answer for this row.
        """
        data: dict[str, Any] = {
            "id": record.id,
            "input": _plain(record.input),
            "output": _plain(record.output),
            "reference": _plain(record.reference),
            "metadata": record.metadata,
            "usage": {} if record.usage is None else msgspec.to_builtins(record.usage),
            "row": row,
        }
        value = self._value(data, part, place)
        if value.type() == self._error and "out of range" in str(value.plain_value()):
            value = self._value(_within_int64(data), part, place)
        if value.type() == self._bool:
            return bool(value.plain_value())
        if value.type() == self._error:
            reason = str(value.plain_value()).partition(": ")[2] or str(value.plain_value())
            key = _MISSING_KEY.search(reason)
            raise InvalidSpecError(
                f"the condition {self._text!r} has no answer: {reason}",
                where=part.where(place),
                hint=f"where leaving such rows out is meant, say so: has(metadata.{key[1]}) && …" if key else None,
            )
        raise InvalidSpecError(
            f"the condition {self._text!r} gives {value.type().name()} here, not true or false", where=part.where(place)
        )

    def _value(self, data: dict[str, Any], part: Part, place: int) -> Any:
        """What the condition gives; beyond its budget of steps CEL raises instead of giving an error."""
        try:
            return self._compiled.eval(data=data)
        except (RuntimeError, ValueError) as error:
            raise InvalidSpecError(
                f"the condition {self._text[:200]!r} cannot be evaluated: {str(error).partition(': ')[2] or error}",
                where=part.where(place),
                hint="write a shorter one",
            ) from None


def _explained(text: str) -> UsageError:
    place = _PLACE.search(text)
    where = f"where:{place[1]}:{place[2]}" if place else "where"
    reason = place[3] if place else text.partition("\n")[0]
    undeclared = _UNDECLARED.search(reason)
    if undeclared:
        name = undeclared[1].partition(".")[0]
        unknown = UnknownNameError("variable or function", name, VARIABLES, where=where)
        if unknown.hint is not None and unknown.hint.startswith("known"):
            unknown.hint = f"a column of your own is metadata.{name}; {unknown.hint}"
        return unknown
    hint = EQUAL_HINT if is_lone_equals(reason) else None
    return InvalidSpecError(f"the condition cannot be read: {reason[:1].lower()}{reason[1:]}", where=where, hint=hint)


def _plain(content: Content | None) -> Any:
    if content is None:
        return None
    if content.text is not None:
        return content.text
    if content.json is not msgspec.UNSET:
        return content.json
    if content.messages is not None:
        return [{"content": "", **cast("Row", msgspec.to_builtins(message))} for message in content.messages.messages]
    return msgspec.to_builtins(content)


def _within_int64(value: Any) -> Any:
    """`value` with integers that CEL has no type for as text: exact, and comparing them as numbers is then an error."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -_INT64 <= value < _INT64 else str(value)
    if isinstance(value, dict):
        return {name: _within_int64(inner) for name, inner in cast("Row", value).items()}
    if isinstance(value, list):
        return [_within_int64(inner) for inner in cast("list[Any]", value)]
    return value
