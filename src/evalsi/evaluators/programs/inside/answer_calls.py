"""Runs an untrusted program and answers calls into it, one line of JSON each. Everything here is the program's to change.

That does not matter: no expected value and no verdict ever enters this process. What comes out is taken for what the
program answers, as data.
"""

import json
import os
import sys
import types
from typing import Any

from evalsi.evaluators.programs.inside.exchange import decode, encode

_kept: list[Any] = []


def _keep(value: Any) -> Any:
    _kept.append(value)
    return {"o": [len(_kept) - 1, type(value).__name__]}


def _revive(value: Any) -> Any:
    if "o" in value:
        return _kept[value["o"][0]]
    return _find(value["p"])


def _find(path: list[Any]) -> Any:
    first, *rest = path
    found = _kept[first] if isinstance(first, int) else _named(first)
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


def _answer(call: dict[str, Any]) -> dict[str, Any]:
    try:
        target = _find(call["target"])
        arguments = [decode(value, _revive) for value in call["args"]]
        named = {name: decode(value, _revive) for name, value in call["kwargs"].items()}
        match call["op"]:
            case "call":
                value: Any = target(*arguments, **named)
                if isinstance(value, types.GeneratorType) or type(value).__name__ in ("map", "filter", "zip"):
                    value = [*value]  # pyright: ignore[reportUnknownVariableType]
            case "value":
                value = target
            case "isinstance":
                value = isinstance(arguments[0], target)
            case name:
                value = getattr(target.__class__, name)(target, *arguments)
                if name == "__iter__":
                    value = list(value)
        after = [encode(argument, _keep) for argument in arguments] if call["op"] == "call" else []
        return {"value": encode(value, _keep), "args": after}
    except Exception as error:
        return {"raised": [each.__name__ for each in type(error).__mro__], "message": str(error)[:500]}


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
for _call in _order["calls"]:
    _answers.write(json.dumps(_answer(_call)) + "\n")
    _answers.flush()
os._exit(0)
