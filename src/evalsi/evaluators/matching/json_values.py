"""JSON as the standard defines it, and when two JSON values are the same.

Its own module because Python's reader accepts what no other reader does (NaN, repeated keys) and its `==` says that
true is 1.
"""

import json
from decimal import Decimal
from math import isfinite
from typing import Any, cast

_MAX_DIGITS = 4000
"""Longer integers are read as decimals: Python refuses to convert them, and JSON does not limit them."""


def parse_json(text: str, *, exact: bool = True) -> Any:
    """The value of `text`.

    Args:
        text: JSON; a byte order mark before it is dropped.
        exact: Numbers with a point or an exponent become `Decimal`, so nothing is rounded; else `float` where they fit.

    Raises:
        ValueError: `text` is not JSON (RFC 8259), or an object repeats a key; says where or which.
    """
    try:
        return json.loads(
            text.removeprefix("\ufeff"),
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_decimal if exact else _float,
            parse_int=_integer,
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def same_json(a: Any, b: Any) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, true is not 1, keys have no order, lists do."""
    pending: list[tuple[Any, Any]] = [(a, b)]
    while pending:
        left, right = pending.pop()
        if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
            if left is not right:
                return False
        elif isinstance(left, dict) and isinstance(right, dict):
            one, other = cast("dict[str, Any]", left), cast("dict[str, Any]", right)
            if one.keys() != other.keys():
                return False
            pending.extend((one[key], other[key]) for key in one)
        elif isinstance(left, list) and isinstance(right, list):
            items, others = cast("list[Any]", left), cast("list[Any]", right)
            if len(items) != len(others):
                return False
            pending.extend(zip(items, others, strict=True))
        elif isinstance(left, (dict, list)) or isinstance(right, (dict, list)):
            return False
        elif isinstance(left, str) or isinstance(right, str):
            if left != right:
                return False
        elif _exact(left) != _exact(right):
            return False
    return True


def without_code_fence(text: str) -> str:
    """What stands in a Markdown code fence, when the whole text is one; else the text."""
    stripped = text.strip()
    if len(stripped) < 6 or not stripped.startswith("```") or not stripped.endswith("```"):
        return text
    first_line, _, body = stripped[3:-3].partition("\n")
    return body if first_line.strip().isalnum() or not first_line.strip() else text


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key {key[:80]!r} stands twice in one object")
            seen.add(key)
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _exact(number: float | Decimal) -> Decimal:
    """A float counts as what it is written as, not as its binary neighbour."""
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def _decimal(digits: str) -> Any:
    try:
        return Decimal(digits)
    except ArithmeticError:
        raise ValueError("a number's exponent is out of range") from None


def _float(digits: str) -> Any:
    number = float(digits)
    return number if isfinite(number) else _decimal(digits)


def _integer(digits: str) -> Any:
    return int(digits) if len(digits) <= _MAX_DIGITS else Decimal(digits)
