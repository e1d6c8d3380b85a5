"""Values as JSON that keeps their types: what crosses between a program, its tests and the host is plain data.

Runs inside sandboxes and on the host, so that both sides agree. A decoded value is always of a built-in or standard type:
no method of the program's classes comes across, so nothing it returns can say of itself that it is equal to anything.
"""

import datetime as dt
import decimal
import enum
import fractions
import re
from collections import deque, namedtuple
from typing import Any

MOST_DEPTH = 60
_SAFE_INTEGER = 1 << 53
_PLAIN_FRACTION = re.compile(r"-?[0-9]+(/[0-9]+)?", re.ASCII)


class NotPlainError(Exception):
    """The value is no plain data."""


def encode(value: Any, keep: Any = None, depth: int = 0) -> Any:
    """`value` as JSON. What is no plain data goes through `keep(value)`. Raises: NotPlainError: without `keep`."""
    if depth > MOST_DEPTH:
        raise NotPlainError("nested too deep")
    if value is None or value is True or value is False:
        return value
    below = depth + 1
    if keep is not None and isinstance(value, enum.Enum):
        return keep(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        number = int.__int__(value)
        return number if -_SAFE_INTEGER < number < _SAFE_INTEGER else {"i": hex(number)}
    if isinstance(value, float):
        return {"f": float.__repr__(value)}
    fields = _fields_of(value)
    if fields is not None:
        return {"n": [type(value).__name__, fields, [encode(item, keep, below) for item in value]]}
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        kind = next(name for name, base in _SEQUENCES.items() if isinstance(value, base))
        items = [encode(item, keep, below) for item in _SEQUENCES[kind].__iter__(value)]
        return items if kind == "l" else {kind: items}
    if isinstance(value, dict):
        return {"d": _encoded_pairs(value, keep, below)}
    if isinstance(value, (bytes, bytearray)):
        return {"b": bytes(value).hex()}
    if isinstance(value, complex):
        return {"c": [float(value.real).hex(), float(value.imag).hex()]}
    if type(value) in _TEXTS:
        return {"x": [type(value).__name__, str(value)]}
    if type(value) is dt.timedelta:
        return {"y": [value.days, value.seconds, value.microseconds]}
    if isinstance(value, range):
        return {"r": [value.start, value.stop, value.step]}
    if keep is None:
        raise NotPlainError(f"a {type(value).__name__} is no plain data")
    return keep(value)


def _fields_of(value: Any) -> list[str] | None:
    """Names of the fields of a named tuple; None for anything else."""
    return list(value._fields) if isinstance(value, tuple) and hasattr(value, "_fields") else None  # type: ignore[attr-defined]


def _encoded_pairs(value: Any, keep: Any, depth: int) -> list[Any]:
    pairs: Any = dict.items(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return [[encode(key, keep, depth), encode(item, keep, depth)] for key, item in pairs]


def decode(value: Any, revive: Any = None, depth: int = 0) -> Any:
    """The value that was encoded. What `keep` made goes through `revive`. Raises: NotPlainError, ValueError."""
    if depth > 2 * MOST_DEPTH:
        raise NotPlainError("nested too deep")
    if value is None or isinstance(value, (bool, str, int)):
        return value
    below = depth + 1
    if isinstance(value, list):
        items: list[Any] = value  # pyright: ignore[reportUnknownVariableType] - JSON
        return [decode(item, revive, below) for item in items]
    if not isinstance(value, dict):
        raise NotPlainError("no encoded value")
    pairs: list[tuple[str, Any]] = list(value.items())  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    if len(pairs) != 1:
        raise NotPlainError("no encoded value")
    kind, content = pairs[0]
    match kind:
        case "i":
            return int(content, 16)
        case "f":
            return float(content)
        case "t" | "s" | "z" | "q":
            return _SEQUENCES[kind](decode(item, revive, below) for item in content)
        case "d":
            return {decode(key, revive, below): decode(item, revive, below) for key, item in content}
        case "b":
            return bytes.fromhex(content)
        case "c":
            return complex(float.fromhex(content[0]), float.fromhex(content[1]))
        case "r":
            return range(*map(int, content))
        case "x":
            return _read_text(*content)
        case "y":
            return dt.timedelta(*content)
        case "n":
            name, fields, items = content
            return namedtuple(name, fields)(*(decode(item, revive, below) for item in items))  # noqa: PYI024 # pyright: ignore[reportUntypedNamedTuple] - the program's
        case "e" if revive is None and content[2] is not None:
            return decode(content[2], None, below)
        case _:
            if revive is None:
                raise NotPlainError("no plain value")
            return revive(value)


def _read_text(name: str, text: str) -> Any:
    match name:
        case "Fraction":
            if _PLAIN_FRACTION.fullmatch(text) is None:  # an exponent would be computed, whatever its size
                raise NotPlainError("no fraction")
            return fractions.Fraction(text)
        case "Decimal":
            return decimal.Decimal(text)
        case "date":
            return dt.date.fromisoformat(text)
        case "datetime":
            return dt.datetime.fromisoformat(text)
        case _:
            raise NotPlainError("no plain value")


_SEQUENCES: dict[str, Any] = {"l": list, "t": tuple, "s": set, "z": frozenset, "q": deque}
_TEXTS = (fractions.Fraction, decimal.Decimal, dt.date, dt.datetime)
