"""`pytest` for tests in sandboxes, which have none: raises, approx, fixtures, parametrization and marks.

What it lacks is told as such: a test that needs it cannot be graded here, which is no failure of the program.
"""

import importlib
import inspect
import numbers
import re
import sys
import types
import unittest
from collections.abc import Callable, Iterator
from typing import Any, Self

from evalsi.evaluators.programs.inside.stand_ins import Pending, Remote, Unsupported, turn, value_of


class Raises:
    """As `pytest.raises`."""

    def __init__(self, *kinds: Any, match: str | None = None) -> None:
        self._kinds: Any = kinds[0] if kinds and isinstance(kinds[0], tuple) else kinds
        self._match = match
        self.value: Any = None
        self.type: Any = None

    def match(self, pattern: str) -> bool:
        assert re.search(pattern, str(self.value)), f"{self.value} does not match"
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        if error is None:
            assert turn.case.pending, "nothing was raised"
            return False
        if not isinstance(error, self._kinds):
            return False
        self.value, self.type = error, kind
        if self._match is not None:
            self.match(self._match)
        return True


def raises(kind: Any, *args: Any, match: str | None = None, **kwargs: Any) -> Any:
    checked = Raises(kind, match=match)
    if not args:
        return checked
    with checked:
        args[0](*args[1:], **kwargs)
    return checked


class Approximately:
    """As `pytest.approx` for numbers, and for sequences and dictionaries of them."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expected: Any, rel: float | None = None, abs: float | None = None, nan_ok: bool = False) -> None:  # noqa: A002
        self._wanted: Any = expected
        self._relative = 1e-6 if rel is None and abs is None else rel or 0.0
        self._absolute = 1e-12 if abs is None else abs
        self._nan_ok = nan_ok

    def __eq__(self, given: object) -> Any:
        if isinstance(given, Pending):
            return given
        if isinstance(given, Remote):
            mine = value_of(given)
            return mine if isinstance(mine, Pending) else not isinstance(mine, Remote) and mine == self
        wanted: Any = self._wanted
        answer: Any = given
        if isinstance(wanted, dict):
            return (
                isinstance(answer, dict) and wanted.keys() == answer.keys() and self._all_near(answer, wanted, wanted)
            )
        if isinstance(wanted, (list, tuple)):
            return isinstance(answer, (list, tuple)) and self._all_in_order(answer)
        return self._is_near(answer)

    def _all_in_order(self, given: Any) -> bool:
        wanted = self._wanted
        return len(given) == len(wanted) and self._all_near(given, wanted, range(len(wanted)))

    def _all_near(self, given: Any, wanted: Any, keys: Any) -> bool:
        return all(
            Approximately(wanted[key], self._relative, self._absolute, self._nan_ok) == given[key] for key in keys
        )

    def _is_near(self, answer: Any) -> bool:
        wanted = self._wanted
        if answer == wanted or isinstance(wanted, (str, bytes, bool, type(None))):
            return bool(answer == wanted)
        if not isinstance(answer, numbers.Number):
            return False
        if not isinstance(answer, (int, float, complex)):
            answer = float(answer)  # type: ignore[arg-type] - a fraction or decimal
        if answer != answer or wanted != wanted:
            return self._nan_ok and answer != answer and wanted != wanted
        return bool(abs(answer - wanted) <= max(self._absolute, self._relative * abs(wanted)))


def _parametrize(names: Any, values: Any, **_: Any) -> Any:
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [each.values if isinstance(each, Row) else (each if len(listed) > 1 else (each,)) for each in values]

    def mark(test: Any) -> Any:
        test.own_rows = [*getattr(test, "own_rows", []), [dict(zip(listed, row, strict=True)) for row in rows]]
        return test

    return mark


class Row:
    """One row of a parametrization, by `pytest.param`."""

    def __init__(self, *values: Any, **_: Any) -> None:
        self.values = values


def _skipping(reason: str, skips: bool = True) -> Any:
    def mark(test: Any) -> Any:
        if skips:
            test.own_skip = reason or "skipped"
        return test

    return mark


def _skip_mark(*args: Any, reason: str = "") -> Any:
    return _skipping("")(args[0]) if args and callable(args[0]) else _skipping(str(args[0]) if args else reason)


def _skip_if(*conditions: Any, reason: str = "", **_: Any) -> Any:
    return _skipping(reason, any(bool(each) for each in conditions))


def _expected_to_fail(*args: Any, **_: Any) -> Any:
    return _skip_mark(args[0]) if args and callable(args[0]) and not isinstance(args[0], Remote) else _skipping("xfail")


def _use_fixtures(*names: str) -> Any:
    def mark(test: Any) -> Any:
        test.own_uses = [*getattr(test, "own_uses", []), *names]
        return test

    return mark


def _plain(*args: Any, **_: Any) -> Any:
    return args[0] if args and callable(args[0]) else _plain


class _Marks:
    parametrize = staticmethod(_parametrize)
    skip = staticmethod(_skip_mark)
    skipif = staticmethod(_skip_if)
    xfail = staticmethod(_expected_to_fail)
    usefixtures = staticmethod(_use_fixtures)

    def __getattr__(self, name: str) -> Any:
        return _plain


def _fixture(*args: Any, name: str = "", autouse: bool = False, params: Any = None, **_: Any) -> Any:
    if params is not None:
        raise Unsupported("the tests use a fixture with params, which pytest in the sandbox does not know")

    def mark(made: Any) -> Any:
        made.own_fixture = name or made.__name__
        made.own_autouse = autouse
        return made

    return mark(args[0]) if args and callable(args[0]) else mark


def _fail(reason: str = "", **_: Any) -> None:
    if not turn.case.pending:
        raise AssertionError(reason)


def _skip(reason: str = "", **_: Any) -> None:
    raise unittest.SkipTest(reason)


def _import_or_skip(name: str, *_: Any, **__: Any) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise unittest.SkipTest(str(error)) from None


def _missing(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise Unsupported(f"the tests use pytest.{name}, which pytest in the sandbox does not know")


def provide_pytest() -> None:
    """Makes `import pytest` find this."""
    module = types.ModuleType("pytest")
    module.__dict__.update(
        raises=raises,
        approx=Approximately,
        mark=_Marks(),
        param=Row,
        fixture=_fixture,
        fail=_fail,
        skip=_skip,
        importorskip=_import_or_skip,
        __getattr__=_missing,
    )
    sys.modules["pytest"] = module


class Fixtures:
    """The fixtures of one run of one test: made when they are asked for, ended after it."""

    def __init__(self, names: dict[str, Any], holder: Any) -> None:
        functions = [each for each in names.values() if inspect.isfunction(each)]
        methods = [] if holder is None else [each for _, each in inspect.getmembers(holder, inspect.ismethod)]
        marked: list[Any] = [each for each in (*functions, *methods) if hasattr(each, "own_fixture")]
        self._makers: dict[str, Any] = {each.own_fixture: each for each in marked}
        self._made: dict[str, Any] = {}
        self._ends: list[Iterator[Any]] = []

    def start(self, *tests: Any) -> None:
        """Makes those that are used without being named."""
        for name, maker in self._makers.items():
            if maker.own_autouse:
                self._value(name)
        for test in tests:
            for name in getattr(test, "own_uses", []):
                self._value(name)

    def arguments(self, function: Callable[..., Any], given: Any = ()) -> dict[str, Any]:
        """What a test or fixture is called with, beside what is given. Raises: Unsupported: a fixture that is not here."""
        found: dict[str, Any] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            if name not in given and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                if name in self._makers:
                    found[name] = self._value(name)
                elif parameter.default is parameter.empty:
                    raise Unsupported(f"the tests use the fixture {name}, which pytest in the sandbox does not know")
        return found

    def _value(self, name: str) -> Any:
        if name not in self._makers:
            raise Unsupported(f"the tests use the fixture {name}, which pytest in the sandbox does not know")
        if name not in self._made:
            value = self._makers[name](**self.arguments(self._makers[name]))
            if inspect.isgenerator(value) and inspect.isgeneratorfunction(self._makers[name]):
                self._ends.append(value)
                value = next(value)
            self._made[name] = value
        return self._made[name]

    def end(self) -> None:
        for each in reversed(self._ends):
            next(each, None)
