"""Traffic that arrives is completed, graded, counted and told of once, whoever dies in between. SQLite, real evaluators."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.clock import SystemClock
from evalsi.core.errors import QuotaError, StoreError, UsageError
from evalsi.evaluators.api import EvalContext
from evalsi.infra.promoted_files import PromotedFiles
from evalsi.infra.store.open_stores import open_failure_store
from evalsi.ports.judge import Judge
from evalsi.ports.notice_sender import Sent
from evalsi.ports.policy_store import DaySpent, Delivery
from evalsi.ports.run_queue import RunQueue, TokenQuota
from evalsi.ports.spent import Spent
from evalsi.schema import DeleteTracesRequest, Feedback, Outcome, PolicyStats
from evalsi.watch.complete_sessions import complete_sessions
from evalsi.watch.complete_traces import complete_traces
from evalsi.watch.policy import CheckedPolicy, checked_policy
from evalsi.watch.policy_book import ArmedPolicy
from evalsi.watch.policy_stats import StatsAsked, policy_stats
from evalsi.watch.reading_traces import delete_traces
from evalsi.watch.watch_tools import WatchTools
from evalsi.watch.watch_traffic import MOST_POLICIES_AT_ONCE, TaskLine, watch_traffic
from evalsi.watch.work_on_tasks import MOST_ATTEMPTS, work_on_tasks
from evalsi.wiring.judge_tokens import JudgeTokens
from evalsi.wiring.run_order import RunWorkerOrder, opened_stores
from tests.watch.live_traffic import Traffic, arm, policy_of, spans_of, trace_id, traffic_in

LEAK = "My address is jane@example.com."
QUICK = [{"evaluators": [{"ref": "pii-leak"}, {"ref": "length", "name": "words"}]}]


@pytest.fixture
def traffic(tmp_path: Path) -> Iterator[Traffic]:
    with traffic_in(tmp_path) as found:
        yield found


def complete(traffic: Traffic) -> int:
    """Completes whatever is due."""
    count = 0
    while done := asyncio.run(complete_traces(traffic.tools, limit=100)):
        count += done
    return count


def stats(traffic: Traffic, name: str = "answers", **asked: Any) -> PolicyStats:
    checked = checked_policy(traffic.policies.policy("default", name))
    return policy_stats(traffic.policies, checked, traffic.clock.now(), StatsAsked(**asked))


def figures(traffic: Traffic, metric: str = "pii-leak", **asked: Any) -> dict[str, tuple[int, float | None]]:
    return {each.group: (each.n, each.mean) for each in stats(traffic, **asked).metrics if each.metric == metric}


def results(traffic: Traffic, number: int, policy: str = "answers") -> dict[str, Outcome]:
    found = {each.policy: each for each in traffic.traces.results("default", trace_id(number))}
    return {each.evaluator: each.outcome for each in found[policy].results} if policy in found else {}


def test_traces_are_graded_as_they_become_complete(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=QUICK))
    traffic.arrive(spans_of(1), spans_of(2, answer=LEAK))
    assert complete(traffic) == 2
    assert results(traffic, 1) == {"pii-leak": Outcome.SCORED, "words": Outcome.SCORED}
    assert traffic.traces.summary("default", trace_id(2)).scores["pii-leak"] == 0.0
    assert figures(traffic) == {"": (2, 0.5)}
    assert stats(traffic).traces_evaluated == 2


def test_a_policy_sees_what_its_selector_and_its_draw_leave(traffic: Traffic) -> None:
    traffic.apply(policy_of(selector="version == '2.0' && 'lookup_order' in tools", stages=QUICK))
    traffic.apply(policy_of(name="drawn", sampling={"rate": 0.0, "always": ["error"]}, stages=QUICK))
    traffic.arrive(
        spans_of(1), spans_of(2, version="2.0"), spans_of(3, version="2.0", tools=()), spans_of(4, failed=True)
    )
    complete(traffic)
    assert [bool(results(traffic, number)) for number in (1, 2, 3, 4)] == [False, True, False, False]
    assert [bool(results(traffic, number, "drawn")) for number in (1, 2, 3, 4)] == [False, False, False, True]
    found = stats(traffic)
    assert (found.traces_seen, found.traces_matched, found.traces_sampled, found.traces_evaluated) == (4, 1, 1, 1)


def test_a_disabled_policy_does_nothing_and_one_that_is_deleted_no_more(traffic: Traffic) -> None:
    traffic.apply(policy_of(name="off", disabled=True, stages=QUICK))
    traffic.apply(policy_of(stages=QUICK))
    traffic.arrive(spans_of(1))
    complete(traffic)
    traffic.policies.delete("default", "answers")
    traffic.arrive(spans_of(2))
    complete(traffic)
    assert results(traffic, 1) != {}
    assert traffic.traces.results("default", trace_id(2)) == []
    assert traffic.policies.counts("default", "off") == {}


def test_policies_of_other_projects_see_nothing(traffic: Traffic) -> None:
    traffic.apply(policy_of(project="other", stages=QUICK))
    traffic.arrive(spans_of(1))
    complete(traffic)
    assert traffic.traces.results("default", trace_id(1)) == []


def test_late_spans_are_scored_again_once_and_replace_the_figures(traffic: Traffic) -> None:
    # Case H05: the root comes late; children first, then the answer, each part once more.
    traffic.apply(policy_of(stages=QUICK))
    root, *children = spans_of(1, answer=LEAK)
    traffic.arrive([root])
    complete(traffic)
    assert figures(traffic) == {"": (1, 0.0)}
    for _ in range(2):  # the sender tries again
        traffic.arrive(children)
        complete(traffic)
    assert traffic.traces.summary("default", trace_id(1)).revision == 2
    (found,) = traffic.traces.results("default", trace_id(1))
    assert found.revision == 2
    assert figures(traffic) == {"": (1, 0.0)}
    assert stats(traffic).traces_evaluated == 1


def test_a_worker_that_dies_before_the_traces_are_stored_leaves_nothing_twice(tmp_path: Path) -> None:
    with traffic_in(tmp_path) as traffic:
        traffic.apply(policy_of(stages=QUICK))
        traffic.arrive(*(spans_of(number) for number in range(1, 6)))
        storing = traffic.traces.complete
        traffic.traces.complete = die  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            complete(traffic)
        assert traffic.policies.counts("default", "answers")["evaluated"] == 5
        traffic.traces.complete = storing  # type: ignore[method-assign]
        traffic.clock.turn(61)
        clock = traffic.clock
    with traffic_in(tmp_path, clock=clock) as traffic:
        assert complete(traffic) == 5
        assert traffic.policies.counts("default", "answers")["evaluated"] == 5
        assert figures(traffic) == {"": (5, 1.0)}
        assert all(results(traffic, number) for number in range(1, 6))


def die(*_given: Any, **_named: Any) -> Any:
    raise KeyboardInterrupt


def test_stages_let_through_what_their_conditions_say(traffic: Traffic) -> None:
    traffic.apply(
        policy_of(
            stages=[
                {"evaluators": [{"ref": "pii-leak"}]},
                {"when": "scores['pii-leak'] < 1", "evaluators": [{"ref": "length", "name": "words"}]},
            ]
        )
    )
    traffic.arrive(spans_of(1), spans_of(2, answer=LEAK))
    complete(traffic)
    assert set(results(traffic, 1)) == {"pii-leak"}
    assert set(results(traffic, 2)) == {"pii-leak", "words"}


def test_what_was_not_captured_is_skipped_loudly(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=QUICK))
    traffic.arrive(spans_of(1, answer=None, question=None), spans_of(2))
    complete(traffic)
    (found,) = traffic.traces.results("default", trace_id(1))
    assert {(each.outcome, each.reason) for each in found.results} == {(Outcome.SKIPPED, "no content")}
    told = stats(traffic)
    assert {each.metric: (each.n, each.skipped) for each in told.metrics} == {"pii-leak": (1, 1), "words": (1, 1)}
    assert any("skipped: no content: pii-leak on 1 of 2" in warning for warning in told.warnings)


def test_a_trace_that_failed_before_anything_was_said_is_not_taken_for_one_that_was_not_captured(
    traffic: Traffic,
) -> None:
    traffic.apply(policy_of(stages=QUICK))
    traffic.arrive(spans_of(1, answer=None, question=None, failed=True))
    complete(traffic)
    (found,) = traffic.traces.results("default", trace_id(1))
    assert {(each.outcome, each.reason) for each in found.results} == {(Outcome.SKIPPED, "the record has no output")}
    assert stats(traffic).warnings == []


def test_an_evaluator_that_fails_is_counted_as_that_and_not_as_a_score(traffic: Traffic) -> None:
    file = traffic.folder / "failing.py"
    file.write_text(
        "from evalsi.evaluators.api import evaluator, output\n"
        "@evaluator(outputs=[output('failing')], bounded=True)\n"
        "def failing(record):\n"
        "    return 1 / 0\n"
    )
    traffic.apply(policy_of(stages=[{"evaluators": [{"ref": f"{file}:failing"}]}]))
    traffic.arrive(spans_of(1))
    complete(traffic)
    (window,) = stats(traffic).metrics
    assert (window.n, window.mean, window.errors) == (0, None, 1)
    assert results(traffic, 1) == {"failing": Outcome.ERROR}


def test_a_view_hides_from_evaluators_what_stays_stored(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=QUICK, view={"detectors": ["email"]}))
    traffic.arrive(spans_of(1, answer=LEAK))
    complete(traffic)
    assert figures(traffic) == {"": (1, 1.0)}
    assert "jane@example.com" in traffic.traces.summary("default", trace_id(1)).output


def test_figures_are_split_by_version_and_label(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=QUICK))
    traffic.arrive(
        spans_of(1, attributes={"evalsi.label.team": "a"}),
        spans_of(2, version="2.0", answer=LEAK, attributes={"evalsi.label.team": "a"}),
    )
    complete(traffic)
    assert figures(traffic, by="version") == {"1.0": (1, 1.0), "2.0": (1, 0.0)}
    assert figures(traffic, by="label.team") == {"a": (2, 0.5)}
    assert figures(traffic, by="model") == {}


def test_of_many_values_that_figures_are_split_by_the_largest_and_the_latest_are_shown_and_the_number_of_all(
    traffic: Traffic,
) -> None:
    traffic.apply(policy_of(stages=QUICK))

    def arrive(numbers: range, repeat: int = 1, begun_s: float = 0) -> None:
        every = [
            spans_of(10_000 * again + number, begun_s=begun_s, attributes={"evalsi.label.request": f"r{number:03}"})
            for again in range(repeat)
            for number in numbers
        ]
        traffic.arrive(*every)
        complete(traffic)

    arrive(range(100, 350))
    arrive(range(340, 350), repeat=2)
    traffic.clock.turn(120)
    arrive(range(350, 360), begun_s=120)
    found = stats(traffic, by="label.request")
    (said,) = found.warnings
    shown = {window.group for window in found.metrics}
    assert shown == {window.group for window in found.series}
    assert f"{len(shown)} of 260 values of label.request are shown" in said
    assert len(shown) <= 200
    assert {f"r{number}" for number in range(340, 360)} <= shown
    assert not stats(traffic, by="version").warnings


def test_steps_are_graded_one_by_one(traffic: Traffic) -> None:
    traffic.apply(policy_of(scope="span", stages=[{"evaluators": [{"ref": "latency"}]}]))
    traffic.arrive(spans_of(1, tools=("lookup", "refund")))
    complete(traffic)
    (found,) = traffic.traces.results("default", trace_id(1))
    assert len({each.span_id for each in found.results}) == 3
    assert sum(each.n + each.skipped for each in stats(traffic).metrics) == 3


def test_a_step_that_says_nothing_by_its_nature_is_not_taken_for_one_that_was_not_captured(traffic: Traffic) -> None:
    traffic.apply(policy_of(scope="span", stages=[{"evaluators": [{"ref": "pii-leak"}]}]))
    traffic.arrive(spans_of(1, answer=None, question=None))
    complete(traffic)
    (found,) = traffic.traces.results("default", trace_id(1))
    agent, tool = sorted(found.results, key=lambda each: not each.span_id.endswith("f"))
    assert (agent.reason, tool.reason) == ("the record has no output", "no content")
    assert stats(traffic).warnings == [
        "skipped: no content: pii-leak on 1 of 2; have the instrumentation capture messages"
    ]


def test_a_model_that_only_asks_for_tools_has_given_no_answer_to_grade(traffic: Traffic) -> None:
    call = {"type": "tool_call", "id": "c1", "name": "lookup_order", "arguments": {"id": 7}}
    said = [{"role": "assistant", "parts": [call]}]
    traffic.apply(policy_of(scope="span", stages=[{"evaluators": [{"ref": "length", "name": "words"}]}]))
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": said}
    traffic.arrive(spans_of(1, answer=None, tools=(), attributes=attributes))
    complete(traffic)
    (found,) = traffic.traces.results("default", trace_id(1))
    assert [(each.outcome, each.reason) for each in found.results] == [(Outcome.SKIPPED, "the record has no output")]


def test_a_session_is_graded_once_it_is_quiet_and_again_when_it_went_on(traffic: Traffic) -> None:
    traffic.apply(policy_of(scope="session", stages=[{"evaluators": [{"ref": "pii-leak"}]}]))
    traffic.arrive(spans_of(1, session="s1"), spans_of(2, session="s1", answer=LEAK, begun_s=2))
    complete(traffic)
    assert asyncio.run(complete_sessions(traffic.tools, limit=10)) == 0
    traffic.clock.turn(61)
    assert asyncio.run(complete_sessions(traffic.tools, limit=10)) == 1
    (found,) = traffic.traces.session_results("default", "s1")
    assert [each.outcome for each in found.results] == [Outcome.SCORED, Outcome.SCORED]
    assert figures(traffic) == {"": (2, 0.5)}
    traffic.arrive(spans_of(3, session="s1", begun_s=70))
    complete(traffic)
    traffic.clock.turn(61)
    assert asyncio.run(complete_sessions(traffic.tools, limit=10)) == 1
    assert stats(traffic).traces_evaluated == 1
    assert figures(traffic) == {"": (3, pytest.approx(2 / 3))}


def test_cases_are_promoted_once_with_where_they_come_from(traffic: Traffic) -> None:
    traffic.apply(
        policy_of(
            stages=QUICK,
            promote={"when": "scores['pii-leak'] < 1", "dataset": "leaks"},
            view={"patterns": ["Rumpelstiltskin"]},
        )
    )
    root, *children = spans_of(2, answer=f"{LEAK} Yours, Rumpelstiltskin")
    traffic.arrive(spans_of(1), [root])
    complete(traffic)
    traffic.arrive(children)
    complete(traffic)
    lines = (traffic.folder / "datasets/promoted/default/leaks.jsonl").read_text().splitlines()
    (case,) = (json.loads(line) for line in lines)
    assert case["id"] == trace_id(2)
    assert case["provenance"]["trace"] == {"trace_id": trace_id(2), "policy_id": "answers"}
    assert "Rumpelstiltskin" not in lines[0]
    assert stats(traffic).traces_promoted == 1
    files = PromotedFiles(traffic.folder / "datasets")
    assert [(each.project, each.dataset, each.cases) for each in files.grown()] == [("default", "leaks", 1)]
    assert list(files.grown()) == []


def test_feedback_that_comes_days_later_makes_a_policy_take_the_trace(traffic: Traffic) -> None:
    traffic.apply(policy_of(sampling={"rate": 0.0, "always": ["negative_feedback"]}, stages=QUICK))
    traffic.apply(policy_of(name="all", stages=QUICK))
    traffic.arrive(spans_of(1), spans_of(2))
    complete(traffic)
    assert results(traffic, 1) == {}
    traffic.clock.turn(2 * 86_400)
    said = Feedback(id="f1", trace_id=trace_id(1), name="thumbs", passed=False)
    traffic.traces.add_feedback("default", [said], now_ms=traffic.tools.now_ms, reconsider=True)
    complete(traffic)
    assert set(results(traffic, 1)) == {"pii-leak", "words"}
    assert results(traffic, 2) == {}
    assert set(results(traffic, 1, "all")) == {"pii-leak", "words"}
    assert stats(traffic, "all").traces_evaluated == 2


def test_feedback_by_a_key_that_comes_before_the_trace_makes_a_policy_take_it(traffic: Traffic) -> None:
    traffic.apply(policy_of(sampling={"rate": 0.0, "always": ["negative_feedback"]}, stages=QUICK))
    said = Feedback(id="f1", key="request-1", name="thumbs", passed=False)
    traffic.traces.add_feedback("default", [said], now_ms=traffic.tools.now_ms, reconsider=True)
    traffic.arrive(spans_of(1, attributes={"evalsi.key": "request-1"}), spans_of(2))
    complete(traffic)
    assert set(results(traffic, 1)) == {"pii-leak", "words"}
    assert results(traffic, 2) == {}


def test_removing_traces_takes_what_policies_keep_of_them(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=QUICK))
    traffic.arrive(spans_of(1, session="s1"), spans_of(2, session="s1"), spans_of(3))
    complete(traffic)
    failures = open_failure_store(str(traffic.folder / "evalsi.db"))
    with closing(failures):
        for request in (DeleteTracesRequest(session_id="s1"), DeleteTracesRequest(trace_ids=[trace_id(3)])):
            assert delete_traces(traffic.traces, failures, "default", request, traffic.policies.forget)
    names = [trace_id(number) for number in (1, 2, 3)]
    assert traffic.policies.marked("default", "answers", names) == {}
    assert figures(traffic) == {"": (3, 1.0)}


def test_slow_traces_are_those_slower_than_95_of_100_lately(traffic: Traffic) -> None:
    traffic.apply(policy_of(sampling={"rate": 0.0, "always": ["slow"]}, stages=QUICK))
    traffic.arrive(*(spans_of(number, lasts_ms=100 + number) for number in range(1, 121)))
    complete(traffic)
    assert stats(traffic).traces_evaluated == 0
    traffic.clock.turn(10)
    traffic.arrive(spans_of(200, lasts_ms=2_000), spans_of(201, lasts_ms=150))
    complete(traffic)
    assert results(traffic, 200) != {}
    assert results(traffic, 201) == {}


# Policies that ask a judge


class StandInJudge:
    """Answers every question with a rating, after a while, at a price."""

    def __init__(self, delay_s: float = 0.0) -> None:
        self.asked = 0
        self.delay_s = delay_s

    @property
    def spent(self) -> DaySpent:
        return DaySpent(0.01 * self.asked, 100 * self.asked, 0)


def judged(judge: StandInJudge) -> Callable[[CheckedPolicy], ArmedPolicy]:
    """Arms policies with evaluators that ask the judge."""
    from evalsi.engine.make_panel import bind_all
    from evalsi.engine.panel import Panel
    from evalsi.evaluators.api import evaluator
    from evalsi.schema import Record
    from evalsi.watch.cascade import ReadyPolicy

    @evaluator(name="toxicity", requires=["judge"])
    async def toxicity(record: Record) -> float:
        del record
        judge.asked += 1
        await asyncio.sleep(judge.delay_s)
        return 0.25

    def armed(checked: CheckedPolicy) -> ArmedPolicy:
        if not checked.asks_judge:
            return arm(checked)
        context = EvalContext(judge=_any_judge())
        panel = Panel(evaluators=bind_all([toxicity], context), concurrency=1)
        return ArmedPolicy(ready=ReadyPolicy(checked=checked, panels=[panel]), spent=lambda: judge.spent)

    return armed


def _any_judge() -> Judge:
    found: Any = object()
    return found


JUDGED = [{"evaluators": [{"ref": "toxicity"}]}]


def work(traffic: Traffic) -> None:
    """Works on the line until nothing is due."""

    async def go() -> None:
        while True:
            traffic.tools.book.refresh()
            tasks = traffic.policies.claim_tasks(now_ms=traffic.tools.now_ms, limit=10, lease_ms=60_000)
            if not tasks:
                return
            await work_on_tasks(traffic.tools, tasks)

    asyncio.run(go())


def test_what_asks_a_judge_waits_in_line_and_is_scored_from_there(tmp_path: Path) -> None:
    judge = StandInJudge()
    with traffic_in(tmp_path, judged(judge)) as traffic:
        traffic.apply(policy_of(stages=JUDGED))
        traffic.arrive(spans_of(1), spans_of(2))
        assert complete(traffic) == 2
        told = stats(traffic)
        assert (judge.asked, told.traces_waiting, told.traces_evaluated) == (0, 2, 0)
        work(traffic)
        told = stats(traffic)
        assert (judge.asked, told.traces_waiting, told.traces_evaluated) == (2, 0, 2)
        assert (told.usd_today, told.tokens_today) == (0.02, 200)
        assert results(traffic, 1) == {"toxicity": Outcome.SCORED}
        assert traffic.traces.summary("default", trace_id(1)).scores["toxicity"] == 0.25


def test_judges_that_never_answer_one_project_hold_up_no_other(tmp_path: Path) -> None:
    judge = StandInJudge(delay_s=3_600.0)

    names = [f"policy-{number}" for number in range(MOST_POLICIES_AT_ONCE)]

    async def go(traffic: Traffic) -> bool:
        line = TaskLine(traffic.tools)
        for _ in range(2 * MOST_POLICIES_AT_ONCE):
            await line.step()
        beside = [("default", name) for name in names]
        left = traffic.policies.claim_tasks(now_ms=traffic.tools.now_ms, limit=9, lease_ms=1, beside=beside)
        await line.close()
        return not left

    with traffic_in(tmp_path, judged(judge)) as traffic:
        for name in names:
            traffic.apply(policy_of(name=name, stages=JUDGED))
        traffic.apply(policy_of(name="other", project="others", stages=JUDGED))
        traffic.arrive(spans_of(1))
        complete(traffic)
        traffic.clock.turn(1)
        traffic.arrive(spans_of(1), project="others")
        complete(traffic)
        assert asyncio.run(go(traffic))


async def steps(line: TaskLine, count: int) -> list[int]:
    """What the line has found to do, each time it was asked."""
    found: list[int] = []
    for _ in range(count):
        found.append(await line.step())
        await asyncio.sleep(0.2)
    await line.close()
    return found


def test_what_waits_for_a_policy_that_cannot_be_used_just_now_waits_as_long_as_that_lasts(tmp_path: Path) -> None:
    judge = StandInJudge()
    missing = [True]

    def arming(checked: CheckedPolicy) -> ArmedPolicy:
        if missing[0]:
            raise UsageError("its judge has no key")
        return judged(judge)(checked)

    with traffic_in(tmp_path, arming) as traffic:
        traffic.apply(policy_of(stages=JUDGED))
        traffic.arrive(spans_of(1), spans_of(2))
        complete(traffic)
        for _ in range(MOST_ATTEMPTS + 2):
            work(traffic)
            traffic.clock.turn(60)
        assert stats(traffic).traces_waiting == 2
        assert asyncio.run(steps(TaskLine(traffic.tools), 3)) == [1, 0, 0]
        traffic.clock.turn(60)
        missing[0] = False
        traffic.apply(policy_of(stages=JUDGED, window=60.0))
        work(traffic)
        assert (judge.asked, stats(traffic).traces_evaluated, stats(traffic).traces_waiting) == (2, 2, 0)


def test_what_waits_for_a_policy_whose_evaluator_is_gone_is_there_when_it_is_back(tmp_path: Path) -> None:
    judge = StandInJudge()
    with traffic_in(tmp_path, judged(judge)) as traffic:
        traffic.apply(policy_of(stages=JUDGED))
        traffic.arrive(spans_of(1))
        complete(traffic)
        traffic.policies.apply(policy_of(stages=[{"evaluators": [{"ref": "no-more-installed"}]}]), now_ms=0)
        work(traffic)
        assert traffic.policies.waiting("default", "answers") == 1
        traffic.clock.turn(60)
        traffic.apply(policy_of(stages=JUDGED))
        work(traffic)
        assert (judge.asked, stats(traffic).traces_evaluated) == (1, 1)


def test_a_store_in_trouble_and_workers_that_are_stopped_make_no_task_be_given_up(tmp_path: Path) -> None:
    judge = StandInJudge()
    with traffic_in(tmp_path, judged(judge)) as traffic:
        traffic.apply(policy_of(stages=JUDGED, promote={"dataset": "bad"}))
        traffic.arrive(spans_of(1))
        complete(traffic)

        def in_trouble(*_: Any) -> int:
            raise StoreError("the disk is full")

        async def work_and_stop(tools: WatchTools, *, stop: bool) -> None:
            tools.book.refresh()
            tasks = tools.policies.claim_tasks(now_ms=tools.now_ms, limit=9, lease_ms=tools.lease_ms)
            assert [task.attempts for task in tasks] == [0]
            working = asyncio.create_task(work_on_tasks(tools, tasks))
            if stop:
                await asyncio.sleep(0)
                working.cancel()
            await asyncio.wait([working])

        for number in range(2 * MOST_ATTEMPTS):
            asyncio.run(work_and_stop(replace(traffic.tools, promote=in_trouble), stop=bool(number % 2)))
            traffic.clock.turn(60)
        work(traffic)
        assert (stats(traffic).traces_evaluated, stats(traffic).traces_promoted) == (1, 1)


def test_what_work_that_is_stopped_had_used_counts_in_the_budget(tmp_path: Path) -> None:
    judge = StandInJudge(delay_s=60.0)

    async def work_and_stop(traffic: Traffic) -> None:
        traffic.tools.book.refresh()
        tasks = traffic.policies.claim_tasks(now_ms=traffic.tools.now_ms, limit=9, lease_ms=60_000)
        working = asyncio.create_task(work_on_tasks(traffic.tools, tasks))
        while not judge.asked:
            await asyncio.sleep(0.01)
        working.cancel()
        await asyncio.wait([working])

    with traffic_in(tmp_path, judged(judge)) as traffic:
        traffic.apply(policy_of(stages=JUDGED))
        traffic.arrive(spans_of(1))
        complete(traffic)
        asyncio.run(work_and_stop(traffic))
        assert stats(traffic).tokens_today == 100
        assert len(traffic.policies.claim_tasks(now_ms=traffic.tools.now_ms, limit=9, lease_ms=1)) == 1


def test_a_budget_of_the_day_ends_asking_and_is_shown(tmp_path: Path) -> None:
    judge = StandInJudge()
    with traffic_in(tmp_path, judged(judge)) as traffic:
        traffic.apply(policy_of(stages=JUDGED, budget={"usd_per_day": 0.03}))
        traffic.arrive(*(spans_of(number) for number in range(1, 11)))
        complete(traffic)
        work(traffic)
        told = stats(traffic)
        assert judge.asked == 3
        assert (told.budget_reached, told.traces_evaluated, told.traces_over_budget) == (True, 3, 7)
        assert told.warnings == ["the budget of $0.03 a day is used up"]
        traffic.clock.turn(86_400)
        traffic.arrive(spans_of(20, begun_s=86_400))
        complete(traffic)
        work(traffic)
        assert judge.asked == 4
        assert stats(traffic).budget_reached is False


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[RunQueue]:
    order = RunWorkerOrder(store=str(tmp_path / "runs.db"), datasets=str(tmp_path), objects="", cache=str(tmp_path))
    with closing(opened_stores(order)) as stores:
        yield stores.queue


def test_the_day_of_a_project_counts_what_its_policies_ask_and_ends_their_asking(
    tmp_path: Path, queue: RunQueue
) -> None:
    judge = StandInJudge()
    told: list[Spent] = []

    def arming(checked: CheckedPolicy) -> ArmedPolicy:
        before = [0]

        def news() -> Spent:
            asked, before[0] = judge.asked - before[0], judge.asked
            return Spent(
                project="default", role="judge", input_tokens=80 * asked, output_tokens=20 * asked, asked=asked
            )

        return replace(judged(judge)(checked), news=news)

    with traffic_in(tmp_path, arming) as traffic:
        quota = JudgeTokens(
            queue=queue,
            account=told.append,
            clock=traffic.clock,
            quota=lambda project: TokenQuota(judge_tokens_per_day=300 if project == "default" else None),
        )
        traffic.tools = replace(traffic.tools, judge_tokens=quota)
        queue.add_usage("default", "2026-03-01", target_tokens=0, judge_tokens=100)  # by a run
        traffic.apply(policy_of(stages=JUDGED))
        traffic.arrive(*(spans_of(number) for number in range(1, 11)))
        complete(traffic)
        work(traffic)
        assert judge.asked == 2
        assert queue.add_usage("default", "2026-03-01", target_tokens=0, judge_tokens=0) == (0, 300)
        assert sum(each.asked for each in told) == 2
        checked = checked_policy(traffic.policies.policy("default", "answers"))
        shown = policy_stats(traffic.policies, checked, traffic.clock.now(), StatsAsked(), quota)
        assert (shown.traces_evaluated, shown.traces_over_budget, shown.budget_reached) == (2, 8, True)
        assert shown.warnings == ["project default has used its 300 judge tokens of 2026-03-01"]
        with pytest.raises(QuotaError, match="300 judge tokens"):  # calls are refused as well
            quota.admit("default")
        traffic.clock.turn(86_400)
        traffic.arrive(spans_of(20, begun_s=86_400))
        complete(traffic)
        work(traffic)
        assert judge.asked == 3


def test_a_worker_that_is_not_needed_any_more_ends_by_itself(tmp_path: Path) -> None:
    with traffic_in(tmp_path) as traffic:
        tools = replace(traffic.tools, clock=SystemClock())
        outbox = traffic.outbox
        ending = watch_traffic(tools, NobodysSender(), threading.Event(), outbox=outbox, ends_after_s=0.2)
        asyncio.run(asyncio.wait_for(ending, 20))


class NobodysSender:
    """Implements `NoticeSender` where nothing is sent."""

    async def send(self, delivery: Delivery) -> Sent:
        raise AssertionError(delivery)


def test_a_worker_that_dies_before_its_task_is_ended_counts_nothing_twice(tmp_path: Path) -> None:
    judge = StandInJudge()
    with traffic_in(tmp_path, judged(judge)) as traffic:
        traffic.apply(policy_of(stages=JUDGED))
        traffic.arrive(spans_of(1))
        complete(traffic)
        settling = traffic.policies.settle
        traffic.policies.settle = die  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            work(traffic)
        traffic.policies.settle = settling  # type: ignore[method-assign]
        assert results(traffic, 1) == {"toxicity": Outcome.SCORED}
        work(traffic)
        assert stats(traffic).traces_evaluated == 0  # the claim still holds
        traffic.clock.turn(61)
        work(traffic)
        told = stats(traffic)
        assert (told.traces_evaluated, told.traces_waiting) == (1, 0)
        assert figures(traffic, "toxicity") == {"": (1, 0.25)}


def test_a_slow_judge_delays_its_own_policy_alone(tmp_path: Path) -> None:
    judge = StandInJudge(delay_s=0.4)

    async def go(traffic: Traffic) -> None:
        line = TaskLine(traffic.tools)
        await line.step()
        traffic.arrive(spans_of(2))
        await complete_traces(traffic.tools, limit=10)
        assert results(traffic, 2, "quick") != {}
        assert results(traffic, 1, "slow") == {}
        while stats(traffic, "slow").traces_waiting > 1:
            await asyncio.sleep(0.05)
        await line.close()

    with traffic_in(tmp_path, judged(judge)) as traffic:
        traffic.apply(policy_of(name="slow", stages=JUDGED))
        traffic.apply(policy_of(name="quick", stages=QUICK))
        traffic.arrive(spans_of(1))
        complete(traffic)
        asyncio.run(go(traffic))
        assert results(traffic, 1, "slow") == {"toxicity": Outcome.SCORED}


def test_a_session_that_asks_a_judge_waits_in_line_and_no_other_policy_with_it(tmp_path: Path) -> None:
    judge = StandInJudge()
    with traffic_in(tmp_path, judged(judge)) as traffic:
        traffic.apply(policy_of(name="quick", scope="session", stages=QUICK))
        traffic.apply(policy_of(name="slow", scope="session", stages=JUDGED))
        traffic.arrive(spans_of(1, session="s1"), spans_of(2, session="s1", begun_s=2))
        complete(traffic)
        traffic.clock.turn(61)
        assert asyncio.run(complete_sessions(traffic.tools, limit=10)) == 1
        assert [each.policy for each in traffic.traces.session_results("default", "s1")] == ["quick"]
        assert (judge.asked, stats(traffic, "slow").traces_waiting) == (0, 1)
        work(traffic)
        assert [each.policy for each in traffic.traces.session_results("default", "s1")] == ["quick", "slow"]
        told = stats(traffic, "slow")
        assert (judge.asked, told.traces_waiting, told.traces_evaluated) == (2, 0, 1)
        # The session goes on: only what is found in it then is left.
        traffic.arrive(spans_of(3, session="s1", begun_s=70))
        complete(traffic)
        traffic.clock.turn(61)
        assert asyncio.run(complete_sessions(traffic.tools, limit=10)) == 1
        assert [each.policy for each in traffic.traces.session_results("default", "s1")] == ["quick"]
        work(traffic)
        (found,) = [each for each in traffic.traces.session_results("default", "s1") if each.policy == "slow"]
        assert (len(found.results), judge.asked, stats(traffic, "slow").traces_evaluated) == (3, 5, 1)


def test_late_spans_of_a_trace_have_its_session_judged_again(tmp_path: Path) -> None:
    judge = StandInJudge()
    with traffic_in(tmp_path, judged(judge)) as traffic:
        traffic.apply(policy_of(scope="session", stages=JUDGED))
        root, *children = spans_of(1, session="s1")
        for spans in ([root], children):
            traffic.arrive(spans)
            complete(traffic)
            traffic.clock.turn(61)
            assert asyncio.run(complete_sessions(traffic.tools, limit=10)) == 1
            work(traffic)
        assert (judge.asked, stats(traffic).traces_evaluated) == (2, 1)


def test_a_trace_that_changes_while_it_is_judged_is_judged_again(tmp_path: Path) -> None:
    judge = StandInJudge(delay_s=0.2)

    async def go(traffic: Traffic, late: list[Any]) -> None:
        line = TaskLine(traffic.tools)
        await line.step()
        traffic.arrive(late)
        await complete_traces(traffic.tools, limit=10)
        while stats(traffic).traces_waiting:
            await line.step()
            await asyncio.sleep(0.02)
        await line.close()

    with traffic_in(tmp_path, judged(judge)) as traffic:
        traffic.apply(policy_of(stages=JUDGED))
        root, *children = spans_of(1)
        traffic.arrive([root])
        complete(traffic)
        asyncio.run(go(traffic, children))
        (found,) = traffic.traces.results("default", trace_id(1))
        assert (found.revision, judge.asked, stats(traffic).traces_evaluated) == (2, 2, 1)


def test_a_trace_that_was_deleted_while_it_waited_is_let_go(tmp_path: Path) -> None:
    with traffic_in(tmp_path, judged(StandInJudge())) as traffic:
        traffic.apply(policy_of(stages=JUDGED))
        traffic.arrive(spans_of(1))
        complete(traffic)
        traffic.traces.delete("default", [trace_id(1)])
        work(traffic)
        assert stats(traffic).traces_waiting == 0
