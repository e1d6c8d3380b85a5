"""From what a person writes, `name`, `alias=name` and params by name, to a list of evaluator choices."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, get_type_hints

import msgspec

from evalsi.core.errors import InvalidParamsError, InvalidSpecError, UnknownNameError
from evalsi.evaluators.api import Definition
from evalsi.evaluators.catalog import load
from evalsi.schema import EvaluatorRef

__all__ = ["FlagValue", "choices_of", "param_of_flag", "split_list"]


class FlagValue(str):
    """A param's value as a flag gave it: JSON where the param's type takes it so, else the text itself.

    So `contains.substring=42` is the text 42 and `numeric-match.tolerance=0.1` a number, without quoting either.
    """

    __slots__ = ()


def choices_of(
    chosen: Sequence[str | EvaluatorRef | Definition], params: Mapping[str, Mapping[str, Any]]
) -> list[EvaluatorRef | Definition]:
    """The choices with their params.

    Args:
        chosen: References, `alias=reference`, or evaluators themselves.
        params: Params by alias or evaluator name.
    Raises: UnknownNameError: params for an evaluator that was not chosen.
    """
    choices: list[EvaluatorRef | Definition] = []
    for choice in chosen:
        if isinstance(choice, str):
            alias, separator, reference = choice.partition("=")
            choices.append(EvaluatorRef(ref=reference, name=alias) if separator else EvaluatorRef(ref=choice))
        else:
            choices.append(choice)
    if not params:
        return choices
    names = [name_of(choice) for choice in choices]
    for name in params:
        if name not in names:
            raise UnknownNameError("evaluator in params", name, names)
    return [_with_params(choice, params.get(name)) for choice, name in zip(choices, names, strict=True)]


def name_of(choice: EvaluatorRef | Definition) -> str:
    """What a choice reports as: its alias, else the evaluator's own name.

    Raises: as `catalog.load`, where the name stands only in a module or file.
    """
    if isinstance(choice, Definition) or choice.name:
        return choice.name
    if ":" in choice.ref:
        return load(choice.ref).name
    return choice.ref.rpartition("/")[2].partition("@")[0]


def split_list(text: str) -> list[str]:
    """A comma-separated list, blanks around its parts ignored, empty parts dropped."""
    return [part.strip() for part in text.split(",") if part.strip()]


def param_of_flag(flag: str) -> tuple[str, str, FlagValue]:
    """`evaluator.key=value` as (evaluator, key, value). Raises: InvalidSpecError: it is not of this form."""
    path, separator, value = flag.partition("=")
    name, dot, key = path.strip().rpartition(".")
    if not (separator and dot and name and key):
        raise InvalidSpecError(
            f"{flag!r} is no param", hint="write evaluator.key=value, e.g. contains.substring=refund"
        )
    return name, key, FlagValue(value)


def chosen_by_flags(evaluators: str, params: Sequence[str]) -> list[EvaluatorRef | Definition]:
    """The choices of a command line: a comma-separated list, and `evaluator.key=value` for each param.

    Raises: as `choices_of`.
    """
    given: dict[str, dict[str, Any]] = {}
    for flag in params:
        name, key, value = param_of_flag(flag)
        given.setdefault(name, {})[key] = value
    return choices_of(split_list(evaluators), given)


def _read_flags(choice: EvaluatorRef | Definition, params: Mapping[str, Any]) -> dict[str, Any]:
    if not any(isinstance(value, FlagValue) for value in params.values()):
        return dict(params)
    types = get_type_hints((choice if isinstance(choice, Definition) else load(choice.ref)).params, include_extras=True)
    return {
        key: _read_flag(value, types.get(key, Any)) if isinstance(value, FlagValue) else value
        for key, value in params.items()
    }


def _read_flag(text: FlagValue, kind: Any) -> Any:
    """What JSON makes of `text`, unless only the text itself fits the type."""
    try:
        value = msgspec.json.decode(str(text))
    except (msgspec.DecodeError, RecursionError):
        return str(text)
    for candidate in (value, str(text)):
        with suppress(msgspec.ValidationError, TypeError):
            msgspec.convert(candidate, kind)
            return candidate
    return value


def _with_params(choice: EvaluatorRef | Definition, params: Mapping[str, Any] | None) -> EvaluatorRef | Definition:
    if not params:
        return choice
    if isinstance(choice, Definition):
        return replace(choice, preset=_read_flags(choice, params))
    if choice.params:
        raise InvalidParamsError(f"{name_of(choice)} has params in its reference and beside it")
    return msgspec.structs.replace(choice, params=_read_flags(choice, params))
