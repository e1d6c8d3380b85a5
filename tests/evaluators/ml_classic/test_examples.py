"""The examples of the catalog, run by the engine."""

from typing import Any

import msgspec
import pytest

from evalsi.core.errors import EvalsiError
from evalsi.engine.columns import scores
from evalsi.engine.dataset_scope import DatasetFold
from evalsi.evaluators.api import Definition, EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.catalog import every_definition
from evalsi.schema import Record, Scope, Score

DEFINITIONS = [found for _, found in every_definition("ml-classic") if not isinstance(found, EvalsiError)]


def run(definition: Definition) -> list[Score]:
    bound = bind(definition, context=EvalContext(), params=definition.example.get("params"))
    if definition.scope is Scope.DATASET:
        fold = DatasetFold(bound)
        fold.add([msgspec.convert(record, Record) for record in definition.example["records"]])
        return list(scores(fold.reduce(), 0))
    call: Any = bound.call
    return call(msgspec.convert(definition.example["record"], Record))


def test_the_pack_has_its_five_evaluators() -> None:
    assert len(DEFINITIONS) == 5


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.name)
def test_the_example_gives_what_it_says(definition: Definition) -> None:
    found = {score.name: score.number for score in run(definition)}
    for name, value in definition.example["expected"].items():
        assert found[name] == pytest.approx(value), name
    assert set(found) <= {spec.name for spec in definition.outputs}
