"""Evaluators of sessions and datasets that hang, crash or eat memory: what they cost, and what they do not."""

import asyncio
import ctypes
import os
import time
from collections.abc import Sequence
from typing import Any

import pytest

from evalsi.engine.columns import ERROR, SCORED, EvaluatorColumns
from evalsi.engine.evaluate import Evaluation
from evalsi.engine.panel import Panel
from evalsi.evaluators.api import Definition, evaluator
from evalsi.schema import ErrorKind, Fault, Record
from tests.engine.evaluators_for_tests import asking, batches, bound, children, equal, record

MISCHIEF = {
    "hang": ErrorKind.TIMEOUT,
    "exit": ErrorKind.CRASH,
    "system exit": ErrorKind.EXCEPTION,
    "raise": ErrorKind.EXCEPTION,
    "memory": ErrorKind.EXCEPTION,
    "segfault": ErrorKind.CRASH,
}


def deadline_s(how: str) -> float:
    """Short where the deadline is what ends it; else only the fault itself may, however slow the machine is."""
    return 0.5 if how == "hang" else 60.0


def misbehave(how: str) -> None:
    match how:
        case "hang":
            time.sleep(1e6)
        case "exit":
            os._exit(0)
        case "system exit":
            raise SystemExit(0)
        case "raise":
            raise ValueError("no good")
        case "memory":
            bytearray(64 << 30)
        case "segfault":
            ctypes.string_at(0)
        case _:
            pass


def dataset_evaluator(*, in_map: str = "", in_merge: str = "", in_reduce: str = "") -> Definition:
    @evaluator(name="whole", scope="dataset")
    class Whole:
        def map(self, records: Sequence[Record]) -> float:
            misbehave(in_map)
            return float(len(records))

        def merge(self, left: float, right: float) -> float:
            misbehave(in_merge)
            return left + right

        def reduce(self, state: float) -> float:
            misbehave(in_reduce)
            return state

    return Whole


def graded_whole(panel: Panel, records: Sequence[Record]) -> tuple[list[EvaluatorColumns], list[int]]:
    """The results of sessions and datasets, and the outcomes of all records, in an event loop."""

    async def grade() -> tuple[list[EvaluatorColumns], list[int]]:
        evaluation = Evaluation(panel)
        outcomes: list[int] = []
        async for batch in evaluation.grade(batches(records)):
            outcomes += batch.columns[0].outcomes
        return await evaluation.finish(), outcomes

    return asyncio.run(grade())


RECORDS = [record(str(row), session_id=f"s{row % 2}") for row in range(20)]


@pytest.mark.parametrize("place", ["in_map", "in_reduce"])
@pytest.mark.parametrize("how", MISCHIEF)
def test_a_dataset_evaluator_that_misbehaves_costs_its_own_metric(how: str, place: str) -> None:
    panel = Panel(
        evaluators=bound(asking, dataset_evaluator(**{place: how})), deadline_s=deadline_s(how), worker_memory_mib=1024
    )
    (whole,), outcomes = graded_whole(panel, RECORDS)
    assert list(whole.outcomes) == [ERROR]
    assert (whole.notes[0].error_kind, whole.notes[0].fault) == (MISCHIEF[how], Fault.EVALUATOR)
    counts = whole.notes[0].details[""]
    assert counts["n"] + counts["errors"] == len(RECORDS), "every record is accounted for"
    assert outcomes == [SCORED] * len(RECORDS), "the others are not touched"


@pytest.mark.parametrize("how", ["hang", "exit", "segfault"])
def test_a_dataset_evaluator_is_killed_where_nothing_waits_either(how: str) -> None:
    before = children()
    evaluation = Evaluation(
        Panel(evaluators=bound(equal, dataset_evaluator(in_merge=how), dataset_evaluator()), deadline_s=deadline_s(how))
    )
    started = time.perf_counter()
    graded = list(evaluation.grade_now(batches(RECORDS)))
    broken, fine = evaluation.finish_now()
    assert time.perf_counter() - started < 5
    assert [code for batch in graded for code in batch.columns[0].outcomes] == [SCORED] * len(RECORDS)
    assert (broken.outcomes[0], broken.notes[0].error_kind) == (ERROR, MISCHIEF[how])
    assert (fine.outcomes[0], fine.columns["whole"].values) == (SCORED, [20.0])
    assert children() == before, "no process is left"


@pytest.mark.parametrize("how", MISCHIEF)
def test_a_session_evaluator_that_misbehaves_costs_one_session(how: str) -> None:
    @evaluator(name="moody-session", scope="session")
    def moody(records: Sequence[Record]) -> float:
        if records[0].metadata["session_id"] == "s1":
            misbehave(how)
        return float(len(records))

    panel = Panel(evaluators=bound(asking, moody), deadline_s=deadline_s(how), worker_memory_mib=1024)
    (sessions,), outcomes = graded_whole(panel, RECORDS)
    assert list(sessions.outcomes) == [SCORED, ERROR]
    assert sessions.notes[1].error_kind is MISCHIEF[how]
    assert [sessions.notes[row].session_id for row in (0, 1)] == ["s0", "s1"]
    assert outcomes == [SCORED] * len(RECORDS)


def test_a_hanging_dataset_evaluator_does_not_hold_up_those_who_wait() -> None:
    panel = Panel(evaluators=bound(asking, dataset_evaluator(in_map="hang")), deadline_s=1.5)

    async def grade() -> float:
        evaluation = Evaluation(panel)
        started = time.perf_counter()
        async for _ in evaluation.grade(batches(RECORDS)):
            pass
        took_s = time.perf_counter() - started
        await evaluation.finish()
        return took_s

    assert asyncio.run(grade()) < 1.2


def test_more_records_than_may_wait_are_all_taken_in_their_order() -> None:
    @evaluator(name="order", scope="dataset")
    class Order:
        def map(self, records: Sequence[Record]) -> list[str]:
            return [each.id for each in records]

        def merge(self, left: list[str], right: list[str]) -> list[str]:
            return left + right

        def reduce(self, state: list[str]) -> dict[str, float]:
            return {"taken": float(len(state)), "in order": float(state == sorted(state, key=int))}

    records = [record(str(row), "x" * 100_000) for row in range(300)]  # 30 MB, and 8 may wait
    evaluation = Evaluation(Panel(evaluators=bound(Order)))
    for batch in batches(records, 40):
        evaluation.observe(batch)
    (columns,) = evaluation.finish_now()
    assert {name: column.values[0] for name, column in columns.columns.items()} == {"taken": 300.0, "in order": 1.0}


def test_integers_of_any_size_reach_every_worker() -> None:
    @evaluator(name="digits")
    def digits(record: Record) -> float:
        return float(len(str(record.metadata["big"])))

    @evaluator(name="most-digits", scope="dataset")
    class MostDigits:
        def map(self, records: Sequence[Record]) -> int:
            return max(len(str(each.metadata["big"])) for each in records)

        def merge(self, left: int, right: int) -> int:
            return max(left, right)

        def reduce(self, state: int) -> float:
            return float(state)

    async def grade() -> list[list[float]]:
        evaluation = Evaluation(Panel(evaluators=bound(digits, MostDigits)))
        graded = [batch async for batch in evaluation.grade(batches([record("a", big=10**30), record("b", big=1)]))]
        (whole,) = await evaluation.finish()
        return [graded[0].columns[0].columns["digits"].values, whole.columns["most-digits"].values]

    assert asyncio.run(grade()) == [[31.0, 1.0], [31.0]]


@pytest.mark.parametrize("value", [{"big": 10**30}, {"odd": object()}])
def test_a_structured_result_that_cannot_be_stored_is_an_error_of_its_row(value: Any) -> None:
    from evalsi.evaluators.api import Score

    @evaluator(name="odd")
    def odd(record: Record) -> Score:
        return Score(name="odd", structured=value if record.id == "odd" else {})

    @evaluator(name="odd-whole", scope="dataset")
    class Odd:
        def map(self, records: Sequence[Record]) -> int:
            return 1

        def merge(self, left: int, right: int) -> int:
            return left

        def reduce(self, state: int) -> Score:
            return Score(name="odd-whole", structured=value)

    async def grade() -> list[list[int]]:
        evaluation = Evaluation(Panel(evaluators=bound(odd, Odd)))
        graded = [batch async for batch in evaluation.grade(batches([record("a"), record("odd"), record("b")]))]
        (whole,) = await evaluation.finish()
        return [list(graded[0].columns[0].outcomes), list(whole.outcomes)]

    assert asyncio.run(grade()) == [[SCORED, ERROR, SCORED], [ERROR]]
