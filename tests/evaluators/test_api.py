"""How an evaluator is written: what a definition holds and what is refused at once."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import msgspec
import pytest

import evalsi
from evalsi.core.errors import InvalidParamsError, SkipRecord, UnknownNameError, UsageError
from evalsi.evaluators.api import Definition, EvalContext, NoParams, evaluator
from evalsi.evaluators.binding import bind, params_schema
from evalsi.schema import Outcome, Record, Scope, Score, Step, Trajectory

ROWS = [{"id": f"r{i}", "output": "x" * i, "metadata": {"session_id": i % 2}} for i in range(4)]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How long."""

    most: Annotated[int, msgspec.Meta(ge=1)] = 2
    unit: str = "x"


@dataclass(frozen=True, kw_only=True)
class Plain:
    most: int = 2


def test_a_name_and_a_description_come_from_the_function() -> None:
    @evaluator
    def Very_Polite(record: Record) -> bool:
        """Says
        please.

        More words.
        """
        return True

    assert isinstance(Very_Polite, Definition)
    assert (Very_Polite.name, Very_Polite.description, Very_Polite.version) == ("very-polite", "Says please.", "1.0.0")
    assert Very_Polite(Record()) is True


@pytest.mark.parametrize("params", [Limits, Plain])
def test_params_are_a_struct_or_a_dataclass(params: type[Any]) -> None:
    @evaluator(name="brief", params=params)
    def brief(record: Record, params: Any) -> bool:
        return len(evalsi.text_of(record.output)) <= params.most

    assert evalsi.evaluate(ROWS, brief)["brief"].mean == 0.75
    assert evalsi.evaluate(ROWS, brief, params={"brief": {"most": 1}})["brief"].mean == 0.5
    assert params_schema(brief)["properties"]["most"]["default"] == 2
    with pytest.raises(UnknownNameError, match=r"brief\.mst: .*did you mean 'most'"):
        brief.make_params({"mst": 1})
    with pytest.raises(InvalidParamsError, match="brief"):
        brief.make_params({"most": "two"})


def test_constraints_of_params_hold() -> None:
    @evaluator(name="brief", params=Limits)
    def brief(record: Record, params: Limits) -> bool:
        return True

    with pytest.raises(InvalidParamsError, match=r">= 1.*see: evalsi catalog brief"):
        brief.make_params({"most": 0})
    assert params_schema(brief)["properties"]["most"]["minimum"] == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"scope": "recrod"}, "did you mean 'record'"),
        ({"requires": ["refrence"]}, "did you mean 'reference'"),
        ({"params": dict}, "params are a msgspec Struct or a dataclass"),
        ({"params": NoParams()}, "params are a msgspec Struct or a dataclass"),
    ],
)
def test_what_is_written_wrongly_is_refused_where_it_is_written(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        evaluator(name="x", **wrong)


@pytest.mark.parametrize("thing", [partial(len), 3, "text"])
def test_only_functions_and_classes_are_evaluators(thing: Any) -> None:
    with pytest.raises(UsageError, match="neither a function nor a class"):
        evaluator(thing)


def test_every_plain_value_is_a_score() -> None:
    values: dict[str, Any] = {
        "r0": 1,
        "r1": Score(number=0.5, explanation="half"),
        "r2": [Score(name="a", number=0.25)],
        "r3": {"b": True},
    }

    @evaluator(name="any")
    def anything(record: Record) -> Any:
        return values[record.id]

    found = {each.record_id: each for each in evalsi.evaluate(ROWS, anything).results()}
    assert [score.number for score in found["r0"].scores] == [1.0]
    assert found["r1"].scores[0].explanation == "half"
    assert [(score.name, score.number) for score in found["r2"].scores] == [("a", 0.25)]
    assert [(score.name, score.passed) for score in found["r3"].scores] == [("b", True)]


def test_a_skip_a_failure_and_nonsense_are_outcomes_with_reasons() -> None:
    @evaluator(name="moody")
    def moody(record: Record) -> Any:
        match record.id:
            case "r0":
                raise SkipRecord("not today")
            case "r1":
                raise ValueError("no good")
            case "r2":
                return float("nan")
            case _:
                return object()

    found = list(evalsi.evaluate(ROWS, moody).results())
    assert [each.outcome for each in found] == [Outcome.SKIPPED, Outcome.ERROR, Outcome.ERROR, Outcome.ERROR]
    assert [each.reason for each in found] == [
        "not today", "ValueError: no good", "moody: the evaluator returned nan",
        "moody: the evaluator returned object, which is no score",
    ]  # fmt: skip


class Whole:
    """A class with everything: params, setup, a batch method."""

    def __init__(self, params: Limits, context: EvalContext) -> None:
        self.most, self.level, self.ready = params.most, context.level, False
        self.batches: list[int] = []

    def setup(self) -> None:
        self.ready = True

    def evaluate(self, record: Record) -> bool:
        assert self.ready
        return len(evalsi.text_of(record.output)) <= self.most

    def evaluate_batch(self, records: Sequence[Record]) -> list[bool]:
        self.batches.append(len(records))
        return [self.evaluate(record) for record in records]


def test_a_class_is_made_once_set_up_and_given_batches() -> None:
    whole = evaluator(name="whole", params=Limits, bounded=True)(Whole)
    assert evalsi.evaluate(ROWS, whole)["whole"].mean == 0.75
    bound = bind(whole, context=EvalContext())
    assert bound.call_batch is not None
    assert bound.instance.ready
    assert bound.instance.level == 0.95


def test_an_async_class_waits_concurrently() -> None:
    class Waits:
        async def evaluate(self, record: Record) -> float:
            await asyncio.sleep(0)
            return 0.5

    assert evalsi.evaluate(ROWS, Waits)["waits"].mean == 0.5


def test_every_scope_gets_its_own_subjects() -> None:
    @evaluator(name="span", scope="span")
    def span(step: Step, record: Record) -> bool:
        return step.name == "good"

    @evaluator(name="session", scope="session")
    def session(records: Sequence[Record]) -> float:
        return float(len(records))

    @evaluator(name="dataset", scope="dataset")
    class Dataset:
        def map(self, records: Sequence[Record]) -> int:
            return len(records)

        def merge(self, left: int, right: int) -> int:
            return left + right

        def reduce(self, state: int) -> float:
            return float(state)

    records = [
        Record(id=str(i), metadata={"session_id": i % 2},
               trajectory=Trajectory(steps=[Step(name="good"), Step(name="bad")] if i else []))
        for i in range(5)
    ]  # fmt: skip
    result = evalsi.evaluate(records, [span, session, Dataset])
    assert (result["span"].mean, result["span"].n, result["span"].skipped) == (0.5, 4, 1)
    assert (result["session"].n, result["session"].max) == (2, 3.0)
    assert result["dataset"].mean == 5
    assert Dataset.scope is Scope.DATASET
