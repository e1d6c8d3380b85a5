"""Scores reach their sinks: none lost, none under two ids, nobody held up. SQLite, real evaluators, HTTP on this machine."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.address_fence import AddressFence
from evalsi.engine.make_panel import bind_all
from evalsi.engine.panel import Panel
from evalsi.evaluators.api import EvalContext, evaluator
from evalsi.infra.sinks.endpoint import SinkEndpoint
from evalsi.infra.sinks.webhook_sink import WebhookSink
from evalsi.infra.store.open_stores import open_failure_store
from evalsi.ports.score_outbox import SinkStanding
from evalsi.ports.score_sink import TAKEN, OutgoingScores, SinkReceipt
from evalsi.schema import DeleteTracesRequest, PolicyStats, Record
from evalsi.watch.cascade import ReadyPolicy
from evalsi.watch.complete_sessions import complete_sessions
from evalsi.watch.complete_traces import complete_traces
from evalsi.watch.deliver_scores import LEASE_S, SinkLane, SinkPlan, give_up_old
from evalsi.watch.policy import CheckedPolicy
from evalsi.watch.policy_book import ArmedPolicy
from evalsi.watch.reading_traces import delete_traces
from evalsi.watch.sink_states import with_sinks
from evalsi.watch.work_on_tasks import work_on_tasks
from tests.watch.live_traffic import Traffic, policy_of, spans_of, trace_id, traffic_in
from tests.watch.webhook_receiver import Answer, Receiver, receiver

LEAK = "My address is jane@example.com."
QUICK = [{"evaluators": [{"ref": "pii-leak"}, {"ref": "length", "name": "words"}]}]
SECRET = "s3cret-for-tests"
DAY_S = 86_400.0


@pytest.fixture
def traffic(tmp_path: Path) -> Iterator[Traffic]:
    with traffic_in(tmp_path) as found:
        yield found


@pytest.fixture
def heard() -> Iterator[Receiver]:
    with receiver() as found:
        yield found


def hook(traffic: Traffic, heard: Receiver, path: str = "/scores") -> WebhookSink:
    url = heard.url + path
    endpoint = SinkEndpoint(url=url, fence=AddressFence(allow_urls=frozenset({url})))
    return WebhookSink(endpoint=endpoint, secret=lambda: SECRET, clock=traffic.clock)


def lane(traffic: Traffic, sink: Any, name: str = "hook", **said: Any) -> SinkLane:
    return SinkLane(traffic.tools, traffic.outbox, SinkPlan(name=name, sink=sink, **said), share=lambda: 1.0)


def complete(traffic: Traffic) -> None:
    """Completes whatever is due."""
    while asyncio.run(complete_traces(traffic.tools, limit=100)):
        pass


def work(traffic: Traffic) -> None:
    """Works on what waits in line."""

    async def go() -> None:
        traffic.tools.book.refresh()
        while tasks := traffic.policies.claim_tasks(now_ms=traffic.tools.now_ms, limit=10, lease_ms=60_000):
            await work_on_tasks(traffic.tools, tasks)

    asyncio.run(go())


def deliver(*lanes: SinkLane) -> int:
    """Takes whatever is due to the sinks; how many deliveries."""

    async def work() -> int:
        count = 0
        for each in lanes:
            while some := await each.step():
                count += some
            await each.plan.sink.close()
        return count

    return asyncio.run(work())


def scores(heard: Receiver) -> list[dict[str, Any]]:
    return [score for _, body in heard.heard for score in json.loads(body)["scores"]]


def by_metric(heard: Receiver) -> dict[tuple[str, str], list[dict[str, Any]]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for score in scores(heard):
        found.setdefault((score["trace_id"], score["metric"]), []).append(score)
    return found


def standing(traffic: Traffic, sink: str = "hook") -> SinkStanding:
    (found,) = [each for each in traffic.outbox.sink_standings("default") if each.sink == sink]
    return found


def test_scores_arrive_signed_with_what_they_are_about(traffic: Traffic, heard: Receiver) -> None:
    traffic.apply(policy_of(stages=QUICK, sinks=["hook"]))
    traffic.arrive(spans_of(1), spans_of(2, answer=LEAK, session="s1"))
    complete(traffic)
    assert deliver(lane(traffic, hook(traffic, heard))) == 2
    ((headers, body),) = heard.heard
    stated, mac = headers["Evalsi-Signature"].removeprefix("t=").split(",v1=")
    assert mac == hmac.new(SECRET.encode(), f"{stated}.".encode() + body, hashlib.sha256).hexdigest()
    assert headers["Evalsi-Event"] == json.loads(body)["type"] == "trace.scored"
    found = by_metric(heard)
    assert found.keys() == {(trace_id(n), metric) for n in (1, 2) for metric in ("pii-leak", "words")}
    ((score,),) = [found[trace_id(2), "pii-leak"]]
    assert (score["value"], score["policy"], score["project"], score["session_id"]) == (
        False,
        "answers",
        "default",
        "s1",
    )
    assert score["span_id"] == spans_of(2)[0].span_id
    assert score["evaluator"].startswith("safety/pii-leak@")
    assert (standing(traffic).delivered, standing(traffic).waiting) == (2, 0)


def test_policies_that_name_no_sink_tell_nobody(traffic: Traffic, heard: Receiver) -> None:
    traffic.apply(policy_of(stages=QUICK))
    traffic.arrive(spans_of(1))
    complete(traffic)
    assert deliver(lane(traffic, hook(traffic, heard))) == 0
    assert traffic.outbox.sink_standings() == []


def test_whoever_dies_between_sending_and_noting_it_is_followed_by_the_same_ids(
    traffic: Traffic, heard: Receiver
) -> None:
    traffic.apply(policy_of(stages=QUICK, sinks=["hook"]))
    traffic.arrive(spans_of(1))
    complete(traffic)

    async def die_after_sending() -> None:
        claimed = traffic.outbox.claim_scores(
            "hook", now_ms=traffic.tools.now_ms, limit=9, lease_ms=int(LEASE_S * 1000)
        )
        sink = hook(traffic, heard)
        assert [each.state for each in await sink.send([each.scores for each in claimed])] == ["taken"]
        await sink.close()

    asyncio.run(die_after_sending())
    follower = lane(traffic, hook(traffic, heard))
    assert deliver(follower) == 0
    traffic.clock.turn(LEASE_S + 1)
    assert deliver(follower) == 1
    first, second = (json.loads(body)["scores"] for _, body in heard.heard)
    assert [score["id"] for score in first] == [score["id"] for score in second]
    assert len({score["id"] for score in first}) == 2
    assert standing(traffic).delivered == 1


def test_scores_that_a_late_span_takes_away_are_withdrawn_under_their_ids(traffic: Traffic, heard: Receiver) -> None:
    root, *steps = spans_of(1)
    traffic.apply(policy_of(selector="steps < 3", stages=QUICK, sinks=["hook"]))
    traffic.arrive([root])
    complete(traffic)
    deliver(lane(traffic, hook(traffic, heard)))
    traffic.arrive([*steps, *spans_of(1, tools=("lookup_order", "refund", "tell"))[1:]])
    complete(traffic)
    deliver(lane(traffic, hook(traffic, heard)))
    found = by_metric(heard)
    assert found.keys() == {(trace_id(1), "pii-leak"), (trace_id(1), "words")}
    for first, second in found.values():
        assert ("withdrawn" in first, second["withdrawn"], second["value"]) == (False, True, None)
        assert (first["id"], first["revision"]) == (second["id"], second["revision"] - 1)
    assert (standing(traffic).delivered, standing(traffic).waiting) == (2, 0)


def test_late_spans_change_the_score_under_its_id(traffic: Traffic, heard: Receiver) -> None:
    traffic.apply(policy_of(stages=[{"evaluators": [{"ref": "step-budget"}]}], sinks=["hook"]))
    to_hook = lane(traffic, hook(traffic, heard))
    root, *children = spans_of(1, tools=("lookup_order", "refund"))
    traffic.arrive([root])
    complete(traffic)
    deliver(to_hook)
    for _ in range(2):  # the sender tries again
        traffic.arrive(children)
        complete(traffic)
        deliver(to_hook)
    first, second = by_metric(heard)[trace_id(1), "step-budget.tool_calls"]
    assert first["id"] == second["id"]
    assert (first["revision"], second["revision"]) == (1, 2)
    assert first["value"] < second["value"]


def test_one_that_is_scored_again_before_it_was_taken_is_told_once_with_the_last_value(
    traffic: Traffic, heard: Receiver
) -> None:
    traffic.apply(policy_of(stages=[{"evaluators": [{"ref": "step-budget"}]}], sinks=["hook"]))
    whole = spans_of(1, tools=("lookup_order", "refund"))
    traffic.arrive(whole[:1])
    complete(traffic)
    traffic.arrive(whole[1:])
    complete(traffic)
    assert deliver(lane(traffic, hook(traffic, heard))) == 1
    assert {score["revision"] for score in scores(heard)} == {2}


def test_a_dead_sink_delays_neither_grading_nor_another_sink(traffic: Traffic, heard: Receiver) -> None:
    with receiver() as gone:
        dead = lane(traffic, hook(traffic, gone), "dead")
    alive = lane(traffic, hook(traffic, heard))
    traffic.apply(policy_of(stages=QUICK, sinks=["dead", "hook"]))
    for number in range(12):
        traffic.arrive(spans_of(number))
        complete(traffic)
        deliver(dead, alive)
    assert len({trace for trace, _ in by_metric(heard)}) == 12
    assert traffic.policies.counts("default", "answers")["evaluated"] == 12
    found = standing(traffic, "dead")
    assert (found.waiting, found.delivered, found.given_up) == (12, 0, 0)
    assert found.is_in_trouble
    assert "127.0.0.1 cannot be reached" in found.error


def test_a_sink_that_takes_nothing_is_left_alone_for_longer_each_time_and_asked_for_less(
    traffic: Traffic, heard: Receiver
) -> None:
    traffic.apply(policy_of(stages=QUICK, sinks=["hook"]))
    traffic.arrive(*(spans_of(number) for number in range(60)))
    complete(traffic)
    heard.status = 503
    to_hook = lane(traffic, hook(traffic, heard))
    asked: list[int] = []
    pauses: list[int] = []
    for _ in range(7):
        waited = 0
        while not (count := deliver(to_hook)):
            traffic.clock.turn(1)
            waited += 1
        asked.append(count)
        pauses.append(waited)
    assert asked == [60, 50, 25, 12, 6, 3, 1]
    assert pauses == [0, 1, 2, 4, 8, 16, 32]
    heard.status = 200
    traffic.clock.turn(400)
    deliver(to_hook)
    assert (standing(traffic).delivered, standing(traffic).waiting) == (60, 0)


def test_a_sink_is_left_alone_for_as_long_as_it_asks(traffic: Traffic, heard: Receiver) -> None:
    traffic.apply(policy_of(stages=QUICK, sinks=["hook"]))
    traffic.arrive(spans_of(1))
    complete(traffic)
    heard.answer = lambda _: Answer(429, {"Retry-After": "120"})
    to_hook = lane(traffic, hook(traffic, heard))
    deliver(to_hook)
    heard.answer = None
    traffic.clock.turn(119)
    assert deliver(to_hook) == 0
    traffic.clock.turn(1)
    assert deliver(to_hook) == 1


def test_a_score_that_is_refused_costs_only_its_own_delivery(traffic: Traffic, heard: Receiver) -> None:
    poison = trace_id(5).encode()
    heard.answer = lambda message: Answer(400 if poison in message.body else 200)
    traffic.apply(policy_of(stages=QUICK, sinks=["hook"]))
    traffic.arrive(*(spans_of(number) for number in range(10)))
    complete(traffic)
    deliver(lane(traffic, hook(traffic, heard)))
    found = standing(traffic)
    assert (found.delivered, found.given_up, found.waiting) == (9, 1, 0)
    assert "HTTP status 400" in found.error
    (warning,) = with_sinks(PolicyStats(policy="answers"), [found]).warnings
    assert warning.startswith("1 delivery was given up that should have gone to the sink hook: 127.0.0.1 answered")


class Stumbling:
    """A sink that fails on one trace, whatever else is sent with it."""

    def __init__(self, fails: Callable[[], SinkReceipt]) -> None:
        self._fails = fails
        self.taken: set[str] = set()

    async def send(self, deliveries: Sequence[OutgoingScores]) -> Sequence[SinkReceipt]:
        if trace_id(5) in {each.subject for each in deliveries}:
            return [self._fails()] * len(deliveries)
        self.taken |= {each.subject for each in deliveries}
        return [TAKEN] * len(deliveries)

    async def close(self) -> None: ...


def raised() -> SinkReceipt:
    raise ValueError("non-hexadecimal number found")


@pytest.mark.parametrize("fails", [lambda: SinkReceipt("trouble", "HTTP status 500"), raised])
def test_one_that_a_sink_stumbles_over_every_time_holds_up_no_other(
    traffic: Traffic, fails: Callable[[], SinkReceipt]
) -> None:
    traffic.apply(policy_of(stages=QUICK, sinks=["hook"]))
    traffic.arrive(*(spans_of(number) for number in range(20)))
    complete(traffic)
    sink = Stumbling(fails)
    to_hook = lane(traffic, sink)
    for _ in range(300):
        deliver(to_hook)
        traffic.clock.turn(1)
    assert sink.taken == {trace_id(number) for number in range(20)} - {trace_id(5)}
    found = standing(traffic)
    assert (found.delivered, found.waiting, found.given_up) == (19, 1, 0)
    traffic.clock.turn(DAY_S)
    deliver(to_hook)
    assert (standing(traffic).delivered, standing(traffic).given_up) == (19, 1)


def test_what_is_not_taken_in_time_is_given_up_and_seen(traffic: Traffic, heard: Receiver) -> None:
    traffic.apply(policy_of(stages=QUICK, sinks=["hook", "gone"]))
    traffic.arrive(spans_of(1))
    complete(traffic)
    heard.status = 401  # an operator puts that right, so it is tried again
    to_hook = lane(traffic, hook(traffic, heard), give_up_after_s=3_600.0)
    deliver(to_hook)
    assert standing(traffic).given_up == 0
    traffic.clock.turn(3_599)
    assert give_up_old(traffic.tools, traffic.outbox, [to_hook.plan]) == 0
    traffic.clock.turn(2)
    assert deliver(to_hook) == 1
    assert standing(traffic).given_up == 1
    # Nobody works for a sink that is not there any more, and what waits for it does not stay for ever.
    traffic.clock.turn(DAY_S)
    assert give_up_old(traffic.tools, traffic.outbox, [to_hook.plan]) == 1
    assert standing(traffic, "gone").error == "evalsi.yaml names no such sink any more"
    assert standing(traffic, "gone").given_up == 1


def test_what_waits_for_a_sink_that_its_project_lost_is_not_sent(traffic: Traffic, heard: Receiver) -> None:
    traffic.apply(policy_of(stages=QUICK, sinks=["hook"]))
    traffic.apply(policy_of(project="billing", stages=QUICK, sinks=["hook"]))
    traffic.arrive(spans_of(1))
    traffic.arrive(spans_of(2), project="billing")
    complete(traffic)
    deliver(lane(traffic, hook(traffic, heard), projects=frozenset({"billing"})))
    assert {score["project"] for score in scores(heard)} == {"billing"}
    found = standing(traffic)
    assert (found.given_up, found.waiting, found.delivered) == (1, 0, 0)
    assert "does not let the project use the sink" in found.error


def test_a_sink_that_nobody_reaches_gives_up_what_is_old_without_asking_it_each_time(traffic: Traffic) -> None:
    with receiver() as gone:
        dead = lane(traffic, hook(traffic, gone), give_up_after_s=3_600.0)
    traffic.apply(policy_of(stages=QUICK, sinks=["hook"]))
    traffic.arrive(*(spans_of(number) for number in range(40)))
    complete(traffic)
    deliver(dead)
    traffic.clock.turn(3_700)
    assert give_up_old(traffic.tools, traffic.outbox, [dead.plan]) == 40
    assert standing(traffic).given_up == 40
    assert "cannot be reached" in standing(traffic).error


def test_removing_traces_takes_what_waits_about_them(traffic: Traffic, heard: Receiver) -> None:
    traffic.apply(policy_of(stages=QUICK, sinks=["hook"]))
    traffic.apply(
        policy_of(name="talks", scope="session", stages=[{"evaluators": [{"ref": "pii-leak"}]}], sinks=["hook"])
    )
    traffic.arrive(spans_of(1, session="s1"), spans_of(2, session="s2"), spans_of(3))
    complete(traffic)
    traffic.clock.turn(120)
    asyncio.run(complete_sessions(traffic.tools, limit=9))
    with closing(open_failure_store(str(traffic.folder / "evalsi.db"))) as failures:
        request = DeleteTracesRequest(session_id="s1")
        delete_traces(traffic.traces, failures, "default", request, traffic.policies.forget)
        delete_traces(
            traffic.traces, failures, "default", DeleteTracesRequest(trace_ids=[trace_id(3)]), traffic.policies.forget
        )
    deliver(lane(traffic, hook(traffic, heard)))
    assert {score["trace_id"] for score in scores(heard)} == {trace_id(2)}
    assert sum(each.waiting for each in traffic.outbox.sink_standings()) == 0


def test_steps_are_told_by_their_span_and_sessions_by_their_id(traffic: Traffic, heard: Receiver) -> None:
    traffic.apply(
        policy_of(name="steps", scope="span", stages=[{"evaluators": [{"ref": "agent-efficiency"}]}], sinks=["hook"])
    )
    traffic.apply(
        policy_of(name="talks", scope="session", stages=[{"evaluators": [{"ref": "pii-leak"}]}], sinks=["hook"])
    )
    traffic.arrive(spans_of(1, session="s1", tools=("a", "b")))
    complete(traffic)
    traffic.clock.turn(120)
    asyncio.run(complete_sessions(traffic.tools, limit=9))
    deliver(lane(traffic, hook(traffic, heard)))
    steps = [score for score in scores(heard) if score["policy"] == "steps"]
    assert sorted(score["span_id"] for score in steps) == sorted(span.span_id for span in spans_of(1, tools=("a", "b")))
    assert {score["trace_id"] for score in steps} == {trace_id(1)}
    (talk,) = [score for score in scores(heard) if score["policy"] == "talks"]
    assert (talk["trace_id"], talk["session_id"]) == (trace_id(1), "s1")
    ids = [score["id"] for score in scores(heard)]
    assert len(ids) == len(set(ids))


def whole_sessions(checked: CheckedPolicy) -> ArmedPolicy:
    """Arms a policy with an evaluator that counts the traces of a session, in place of the one that asks a judge."""
    counting = evaluator(name="user-frustration", scope="session")(_count)
    panel = Panel(evaluators=bind_all([counting], EvalContext()))
    return ArmedPolicy(ready=ReadyPolicy(checked=checked, panels=[panel]))


def _count(records: Sequence[Record]) -> float:
    return float(len(records))


def test_the_score_of_a_whole_session_is_of_no_single_trace(tmp_path: Path, heard: Receiver) -> None:
    with traffic_in(tmp_path, whole_sessions) as traffic:
        stages = [{"evaluators": [{"ref": "user-frustration"}]}]
        traffic.apply(policy_of(scope="session", stages=stages, sinks=["hook"]))
        traffic.arrive(spans_of(1, session="s1"), spans_of(2, session="s1", begun_s=2))
        complete(traffic)
        traffic.clock.turn(120)
        asyncio.run(complete_sessions(traffic.tools, limit=9))
        work(traffic)
        (claimed,) = traffic.outbox.claim_scores("hook", now_ms=traffic.tools.now_ms, limit=9, lease_ms=1)
        traffic.clock.turn(1)
        deliver(lane(traffic, hook(traffic, heard)))
    (score,) = scores(heard)
    assert (score["session_id"], score["value"], "trace_id" in score) == ("s1", 2.0, False)
    assert claimed.scores.first_trace_id == trace_id(1)
    assert claimed.scores.scores[0].is_judged


def test_an_evaluation_that_went_wrong_is_told_as_that(tmp_path: Path, heard: Receiver) -> None:
    def arming(checked: CheckedPolicy) -> ArmedPolicy:
        panel = Panel(evaluators=bind_all([evaluator(name="pii-leak")(_fail)], EvalContext()))
        return ArmedPolicy(ready=ReadyPolicy(checked=checked, panels=[panel]))

    with traffic_in(tmp_path, arming) as traffic:
        traffic.apply(policy_of(stages=[{"evaluators": [{"ref": "pii-leak"}]}], sinks=["hook"]))
        traffic.arrive(spans_of(1))
        complete(traffic)
        deliver(lane(traffic, hook(traffic, heard)))
    (score,) = scores(heard)
    assert (score["value"], bool(score["error_type"]), bool(score["error"])) == (None, True, True)


def _fail(record: Record) -> float:
    raise RuntimeError(record.id)


def test_a_sink_slower_than_its_share_holds_up_no_other_lane(traffic: Traffic, heard: Receiver) -> None:
    traffic.apply(policy_of(stages=QUICK, sinks=["slow", "hook"]))
    traffic.arrive(*(spans_of(number) for number in range(5)))
    complete(traffic)

    async def work() -> list[str]:
        finished: list[str] = []
        freed = asyncio.Event()

        class Slow:
            """Answers when the other lane is done."""

            async def send(self, deliveries: Sequence[Any]) -> Any:
                await freed.wait()
                return await hook_again.send(deliveries)

            async def close(self) -> None: ...

        hook_again = hook(traffic, heard)
        slow, quick = lane(traffic, Slow(), "slow"), lane(traffic, hook(traffic, heard))

        async def run(each: SinkLane) -> None:
            await each.step()
            finished.append(each.plan.name)
            freed.set()

        await asyncio.gather(run(slow), run(quick))
        await hook_again.close()
        await quick.plan.sink.close()
        return finished

    assert asyncio.run(work()) == ["hook", "slow"]
    assert (standing(traffic, "slow").delivered, standing(traffic).delivered) == (5, 5)
