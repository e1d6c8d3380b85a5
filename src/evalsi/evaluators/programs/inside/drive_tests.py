"""Runs tests of a program that is not here: each use of it becomes a call, whose answer was brought in or is asked for.

The untrusted program never shares a process with its tests. A test that needs an answer which is not here yet goes on
with a placeholder, to find what else it will ask; it is run again once the answers are there, and only a run without
placeholders decides. What answers bring are plain values and handles.
"""

import ast
import builtins
import json
import os
import sys
import types
import unittest
from collections.abc import Callable
from typing import Any, Self

from evalsi.evaluators.programs.inside.exchange import decode, encode

_MOST_CALLS = 2000
_PROGRAM_MODULES = {"solution", "candidate", "main", "answer", "submission", "code_under_test", "your_module"}


class _Gone(BaseException):
    """The program gave no answer: it ended, hung or was killed."""


class _Unsupported(BaseException):
    """The tests need what cannot cross to the program."""


class _NotYet(Exception):
    """A value cannot be sent to the program."""


class _Case:
    """The calls of one test, and the answers it has."""

    def __init__(self, known: list[Any]) -> None:
        self.known = known
        self.calls: list[Any] = []
        self.pending = False

    def ask(self, op: str, target: list[Any], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        try:
            given = [encode(value, _handle) for value in args]
            named = {name: encode(value, _handle) for name, value in (kwargs or {}).items()}
        except Exception as error:
            if self.pending:
                return _Pending()
            raise _Unsupported(f"the tests pass {error}") from None
        call = {"op": op, "target": target, "args": given, "kwargs": named}
        place = len(self.calls)
        self.calls.append(call)
        if place >= _MOST_CALLS:
            raise _Unsupported(f"the test makes more than {_MOST_CALLS} calls")
        if self.pending or place >= len(self.known) or self.known[place][0] != call:
            self.pending = True
            return _Pending()
        value = _answered(self.known[place][1], args)
        if op == "call" and isinstance(value, _Remote):
            value.__dict__["_is_own"] = str(target[-1])[:1].isupper()
        return value


def _answered(answer: dict[str, Any], args: tuple[Any, ...]) -> Any:
    if "gone" in answer:
        raise _Gone(answer["gone"])
    if "raised" in answer:
        raise _raised([str(name) for name in answer["raised"]], str(answer.get("message", "")))
    try:
        value = decode(answer["value"], _revived)
        after = [decode(each, _revived) for each in answer.get("args", [])]
    except Exception:
        raise _Gone("it answered what is no value") from None
    if value is None:  # what gives a value and changes its argument too could change what the test expects
        for given, changed in zip(args, after, strict=False):
            _update(given, changed)
    return value


def _raised(names: list[str], message: str) -> Exception:
    for name in names:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            try:
                error = kind(message)
            except Exception:
                error = Exception(message)
            error.__dict__["names"] = names
            return error
    raise _Gone(f"it raised {names[:1]}")


def _update(given: Any, changed: Any) -> None:
    """What the program did to an argument, done to the test's own."""
    if type(given) is not type(changed) or given == changed:
        return
    held: Any = given
    if isinstance(given, list):
        held[:] = changed
    elif isinstance(given, (dict, set)):
        held.clear()
        held.update(changed)


def _handle(value: Any) -> Any:
    if isinstance(value, _Remote):
        return {"p": value.__dict__["_target"]}
    if isinstance(value, _Pending):
        raise _NotYet("what is not known yet")
    raise _NotYet(f"a {type(value).__name__}, which cannot cross to the program")


def _revived(value: Any) -> Any:
    return _Remote([int(value["o"][0])])


class _Pending:
    """Stands for an answer that is not here yet; whatever is done with it goes on."""

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 1

    def __hash__(self) -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self

    def __contains__(self, _: Any) -> bool:
        return True


def _pending_operation(self: Any, *_: Any) -> Any:
    return self


for _name in (
    "eq ne lt le gt ge add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow neg abs getitem "
    "round and rand or ror xor rxor enter exit"
).split():
    setattr(_Pending, f"__{_name}__", _pending_operation)


class _Remote:
    """Something in the program: a name, an attribute of one, or an object that a call gave.

    An object's own operators may decide nothing about a value of the test: it would be equal to whatever is expected, or
    the right distance from it. Only an object that the test itself made, of a class (a capitalized name), may be added to
    a value or asked whether it holds one; none is ever equal to, above or below a plain value.
    """

    def __init__(self, target: list[Any]) -> None:
        self.__dict__["_target"] = target
        self.__dict__["_is_own"] = False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Remote([*self._target, name])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _current.ask("call", self._target, args, kwargs)

    def __instancecheck__(self, value: Any) -> bool:
        return bool(_current.ask("isinstance", self._target, (value,)))

    def __eq__(self, other: object) -> Any:
        mine = _value(self)
        if not isinstance(mine, _Remote):
            return mine == other
        if isinstance(other, _Remote) and (self._is_own or other._is_own):
            return _current.ask("__eq__", self._target, (other,)) is True
        return isinstance(other, _Remote) and self._target == other._target

    def __ne__(self, other: object) -> Any:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self._target))

    def __bool__(self) -> bool:
        mine = _value(self)
        return True if isinstance(mine, _Remote) else bool(mine)


def _value(remote: _Remote) -> Any:
    """The plain value that a name or attribute has, or a handle of what is none."""
    return _current.ask("value", remote.__dict__["_target"])


_INPUTS = {"__getitem__", "__setitem__", "__round__"}
"""Operators whose operand is an input, not a value that is expected."""


def _remote_operation(name: str) -> Callable[..., Any]:
    def operate(self: _Remote, *args: Any) -> Any:
        mine = _value(self)
        if isinstance(mine, _Remote):
            ordering = name in ("__lt__", "__le__", "__gt__", "__ge__")
            if args and name not in _INPUTS and (not self._is_own or (ordering and not isinstance(args[0], _Remote))):
                raise TypeError("an object of the program's own, where the test has a value")
            answer = _current.ask(name, self.__dict__["_target"], args)
            return iter(answer) if name == "__iter__" else answer
        return getattr(mine, name)(*args)

    return operate


for _name in (
    "lt le gt ge add radd sub rsub mul rmul truediv floordiv mod pow neg abs getitem setitem len iter contains str repr "
    "int float round"
).split():
    setattr(_Remote, f"__{_name}__", _remote_operation(f"__{_name}__"))


class _Raises:
    """As `pytest.raises`, for sandboxes without pytest."""

    def __init__(self, *kinds: Any, match: str | None = None) -> None:
        self._kinds: Any = kinds[0] if kinds and isinstance(kinds[0], tuple) else kinds
        self._match = match
        self.value: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> bool:
        if error is None:
            assert _current.pending, "nothing was raised"
            return False
        names = getattr(error, "names", [])
        fits = any(
            wanted.__dict__["_target"][-1] in names if isinstance(wanted, _Remote) else isinstance(error, wanted)
            for wanted in self._kinds
        )
        if fits and self._match is not None:
            import re

            assert re.search(self._match, str(error)), f"{error} does not match"
        self.value = error
        return fits


class _Approximately:
    """As `pytest.approx` for numbers and sequences of them."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, wanted: Any, rel: float | None = None, abs: float | None = None) -> None:  # noqa: A002
        self._wanted: Any = wanted
        self._relative = 1e-6 if rel is None and abs is None else rel or 0.0
        self._absolute = 1e-12 if abs is None else abs

    def __eq__(self, given: object) -> Any:
        if isinstance(given, (_Pending, _Remote)):
            return given if isinstance(given, _Pending) else _value(given) == self
        if isinstance(self._wanted, (list, tuple)):
            return self._all_near(given)
        answer: Any = given
        return abs(answer - self._wanted) <= max(self._absolute, self._relative * abs(self._wanted))

    def _all_near(self, given: Any) -> bool:
        several: Any = self.__dict__["_wanted"]
        return len(given) == len(several) and all(
            _Approximately(wanted, self._relative, self._absolute) == each
            for wanted, each in zip(several, given, strict=True)
        )


def _pytest_shim() -> types.ModuleType:
    shim = types.ModuleType("pytest")

    def parametrize(names: Any, values: Any, **_: Any) -> Any:
        listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

        def mark(test: Any) -> Any:
            test.__dict__.setdefault("rows", []).append((listed, list(values)))
            return test

        return mark

    def plain(*args: Any, **_: Any) -> Any:
        return args[0] if args and callable(args[0]) else plain

    marks = types.SimpleNamespace(parametrize=parametrize, timeout=plain, slow=plain)
    shim.__dict__.update(raises=_Raises, approx=_Approximately, mark=marks, fixture=plain)
    return shim


def _namespace(text: str) -> dict[str, Any]:
    """Globals for tests: names that nothing in them defines are the program's."""
    tree = ast.parse(text)
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            stored.add(node.name)
        elif isinstance(node, ast.arg):
            stored.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            stored.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
            module = node.module if isinstance(node, ast.ImportFrom) else None
            for name in [module] if module else [alias.name for alias in node.names]:
                _provide(name.partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            stored.add(node.name)
    loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    free = {name for name in loaded - stored if not hasattr(builtins, name) and not name.startswith("__")}
    return {"__name__": "tests", "__builtins__": builtins, **{name: _Remote([name]) for name in free}}


def _provide(module: str) -> None:
    """A module that stands for the program, where tests import it by one of the usual names."""
    if module in sys.stdlib_module_names or module == "pytest":
        return
    if module not in _PROGRAM_MODULES and module != _order["module"]:
        raise _Unsupported(f"the tests import {module}, which is not in the sandbox")
    stand_in = types.ModuleType(module)
    stand_in.__getattr__ = lambda name: _Remote([name])  # type: ignore[method-assign]
    sys.modules[module] = stand_in


def _cases() -> list[tuple[str, Callable[[], None]]]:
    """The tests by name, each as a function that runs it from nothing."""
    found: list[tuple[str, Callable[[], None]]] = []
    for place, text in enumerate(_order["tests"]):
        whole = f"{_order['setup']}\n{text}"
        tree = ast.parse(whole)
        names: list[str] = []
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                names.append(node.name)
            elif isinstance(node, ast.ClassDef) and any(_is_test(each) for each in node.body):
                names += [f"{node.name}.{each.name}" for each in node.body if _is_test(each)]  # type: ignore[attr-defined]
        for name in names:
            found.append((f"{place}:{name}", lambda whole=whole, name=name: _run_named(whole, name)))
        if not names:
            found.append((f"{place}", lambda whole=whole: _run_script(whole)))
    return found


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test")


def _run_script(text: str) -> None:
    tree = ast.parse(text)
    names = _namespace(text)
    if len(tree.body) and isinstance(tree.body[-1], ast.Expr) and isinstance(tree.body[-1].value, ast.Compare):
        tree.body[-1] = ast.Assert(test=tree.body[-1].value, msg=None)  # `add(1, 2) == 3` is meant as an assertion
        ast.fix_missing_locations(tree)
    exec(compile(tree, "tests.py", "exec"), names)  # noqa: S102 - the dataset's own tests
    check = names.get("check")
    if isinstance(check, types.FunctionType) and not _calls_check(tree):
        check(_Remote([_order["entry_point"] or "candidate"]))


def _calls_check(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == "check"
        for node in tree.body
    )


def _run_named(text: str, name: str) -> None:
    names = _namespace(text)
    exec(compile(text, "tests.py", "exec"), names)  # noqa: S102 - the dataset's own tests
    group, dot, method = name.partition(".")
    if not dot:
        _call_rows(names[group])
        return
    kind = names[group]
    if issubclass(kind, unittest.TestCase):
        test = kind(method)
        kind.setUpClass()
        test.setUp()
        try:
            getattr(test, method)()
        finally:
            test.tearDown()
        return
    holder = kind()
    for before in ("setup_method", "setup"):
        if hasattr(holder, before):
            getattr(holder, before)()
            break
    _call_rows(getattr(holder, method))


def _call_rows(test: Any) -> None:
    """Calls a test once per row of its parametrization."""
    rows: list[dict[str, Any]] = [{}]
    for names, values in getattr(test, "rows", []):
        rows = [
            row | (dict(zip(names, value, strict=True)) if len(names) > 1 else {names[0]: value})
            for row in rows
            for value in values
        ]
    for row in rows:
        test(**row)


def _verdict(name: str, run: Callable[[], None]) -> dict[str, Any]:
    global _current
    _current = case = _Case(_order["answers"].get(name, []))
    state, reason = "passed", ""
    try:
        run()
    except _Unsupported as error:
        state, reason = "unsupported", str(error)
    except _Gone as error:
        state, reason = "failed", f"the program {error}"
    except unittest.SkipTest as error:
        state, reason = "skipped", str(error)
    except BaseException as error:
        state, reason = "failed", f"{type(error).__name__}: {error}"[:300]
    if case.pending and state != "unsupported":
        state = "pending"
    elif state == "passed" and not case.calls:
        state, reason = "unsupported", "the test never uses the program"
    return {"name": name, "state": state, "reason": reason, "calls": case.calls}


_order = json.loads(sys.stdin.buffer.read())
_verdicts = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(os.open(os.devnull, os.O_RDWR), 1)
sys.modules["pytest"] = _pytest_shim()
_current = _Case([])
try:
    _reply: dict[str, Any] = {"cases": [_verdict(name, run) for name, run in _cases()]}
except SyntaxError as _error:
    _reply = {"unreadable": f"{_error.msg}, line {_error.lineno}"}
_verdicts.write(json.dumps(_reply))
_verdicts.flush()
os._exit(0)
