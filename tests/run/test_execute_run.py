"""The job Run with a target in this process: every answer once, failures apart, runs that go on where they stopped."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import pytest

from evalsi.cli.progress import progress_text
from evalsi.core.clock import SystemClock
from evalsi.core.errors import MeasurementError, ProviderError
from evalsi.datasets import open_dataset
from evalsi.engine.make_panel import bind_all
from evalsi.engine.panel import Panel
from evalsi.engine.summary import SummaryPlan
from evalsi.evaluators.api import Definition, EvalContext, evaluator
from evalsi.evaluators.choose import choices_of
from evalsi.infra.memory_run_store import MemoryRunStore
from evalsi.ports.run_store import SegmentZones
from evalsi.ports.target import Answer, TargetTask
from evalsi.results.recorder import Progress
from evalsi.run.budget_watch import RunBudget
from evalsi.run.execute_run import execute_run_now
from evalsi.run.run_job import Executed, RunJob
from evalsi.schema import Content, ErrorKind, Fault, MetricSummary, Record, RunManifest, Usage


@dataclass
class Parrot:
    """Answers with the record's own id; fails where it is told to, and remembers every question."""

    failing: set[tuple[str, int]] = field(default_factory=set)
    wait_s: float = 0.0
    unreachable: bool = False
    asked: list[tuple[str, int]] = field(default_factory=list)
    identity: dict[str, Any] = field(default_factory=lambda: {"connector": "parrot"})
    capabilities: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()

    async def check(self) -> str:
        if self.unreachable:
            raise ProviderError("nobody listens at 127.0.0.1:9")
        return ""

    async def answer(self, task: TargetTask) -> Answer:
        self.asked.append((task.record.id, task.trial))
        await asyncio.sleep(self.wait_s)
        if (task.record.id, task.trial) in self.failing:
            raise ProviderError("503 from the provider", status=503)
        return Answer(
            output=Content(text=task.record.id), usage=Usage(input_tokens=10, output_tokens=5, latency=0.2), model="p-1"
        )

    async def close(self) -> None:
        pass


def rows(count: int, right: int | None = None) -> list[dict[str, str]]:
    """Records whose reference is right for the first `right` of them."""
    limit = count if right is None else right
    return [
        {"id": f"r{n}", "input": "say your id", "reference": f"r{n}" if n < limit else "other"} for n in range(count)
    ]


def job(target: Parrot | None, data: Sequence[dict[str, str]], *names: str | Definition, **changes: Any) -> RunJob:
    choices = choices_of(list(names or ("exact-match",)), {})
    return RunJob(
        target=target,
        dataset=open_dataset(list(data)),
        panel=Panel(evaluators=bind_all(choices, EvalContext())),
        plan=SummaryPlan(),
        store=changes.pop("store", None) or MemoryRunStore(),
        clock=SystemClock(),
        manifest=RunManifest(name="test"),
        **changes,
    )


def summary(executed: Executed, metric: str = "exact-match") -> MetricSummary:
    found = executed.run.summary(metric)
    assert found is not None
    return found


def test_every_record_is_asked_once_and_graded() -> None:
    parrot = Parrot()
    executed = execute_run_now(job(parrot, rows(300, right=200)))
    assert sorted(parrot.asked) == sorted((f"r{n}", 0) for n in range(300))
    assert (summary(executed).n, summary(executed).mean) == (300, pytest.approx(2 / 3))
    outputs = {record.id: record.output for part in executed.run.read_rows() for record in part.records}
    assert outputs["r7"] == Content(text="r7")


def test_progress_moves_with_the_answers_and_not_only_when_a_chunk_is_stored() -> None:
    told: list[Progress] = []
    execute_run_now(job(Parrot(wait_s=0.06), rows(20), concurrency=4, on_progress=told.append))
    under_way = [each for each in told if each.done == 0 and 0 < (each.asked or 0) < 20]
    assert len(under_way) >= 2
    lines = [progress_text(each, 1.0, each.asked or 0) for each in under_way]
    assert all(line.startswith(f"{each.asked}/20 ") for line, each in zip(lines, under_way, strict=True))
    assert all("left" in line for line in lines)


def test_the_figures_of_a_slow_run_move_with_its_answers() -> None:
    told: list[Progress] = []
    store = MemoryRunStore()
    failing = {("r1", 0)}
    slow = Parrot(failing=failing, wait_s=0.06)
    execute_run_now(
        job(slow, rows(20), store=store, concurrency=4, on_progress=told.append, stopped=lambda: len(slow.asked) >= 12)
    )
    under_way = [each for each in told if each.done == 0 and each.headline]
    assert under_way, "no chunk is stored yet"
    assert all(each.headline.startswith("exact-match ") for each in under_way)
    assert under_way[-1].outcomes["errors"] == 1
    again: list[Progress] = []
    executed = execute_run_now(job(Parrot(), rows(20), store=store, on_progress=again.append))
    assert again[-1].headline.startswith(f"exact-match {summary(executed).mean:.3f}")
    assert again[-1].outcomes["scored"] == 20


def test_trials_are_distinct_questions_and_the_record_is_the_cluster() -> None:
    parrot = Parrot()
    executed = execute_run_now(job(parrot, rows(50, right=25), trials=3))
    assert len(parrot.asked) == len(set(parrot.asked)) == 150
    found = summary(executed)
    assert (found.n, found.clusters) == (150, 50)
    assert found.ci is not None
    assert found.ci.method == "clustered-t"
    assert summary(executed, "exact-match.pass@3").mean == 0.5
    assert summary(executed, "exact-match.pass^3").mean == 0.5


def test_how_much_trials_of_one_record_differ_is_said() -> None:
    class Wavering(Parrot):
        async def answer(self, task: TargetTask) -> Answer:
            said = await super().answer(task)
            wavers = task.trial == 1 and task.record.id in ("r1", "r2")
            return msgspec.structs.replace(said, output=Content(text="no")) if wavers else said

    executed = execute_run_now(job(Wavering(), rows(10), trials=2))
    assert "2 of 10 records with several scored trials both passed and failed" in summary(executed).notes
    assert summary(executed, "exact-match.pass@2").mean == 1.0
    assert summary(executed, "exact-match.pass^2").mean == 0.8


def test_where_the_variance_comes_from_and_what_would_narrow_the_interval_is_said() -> None:
    class Wavering(Parrot):
        async def answer(self, task: TargetTask) -> Answer:
            said = await super().answer(task)
            wavers = task.record.id in ("r1", "r2") and task.trial % 2
            return msgspec.structs.replace(said, output=Content(text="no")) if wavers else said

    found = summary(execute_run_now(job(Wavering(), rows(10, right=6), trials=4)))
    values = np.array([[1, 1, 1, 1]] + [[1, 0, 1, 0]] * 2 + [[1, 1, 1, 1]] * 3 + [[0, 0, 0, 0]] * 4)
    within = values.var(axis=1, ddof=1).mean()
    between = values.mean(axis=1).var(ddof=1) - within / 4
    variance = found.trial_variance
    assert variance is not None
    assert (variance.records, variance.trials) == (10, 40)
    assert variance.within_records == pytest.approx(within)
    assert variance.between_records == pytest.approx(between)
    assert variance.intraclass_correlation == pytest.approx(between / (between + within))
    assert any(
        "twice the trials would narrow the interval by about 2%, twice the records by 29%" in n for n in found.notes
    )


def test_without_trials_nothing_is_said_about_their_variance() -> None:
    assert summary(execute_run_now(job(Parrot(), rows(10, right=5)))).trial_variance is None


def test_a_provider_failure_is_an_error_in_no_mean_and_in_no_pass_at_k() -> None:
    parrot = Parrot(failing={("r0", 1), ("r1", 0)})
    executed = execute_run_now(job(parrot, rows(10), trials=2))
    found = summary(executed)
    assert (found.n, found.errors, found.mean) == (18, 2, 1.0)
    assert found.error_kinds == {str(ErrorKind.PROVIDER): 2}
    at_two = summary(executed, "exact-match.pass@2")
    assert (at_two.n, at_two.mean, at_two.skipped) == (8, 1.0, 2)


def test_an_exception_that_no_connector_foresaw_is_ours_and_costs_one_row() -> None:
    class Broken(Parrot):
        async def answer(self, task: TargetTask) -> Answer:
            if task.record.id == "r3":
                raise KeyError("choices")
            return await super().answer(task)

    executed = execute_run_now(job(Broken(), rows(6)))
    (part,) = executed.run.read_rows()
    (columns,) = part.columns
    assert {row: (note.error_kind, note.fault) for row, note in columns.notes.items() if note.reason} == {
        3: (ErrorKind.INTERNAL, Fault.PLATFORM)
    }


def test_no_row_is_held_back_while_later_ones_overtake_it() -> None:
    class Instant(Parrot):
        async def answer(self, task: TargetTask) -> Answer:
            self.asked.append((task.record.id, task.trial))
            return Answer(output=Content(text=task.record.id))

    parrot = Instant()
    execute_run_now(job(parrot, rows(5000), concurrency=16))
    assert parrot.asked == [(f"r{n}", 0) for n in range(5000)]


def test_an_unreachable_target_is_said_before_anything_is_stored() -> None:
    store = MemoryRunStore()
    with pytest.raises(MeasurementError, match="nobody listens"):
        execute_run_now(job(Parrot(unreachable=True), rows(3), store=store))
    assert store.runs() == []


def test_a_stopped_run_goes_on_and_asks_nothing_twice() -> None:
    store, parrot, data = MemoryRunStore(), Parrot(wait_s=0.002), rows(400, right=300)
    first = execute_run_now(job(parrot, data, store=store, concurrency=8, stopped=lambda: len(parrot.asked) >= 150))
    assert first.interrupted
    assert 150 <= len(parrot.asked) < 200
    second = execute_run_now(job(parrot, data, store=store, concurrency=8))
    assert not second.interrupted
    assert len(parrot.asked) == len(set(parrot.asked)) == 400
    undisturbed = execute_run_now(job(Parrot(), data))
    assert columns_of(second) == columns_of(undisturbed)
    assert without_notes(second.run.summaries) == without_notes(undisturbed.run.summaries)


@pytest.mark.parametrize("adds_up", [True, False])
def test_what_earlier_tries_used_is_counted_whether_or_not_it_was_added_up_then(adds_up: bool) -> None:
    class OfAnEarlierVersion(MemoryRunStore):
        def zones(self, run_id: str) -> list[SegmentZones]:
            return [msgspec.structs.replace(each, zones=b"") for each in super().zones(run_id)]

    store, parrot, data = MemoryRunStore() if adds_up else OfAnEarlierVersion(), Parrot(wait_s=0.001), rows(400)
    execute_run_now(job(parrot, data, store=store, concurrency=8, stopped=lambda: len(parrot.asked) >= 300))
    second = execute_run_now(job(Parrot(), data, store=store, concurrency=8))
    assert second.resumed_rows >= 128
    used = second.run.manifest.target_usage
    assert used == execute_run_now(job(Parrot(), data)).run.manifest.target_usage
    assert used is not None
    assert used.output_tokens


def test_continuing_asks_again_where_the_infrastructure_failed() -> None:
    store, data = MemoryRunStore(), rows(40)
    shaky = Parrot(failing={("r2", 0)}, wait_s=0.001)
    execute_run_now(job(shaky, data, store=store, concurrency=4, stopped=lambda: len(shaky.asked) >= 20))
    well = Parrot()
    executed = execute_run_now(job(well, data, store=store))
    assert ("r2", 0) in well.asked
    assert ("r0", 0) not in well.asked
    assert (summary(executed).n, summary(executed).errors) == (40, 0)


def test_failures_that_were_stored_are_asked_again_only_on_request() -> None:
    data = rows(400)
    for retry in (False, True):
        store = MemoryRunStore()
        shaky = Parrot(failing={("r2", 0), ("r130", 0)}, wait_s=0.001)
        first = execute_run_now(
            job(shaky, data, store=store, concurrency=8, stopped=lambda asked=shaky.asked: len(asked) >= 300)
        )
        assert first.interrupted
        well = Parrot()
        executed = execute_run_now(job(well, data, store=store, retry_errors=retry))
        again = {("r2", 0), ("r130", 0)} & set(well.asked)
        assert again == ({("r2", 0), ("r130", 0)} if retry else set())
        assert summary(executed).errors == (0 if retry else 2)
        assert (summary(executed).n, summary(executed).total) == (400 if retry else 398, 400)
        # What was answered is not asked again, although its neighbour in the batch is.
        assert len(well.asked) == len(set(well.asked))
        assert not (set(well.asked) - again) & set(shaky.asked)


def test_failures_of_a_run_that_has_succeeded_are_asked_again_on_request() -> None:
    class Shaky(Parrot):
        async def answer(self, task: TargetTask) -> Answer:
            said = await super().answer(task)
            if task.record.id in ("r2", "r130"):
                raise ProviderError("the provider is overloaded", kind=ErrorKind.RATE_LIMITED)
            return said

    store, data = MemoryRunStore(), rows(300)
    first = execute_run_now(job(Shaky(), data, store=store))
    assert (first.interrupted, summary(first).errors) == (False, 2)
    well = Parrot()
    again = execute_run_now(job(well, data, store=store, retry_errors=True))
    assert sorted(well.asked) == [("r130", 0), ("r2", 0)]
    assert again.run.manifest.run_id == first.run.manifest.run_id
    assert again.continued
    assert (summary(again).n, summary(again).errors) == (300, 0)
    assert len(store.runs()) == 1
    # Without the request it is new work.
    assert not execute_run_now(job(Parrot(), data, store=store)).continued


def test_a_run_is_continued_although_it_had_only_answers() -> None:
    store, data = MemoryRunStore(), rows(400)
    slow = Parrot(wait_s=0.002)
    first = execute_run_now(job(slow, data, store=store, concurrency=4, stopped=lambda: len(slow.asked) >= 20))
    assert first.run.count_records() == 0
    kept = first.run.kept_answers
    assert kept is not None
    assert kept() >= 20
    second = execute_run_now(job(Parrot(), data, store=store))
    assert (second.continued, second.resumed_rows, second.recalled_answers) == (True, 0, len(slow.asked))
    assert len(slow.asked) < 400


def test_a_budget_of_wall_clock_goes_on_when_a_run_is_continued() -> None:
    store, data = MemoryRunStore(), rows(400)
    slow = Parrot(wait_s=0.02)
    first = execute_run_now(job(slow, data, store=store, concurrency=2, stopped=lambda: len(slow.asked) >= 10))
    assert first.interrupted
    asked = len(slow.asked)
    second = execute_run_now(job(slow, data, store=store, concurrency=2, budget=RunBudget(wall_clock_s=0.05)))
    assert second.budget_reached is not None
    assert "by earlier tries" in second.budget_reached
    assert len(slow.asked) == asked
    worked_s = second.run.manifest.earlier_tries
    assert worked_s is not None
    assert worked_s > 0.05


def test_errors_of_the_agent_and_of_evaluators_are_not_asked_again() -> None:
    class Clumsy(Parrot):
        async def answer(self, task: TargetTask) -> Answer:
            said = await super().answer(task)
            if task.record.id == "r3":
                raise MeasurementError("the agent fell over", kind=ErrorKind.TARGET, fault=Fault.AGENT)
            return said

    store, data = MemoryRunStore(), rows(300)
    first = Clumsy(wait_s=0.001)
    execute_run_now(job(first, data, store=store, concurrency=8, stopped=lambda: len(first.asked) >= 200))
    second = Clumsy()
    executed = execute_run_now(job(second, data, store=store, retry_errors=True))
    assert ("r3", 0) not in second.asked
    assert summary(executed).errors == 1


def test_another_target_or_number_of_trials_is_other_work() -> None:
    store, data = MemoryRunStore(), rows(40)
    slow = Parrot(wait_s=0.001)
    execute_run_now(job(slow, data, store=store, concurrency=4, stopped=lambda: len(slow.asked) >= 10))
    for changed in (Parrot(identity={"connector": "parrot", "model": "p-2"}), Parrot()):
        trials = 2 if changed.identity == {"connector": "parrot"} else 1
        executed = execute_run_now(job(changed, data, store=store, trials=trials))
        assert executed.resumed_rows == 0
        assert len(changed.asked) == 40 * trials


def test_a_budget_cancels_what_is_left_and_says_which() -> None:
    parrot = Parrot(wait_s=0.001)
    executed = execute_run_now(job(parrot, rows(500), concurrency=4, budget=RunBudget(target_tokens=300)))
    assert executed.budget_reached is not None
    assert "300 target tokens" in executed.budget_reached
    found = summary(executed)
    assert 20 <= found.n <= 24
    assert found.cancelled == 500 - found.n
    assert found.mean == 1.0


def test_a_price_makes_cost_and_a_budget_in_dollars() -> None:
    executed = execute_run_now(
        job(Parrot(wait_s=0.001), rows(100), concurrency=2, budget=RunBudget(usd=0.1), price=lambda _m, _u: 0.01)
    )
    used = executed.run.manifest.target_usage
    assert used is not None
    assert used.cost_usd == pytest.approx(0.1, abs=0.03)
    assert executed.budget_reached is not None


def test_a_sample_is_graded_while_a_slower_one_is_still_awaited() -> None:
    graded: list[str] = []

    @evaluator(name="noted", requires=["output"], bounded=True)
    def noted(record: Record) -> bool:
        graded.append(record.id)
        return True

    class Uneven(Parrot):
        async def answer(self, task: TargetTask) -> Answer:
            while task.record.id == "r0" and len(graded) < 19:
                await asyncio.sleep(0.001)
            return await super().answer(task)

    execute_run_now(job(Uneven(), rows(20), noted))
    assert graded[-1] == "r0"


def test_dataset_scope_sees_the_answers_in_the_order_of_the_dataset() -> None:
    @evaluator(scope="dataset", name="order", requires=["output"])
    class Order:
        def map(self, records: Sequence[Record]) -> list[str]:
            return [record.output.text or "" for record in records if record.output]

        def merge(self, left: list[str], right: list[str]) -> list[str]:
            return left + right

        def reduce(self, state: list[str]) -> bool:
            return state == [f"r{n}" for n in range(600)]

    executed = execute_run_now(job(Parrot(), rows(600), "exact-match", Order))
    assert summary(executed, "order").mean == 1.0


def test_without_a_target_the_outputs_of_the_dataset_are_graded() -> None:
    data = [{**row, "output": row["reference"]} for row in rows(50)]
    executed = execute_run_now(job(None, data))
    assert (summary(executed).n, summary(executed).mean) == (50, 1.0)


def columns_of(executed: Executed) -> list[Any]:
    found: list[Any] = []
    for part in sorted(executed.run.read_rows(), key=lambda part: part.first_row):
        for record, *values in zip(
            part.records, *(column.values for c in part.columns for column in c.columns.values()), strict=True
        ):
            found.append((record.id, record.output, values))
    return found


def without_notes(summaries: list[MetricSummary]) -> list[MetricSummary]:
    return [msgspec.structs.replace(each, notes=[]) for each in summaries]
