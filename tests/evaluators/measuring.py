"""Measuring single records with the real engine, for the tests of the packs."""

from collections.abc import Mapping
from typing import Any

import msgspec

from evalsi.engine.columns import EvaluatorColumns
from evalsi.engine.columns import results as results_of
from evalsi.engine.measure import measure
from evalsi.evaluators import catalog
from evalsi.evaluators.api import Definition, EvalContext
from evalsi.evaluators.binding import BoundEvaluator, bind
from evalsi.schema import Content, EvaluationResult, Record


def content(value: Any) -> Content | None:
    """Text as text, any other JSON value as JSON; None is no content."""
    if value is None:
        return None
    return Content(text=value) if isinstance(value, str) else Content(json=value)


def record(output: Any = None, reference: Any = None, **fields: Any) -> Record:
    """A record whose output and reference are texts or JSON values."""
    return msgspec.structs.replace(
        msgspec.convert({"id": "r", **fields}, Record), output=content(output), reference=content(reference)
    )


def bound(name: str, *, seed: int = 0, **params: Any) -> BoundEvaluator:
    return bind(catalog.load(name), context=EvalContext(seed=seed), params=params)


def called(evaluator: BoundEvaluator, given: Record) -> Any:
    """What the evaluator itself returns."""
    assert evaluator.call is not None
    return evaluator.call(given)


def definitions(pack: str) -> list[Definition]:
    """Every evaluator of a built-in pack; one that cannot be loaded fails the test."""
    found: list[Definition] = []
    for name, definition in catalog.every_definition(pack):
        assert isinstance(definition, Definition), name
        found.append(definition)
    return found


def columns(name: str, *records: Record, **params: Any) -> EvaluatorColumns:
    return measure(bound(name, **params), records)


def result(name: str, output: Any, reference: Any = None, **params: Any) -> EvaluationResult:
    """What the engine says about one record."""
    (found,) = results_of(columns(name, record(output, reference), **params), ["r"])
    return found


def value(name: str, output: Any, reference: Any = None, **params: Any) -> Any:
    """The evaluator's value on one record, or of each output by name; the outcome's name where it is not scored."""
    found = result(name, output, reference, **params)
    if not found.scores:
        return found.outcome.name
    values: Mapping[str, Any] = {
        score.name: score.number if score.passed is None else score.passed for score in found.scores
    }
    return next(iter(values.values())) if len(values) == 1 else dict(values)
