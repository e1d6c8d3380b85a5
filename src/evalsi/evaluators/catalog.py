"""Finding evaluators by reference. The built-ins are one visible table; third parties come by entry point, or in a program.

Nothing is imported or started until it is named. A reference is one of

    exact-match                     a built-in, or an evaluator that a third party calls so
    core/exact-match                the same, with its pack
    builtin/exact-match@1.0.0       any built-in pack, at a version
    my_package.checks:polite        an object of an importable module
    ./checks.py:polite              an object of a file
    house/polite                    an evaluator of the program that the operator calls `house`
"""

import importlib
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from evalsi.core.errors import EvalsiError, UnknownNameError, UsageError
from evalsi.core.python_module import importing, load_module
from evalsi.evaluators.api import Definition, evaluator
from evalsi.evaluators.builtin import BUILTIN, OF_OTHER_TOOLS
from evalsi.evaluators.program_evaluators import program_definitions
from evalsi.ports.evaluator_program import EvaluatorProgram

EVALUATOR_GROUP = "evalsi.evaluators"
"""Entry points: name of the evaluator -> a `Definition`."""
PACK_GROUP = "evalsi.packs"
"""Entry points: name of a pack -> a module or object whose `evaluators` lists `Definition`s."""
_PROGRAMS: dict[str, EvaluatorProgram] = {}
"""Programs by name. Like entry points a fact about the process: it is made known once, where the process begins."""


def know_programs(programs: Iterable[EvaluatorProgram]) -> None:
    """Has the evaluators of programs found by `name/evaluator`, in place of those that were known before."""
    _PROGRAMS.clear()
    _PROGRAMS.update((program.name, program) for program in programs)


def load(reference: str) -> Definition:
    """The evaluator that `reference` names.

    Raises:
        UnknownNameError: no such evaluator, with the nearest name.
        UsageError: the reference cannot be read, or asks for another version than the one installed.
        NotFoundError, PluginError: its file or module cannot be loaded.
    """
    if ":" in reference:
        return _load_object(reference)
    if reference.endswith(".py"):
        names = _evaluators_in(load_module(reference))
        hint = f"it has {', '.join(names)}" if names else "it has none: decorate a function with @evaluator"
        raise UsageError(
            f"{reference} is a file and the evaluator in it is not named", hint=f"write {reference}:NAME; {hint}"
        )
    path, _, version = reference.partition("@")
    pack, _, name = path.rpartition("/")
    definition = _load_named(pack, name, reference)
    if version and version != definition.version:
        raise UsageError(f"{reference}: version {version} is not installed", hint=f"{definition.version} is")
    return definition


def builtin_names() -> list[str]:
    return sorted(name for pack in BUILTIN.values() for name in pack)


def packs() -> list[str]:
    """Built-in packs, those that third parties registered, and programs."""
    return sorted({*BUILTIN, *_PROGRAMS, *(point.name for point in entry_points(group=PACK_GROUP))})


def every_definition(pack: str | None = None) -> Iterator[tuple[str, Definition | EvalsiError]]:
    """(`pack/name`, definition) of all that can be named, built-ins first; a broken plugin yields its error."""
    for pack_name, names in BUILTIN.items():
        if pack in (None, pack_name):
            for name in names:
                yield f"{pack_name}/{name}", _load_builtin(pack_name, name)
    for point in entry_points(group=EVALUATOR_GROUP):
        if pack in (None, _distribution(point)):
            yield f"{_distribution(point)}/{point.name}", _attempt(point)
    for point in entry_points(group=PACK_GROUP):
        if pack in (None, point.name):
            try:
                for definition in _pack_definitions(point):
                    yield f"{point.name}/{definition.name}", definition
            except EvalsiError as error:
                yield point.name, error
    for program in _PROGRAMS.values():
        if pack in (None, program.name):
            try:
                for name, found in program_definitions(program):
                    yield f"{program.name}/{name}", found
            except EvalsiError as error:
                yield program.name, error


def _load_named(pack: str, name: str, reference: str) -> Definition:
    for pack_name, names in BUILTIN.items():
        if name in names and pack in ("", "builtin", pack_name):
            return _load_builtin(pack_name, name)
    if pack != "builtin":
        for point in entry_points(group=EVALUATOR_GROUP):
            if point.name == name and pack in ("", _distribution(point)):
                return _load_point(point)
        for point in entry_points(group=PACK_GROUP):
            if pack == point.name:
                for definition in _pack_definitions(point):
                    if definition.name == name:
                        return definition
        if pack in _PROGRAMS:
            definitions = dict(program_definitions(_PROGRAMS[pack]))
            if name not in definitions:
                raise UnknownNameError(f"evaluator of program {pack!r}", name, definitions)
            return _sound(definitions[name])
    known = builtin_names() + [point.name for point in entry_points(group=EVALUATOR_GROUP)]
    unknown = UnknownNameError("evaluator", reference if pack else name, known)
    usual = OF_OTHER_TOOLS.get(name.casefold().replace("_", "-"))
    unknown.hint = f"did you mean {usual!r}?" if usual else unknown.hint or "see: evalsi catalog"
    raise unknown


def _load_builtin(pack: str, name: str) -> Definition:
    module_name, _, attribute = BUILTIN[pack][name].partition(":")
    definition = getattr(importlib.import_module(f"evalsi.evaluators.packs.{module_name}"), attribute)
    assert isinstance(definition, Definition), name
    return replace(definition, pack=pack)


def _load_point(point: EntryPoint) -> Definition:
    with importing(f"evaluator {point.name!r} of {_distribution(point)} cannot be loaded"):
        loaded = point.load()
    return replace(_as_definition(loaded, point.value), pack=_distribution(point))


def _attempt(point: EntryPoint) -> Definition | EvalsiError:
    try:
        return _load_point(point)
    except EvalsiError as error:
        return error


def _pack_definitions(point: EntryPoint) -> list[Definition]:
    with importing(f"pack {point.name!r} of {_distribution(point)} cannot be loaded"):
        loaded = point.load()
        members: list[Any] = list(loaded.evaluators)
    return [replace(_as_definition(member, point.value), pack=point.name) for member in members]


def _load_object(reference: str) -> Definition:
    place, _, attribute = reference.rpartition(":")
    module = load_module(place)
    found = getattr(module, attribute, None)
    if found is None:
        raise UnknownNameError("evaluator", attribute, _evaluators_in(module), where=place)
    return _as_definition(found, reference)


def _evaluators_in(module: Any) -> list[str]:
    """What a reference can name: what was made an evaluator, and the module's own functions."""
    held = cast("dict[str, object]", vars(module))
    return [
        name
        for name, found in held.items()
        if isinstance(found, Definition)
        or (inspect.isfunction(found) and found.__module__ == module.__name__ and not name.startswith("_"))
    ]


def _sound(found: Definition | EvalsiError) -> Definition:
    if isinstance(found, EvalsiError):
        raise found
    return found


def _as_definition(value: Any, reference: str) -> Definition:
    if isinstance(value, Definition):
        return value
    if callable(value):
        return evaluator(value)
    raise UsageError(f"{reference} is no evaluator", hint="decorate a function or class with @evaluator")


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value.partition(".")[0]
