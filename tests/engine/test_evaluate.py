import asyncio
import re
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from evalsi.core.errors import SkipRecord
from evalsi.engine.columns import ERROR, SCORED, SKIPPED, results
from evalsi.engine.evaluate import Evaluation, RecordBatch
from evalsi.engine.panel import Panel
from evalsi.evaluators.api import EvalContext, evaluator, output
from evalsi.schema import Content, ErrorKind, Fault, Record, Step, Trajectory
from tests.engine.evaluators_for_tests import asking, batches, bound, children, columns_of, equal, graded, moody, record


def test_a_stuck_crashed_greedy_or_raising_evaluator_costs_one_record() -> None:
    texts = ["fine", "hang", "fine", "exit", "fine", "raise", "memory", "segfault", "fine"]
    panel = Panel(evaluators=bound(moody, equal), deadline_s=0.5, processes=1)

    misbehaved, fine = columns_of(panel, [record(str(row), text) for row, text in enumerate(texts)])

    assert list(misbehaved.outcomes) == [SCORED, ERROR, SCORED, ERROR, SCORED, ERROR, ERROR, ERROR, SCORED]
    kinds = {texts[row]: note.error_kind for row, note in misbehaved.notes.items()}
    assert kinds == {
        "hang": ErrorKind.TIMEOUT,
        "exit": ErrorKind.CRASH,
        "raise": ErrorKind.EXCEPTION,
        "memory": ErrorKind.EXCEPTION,
        "segfault": ErrorKind.CRASH,
    }
    assert "signal SIGSEGV" in misbehaved.notes[7].reason
    assert set(fine.outcomes) == {SCORED}, "the others are not touched"


def test_no_worker_process_remains_when_grading_is_done_or_cancelled() -> None:
    async def stop_early() -> None:
        panel = Panel(evaluators=bound(moody), deadline_s=30)
        records = [record("a", "fine"), *(record(f"h{row}", "hang") for row in range(8))]
        task = asyncio.create_task(_drain(Evaluation(panel).grade(batches(records, 1))))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    before = children()
    asyncio.run(stop_early())
    graded(Panel(evaluators=bound(moody)), [record("a", "fine")])
    assert children() == before


def test_asking_evaluators_overlap_within_and_across_batches() -> None:
    under_way: set[str] = set()
    most: list[int] = []

    @evaluator(name="counting")
    async def counting(record: Record) -> bool:
        under_way.add(record.id)
        most.append(len(under_way))
        await asyncio.sleep(0.05)
        under_way.remove(record.id)
        return True

    graded(Panel(evaluators=bound(counting), concurrency=64), [record(str(row)) for row in range(256)], rows=8)
    assert max(most) == 64


def test_no_more_asking_evaluations_are_in_flight_than_allowed() -> None:
    flying, most = 0, 0

    @evaluator
    async def counted(record: Record) -> bool:
        nonlocal flying, most
        flying += 1
        most = max(most, flying)
        await asyncio.sleep(0.001)
        flying -= 1
        return True

    graded(Panel(evaluators=bound(counted), concurrency=5), [record(str(row)) for row in range(60)])
    assert most == 5


def test_the_records_in_flight_are_bounded_however_long_the_dataset_is() -> None:
    taken = 0

    def endless() -> Iterator[RecordBatch]:
        nonlocal taken
        while True:
            yield RecordBatch(taken, [record(str(taken + row)) for row in range(8)])
            taken += 8

    async def first_batch() -> None:
        panel = Panel(evaluators=bound(asking), concurrency=4)
        async for _ in Evaluation(panel).grade(endless()):
            break

    asyncio.run(first_batch())
    assert taken <= 4 * 4 + 8


def test_an_asking_evaluator_past_its_deadline_is_a_timeout_of_its_own() -> None:
    @evaluator(requires=["judge"], name="slow")
    async def slow(record: Record) -> bool:
        await asyncio.sleep(60)
        return True

    class AnyJudge:
        name = "any"

    panel = Panel(evaluators=bound(slow, context=EvalContext(judge=AnyJudge())), asking_deadline_s=0.05)  # type: ignore[arg-type]
    (columns,) = columns_of(panel, [record("a")])
    assert (columns.notes[0].error_kind, columns.notes[0].fault) == (ErrorKind.TIMEOUT, Fault.JUDGE)


def test_an_asking_evaluator_without_a_judge_keeps_the_deadline_of_all_others() -> None:
    @evaluator(name="slow")
    async def slow(record: Record) -> bool:
        await asyncio.sleep(60)
        return True

    (columns,) = columns_of(Panel(evaluators=bound(slow), deadline_s=0.05), [record("a")])
    assert (columns.notes[0].error_kind, columns.notes[0].fault) == (ErrorKind.TIMEOUT, Fault.EVALUATOR)


def test_a_dataset_evaluator_that_fails_in_a_thousand_ways_keeps_few_reasons() -> None:
    @evaluator(name="picky", scope="dataset")
    class Picky:
        def map(self, records: Sequence[Record]) -> int:
            raise ValueError(records[0].id)

        def merge(self, left: int, right: int) -> int:
            return left + right

        def reduce(self, state: int) -> int:
            return state

    evaluation = Evaluation(Panel(evaluators=bound(Picky)))
    for batch in batches([record(str(number)) for number in range(1000)]):
        evaluation.observe(batch)
    counts = evaluation.finish_now()[0].notes[0].details[""]
    assert counts["errors"] == 1000
    assert len(counts["error_reasons"]) < 30


class _WithoutTextError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize("raised", [asyncio.CancelledError(), SystemExit(4), GeneratorExit(), _WithoutTextError()])
def test_an_asking_evaluator_that_tries_to_end_the_run_costs_one_record(raised: BaseException) -> None:
    @evaluator(name="rude")
    async def rude(record: Record) -> bool:
        await asyncio.sleep(0)
        if record.id == "odd":
            raise raised
        return True

    (columns,) = columns_of(Panel(evaluators=bound(rude)), [record("a"), record("odd"), record("b")])
    assert list(columns.outcomes) == [SCORED, ERROR, SCORED]
    assert columns.notes[1].error_kind is ErrorKind.EXCEPTION


def test_an_evaluator_that_calls_exit_is_named_with_its_place_and_is_no_death_of_a_process() -> None:
    @evaluator(name="leaves")
    def leaves(record: Record) -> bool:
        if record.id == "odd":
            sys.exit(0)
        return True

    (columns,) = columns_of(Panel(evaluators=bound(leaves)), [record("a"), record("odd"), record("b")])
    assert list(columns.outcomes) == [SCORED, ERROR, SCORED]
    assert columns.notes[1].error_kind is ErrorKind.EXCEPTION
    assert re.search(r"test_evaluate\.py:\d+ calls sys\.exit\(0\)", columns.notes[1].reason)


@pytest.mark.parametrize("how", ["holds the loop up", "stops the loop"])
def test_an_asking_evaluator_that_takes_the_event_loop_costs_one_record(how: str) -> None:
    @evaluator(name="selfish")
    async def selfish(record: Record) -> bool:
        await asyncio.sleep(0)
        if record.id == "odd":
            if how == "stops the loop":
                asyncio.get_running_loop().stop()
            time.sleep(1e6)
        await asyncio.sleep(0.01)
        return True

    panel = Panel(evaluators=bound(selfish), deadline_s=1.0)
    (columns,) = columns_of(panel, [record("a"), record("odd"), record("b")])
    assert list(columns.outcomes) == [SCORED, ERROR, SCORED]
    assert columns.notes[1].error_kind is (ErrorKind.TIMEOUT if how == "holds the loop up" else ErrorKind.EXCEPTION)


@pytest.mark.parametrize("raised", [SystemExit(0), _WithoutTextError()])
def test_an_evaluator_of_sessions_or_datasets_that_tries_to_end_the_run_costs_its_own_result(
    raised: BaseException,
) -> None:
    @evaluator(name="rude-session", scope="session")
    def rude_session(records: Sequence[Record]) -> bool:
        raise raised

    @evaluator(name="rude-dataset", scope="dataset")
    class RudeDataset:
        def map(self, records: Sequence[Record]) -> int:
            return 1

        def merge(self, left: int, right: int) -> int:
            return left + right

        def reduce(self, state: int) -> int:
            raise raised

    evaluation = Evaluation(Panel(evaluators=bound(rude_session, RudeDataset)))
    for batch in batches([record("a", session_id="s")]):
        evaluation.observe(batch)
    whole = evaluation.finish_now()
    assert [list(columns.outcomes) for columns in whole] == [[ERROR], [ERROR]]


def test_a_record_without_what_is_required_is_skipped_with_the_reason() -> None:
    (columns,) = columns_of(
        Panel(evaluators=bound(equal)), [record("a", None), record("b", reference=None), record("c")]
    )
    assert list(columns.outcomes) == [SKIPPED, SKIPPED, SCORED]
    assert [columns.notes[row].reason for row in (0, 1)] == ["the record has no output", "the record has no reference"]


def test_skip_record_skips_with_its_text() -> None:
    @evaluator(name="picky", bounded=True)
    def picky(record: Record) -> bool:
        raise SkipRecord("only for questions")

    (columns,) = columns_of(Panel(evaluators=bound(picky)), [record("a")])
    assert (columns.outcomes[0], columns.notes[0].reason) == (SKIPPED, "only for questions")


def test_a_batch_method_is_called_once_and_one_bad_record_does_not_cost_the_batch() -> None:
    calls: list[int] = []

    @evaluator(name="batched", bounded=True)
    class Batched:
        def evaluate_batch(self, records: Sequence[Record]) -> list[float]:
            calls.append(len(records))
            return [float(record.output.text or "") if record.output else 0.0 for record in records]

    (columns,) = columns_of(Panel(evaluators=bound(Batched)), [record("a", "1"), record("b", "2")])
    assert (columns.columns["batched"].values, calls) == ([1.0, 2.0], [2])
    (columns,) = columns_of(Panel(evaluators=bound(Batched)), [record("a", "1"), record("b", "x"), record("c", "3")])
    assert list(columns.outcomes) == [SCORED, ERROR, SCORED]


def test_span_scope_means_over_the_steps_and_keeps_each() -> None:
    @evaluator(scope="span", name="step-ok", bounded=True, outputs=[output("step-ok", low=0, high=1)])
    def step_ok(step: Step) -> float:
        return 0.0 if step.error else 1.0

    steps = [Step(span_id="1", name="search"), Step(span_id="2", name="book", error="full")]
    with_steps = Record(id="a", output=Content(text="x"), trajectory=Trajectory(steps=steps))
    (columns,) = columns_of(Panel(evaluators=bound(step_ok)), [with_steps, record("b")])
    assert columns.columns["step-ok"].values[0] == 0.5
    assert columns.notes[0].details["step-ok"]["steps"][1] == {"span_id": "2", "name": "book", "value": 0.0}
    assert columns.outcomes[1] == SKIPPED


def test_comparative_scope_gets_the_record_and_its_baseline() -> None:
    @evaluator(scope="comparative", name="longer", bounded=True)
    def longer(record: Record, baseline: Record) -> bool:
        assert record.output
        assert baseline.output
        return len(record.output.text or "") > len(baseline.output.text or "")

    evaluation = Evaluation(Panel(evaluators=bound(longer)), baselines={"a": record("a", "x")})
    (batch,) = evaluation.grade_now(batches([record("a", "xyz"), record("b")]))
    assert list(batch.columns[0].outcomes) == [SCORED, SKIPPED]


def test_session_scope_sees_the_records_of_a_session_together() -> None:
    @evaluator(scope="session", name="turns")
    def turns(records: list[Record]) -> float:
        return float(len(records))

    evaluation = Evaluation(Panel(evaluators=bound(turns)))
    records = [record("a", session_id="s1"), record("b", session_id="s2"), record("c", session_id="s1"), record("d")]
    list(evaluation.grade_now(batches(records)))
    (columns,) = evaluation.finish_now()
    assert columns.columns["turns"].values == [2.0, 1.0]
    assert [columns.notes[row].session_id for row in range(2)] == ["s1", "s2"]


def test_dataset_scope_folds_batches_in_order_and_a_bad_record_is_counted() -> None:
    @evaluator(scope="dataset", name="order", requires=["output"])
    class Order:
        def map(self, records: Sequence[Record]) -> list[int]:
            return [int(record.output.text or "") for record in records if record.output]

        def merge(self, left: list[int], right: list[int]) -> list[int]:
            return left + right

        def reduce(self, state: list[int]) -> Any:
            return {"first": float(state[0]), "last": float(state[-1])}

    evaluation = Evaluation(Panel(evaluators=bound(Order)))
    texts = ["3", "1", "x", None, "9"]
    list(evaluation.grade_now(batches([record(str(row), text) for row, text in enumerate(texts)], 2)))
    (columns,) = evaluation.finish_now()
    assert {name: column.values for name, column in columns.columns.items()} == {"first": [3.0], "last": [9.0]}
    counts = columns.notes[0].details[""]
    assert (counts["n"], counts["skipped"], counts["errors"]) == (3, 1, 1)
    (result,) = results(columns, [""])
    assert {"n": 3, "skipped": 1, "errors": 1}.items() <= result.scores[0].metadata.items(), "files carry them too"


def test_stopping_lets_what_is_in_flight_finish_and_begins_nothing_more() -> None:
    seen: list[int] = []
    evaluation = Evaluation(Panel(evaluators=bound(equal)), stopped=lambda: len(seen) >= 2)
    for batch in evaluation.grade_now(batches([record(str(row)) for row in range(40)])):
        seen.append(batch.first_row)
    assert seen == [0, 4]


def test_what_hangs_when_a_job_is_stopped_is_given_up_after_seconds_and_what_was_finished_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("evalsi.engine.evaluate.STOP_GRACE_S", 0.5)

    @evaluator(name="hanging")
    async def hanging(record: Record) -> bool:
        await asyncio.sleep(1e6 if record.id == "odd" else 0)
        return True

    seen: list[int] = []

    async def grade() -> None:
        evaluation = Evaluation(Panel(evaluators=bound(hanging)), stopped=lambda: bool(seen))
        async for batch in evaluation.grade(batches([record("a"), record("odd")], 1)):
            seen.append(batch.first_row)

    started = time.perf_counter()
    asyncio.run(grade())
    assert seen == [0]
    assert 0.4 < time.perf_counter() - started < 30


async def _drain(source: Any) -> None:
    async for _ in source:
        pass
