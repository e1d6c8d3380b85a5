"""Values as JSON that keeps their types: what crosses between a program, its tests and the host is plain data.

Runs inside sandboxes and on the host, so that both sides agree. A decoded value is always of a built-in or standard type:
no method of the program's classes comes across, so nothing it returns can say of itself that it is equal to anything.
"""

import datetime as dt
import decimal
import fractions
from collections import deque
from typing import Any

MOST_DEPTH = 60
_SAFE_INTEGER = 1 << 53


class NotPlainError(Exception):
    """The value is no plain data."""


def encode(value: Any, keep: Any = None, depth: int = 0) -> Any:
    """`value` as JSON. What is no plain data goes through `keep(value)`. Raises: NotPlainError: without `keep`."""
    if depth > MOST_DEPTH:
        raise NotPlainError("nested too deep")
    if value is None or value is True or value is False:
        return value
    below = depth + 1
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        number = int.__int__(value)
        return number if -_SAFE_INTEGER < number < _SAFE_INTEGER else {"i": hex(number)}
    if isinstance(value, float):
        return {"f": float.__repr__(value)}
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
    if isinstance(value, range):
        return {"r": [value.start, value.stop, value.step]}
    if keep is None:
        raise NotPlainError(f"a {type(value).__name__} is no plain data")
    return keep(value)


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
        case _:
            if revive is None:
                raise NotPlainError("no plain value")
            return revive(value)


def _read_text(name: str, text: str) -> Any:
    match name:
        case "Fraction":
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
