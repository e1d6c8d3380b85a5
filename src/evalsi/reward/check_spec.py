"""What no schema can say about a reward spec: names, gates, bounds, evaluators and their outputs.

Its own module because a file, a request over the wire and a caller in Python bring the same specs. Every mistake is found
before anything is measured, and all are reported together, each with the path of its field.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from evalsi.core.errors import EvalsiError, InvalidSpecError, suggestion
from evalsi.evaluators.api import Definition
from evalsi.evaluators.catalog import load
from evalsi.schema import IsolationLevel, MetricSpec, RewardComponent, RewardOnError, RewardSpec, Scope, ScoreType

_ISOLATION_PARAM = "min_isolation"
MOST_AT_ONCE = 4096
"""Questions at once that a spec may ask for."""


@dataclass(frozen=True, kw_only=True)
class CheckedComponent:
    """A component whose evaluator was found."""

    component: RewardComponent
    definition: Definition
    name: str
    params: Mapping[str, Any]
    counted: MetricSpec | None
    """Which of the evaluator's outputs counts; None for the main one of an evaluator that declares none."""
    threshold: float

    @property
    def output(self) -> str:
        """Name of the output that counts; "" where none is declared."""
        return self.counted.name if self.counted is not None else ""

    @property
    def weight(self) -> float:
        """What its value is multiplied with, also where the spec says nothing: 1, and for a gate 0."""
        written = self.component.weight
        return written if written is not None else 0.0 if self.component.gate else 1.0


def check_spec(spec: RewardSpec) -> list[CheckedComponent]:
    """The components, ready to be bound.

    Raises: InvalidSpecError: `problems` holds every mistake, `where` the path of its field.
    """
    problems: list[InvalidSpecError] = []
    if not spec.components:
        problems.append(_problem("components", "no component is named, so there is no reward"))
    found = [_checked(place, component, problems) for place, component in enumerate(spec.components)]
    checked = [one for one in found if one is not None]
    names = [one.name for one in checked]
    for place, name in enumerate(names):
        if name in names[:place]:
            problems.append(_problem(f"components[{place}].name", f"two components are called {name!r}", "name one"))
    if checked and not any(one.weight for one in checked):
        problems.append(_problem("components", "every weight is 0, so every reward would be 0", "give one a weight"))
    _check_totals(spec, problems)
    if problems:
        raise InvalidSpecError.of(problems)
    return checked


def _check_totals(spec: RewardSpec, problems: list[InvalidSpecError]) -> None:
    if spec.on_error is RewardOnError.ZERO:
        hint = "write raise (the batch fails) or mask (the rollout has no reward)"
        problems.append(_problem("on_error", "a failed part is never trained as a reward of 0", hint))
    if not isfinite(spec.floor):
        problems.append(_problem("floor", f"a finite number is needed, not {spec.floor!r}"))
    if spec.deadline is not None and spec.deadline <= 0:
        problems.append(_problem("deadline", "a deadline is longer than nothing", "for example 10s"))
    if not 0 <= spec.concurrency <= MOST_AT_ONCE:
        problems.append(_problem("concurrency", f"at most {MOST_AT_ONCE} are asked at once, not {spec.concurrency}"))
    clip = spec.clip
    if clip is None:
        return
    if not (isfinite(clip.low) and isfinite(clip.high) and clip.low < clip.high):
        problems.append(_problem("clip", f"low must be below high, not {clip.low:g} and {clip.high:g}"))
    elif not clip.low <= spec.floor <= clip.high:
        problems.append(_problem("floor", f"{spec.floor:g} lies outside of clip, {clip.low:g} to {clip.high:g}"))


def _checked(place: int, component: RewardComponent, problems: list[InvalidSpecError]) -> CheckedComponent | None:
    path = f"components[{place}]"
    if not component.ref:
        problems.append(_problem(f"{path}.ref", "names no evaluator", "write ref: math-equiv; see: evalsi catalog"))
        return None
    try:
        definition = load(component.ref)
    except EvalsiError as error:
        problems.append(_problem(f"{path}.ref", error.message, error.hint))
        return None
    if definition.scope is not Scope.RECORD:
        problems.append(_problem(f"{path}.ref", f"{component.ref} grades no single rollouts, so it is no reward"))
        return None
    params = dict(component.params)
    if component.min_isolation:
        _put_isolation(f"{path}.min_isolation", component.min_isolation, definition, params, problems)
    try:
        definition.make_params(params)
    except EvalsiError as error:
        problems.append(_problem(f"{path}.params", error.message, error.hint))
    if component.weight is not None and not isfinite(component.weight):
        problems.append(_problem(f"{path}.weight", f"a finite number is needed, not {component.weight!r}"))
    counted = _output_of(path, component, definition, problems)
    return CheckedComponent(
        component=component,
        definition=definition,
        name=component.name or definition.name,
        params=params,
        counted=counted,
        threshold=_threshold(path, component, counted, problems),
    )


def _put_isolation(
    path: str, level: str, definition: Definition, params: dict[str, Any], problems: list[InvalidSpecError]
) -> None:
    levels = [each.value for each in IsolationLevel if each is not IsolationLevel.UNSPECIFIED]
    if level not in levels:
        problems.append(_problem(path, f"unknown isolation level {level!r}", suggestion(level, levels)))
    elif _ISOLATION_PARAM not in getattr(definition.params, "__struct_fields__", ()):
        problems.append(_problem(path, f"{definition.name} runs no programs, so it has no isolation"))
    else:
        params.setdefault(_ISOLATION_PARAM, level)


def _output_of(
    path: str, component: RewardComponent, definition: Definition, problems: list[InvalidSpecError]
) -> MetricSpec | None:
    outputs = {spec.name: spec for spec in definition.outputs}
    if not outputs:
        return None
    wanted = component.metric or (definition.name if definition.name in outputs else "")
    if not wanted and len(outputs) == 1:
        wanted = next(iter(outputs))
    if wanted not in outputs:
        problems.append(
            _problem(
                f"{path}.metric",
                f"{definition.name} has no output {wanted!r}" if wanted else f"{definition.name} has several outputs",
                suggestion(wanted, outputs) or f"one of {', '.join(outputs)}",
            )
        )
        return None
    if outputs[wanted].type not in (ScoreType.NUMBER, ScoreType.PASSED):
        problems.append(_problem(f"{path}.metric", f"{wanted} is no number and no verdict, so it is no reward"))
    return outputs[wanted]


def _threshold(
    path: str, component: RewardComponent, counted: MetricSpec | None, problems: list[InvalidSpecError]
) -> float:
    if component.threshold is not None and not component.gate:
        problems.append(_problem(f"{path}.threshold", "only a gate has a threshold", "write gate: true"))
    if component.gate and component.threshold is None and counted is not None and counted.type is ScoreType.NUMBER:
        problems.append(_problem(f"{path}.threshold", f"{counted.name} is a number, so its gate needs a threshold"))
    return 1.0 if component.threshold is None else component.threshold


def _problem(path: str, message: str, hint: str | None = None) -> InvalidSpecError:
    return InvalidSpecError(f"{path}: {message}", hint=hint)


__all__: Sequence[str] = ["CheckedComponent", "check_spec"]
