"""How an evaluator is written: one decorator on a function or a class, typed params, plain return values.

    @evaluator(name="polite", version="1.0.0", requires=["output"])
    def polite(record: Record) -> bool:
        return "please" in text_of(record.output)

An evaluator receives what its signature names: `record` (or `records`, `baseline`, `step`), `params`, `context`. It
returns a `Score`, a number, a bool, a label (str), a dict of these by output name, or a list of `Score`; it raises
`SkipRecord` where it does not apply. `def` computes, `async def` waits for something. Decorating registers nothing:
evaluators are found by reference, or by entry point (`evalsi.evaluators.catalog`).
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal, Protocol, TypeAlias, get_args, overload

import msgspec

from evalsi.core.errors import InvalidParamsError, UnknownNameError, UsageError
from evalsi.ports.judge import Judge
from evalsi.ports.reward_model import RewardModels
from evalsi.ports.sandbox import SandboxHost
from evalsi.schema import MetricSpec, Record, Scope, Score, ScoreType, Step

Requirement: TypeAlias = Literal[
    "input", "output", "reference", "context", "trajectory", "usage", "judge", "sandbox", "reward-model"
]
Value: TypeAlias = (
    "Score | float | int | bool | str | Mapping[str, Score | float | int | bool | str | None] | list[Score]"
)
ScopeName: TypeAlias = Literal["span", "record", "session", "dataset", "comparative"]

_SCOPES: dict[str, Scope] = {
    "span": Scope.SPAN,
    "record": Scope.RECORD,
    "session": Scope.SESSION,
    "dataset": Scope.DATASET,
    "comparative": Scope.COMPARATIVE,
}


class NoParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The params of an evaluator that takes none."""


@dataclass(frozen=True, kw_only=True)
class EvalContext:
    """What the engine lends an evaluator for a run."""

    judge: Judge | None = None
    sandbox: SandboxHost | None = None
    """Where programs run, for evaluators that require "sandbox"."""
    reward_models: RewardModels | None = None
    """Asks served reward models, for evaluators that require "reward-model"; None where nobody may have one asked."""
    seed: int = 0
    level: float = 0.95
    """Confidence level of the intervals that dataset-scope evaluators compute themselves."""
    repetition: int = 0
    """The trial; repeated judge questions are distinguished by it."""

    def require_judge(self) -> Judge:
        """The judge; the engine has checked before the run that an evaluator that requires one gets one."""
        assert self.judge is not None
        return self.judge


class DatasetEvaluator(Protocol):
    """A dataset-scope evaluator: `map` near the records, `merge` partial states, `reduce` once.

    States are anything that pickles. `merge` is associative; the order of records is kept.
    """

    def map(self, records: Sequence[Record]) -> Any:
        """The partial state of a batch of records. A record that does not apply raises no error: leave it out."""
        ...

    def merge(self, left: Any, right: Any) -> Any: ...

    def reduce(self, state: Any) -> Value:
        """The scores of the whole dataset. `Score.metadata` may carry "ci" as {"low","high","method"} and "n"."""
        ...


def output(
    name: str,
    type: Literal["number", "passed", "label", "structured"] = "number",  # noqa: A002 - the schema's word
    *,
    low: float | None = None,
    high: float | None = None,
    higher_is_better: bool | None = True,
    description: str = "",
    unit: str = "",
) -> MetricSpec:
    """One declared output: its name, type, range, which direction is good, and the unit of its values."""
    types = {
        "number": ScoreType.NUMBER,
        "passed": ScoreType.PASSED,
        "label": ScoreType.LABEL,
        "structured": ScoreType.STRUCTURED,
    }
    return MetricSpec(
        name=name,
        type=types[type],
        min=low,
        max=high,
        higher_is_better=higher_is_better,
        description=description,
        unit=unit,
    )


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A written evaluator: what it is called, what it needs, what it gives, and the code."""

    name: str
    version: str
    scope: Scope
    requires: frozenset[str]
    params: type[Any]
    outputs: tuple[MetricSpec, ...]
    description: str
    code: Callable[..., Any]
    is_async: bool
    bounded: bool
    """The author promises that one record takes bounded, short time, so the engine calls it in its own process.
    Everything else runs in a worker process that can be killed. An instance that knows better only once it has its
    params (a pattern that RE2 can run, say) carries an attribute `bounded` of its own."""
    pack: str = ""
    preset: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Params it is bound with when none are given: how a definition in hand is configured."""
    example: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """A record and params that the catalog page shows, and that a test runs."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the code itself, so that a decorated function can still be used and tested as a function."""
        return self.code(*args, **kwargs)

    @property
    def is_class(self) -> bool:
        return inspect.isclass(self.code)

    def make_params(self, values: Mapping[str, Any] | None) -> Any:
        """Checks `values` against the params type.

        Raises:
            UnknownNameError: a key that is no param.
            InvalidParamsError: a value of the wrong type, or one that the params refuse.
        """
        given = dict(self.preset) | dict(values or {})
        known = _field_names(self.params)
        for key in given:
            if key not in known:
                raise UnknownNameError(f"param of {self.name}", key, known, where=f"{self.name}.{key}")
        try:
            return msgspec.convert(given, self.params, strict=True)
        except (msgspec.ValidationError, ValueError) as error:
            raise InvalidParamsError(f"{self.name}: {error}", hint=f"see: evalsi catalog {self.name}") from error


@overload
def evaluator(
    *,
    name: str,
    version: str = ...,
    scope: ScopeName = ...,
    requires: Iterable[Requirement] = ...,
    params: type[Any] = ...,
    outputs: Iterable[MetricSpec] | None = ...,
    description: str = ...,
    bounded: bool = ...,
    example: Mapping[str, Any] | None = ...,
) -> Callable[[Callable[..., Any]], Definition]: ...
@overload
def evaluator(code: Callable[..., Any], /) -> Definition: ...


def evaluator(
    code: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    version: str = "1.0.0",
    scope: ScopeName = "record",
    requires: Iterable[Requirement] = (),
    params: type[Any] = NoParams,
    outputs: Iterable[MetricSpec] | None = None,
    description: str = "",
    bounded: bool = False,
    example: Mapping[str, Any] | None = None,
) -> Callable[[Callable[..., Any]], Definition] | Definition:
    """Makes an evaluator of a function or class.

    Args:
        name: Kebab-case; by default the function's name with dashes.
        version: Semantic; a change of meaning is a new version.
        scope: What it is given: a "record", each "span" of a trajectory, a "session" (records), a "dataset"
            (`map`/`merge`/`reduce`), or "comparative" (a record and its baseline).
        requires: Fields a record must carry; a record without one is SKIPPED with that reason; "judge"
            and "sandbox" must be lent.
        params: A msgspec Struct or a dataclass, best frozen and keyword-only, with defaults and constraints.
        outputs: What it returns, by name. By default one output with the evaluator's name, typed by what comes back.
        description: By default the first paragraph of the docstring.
        bounded: See `Definition.bounded`.
        example: {"record": {...}, "params": {...}} for the catalog.

    Raises: UsageError: the evaluator is written wrongly; says how.
    """
    if scope not in _SCOPES:
        raise UnknownNameError("scope", scope, _SCOPES)
    needs = frozenset([requires] if isinstance(requires, str) else requires)
    for need in sorted(needs - set(get_args(Requirement))):
        raise UnknownNameError("requirement", need, get_args(Requirement))
    _field_names(params)

    def define(target: Callable[..., Any]) -> Definition:
        if not (inspect.isclass(target) or inspect.isroutine(target)):
            raise UsageError(
                f"{target!r} is neither a function nor a class", hint="write a function of a record, or a class"
            )
        called = target if not inspect.isclass(target) else getattr(target, "evaluate", target)
        document = inspect.getdoc(target) or ""
        return Definition(
            name=name or target.__name__.strip("<>").replace("_", "-").lower(),
            version=version,
            scope=_SCOPES[scope],
            requires=needs,
            params=params,
            outputs=tuple(outputs or ()),
            description=description or document.split("\n\n", maxsplit=1)[0].replace("\n", " "),
            code=target,
            is_async=inspect.iscoroutinefunction(called),
            bounded=bounded,
            example=dict(example or {}),
        )

    return define if code is None else define(code)


def _field_names(params: type[Any]) -> list[str]:
    if inspect.isclass(params) and issubclass(params, msgspec.Struct):
        return [entry.encode_name for entry in msgspec.structs.fields(params)]
    if is_dataclass(params):
        return [entry.name for entry in fields(params)]
    raise UsageError(f"params are a msgspec Struct or a dataclass, not {params!r}")


__all__ = [
    "DatasetEvaluator",
    "Definition",
    "EvalContext",
    "NoParams",
    "Record",
    "Requirement",
    "Score",
    "Step",
    "Value",
    "evaluator",
    "output",
]
