"""From references to a panel: every evaluator loaded, its params checked, its alias unique, before anything runs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from evalsi.core.errors import EvalsiError, InvalidSpecError, UnknownNameError, UsageError
from evalsi.evaluators.api import Definition, EvalContext
from evalsi.evaluators.binding import BoundEvaluator, bind
from evalsi.evaluators.catalog import load
from evalsi.schema import EvaluatorRef


def bind_all(
    choices: Sequence[EvaluatorRef | Definition],
    context: EvalContext,
    contexts: Mapping[str, EvalContext] | None = None,
) -> tuple[BoundEvaluator, ...]:
    """The evaluators of a panel, in order.

    Args:
        context: What evaluators are lent.
        contexts: By judge name, for evaluators that name a judge of their own.

    Raises:
        UsageError: none was named, or two would report under one name.
        EvalsiError: what is wrong with one of them; with several, all of them in one message.
    """
    if not choices:
        raise UsageError("no evaluator was named, so nothing would be scored", hint="see: evalsi catalog")
    bound: list[BoundEvaluator] = []
    wrong: list[EvalsiError] = []
    for choice in choices:
        try:
            bound.append(_bind_one(choice, context, contexts or {}))
        except EvalsiError as error:
            wrong.append(error)
    names = [evaluator.name for evaluator in bound]
    for name in sorted({name for name in names if names.count(name) > 1}):
        wrong.append(UsageError(f"two evaluators report as {name!r}", hint="give one an alias: other-name=reference"))
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        raise InvalidSpecError("; ".join(str(error) for error in wrong))
    return tuple(bound)


def _bind_one(
    choice: EvaluatorRef | Definition, context: EvalContext, contexts: Mapping[str, EvalContext]
) -> BoundEvaluator:
    if isinstance(choice, Definition):
        return bind(choice, context=context)
    if choice.judge:
        if choice.judge not in contexts:
            raise UnknownNameError("judge", choice.judge, contexts)
        context = contexts[choice.judge]
    bound = bind(load(choice.ref), context=context, params=choice.params, alias=choice.name or None)
    return replace(bound, source=msgspec.structs.replace(bound.source, judge=choice.judge))
