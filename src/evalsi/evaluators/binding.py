"""An evaluator made ready for a run: checked params, an instance, and one way to call it.

Binding is where signatures are read, so that the engine's loop over records does no inspection at all.
"""

import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from evalsi.core.canonical import digest
from evalsi.core.errors import InvalidParamsError, PluginError, UsageError, crossing
from evalsi.core.overdue import OverdueError, ended_after
from evalsi.evaluators.api import Definition, EvalContext
from evalsi.evaluators.fences_used import NotingSandboxHost
from evalsi.ports.judge import Judge
from evalsi.schema import (
    EvaluatorManifest,
    EvaluatorRef,
    IsolationLevel,
    MetricSpec,
    Record,
    Requirements,
    Scheduling,
    Scope,
)

_SUBJECTS = {
    Scope.SPAN: ("step", "record"),
    Scope.RECORD: ("record",),
    Scope.SESSION: ("records",),
    Scope.COMPARATIVE: ("record", "baseline"),
}
_SUBJECT_NAMES = {name for names in _SUBJECTS.values() for name in names}
_FREE = ("params", "context")
SETUP_DEADLINE_S = 300.0
"""How long an evaluator may take to be made, for instance to load a model."""


@dataclass(frozen=True, kw_only=True)
class BoundEvaluator:
    """One evaluator of a panel.

    `call` takes the subjects of its scope in order (record: record; comparative: record, baseline; span: step, record;
    session: records) and returns a `Value` or, when `is_async`, an awaitable of one. Dataset scope has `instance` with
    `map`, `merge` and `reduce` instead.
    """

    name: str
    """What its metrics are called; the alias when one was given."""
    ref: str
    """`pack/name@version`."""
    definition: Definition
    params: Any
    call: Callable[..., Any] | None
    call_batch: Callable[[Sequence[Record]], Sequence[Any]] | None = None
    call_quickly: Callable[[Record], Any] | None = None
    """Record scope: the value where it takes short, bounded time to say, else None, and then `call` is made where it can
    be killed. An evaluator class writes it as `evaluate_quickly`."""
    instance: Any = None
    is_async: bool = False
    bounded: bool = False
    """Whether the engine may call it in its own process: see `Definition.bounded`."""
    source: EvaluatorRef = field(default_factory=EvaluatorRef)
    judge: Judge | None = None
    """Whom it asks; None for one that asks no judge."""

    @property
    def own_name(self) -> str:
        """Its name in its pack, whatever the alias."""
        return self.definition.name

    @property
    def scope(self) -> Scope:
        return self.definition.scope

    @property
    def outputs(self) -> tuple[MetricSpec, ...]:
        return self.definition.outputs

    @property
    def needs(self) -> frozenset[str]:
        """What a record must carry: what is declared, and what these params need beside it, such as a reference where
        no text is given to compare with. An evaluator class writes the latter as `needs`.
        """
        return self.definition.requires | getattr(self.instance, "needs", frozenset[str]())

    def fingerprint(self) -> str:
        """Digest of what decides its scores: reference and params, whom it asks by name, and for code outside evalsi the
        code itself.
        """
        parts = {
            "ref": self.ref,
            "name": self.name,
            "params": msgspec.to_builtins(self.params),
            "source": self.code_digest(),
        }
        return digest({**parts, "judge": self.source.judge} if self.source.judge else parts)

    def code_digest(self) -> str:
        """`sha256:` of the file that holds its code; "" for our own, whose versions we know."""
        return _source_of(self.definition.code)


def bind(
    definition: Definition,
    *,
    context: EvalContext,
    params: Mapping[str, Any] | None = None,
    alias: str | None = None,
) -> BoundEvaluator:
    """Checks the params, makes the instance, runs its `setup`.

    Raises:
        UnknownNameError, InvalidParamsError: the params are wrong.
        UsageError: it requires a judge and the context has none; its signature asks for something unknown.
    """
    checked = definition.make_params(params)
    ref = (
        f"{definition.pack}/{definition.name}@{definition.version}"
        if definition.pack
        else (f"{definition.name}@{definition.version}")
    )
    if "judge" in definition.requires and context.judge is None:
        raise UsageError(
            f"{definition.name} asks a judge and none was named",
            hint="name one with --judge-provider and --judge-model; there is no default judge, so nothing is billed by surprise",
        )
    if context.sandbox is not None:
        context = replace(context, sandbox=NotingSandboxHost(context.sandbox))
    made = _made(definition, {"params": checked, "context": context})
    return BoundEvaluator(
        name=alias or definition.name,
        ref=ref,
        definition=definition,
        params=checked,
        call=made.call,
        call_batch=made.call_batch,
        call_quickly=getattr(made.instance, "evaluate_quickly", None) if definition.scope is Scope.RECORD else None,
        instance=made.instance,
        is_async=definition.is_async,
        bounded=bool(getattr(made.instance, "bounded", definition.bounded)),
        source=EvaluatorRef(ref=ref, params=msgspec.to_builtins(checked), name=alias or ""),
        judge=context.judge if "judge" in definition.requires else None,
    )


@dataclass(frozen=True, slots=True)
class _Made:
    """What an evaluator is called by."""

    call: Callable[..., Any] | None
    call_batch: Callable[[Sequence[Record]], Sequence[Any]] | None = None
    instance: Any = None


def _made(definition: Definition, free: Mapping[str, Any]) -> _Made:
    """The function with what its signature asks for, or the instance of the class with its methods. Raises: UsageError."""
    if not definition.is_class:
        if definition.scope is Scope.DATASET:
            raise UsageError(
                f"{definition.name} has dataset scope, so it must be a class", hint="give it map, merge and reduce"
            )
        return _Made(_injected(definition, definition.code, free))
    instance = _construct(definition, free)
    if definition.scope is Scope.DATASET:
        _check_dataset_methods(definition, instance)
        return _Made(None, instance=instance)
    batch = getattr(instance, "evaluate_batch", None)
    if inspect.iscoroutinefunction(batch):
        raise UsageError(
            f"{definition.name}: `evaluate_batch` computes and cannot be async",
            hint="write `async def evaluate`; the engine calls it concurrently",
        )
    target = getattr(instance, "evaluate", None)
    if target is not None:
        return _Made(_injected(definition, target, free), batch, instance)
    if batch is None:
        raise UsageError(f"{definition.name} has neither `evaluate` nor `evaluate_batch`")
    return _Made(_one_of_batch(batch), batch, instance)


def manifest_of(definition: Definition) -> EvaluatorManifest:
    """The evaluator as the catalog shows it."""
    requires = definition.requires
    return EvaluatorManifest(
        name=definition.name,
        version=definition.version,
        description=definition.description,
        pack=definition.pack,
        scope=definition.scope,
        requires=Requirements(
            input="input" in requires,
            output="output" in requires,
            reference="reference" in requires,
            context="context" in requires,
            trajectory="trajectory" in requires,
            judge="judge" in requires,
            isolation=IsolationLevel.CONFINED if "sandbox" in requires else IsolationLevel.UNSPECIFIED,
        ),
        outputs=list(definition.outputs),
        params_schema=params_schema(definition),
        scheduling=Scheduling(pool="judge" if "judge" in requires else "sandbox" if "sandbox" in requires else "cpu"),
    )


def params_schema(definition: Definition) -> dict[str, Any]:
    """JSON Schema (2020-12) of the params: what their type says itself as `json_schema`, else what follows from it."""
    own: dict[str, Any] | None = getattr(definition.params, "json_schema", None)
    if own is not None:
        return own
    schema = msgspec.json.schema(definition.params)
    reference = str(schema.get("$ref", ""))
    definitions: dict[str, Any] = dict(schema.get("$defs", {}))
    if reference.startswith("#/$defs/"):
        schema = dict(definitions.pop(reference.removeprefix("#/$defs/")))
        if definitions:
            schema["$defs"] = definitions
    return schema


def _source_of(code: Callable[..., Any]) -> str:
    """Digest of the file that holds code with no trustworthy version of its own, or of its text where it has no file.

    The whole file, because what an evaluator calls decides its scores too. "" for our own, whose versions we know.
    """
    if code.__module__.startswith("evalsi."):
        return ""
    try:
        return digest(
            Path(code.__code__.co_filename if inspect.isfunction(code) else inspect.getfile(code)).read_text()
        )
    except (OSError, TypeError, UnicodeError):
        pass
    try:
        return digest(inspect.getsource(code))
    except (OSError, TypeError):
        return ""


def _construct(definition: Definition, free: Mapping[str, Any]) -> Any:
    wanted = _parameters(definition, definition.code, allowed=_FREE)
    with _set_up_in_time(definition.name), crossing(definition.name):
        try:
            instance = definition.code(**{name: free[name] for name in wanted})
            setup = getattr(instance, "setup", None)
            if setup is not None:
                setup(**{name: free[name] for name in _parameters(definition, setup, allowed=_FREE)})
        except ValueError as error:
            raise InvalidParamsError(
                f"{definition.name}: {error}", hint=f"see: evalsi catalog {definition.name}"
            ) from error
    return instance


@contextmanager
def _set_up_in_time(name: str) -> Generator[None]:
    """Ends the making of an evaluator that does not end. Raises: PluginError."""
    try:
        with ended_after(SETUP_DEADLINE_S):
            yield
    except OverdueError:
        raise PluginError(
            f"{name}: its __init__ and setup have not ended after {SETUP_DEADLINE_S:g} s",
            hint="what takes longer than that is better done once, before evalsi is started",
        ) from None


def _injected(definition: Definition, target: Callable[..., Any], free: Mapping[str, Any]) -> Callable[..., Any]:
    """`target` as a function of its scope's subjects, positionally; free arguments are filled in here, once."""
    subjects = _SUBJECTS[definition.scope]
    if len(subjects) == 1 and _takes_one_unnamed(target, known=(*_SUBJECT_NAMES, *_FREE, *Record.__struct_fields__)):
        return target
    wanted = _parameters(definition, target, allowed=(*subjects, *_FREE))
    bound = {name: free[name] for name in wanted if name in _FREE}
    taken = [name for name in wanted if name in subjects]
    if taken == list(subjects) and not bound:
        return target
    if wanted[:1] == list(subjects):
        return partial(target, **bound)

    def call(*values: Any) -> Any:
        given = dict(zip(subjects, values, strict=True))
        return target(**{name: given[name] for name in taken}, **bound)

    return call


def _takes_one_unnamed(target: Callable[..., Any], *, known: Sequence[str]) -> bool:
    """Whether there is exactly one argument that must be given, under a name that says nothing: then it is the subject.

    One that is named as a field of a record, `output` say, is meant as that field, and is no record.
    """
    asked = [
        parameter
        for parameter in inspect.signature(target).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    return len(asked) == 1 and asked[0].kind is not asked[0].KEYWORD_ONLY and asked[0].name not in known


def _parameters(definition: Definition, target: Callable[..., Any], *, allowed: Sequence[str]) -> list[str]:
    names: list[str] = []
    for parameter in inspect.signature(target).parameters.values():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            continue
        if parameter.name in allowed:
            names.append(parameter.name)
        elif parameter.default is inspect.Parameter.empty:
            hint = f"an evaluator of this scope may ask for: {', '.join(allowed)}"
            if "record" in allowed:
                field = parameter.name if parameter.name in Record.__struct_fields__ else ""
                hint += f"; write record.{field}" if field else f"; call its argument record, not {parameter.name}"
            raise UsageError(
                f"{definition.name} asks for an argument {parameter.name!r} that nothing provides", hint=hint
            )
    return names


def _one_of_batch(batch: Callable[[Sequence[Record]], Sequence[Any]]) -> Callable[[Record], Any]:
    return lambda record: batch([record])[0]


def _check_dataset_methods(definition: Definition, instance: Any) -> None:
    missing = [name for name in ("map", "merge", "reduce") if not callable(getattr(instance, name, None))]
    if missing:
        raise UsageError(f"{definition.name} has dataset scope and lacks {', '.join(missing)}")
