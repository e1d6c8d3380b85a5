"""The tests of a record as functions: scripts, pytest functions and classes, unittest classes, `check(candidate)`.

What tests need and cannot have here is found in their text, before anything of the program is known, so that no program
can bring it about.
"""

import ast
import builtins
import collections
import copy
import decimal
import fractions
import importlib
import inspect
import itertools
import math
import re
import sys
import types
import unittest
from collections.abc import Callable
from typing import Any

from evalsi.evaluators.programs.inside.pytest_stand_in import Approximately, Fixtures, raises
from evalsi.evaluators.programs.inside.stand_ins import Remote, Unsupported, error_kind, turn, value_of

_PROGRAM_MODULES = {"solution", "candidate", "main", "answer", "submission", "code_under_test", "your_module"}
_PACKAGES = {"np", "numpy", "pd", "pandas", "torch", "tf", "scipy", "sp", "sympy", "sklearn", "plt", "nx"}
"""What tests mean by these names where they do not import them; never something of the program's."""
_HELPERS: dict[str, Any] = {
    "isclose": math.isclose,
    "inf": math.inf,
    "nan": math.nan,
    "approx": Approximately,
    "raises": raises,
}
_AROUND: dict[str, Any] = {
    name: vars(module)[name]
    for module in (math, copy, itertools, collections, fractions, decimal)
    for name in dir(module)
}
"""What tests mean by these names where they apply them to an answer of the program."""
_EXPECTING = {"raises", "assertRaises", "assertRaisesRegex"}
_STREAMS = {"stdout", "stderr", "stdin"}


class Tests:
    """The tests of a record, and what they call the program."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._texts: list[str] = [f"{order['setup']}\n{text}" for text in order["tests"]]
        self._entry_point: str = order["entry_point"]
        self._module: str = order["module"]

    def cases(self) -> list[tuple[str, Callable[[], None]]]:
        """The tests by name, each as a function that runs it from nothing. Raises: SyntaxError."""
        found: list[tuple[str, Callable[[], None]]] = []
        for place, text in enumerate(self._texts):
            names: list[str] = []
            for node in ast.parse(text).body:
                if _is_test(node):
                    names.append(node.name)  # type: ignore[attr-defined]
                elif isinstance(node, ast.ClassDef) and any(map(_is_test, node.body)):
                    names += [f"{node.name}.{each.name}" for each in node.body if _is_test(each)]  # type: ignore[attr-defined]
            found += [(f"{place}:{name}", lambda text=text, name=name: self._run_named(text, name)) for name in names]
            if not names:
                found.append((f"{place}", lambda text=text: self._run_script(text)))
        return found

    def _namespace(self, tree: ast.Module) -> dict[str, Any]:
        """Globals for tests: names that nothing in them defines are the program's."""
        _check_needs(tree)
        errors = _error_names(tree)
        stored = {
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        }
        provided: dict[str, Any] = {}
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                stored.add(node.name)
            elif isinstance(node, ast.arg):
                stored.add(node.arg)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                stored.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
                module = node.module if isinstance(node, ast.ImportFrom) else None
                for name in [module] if module else [alias.name for alias in node.names]:
                    self._provide(name.partition(".")[0], errors)
                if module and any(alias.name == "*" for alias in node.names) and not self._is_program(module):
                    provided.update(vars(importlib.import_module(module)))
            elif isinstance(node, ast.ExceptHandler) and node.name:
                stored.add(node.name)
        loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        free = {name for name in loaded - stored if not hasattr(builtins, name) and not name.startswith("__")}
        of_program = {name: _meant_by(name, free, tree, errors) for name in free - provided.keys()}
        return {
            **provided,
            "__name__": "tests",
            "__builtins__": builtins,
            "_is_pending": _is_pending,
            "_read": _read,
            **of_program,
        }

    def _is_program(self, module: str) -> bool:
        return module in _PROGRAM_MODULES or module == self._module

    def _provide(self, module: str, errors: set[str]) -> None:
        """A module that stands for the program, where tests import it by one of the usual names."""
        if module in sys.stdlib_module_names or module == "pytest":
            return
        if not self._is_program(module):
            raise Unsupported(f"the tests import {module}, which is not in the sandbox")
        stand_in = types.ModuleType(module)
        stand_in.__dict__["__all__"] = []
        stand_in.__getattr__ = lambda name: _named(name, errors)  # type: ignore[method-assign]
        sys.modules[module] = stand_in

    def _run_script(self, text: str) -> None:
        tree = ast.parse(text)
        names = self._namespace(tree)
        if len(tree.body) and isinstance(tree.body[-1], ast.Expr) and isinstance(tree.body[-1].value, ast.Compare):
            tree.body[-1] = ast.Assert(test=tree.body[-1].value, msg=None)  # `add(1, 2) == 3` is meant as an assertion
        exec(_compiled(tree), names)  # noqa: S102 - the dataset's own tests
        check = names.get("check")
        if isinstance(check, types.FunctionType) and not _calls_check(tree):
            check(self._candidate())

    def _candidate(self) -> Any:
        """What `check(candidate)` is given: a function of the program, or of a fresh object as in `Solution().solve`."""
        made = re.fullmatch(r"(\w+)\(\)\.(\w+)", self._entry_point)
        return getattr(Remote([made[1]])(), made[2]) if made else Remote([self._entry_point or "candidate"])

    def _run_named(self, text: str, name: str) -> None:
        tree = ast.parse(text)
        names = self._namespace(tree)
        exec(_compiled(tree), names)  # noqa: S102 - the dataset's own tests
        group, dot, method = name.partition(".")
        module = types.SimpleNamespace(
            **{key: value for key, value in names.items() if key.startswith(("set", "tear"))}
        )
        _call_hooks(module, "setUpModule", "setup_module")
        if not dot:
            _call_hooks(module, "setup_function")
            _call_rows(names, None, names[group])
        elif issubclass(names[group], unittest.TestCase):
            _run_unittest(names[group], method)
        else:
            holder = names[group]()
            _call_hooks(holder, "setup_class")
            _call_hooks(holder, "setup_method", "setup")
            _call_rows(names, holder, getattr(holder, method))
            _call_hooks(holder, "teardown_method", "teardown")


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test")


def _is_pending() -> bool:
    return turn.case.pending


def _read(value: Any) -> None:
    if isinstance(value, Remote):
        value_of(value)


def _named(name: str, errors: set[str]) -> Any:
    if name in errors:
        return error_kind(name)
    if name.startswith("__"):
        raise AttributeError(name)
    return Remote([name])


def _meant_by(name: str, free: set[str], tree: ast.Module, errors: set[str]) -> Any:
    """What a name that the tests do not define stands for. What decides a verdict is never the program's."""
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_name(node.value, name)]
    if uses and name in _PACKAGES:
        raise Unsupported(f"the tests use {name} without importing it")
    if uses and name in sys.stdlib_module_names:
        module = importlib.import_module(name)
        if all(hasattr(module, each.attr) for each in uses):
            return module
    if name in _HELPERS:
        return _HELPERS[name]
    if name in _AROUND and any(
        isinstance(node, ast.Call)
        and _is_name(node.func, name)
        and any(_has_call(each, free - {name}) for each in node.args)
        for node in ast.walk(tree)
    ):
        return _AROUND[name]
    return _named(name, errors)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _has_call(node: ast.expr, names: set[str]) -> bool:
    return any(
        isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id in names
        for each in ast.walk(node)
    )


def _error_names(tree: ast.Module) -> set[str]:
    """Names of the tests that stand where a class of errors does. Raises: Unsupported: one that is made there, too."""
    places: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            places.append(node.type)
        elif isinstance(node, ast.Call) and node.args and _last_name(node.func) in _EXPECTING:
            places.append(node.args[0])
    several = [each for place in places for each in (place.elts if isinstance(place, ast.Tuple) else [place])]
    found = {_last_name(each) for each in several} - {""}
    found = {name for name in found if not hasattr(builtins, name)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {alias.name for alias in node.names if alias.asname in found}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in found:
            raise Unsupported(f"the tests make and expect the error {node.func.id}")
    return found


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _check_needs(tree: ast.Module) -> None:
    """Raises: Unsupported: the tests look at what cannot be seen from here: what is printed, and what they replace."""
    for node in ast.walk(tree):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        if any(module.startswith("unittest.mock") for module in modules):
            raise Unsupported("the tests replace parts of the program, which is not in their sandbox")
        if isinstance(node, ast.Attribute) and (
            node.attr in ("redirect_stdout", "redirect_stderr")
            or (node.attr in _STREAMS and _is_name(node.value, "sys") and isinstance(node.ctx, ast.Store))
        ):
            raise Unsupported("the tests read what the program prints, which does not cross to their sandbox")
        if any(module.startswith("contextlib.redirect_") for module in modules):
            raise Unsupported("the tests read what the program prints, which does not cross to their sandbox")


class _Asserting(ast.NodeTransformer):
    """Assertions that do not end a test whose answers are not all here, and attributes that are read where they stand alone."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Attribute):
            node.value = ast.Call(func=ast.Name(id="_read", ctx=ast.Load()), args=[node.value], keywords=[])
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.generic_visit(node)
        pending = ast.Call(func=ast.Name(id="_is_pending", ctx=ast.Load()), args=[], keywords=[])
        node.test = ast.BoolOp(op=ast.Or(), values=[node.test, pending])
        return node


def _compiled(tree: ast.Module) -> Any:
    return compile(ast.fix_missing_locations(_Asserting().visit(tree)), "tests.py", "exec")


def _calls_check(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _is_name(node.value.func, "check")
        for node in tree.body
    )


def _run_unittest(kind: Any, method: str) -> None:
    test = kind(method)
    skipped = getattr(kind, "__unittest_skip_why__", None)
    if skipped is not None:
        raise unittest.SkipTest(skipped)
    kind.setUpClass()
    if hasattr(test, "asyncSetUp"):
        _run_to_its_end(_run_async_test(test, method))
        return
    test.setUp()
    try:
        getattr(test, method)()
    finally:
        test.tearDown()
        test.doCleanups()


async def _run_async_test(test: Any, method: str) -> None:
    test.setUp()
    await test.asyncSetUp()
    try:
        ended = getattr(test, method)()
        if inspect.isawaitable(ended):
            await ended
    finally:
        await test.asyncTearDown()
        test.tearDown()


def _call_hooks(holder: Any, *names: str) -> None:
    """The first of these that there is, with as many arguments as it takes."""
    hook = next((getattr(holder, name) for name in names if hasattr(holder, name)), None)
    if hook is not None and not isinstance(hook, Remote) and not hasattr(hook, "own_fixture"):
        hook(*[None] * len(inspect.signature(hook).parameters))


def _run_to_its_end(coroutine: Any) -> None:
    import asyncio

    asyncio.run(coroutine)


def _kind_of(holder: object) -> Any:
    return type(holder)


def _call_rows(names: dict[str, Any], holder: Any, test: Any) -> None:
    """Calls a test once per row of its parametrization, with its fixtures."""
    kind = _kind_of(holder)
    skipped = getattr(test, "own_skip", None) or getattr(kind, "own_skip", None)
    if skipped is not None:
        raise unittest.SkipTest(skipped)
    rows: list[dict[str, Any]] = [{}]
    for more in [*getattr(kind, "own_rows", []), *getattr(test, "own_rows", [])]:
        rows = [row | each for row in rows for each in more]
    for row in rows:
        fixtures = Fixtures(names, holder)
        fixtures.start(kind, test)
        try:
            ended = test(**row, **fixtures.arguments(test, row))
            if inspect.iscoroutine(ended):
                _run_to_its_end(ended)
        finally:
            fixtures.end()
