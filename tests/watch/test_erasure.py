"""What somebody asked to be forgotten is forgotten by everything that keeps a part of it, also while a policy grades it."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evalsi.evaluators.api import EvalContext
from evalsi.infra.promoted_files import PromotedFiles
from evalsi.infra.store.open_stores import open_failure_store
from evalsi.ports.failure_store import FailureQuery
from evalsi.ports.policy_store import SESSION_PREFIX, Stage
from evalsi.schema import DeleteTracesRequest, Feedback
from evalsi.settings import Settings
from evalsi.traces import Span, default_tracing
from evalsi.watch.backfill_policy import backfill_policy
from evalsi.watch.complete_sessions import complete_sessions
from evalsi.watch.complete_traces import complete_traces
from evalsi.watch.failure_case import captured_trace, event_of, new_failure
from evalsi.watch.policy import CheckedPolicy, checked_policy
from evalsi.watch.policy_book import ArmedPolicy
from evalsi.watch.reading_traces import delete_traces
from evalsi.watch.work_on_tasks import work_on_tasks
from evalsi.wiring.trace_libraries import trace_library
from tests.watch.live_traffic import NOON, Traffic, arm, policy_of, spans_of, trace_id, traffic_in

SECRET = "zwetschgenknödel"
QUICK = [{"evaluators": [{"ref": "pii-leak"}]}]
JUDGED = [{"evaluators": [{"ref": "toxicity"}]}]
PROMOTING = {"when": "true", "dataset": "cases"}


@pytest.fixture
def traffic(tmp_path: Path) -> Iterator[Traffic]:
    with traffic_in(tmp_path) as found:
        yield found


def of_ann(number: int, *, session: str = "") -> list[Span]:
    return spans_of(
        number, question=f"I am Ann, {SECRET}.", answer=SECRET, session=session, attributes={"user.id": "ann"}
    )


def complete(traffic: Traffic) -> None:
    while asyncio.run(complete_traces(traffic.tools, limit=100)):
        pass


def end_sessions(traffic: Traffic) -> None:
    traffic.clock.turn(120)
    while asyncio.run(complete_sessions(traffic.tools, limit=9)):
        pass


def erase(traffic: Traffic, **asked: Any) -> int:
    with closing(open_failure_store(str(traffic.folder / "evalsi.db"))) as failures:
        request = DeleteTracesRequest(**asked)
        return delete_traces(traffic.traces, failures, "default", request, traffic.policies.forget)


def waiting_for_sinks(traffic: Traffic) -> int:
    return sum(each.waiting for each in traffic.outbox.sink_standings())


def promoted(traffic: Traffic) -> str:
    return "".join(path.read_text() for path in (traffic.folder / "datasets").rglob("*.jsonl"))


@pytest.mark.parametrize("asked", [{"user_id": "ann"}, {"trace_ids": [trace_id(1)]}, {"session_id": "s1"}])
def test_a_session_that_is_left_without_a_trace_is_forgotten_with_it(traffic: Traffic, asked: dict[str, Any]) -> None:
    traffic.apply(policy_of(name="talks", scope="session", stages=QUICK, sinks=["hook"]))
    traffic.arrive(of_ann(1, session="s1"), spans_of(2, session="s2"))
    complete(traffic)
    end_sessions(traffic)
    names = [SESSION_PREFIX + "s1", SESSION_PREFIX + "s2"]
    assert set(traffic.policies.marked("default", "talks", names)) == set(names)
    assert waiting_for_sinks(traffic) == 2
    assert erase(traffic, **asked) == 1
    assert set(traffic.policies.marked("default", "talks", names)) == {names[1]}
    assert waiting_for_sinks(traffic) == 1
    assert traffic.traces.session_results("default", "s1") == []


def test_copies_of_a_trace_that_expired_and_what_is_said_of_it_later_go_when_it_is_named(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=QUICK, promote={"dataset": "cases"}))
    traffic.arrive(of_ann(1), spans_of(2))
    complete(traffic)
    assert traffic.traces.expire("default", before_ms=traffic.tools.now_ms + 1, limit=9) == 2
    said = [Feedback(id="late", trace_id=trace_id(1), comment=SECRET, time=NOON)]
    traffic.traces.add_feedback("default", said, now_ms=traffic.tools.now_ms, reconsider=False)
    assert SECRET in promoted(traffic)
    with closing(open_failure_store(str(traffic.folder / "evalsi.db"))) as failures:
        request = DeleteTracesRequest(trace_ids=[trace_id(1)])
        forget_cases = PromotedFiles(traffic.folder / "datasets").forget
        delete_traces(traffic.traces, failures, "default", request, traffic.policies.forget, forget_cases)
    assert SECRET not in promoted(traffic)
    assert trace_id(2) in promoted(traffic)
    assert traffic.traces.feedback("default", trace_id=trace_id(1), size=9).total == 0


def test_a_session_that_has_another_trace_is_kept(traffic: Traffic) -> None:
    traffic.apply(policy_of(name="talks", scope="session", stages=QUICK))
    traffic.arrive(of_ann(1, session="s1"), spans_of(2, session="s1"))
    complete(traffic)
    end_sessions(traffic)
    assert erase(traffic, user_id="ann") == 1
    assert traffic.policies.marked("default", "talks", [SESSION_PREFIX + "s1"])


def judging(before_it_answers: Callable[[], None]) -> Callable[[CheckedPolicy], ArmedPolicy]:
    """Arms policies with a judge during whose answer something happens."""
    from evalsi.engine.make_panel import bind_all
    from evalsi.engine.panel import Panel
    from evalsi.evaluators.api import evaluator
    from evalsi.schema import Record
    from evalsi.watch.cascade import ReadyPolicy

    @evaluator(name="toxicity", requires=["judge"])
    async def toxicity(record: Record) -> float:
        del record
        await asyncio.to_thread(before_it_answers)
        return 0.25

    def armed(checked: CheckedPolicy) -> ArmedPolicy:
        if not checked.asks_judge:
            return arm(checked)
        judge: Any = object()
        panel = Panel(evaluators=bind_all([toxicity], EvalContext(judge=judge)), concurrency=1)
        return ArmedPolicy(ready=ReadyPolicy(checked=checked, panels=[panel]))

    return armed


@pytest.mark.parametrize("scope", ["trace", "session"])
@pytest.mark.parametrize("asked", [{"user_id": "ann"}, {"trace_ids": [trace_id(1)]}, {"session_id": "s1"}])
def test_what_is_erased_while_a_judge_looks_at_it_leaves_nothing_behind(
    tmp_path: Path, asked: dict[str, Any], scope: str
) -> None:
    erased: list[int] = []

    def forget() -> None:
        if not erased:
            erased.append(erase(traffic, **asked))

    with traffic_in(tmp_path, judging(forget)) as traffic:
        traffic.apply(policy_of(scope=scope, stages=JUDGED, sinks=["hook"], promote=PROMOTING))
        traffic.arrive(of_ann(1, session="s1"))
        complete(traffic)
        end_sessions(traffic)
        traffic.tools.book.refresh()
        tasks = traffic.policies.claim_tasks(now_ms=traffic.tools.now_ms, limit=10, lease_ms=60_000)
        assert len(tasks) == 1
        asyncio.run(work_on_tasks(traffic.tools, tasks))
        assert erased == [1]
        names = [trace_id(1), SESSION_PREFIX + "s1"]
        assert traffic.policies.marked("default", "answers", names) == {}
        assert waiting_for_sinks(traffic) == 0
        assert SECRET not in promoted(traffic)
        assert traffic.traces.session_results("default", "s1") == []
        assert traffic.policies.waiting("default", "answers") == 0


def test_what_a_policy_or_a_person_adds_while_traces_are_erased_goes_with_them(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=QUICK, sinks=["hook"]))
    traffic.arrive(of_ann(1))
    complete(traffic)
    with closing(open_failure_store(str(traffic.folder / "evalsi.db"))) as failures:
        trace = captured_trace(of_ann(1), traffic.traces.summary("default", trace_id(1)), default_tracing())
        failure = new_failure(trace, failure_id="f1", title="", reason="", actor="key:a", now=traffic.clock.now())

        captured: list[Any] = []

        def forget(project: str, subjects: Any) -> None:
            traffic.policies.forget(project, subjects)
            if not captured:
                captured.append(failures.capture(failure, event_of(None, failure)))

        delete_traces(traffic.traces, failures, "default", DeleteTracesRequest(user_id="ann"), forget)
        assert captured
        assert failures.find(["default"], FailureQuery(), size=9).failures == []


@pytest.mark.parametrize("asked", [{"user_id": "ann"}, {"trace_ids": [trace_id(1)]}])
def test_no_byte_of_what_was_erased_is_left_in_the_files(tmp_path: Path, asked: dict[str, Any]) -> None:
    with traffic_in(tmp_path) as traffic:
        explained = [{"evaluators": [{"ref": "contains", "params": {"substring": "nothing"}}]}]
        traffic.apply(policy_of(stages=explained, sinks=["hook"]))
        for number in range(2, 40):
            traffic.arrive(spans_of(number, answer=f"another answer {number}"))
        traffic.arrive(of_ann(1, session=SECRET))
        for number in range(40, 80):
            traffic.arrive(spans_of(number, answer=f"another answer {number}"))
        complete(traffic)
        with closing(open_failure_store(str(traffic.folder / "evalsi.db"))) as failures:
            summary = traffic.traces.summary("default", trace_id(1))
            trace = captured_trace(of_ann(1), summary, default_tracing())
            now = traffic.clock.now()
            failure = new_failure(trace, failure_id="f1", title=SECRET, reason=SECRET * 200, actor="key:a", now=now)
            failures.capture(failure, event_of(None, failure))
            assert any(SECRET.encode() in path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
        assert erase(traffic, **asked) == 1
    left = [path.name for path in tmp_path.iterdir() if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert left == []


@pytest.mark.parametrize("scope", ["trace", "session"])
def test_what_is_erased_while_a_policy_is_put_to_work_on_the_past_is_not_put_in_line(
    traffic: Traffic, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    traffic.arrive(of_ann(1, session="s1"), spans_of(2, session="s2"))
    complete(traffic)
    policy = policy_of(scope=scope, stages=JUDGED)
    traffic.apply(policy)
    marked = traffic.policies.marked

    def erased_meanwhile(project: str, name: str, subjects: Sequence[str]) -> Mapping[str, Stage]:
        erase(traffic, user_id="ann")
        return marked(project, name, subjects)

    with monkeypatch.context() as patched:
        patched.setattr(traffic.policies, "marked", erased_meanwhile)
        queued = backfill_policy(
            traffic.traces,
            traffic.policies,
            checked_policy(policy),
            default_tracing(),
            traffic.clock.now(),
            since=None,
            until=None,
        )
    assert queued == 1
    names = [trace_id(1), SESSION_PREFIX + "s1"]
    assert traffic.policies.marked("default", "answers", names) == {}
    assert traffic.policies.waiting("default", "answers") == 1


def test_traces_that_are_removed_without_a_server_are_forgotten_by_its_policies_too(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=QUICK, sinks=["hook"]))
    traffic.arrive(of_ann(1))
    complete(traffic)
    with trace_library(Settings.from_environment({"EVALSI_DIR": str(traffic.folder)})) as library:
        assert library.delete(DeleteTracesRequest(user_id="ann")) == 1
    assert traffic.policies.marked("default", "answers", [trace_id(1)]) == {}
    assert waiting_for_sinks(traffic) == 0
