"""Binding: signatures are read once, and what cannot be called is refused before a record is read."""

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from evalsi.core.errors import InvalidParamsError, MeasurementError, PluginError, UsageError
from evalsi.evaluators import binding
from evalsi.evaluators.api import EvalContext, evaluator, output
from evalsi.evaluators.binding import bind, manifest_of
from evalsi.evaluators.builtin import BUILTIN
from evalsi.evaluators.catalog import load
from evalsi.schema import Record


def bound(code: Callable[..., Any], **options: Any) -> Any:
    return bind(evaluator(name="it", **options)(code), context=EvalContext())


@pytest.mark.parametrize(
    "code",
    [
        lambda record: record.id,
        lambda record, params: record.id,
        lambda params, record: record.id,
        lambda record, context, params: record.id,
        lambda record, *, context: record.id,
        lambda record, threshold=0.5: record.id,
        lambda record, *rest, **more: record.id,
    ],
)
def test_an_evaluator_is_given_what_its_signature_names(code: Callable[..., Any]) -> None:
    assert bound(code).call(Record(id="r")) == "r"


@pytest.mark.parametrize(
    ("code", "scope"),
    [
        (lambda step: step, "span"),
        (lambda record, step: step, "span"),
        (lambda step, record: step, "span"),
        (lambda step, params, record: step, "span"),
    ],
)
def test_subjects_may_be_named_in_any_order(code: Callable[..., Any], scope: str) -> None:
    assert bound(code, scope=scope).call("the step", Record()) == "the step"


@pytest.mark.parametrize(
    ("code", "scope"),
    [(lambda rec: rec, "record"), (lambda row, strict=False: row, "record"), (lambda turns: turns, "session")],
)
def test_one_argument_of_any_name_is_the_subject(code: Callable[..., Any], scope: str) -> None:
    assert bound(code, scope=scope).call("the subject") == "the subject"


@pytest.mark.parametrize(
    ("code", "scope", "said"),
    [
        (lambda output: 1, "record", "write record.output"),
        (lambda rec, strict: 1, "record", "asks for an argument 'rec'"),
        (lambda *, rec: 1, "record", "asks for an argument 'rec'"),
        (lambda record, judge: 1, "record", "may ask for: record, params, context"),
        (lambda record: 1, "session", "may ask for: records, params, context"),
        (lambda record: 1, "dataset", "must be a class"),
        (lambda record, base: 1, "comparative", "may ask for: record, baseline"),
    ],
)
def test_a_signature_that_cannot_be_served_says_what_it_may_ask_for(
    code: Callable[..., Any], scope: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        bound(code, scope=scope)


class NothingToCall:
    pass


class AsyncBatch:
    async def evaluate_batch(self, records: Sequence[Record]) -> list[float]:
        return [1.0 for _ in records]


class Refuses:
    def __init__(self) -> None:
        raise ValueError("these params do not go together")


class Breaks:
    def setup(self) -> None:
        raise RuntimeError("the model file is gone")


class HalfADataset:
    def map(self, records: Sequence[Record]) -> int:
        return 1


@pytest.mark.parametrize(
    ("code", "scope", "error", "said"),
    [
        (NothingToCall, "record", UsageError, "neither `evaluate` nor `evaluate_batch`"),
        (AsyncBatch, "record", UsageError, "cannot be async"),
        (Refuses, "record", InvalidParamsError, "do not go together; see: evalsi catalog it"),
        (Breaks, "record", MeasurementError, "it raised RuntimeError: the model file is gone"),
        (HalfADataset, "dataset", UsageError, "lacks merge, reduce"),
    ],
)
def test_a_class_that_cannot_work_is_refused(code: type[Any], scope: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        bound(code, scope=scope)


class OnlyBatches:
    def evaluate_batch(self, records: Sequence[Record]) -> list[float]:
        return [float(len(records)) for _ in records]


def test_a_class_with_batches_alone_can_be_asked_for_one() -> None:
    assert bound(OnlyBatches).call(Record()) == 1.0


def test_a_judged_evaluator_without_a_judge_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no default judge"):
        bound(lambda record: 1, requires=["judge"])


def test_a_fingerprint_changes_with_what_decides_the_scores_and_with_nothing_else() -> None:
    definition = load("exact-match")
    first = bind(definition, context=EvalContext())
    assert first.fingerprint() == bind(load("core/exact-match"), context=EvalContext(seed=3)).fingerprint()
    assert first.fingerprint() != bind(definition, context=EvalContext(), params={"ignore_case": True}).fingerprint()
    assert first.fingerprint() != bind(definition, context=EvalContext(), alias="other").fingerprint()


@pytest.mark.parametrize("title", [f"{pack}/{name}" for pack, names in BUILTIN.items() for name in names])
def test_every_built_in_has_a_manifest_a_person_can_read(title: str) -> None:
    manifest = manifest_of(load(title))
    assert f"{manifest.pack}/{manifest.name}" == title
    assert manifest.description.endswith((".", "?"))
    assert manifest.params_schema["type"] == "object"
    assert manifest.version.count(".") == 2


@pytest.mark.parametrize("place", ["__init__", "setup"])
def test_an_evaluator_whose_making_does_not_end_is_ended_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def wait(_: object) -> None:
        while True:
            with contextlib.suppress(Exception):
                time.sleep(60)

    stuck = type("Stuck", (), {place: wait, "evaluate": lambda _, record: bool(record)})
    definition = evaluator(name="stuck", outputs=[output("stuck", "passed")])(stuck)
    monkeypatch.setattr(binding, "SETUP_DEADLINE_S", 0.1)
    with pytest.raises(PluginError, match=r"stuck: its __init__ and setup have not ended after 0\.1 s"):
        bind(definition, context=EvalContext())
