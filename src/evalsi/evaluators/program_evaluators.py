"""Evaluators of a program as evaluators like all others: its manifests become definitions, its results values.

Its own module because what a program says is not to be trusted, and everything it may say is checked here. What always
holds: a manifest that makes no sense breaks its own evaluator alone, and a result that makes none its own record.
"""

from collections.abc import Iterator, Mapping
from re import compile as pattern
from typing import Any

import msgspec

from evalsi.core.errors import MeasurementError, PluginError, ScoreError, SkipRecord
from evalsi.evaluators.api import Definition
from evalsi.ports.evaluator_program import EvaluatorProgram
from evalsi.schema import (
    ErrorKind,
    EvaluationResult,
    EvaluatorManifest,
    Fault,
    IsolationLevel,
    Outcome,
    Record,
    Requirements,
    Scope,
    Score,
)

_NAME = pattern(r"[a-z0-9][a-z0-9._-]{0,62}\Z")
_OWN_RISK = (IsolationLevel.UNSPECIFIED, IsolationLevel.NONE)
"""Levels that ask for no sandbox."""
_FIELDS = ("input", "output", "reference", "context", "trajectory", "usage")


def program_definitions(program: EvaluatorProgram) -> Iterator[tuple[str, Definition | PluginError]]:
    """Name and definition of each evaluator of a program; one whose manifest makes no sense yields its error.

    Raises: PluginError, MissingExtraError: the program itself cannot be asked.
    """
    seen: set[str] = set()
    for manifest in program.describe():
        # Some programs write the pack before the name; here it is the program that tells them apart.
        name = manifest.name.rpartition("/")[2]
        try:
            if name in seen:
                raise PluginError(f"program {program.name!r} has two evaluators called {name!r}")
            definition = _definition(program, manifest, name)
        except PluginError as error:
            yield name, error
        else:
            yield name, definition
        seen.add(name)


def _definition(program: EvaluatorProgram, manifest: EvaluatorManifest, name: str) -> Definition:
    subject = f"evaluator {manifest.name[:80]!r} of program {program.name!r}"
    requires = manifest.requires or Requirements()
    if not _NAME.match(name):
        raise PluginError(f"{subject} has a name that cannot be written", hint="use a-z, 0-9 and dashes")
    if not manifest.version:
        raise PluginError(f"{subject} has no version")
    if manifest.scope not in (Scope.RECORD, Scope.UNSPECIFIED):
        raise PluginError(f"{subject} looks at a {manifest.scope}, and a program grades single records")
    if requires.judge or requires.isolation not in _OWN_RISK:
        raise PluginError(f"{subject} asks for a judge or a sandbox, and a program is lent none")
    names = [output.name for output in manifest.outputs]
    if "" in names or len(set(names)) < len(names):
        raise PluginError(f"{subject} has outputs without a name, or two with one name")
    params = _params_type(subject, manifest.params_schema)

    async def evaluate(record: Record, params: Any) -> list[Score]:
        given: dict[str, Any] = msgspec.to_builtins(params)
        return _scores(manifest, await program.grade(manifest, given, record), record)

    return Definition(
        name=name,
        version=manifest.version,
        scope=Scope.RECORD,
        requires=frozenset(field for field in _FIELDS if getattr(requires, field)),
        params=params,
        outputs=tuple(manifest.outputs),
        description=manifest.description,
        code=evaluate,
        is_async=True,
        bounded=False,
        pack=program.name,
    )


def _params_type(subject: str, schema: Mapping[str, Any]) -> type[msgspec.Struct]:
    """A type that takes what `schema`, a JSON Schema, takes."""
    import jsonschema

    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise PluginError(f"{subject} has a params_schema that is no JSON Schema: {error.message[:200]}") from None
    validator = jsonschema.Draft202012Validator(schema)
    properties: Mapping[str, Any] = schema.get("properties") or {}
    spelled = {f"p{place}": name for place, name in enumerate(properties)}

    def check(self: msgspec.Struct) -> None:
        given: Any = msgspec.to_builtins(self)
        for error in validator.iter_errors(given):  # pyright: ignore[reportUnknownMemberType]
            where = "".join(f"[{part!r}]" for part in error.absolute_path)
            raise ValueError(f"{error.message[:200]}{f' at {where}' if where else ''}")

    return msgspec.defstruct(
        "Params",
        [(field, Any, msgspec.UNSET) for field in spelled],
        rename=spelled,
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
        namespace={"__post_init__": check, "json_schema": dict(schema)},
    )


def _scores(manifest: EvaluatorManifest, result: EvaluationResult, record: Record) -> list[Score]:
    """What a result says of the record. Raises: SkipRecord, MeasurementError: nothing that is a score."""
    if result.record_id != record.id:
        raise MeasurementError(f"the program answered for record {result.record_id[:80]!r}, which was not asked about")
    if result.outcome is Outcome.SKIPPED:
        raise SkipRecord(result.reason or "the program gave no reason")
    if result.outcome is not Outcome.SCORED:
        kind = ErrorKind.EXCEPTION if result.error_kind is ErrorKind.UNSPECIFIED else result.error_kind
        fault = Fault.EVALUATOR if result.fault is Fault.UNSPECIFIED else result.fault
        raise MeasurementError(
            result.reason or f"the program said {result.outcome} and no more",
            kind=kind,
            fault=fault,
            detail=result.detail or None,
        )
    declared = [output.name for output in manifest.outputs]
    for score in result.scores:
        if declared and score.name not in declared:
            raise ScoreError(f"the program gave an output {score.name[:80]!r} that its manifest does not have")
    return result.scores
