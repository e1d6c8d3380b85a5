"""Tool calls as a reference writes them, and when a made call is the expected one.

Its own module because accuracy and trajectory match must agree on it. Numbers are JSON numbers (5 is 5.0), true is not 1,
key order does not matter, list order does, and arguments that are no JSON object match nothing: they are never taken for {}.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.matching.json_values import same_json
from evalsi.schema import Record
from evalsi.traces import MadeCall, arguments_of

ANY: Any = msgspec.UNSET
_ROW = re.compile(r"\s+")
_SHOWN = 120


class ExpectedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that was wanted. `arguments` is UNSET where any will do."""

    name: str
    arguments: Any = ANY


def expected_calls(record: Record) -> list[ExpectedCall]:
    """The calls that the record's reference names, in order.

    A reference is a list of calls, each a name or {"name", "arguments"}; or {"tool_calls": […]}; or messages whose tool
    calls count. An empty list says that no tool should be called.

    Raises: SkipRecord: the reference says nothing about tool calls.
    """
    reference = record.reference
    assert reference is not None
    if reference.messages is not None:
        calls = [call for message in reference.messages.messages for call in message.tool_calls]
        return [ExpectedCall(name=call.name, arguments=arguments_of(call.arguments)) for call in calls]
    value: Any = reference.json
    if reference.text is not None:
        try:
            value = msgspec.json.decode(reference.text)
        except msgspec.DecodeError:
            value = None
    if isinstance(value, dict):
        value = cast("dict[str, Any]", value).get("tool_calls", cast("dict[str, Any]", value).get("calls"))
    if not isinstance(value, list):
        raise SkipRecord("the reference is no list of tool calls")
    return [_expected(item) for item in cast("list[Any]", value)]


def same_call(expected: ExpectedCall, made: MadeCall, defaults: Mapping[str, Mapping[str, Any]] | None = None) -> bool:
    """Whether a made call is the expected one.

    Args:
        expected: What was wanted.
        made: What was done.
        defaults: Values of arguments that a tool assumes when they are left out, by tool and argument.
    """
    if expected.name != made.name:
        return False
    if expected.arguments is ANY:
        return True
    wanted: Any = expected.arguments
    given: Any = made.arguments
    if not isinstance(wanted, dict) or not isinstance(given, dict):
        return False
    assumed = (defaults or {}).get(made.name, {})
    return same_json({**assumed, **cast("dict[str, Any]", wanted)}, {**assumed, **cast("dict[str, Any]", given)})


def pairs_of(
    expected: Sequence[ExpectedCall],
    made: Sequence[MadeCall],
    defaults: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    in_order: bool,
) -> list[tuple[int, int]]:
    """The largest set of pairs (place in `expected`, place in `made`), each place in at most one.

    In order, pairs do not cross: a longest common subsequence. In any order, a maximum matching, found by augmenting paths
    (Kuhn 1955), since a call without wanted arguments must not take the place of one that only fits there.
    """
    fits = [[same_call(wanted, call, defaults) for call in made] for wanted in expected]
    return _longest_in_order(fits) if in_order else _maximum(fits, len(made))


def shown(name: str, arguments: Any) -> str:
    """A call in one short line."""
    if arguments is ANY:
        return name
    if not isinstance(arguments, dict):
        return f"{name}(malformed: {_ROW.sub(' ', str(arguments))[:_SHOWN]})"
    inner = ", ".join(
        f"{key}={msgspec.json.encode(value).decode()}" for key, value in cast("dict[str, Any]", arguments).items()
    )
    return f"{name}({inner if len(inner) <= _SHOWN else inner[:_SHOWN] + '…'})"


def _expected(item: Any) -> ExpectedCall:
    if isinstance(item, str):
        return ExpectedCall(name=item)
    if isinstance(item, dict):
        fields = cast("dict[str, Any]", item)
        inner: Any = fields.get("function", fields)
        function = cast("dict[str, Any]", inner) if isinstance(inner, dict) else {"name": inner, **fields}
        if isinstance(function.get("name"), str):
            has = next((key for key in ("arguments", "args", "input") if key in function), None)
            return ExpectedCall(name=function["name"], arguments=arguments_of(function[has]) if has else ANY)
    raise SkipRecord("the reference is no list of tool calls")


def _longest_in_order(fits: Sequence[Sequence[bool]]) -> list[tuple[int, int]]:
    rows, columns = len(fits), len(fits[0]) if fits else 0
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            best[row][column] = (
                best[row + 1][column + 1] + 1
                if fits[row][column]
                else max(best[row + 1][column], best[row][column + 1])
            )
    pairs: list[tuple[int, int]] = []
    row = column = 0
    while row < rows and column < columns:
        if fits[row][column]:
            pairs.append((row, column))
            row, column = row + 1, column + 1
        elif best[row + 1][column] >= best[row][column + 1]:
            row += 1
        else:
            column += 1
    return pairs


def _maximum(fits: Sequence[Sequence[bool]], columns: int) -> list[tuple[int, int]]:
    taken: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for column in range(columns):
            if fits[row][column] and column not in tried:
                tried.add(column)
                if column not in taken or place(taken[column], tried):
                    taken[column] = row
                    return True
        return False

    for row in range(len(fits)):
        place(row, set())
    return sorted((row, column) for column, row in taken.items())
