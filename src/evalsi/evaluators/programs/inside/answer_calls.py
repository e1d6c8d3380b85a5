"""Runs an untrusted program and answers calls into it, one line of JSON each. Everything here is the program's to change.

That does not matter: no expected value and no verdict ever enters this process. What comes out is taken for what the
program answers, as data.
"""

import builtins
import enum
import itertools
import json
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from evalsi.evaluators.programs.inside.exchange import decode, encode

_READ_AHEAD = 64
"""Items of an iterator that are sent at once."""

_kept: dict[tuple[int, int], Any] = {}
_read: dict[tuple[int, int], list[Any]] = {}
"""What was read ahead of each iterator that was kept."""


def _keeper(place: int) -> Callable[[Any], Any]:
    """Keeps what is no plain data under the place of its call, so that a handle does not depend on other calls."""
    numbers: list[int] = []

    def keep(value: Any) -> Any:
        if isinstance(value, enum.Enum) and _is_member(value):
            mixed = (
                int.__int__(value) if isinstance(value, int) else str.__str__(value) if isinstance(value, str) else None
            )
            plain = None if mixed is None else encode(mixed)
            return {"e": [type(value).__qualname__.split("."), value.name, plain]}
        number = len(numbers)
        numbers.append(number)
        _kept[place, number] = value
        kind = _kind_of(value)
        if issubclass(kind, Iterator) and kind.__module__ != _program.__name__:
            return {"g": [place, number, *_taken((place, number), keep)]}
        return {"o": [place, number, kind.__name__]}

    return keep


def _kind_of(value: object) -> Any:
    return type(value)


def _is_member(value: enum.Enum) -> bool:
    try:
        found = _find(type(value).__qualname__.split("."))
        return found is type(value) and getattr(found, str(value.name), None) is value
    except (NameError, AttributeError):
        return False


def _taken(key: tuple[int, int], keep: Any) -> tuple[list[Any], Any]:
    """The next items, and how it went on: None for more, {} for its end, else what was raised."""
    items: list[Any] = []
    try:
        while len(items) < _READ_AHEAD:
            item = next(_kept[key])
            _read.setdefault(key, []).append(item)
            items.append(encode(item, keep))
    except StopIteration:
        return items, {}
    except Exception as error:
        return items, _told(error)
    return items, None


def _revive(value: Any) -> Any:
    if "g" in value:
        place, number, used = value["g"]
        return itertools.chain(_read.get((place, number), [])[used:], _kept[place, number])
    return _find(value["p"])


def _find(path: list[Any]) -> Any:
    first, *rest = path
    found = _named(first) if isinstance(first, str) else _kept[first[0], first[1]]
    for name in rest:
        found = getattr(found, name)
    return found


def _named(name: str) -> Any:
    if name in _program.__dict__:
        return _program.__dict__[name]
    entry = _order["entry_point"]
    if name == "candidate":
        functions = [each for each in _program.__dict__.values() if isinstance(each, types.FunctionType)]
        if entry in _program.__dict__:
            return _program.__dict__[entry]
        if functions:
            return functions[-1]
    raise NameError(f"name {name!r} is not defined")


def _answer(place: int, call: dict[str, Any]) -> dict[str, Any]:
    keep = _keeper(place)
    try:
        target = _find(call["target"])
        arguments = [decode(value, _revive) for value in call["args"]]
        named = {name: decode(value, _revive) for name, value in call["kwargs"].items()}
        if call["op"] == "take":
            place_of, number_of = call["target"][0]
            return {"value": [*_taken((place_of, number_of), keep)]}
        value = _outcome(call["op"], target, arguments, named, keep)
        if call["op"] != "call":
            return {"value": value}
        after = [encode(argument, keep) for argument in arguments]
        return {"value": value, "args": after, "kwargs": {name: encode(each, keep) for name, each in named.items()}}
    except Exception as error:
        return _told(error)


def _outcome(op: str, target: Any, arguments: list[Any], named: dict[str, Any], keep: Any) -> Any:
    match op:
        case "call":
            value: Any = target(*arguments, **named)
            if _kind_of(value) is not types.CoroutineType:
                return encode(value, keep)
            import asyncio

            return {"w": encode(asyncio.run(value), keep)}
        case "value":
            return encode(target, keep)
        case "isinstance":
            return isinstance(arguments[0], target)
        case "set":
            setattr(target, *arguments)
            return None
        case "leave":
            return bool(_kind_of(target).__exit__(target, *_error_of(*arguments)))
        case "__iter__":
            return encode((item for item in iter(target)), keep)
        case name:
            operator = getattr(_kind_of(target), name, None)
            if operator is None:
                raise TypeError(f"{_kind_of(target).__name__!r} object has no {name}")
            return encode(operator(target, *arguments), keep)


def _error_of(name: str, message: str) -> tuple[Any, Any, None]:
    if not name:
        return None, None, None
    kind: Any = _program.__dict__.get(name, getattr(builtins, name, Exception))
    return kind, kind(message), None


def _told(error: Exception) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for name, value in {**vars(error), "args": error.args}.items():
        try:
            attributes[name] = encode(value)
        except Exception:  # noqa: S112 - what is no plain data stays here
            continue
    kinds = type(error).__mro__
    return {
        "raised": [each.__name__ for each in kinds],
        "modules": [each.__module__ for each in kinds],
        "message": str(error)[:500],
        "attributes": attributes,
    }


_order = json.loads(sys.stdin.buffer.read())
_answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
_nothing = os.open(os.devnull, os.O_RDWR)
for _stream in (0, 1):
    os.dup2(_nothing, _stream)
_program = types.ModuleType("solution")
sys.modules["solution"] = _program
try:
    exec(compile(_order["source"], "solution.py", "exec", dont_inherit=True), _program.__dict__)  # noqa: S102
except Exception as _error:
    _answers.write(json.dumps({"broken": f"{type(_error).__name__}: {_error}"[:500]}) + "\n")
    _answers.flush()
    os._exit(3)
for _place, _call in enumerate(_order["calls"]):
    _answers.write(json.dumps(_answer(_place, _call)) + "\n")
    _answers.flush()
os._exit(0)
