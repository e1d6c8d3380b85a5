"""From what a person writes, `name`, `alias=name` and params by name, to a list of evaluator choices."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from evalsi.core.errors import InvalidParamsError, InvalidSpecError, UnknownNameError
from evalsi.evaluators.api import Definition
from evalsi.schema import EvaluatorRef

__all__ = ["choices_of", "param_of_flag", "split_list"]


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
    names = [name_of(choice) for choice in choices]
    for name in params:
        if name not in names:
            raise UnknownNameError("evaluator in params", name, names)
    return [_with_params(choice, params.get(name)) for choice, name in zip(choices, names, strict=True)]


def name_of(choice: EvaluatorRef | Definition) -> str:
    """What a choice reports as: its alias, else the name in its reference."""
    if isinstance(choice, Definition) or choice.name:
        return choice.name
    return choice.ref.rpartition(":" if ":" in choice.ref else "/")[2].partition("@")[0].replace("_", "-")


def split_list(text: str) -> list[str]:
    """A comma-separated list, blanks around its parts ignored, empty parts dropped."""
    return [part.strip() for part in text.split(",") if part.strip()]


def param_of_flag(flag: str) -> tuple[str, str, Any]:
    """`evaluator.key=value` as (evaluator, key, value); the value is JSON where it can be read so, else text."""
    path, separator, value = flag.partition("=")
    name, dot, key = path.strip().rpartition(".")
    if not (separator and dot and name and key):
        raise InvalidSpecError(
            f"{flag!r} is no param", hint="write evaluator.key=value, e.g. contains.substring=refund"
        )
    try:
        return name, key, msgspec.json.decode(value)
    except msgspec.DecodeError:
        return name, key, value


def _with_params(choice: EvaluatorRef | Definition, params: Mapping[str, Any] | None) -> EvaluatorRef | Definition:
    if not params:
        return choice
    if isinstance(choice, Definition):
        return replace(choice, preset=dict(params))
    if choice.params:
        raise InvalidParamsError(f"{name_of(choice)} has params in its reference and beside it")
    return msgspec.structs.replace(choice, params=dict(params))
