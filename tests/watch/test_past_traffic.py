"""A policy is tried on stored traces, put to work on them, and what it found there is compared."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from evalsi.ports.policy_store import PolicyMark, Settlement
from evalsi.schema import CompareTrafficResponse, TestPolicyResponse, TrafficSlice
from evalsi.watch.backfill_policy import backfill_policy
from evalsi.watch.compare_traffic import compare_traffic
from evalsi.watch.complete_sessions import complete_sessions
from evalsi.watch.complete_traces import complete_traces
from evalsi.watch.policy import checked_policy
from evalsi.watch.try_policy import try_policy
from evalsi.watch.work_on_tasks import work_on_tasks
from tests.watch.live_traffic import NOON, Traffic, policy_of, spans_of, trace_id, traffic_in

LEAK = "My address is jane@example.com."
STAGES = [{"evaluators": [{"ref": "pii-leak"}]}]


@pytest.fixture
def traffic(tmp_path: Path) -> Iterator[Traffic]:
    with traffic_in(tmp_path) as found:
        yield found


def arrived(traffic: Traffic, *traces: Any) -> None:
    traffic.arrive(*traces)
    asyncio.run(complete_traces(traffic.tools, limit=1_000))


def tried(traffic: Traffic, **said: Any) -> TestPolicyResponse:
    checked = checked_policy(policy_of(**said))
    return try_policy(
        traffic.traces,
        checked,
        traffic.tools.tracing,
        traffic.clock.now() + timedelta(minutes=1),
        price=lambda usage: 0.001 * (usage.output_tokens or 0),
    )


def backfilled(traffic: Traffic, **said: Any) -> int:
    policy = policy_of(**said)
    traffic.apply(policy)
    return backfill_policy(
        traffic.traces,
        traffic.policies,
        checked_policy(policy),
        traffic.tools.tracing,
        traffic.clock.now() + timedelta(minutes=1),
        since=NOON - timedelta(hours=1),
        until=None,
    )


def work(traffic: Traffic) -> None:
    async def go() -> None:
        traffic.tools.book.refresh()
        while tasks := traffic.policies.claim_tasks(now_ms=traffic.tools.now_ms + 120_000, limit=50, lease_ms=60_000):
            await work_on_tasks(traffic.tools, tasks)

    asyncio.run(go())


def test_trying_says_what_would_have_been_matched_and_drawn(traffic: Traffic) -> None:
    arrived(traffic, *(spans_of(number, version=f"{number % 2}.0") for number in range(1, 11)))
    found = tried(traffic, selector="version == '1.0'", sampling={"rate": 0.0, "always": ["error"]}, stages=STAGES)
    assert (found.seen, found.matched, found.sampled, found.cost_usd) == (10, 5, 0, 0.0)
    found = tried(traffic, selector="'lookup_order' in tools", stages=STAGES)
    assert (found.seen, found.matched, found.sampled) == (10, 10, 10)
    assert trace_id(3) in found.trace_ids
    assert traffic.policies.counts("default", "answers") == {}


def test_trying_a_judged_policy_says_about_what_it_costs(traffic: Traffic) -> None:
    arrived(traffic, *(spans_of(number) for number in range(1, 31)))
    found = tried(traffic, stages=[{"evaluators": [{"ref": "toxicity"}, {"ref": "bias"}]}])
    assert found.cost_usd == pytest.approx(30 * 2 * 0.2)
    checked = checked_policy(policy_of(stages=[{"evaluators": [{"ref": "toxicity"}]}]))
    unknown = try_policy(traffic.traces, checked, traffic.tools.tracing, traffic.clock.now() + timedelta(minutes=1))
    assert unknown.cost_usd is None


def test_trying_warns_of_content_that_was_not_captured(traffic: Traffic) -> None:
    arrived(traffic, spans_of(1, answer=None, question=None))
    (warning,) = tried(traffic, stages=STAGES).warnings
    assert "pii-leak would be skipped on 1 of 1 records" in warning


def test_the_past_is_put_in_line_once_and_counts_for_its_own_time(traffic: Traffic) -> None:
    arrived(traffic, *(spans_of(number, begun_s=-600) for number in range(1, 6)), spans_of(6, answer=LEAK))
    assert backfilled(traffic, stages=STAGES) == 6
    assert backfilled(traffic, stages=STAGES) == 0
    work(traffic)
    assert traffic.policies.counts("default", "answers")["evaluated"] == 6
    assert traffic.policies.waiting("default", "answers") == 0
    assert traffic.traces.summary("default", trace_id(6)).scores == {"pii-leak": 0.0}
    assert backfilled(traffic, stages=STAGES) == 0
    starts = {each.key.start_ms for each in traffic.policies.buckets("default", "answers", since_ms=0, until_ms=2**41)}
    assert len(starts) == 2


def test_what_a_budget_left_out_is_put_in_line_again(traffic: Traffic) -> None:
    arrived(traffic, *(spans_of(number) for number in range(1, 4)))
    assert backfilled(traffic, stages=STAGES) == 3
    tasks = traffic.policies.claim_tasks(now_ms=traffic.tools.now_ms + 120_000, limit=2, lease_ms=60_000)
    left_out = [
        PolicyMark(policy="answers", subject=task.key.subject, at_ms=0, revision=1, stage="sampled", over_budget=True)
        for task in tasks
    ]
    settlement = Settlement(project="default", marks=left_out, done=tasks)
    traffic.policies.settle(settlement, traffic.tools.book.folding("default"), now_ms=traffic.tools.now_ms)
    counted = traffic.policies.counts("default", "answers")
    assert (counted["sampled"], counted["over_budget"], traffic.policies.waiting("default", "answers")) == (3, 2, 1)
    assert backfilled(traffic, stages=STAGES) == 2
    assert backfilled(traffic, stages=STAGES) == 0
    work(traffic)
    counted = traffic.policies.counts("default", "answers")
    assert (counted["sampled"], counted["over_budget"], counted["evaluated"]) == (3, 0, 3)


def test_what_live_evaluation_has_done_is_not_done_again(traffic: Traffic) -> None:
    arrived(traffic, spans_of(1))
    traffic.apply(policy_of(stages=STAGES))
    arrived(traffic, spans_of(2))
    assert backfilled(traffic, stages=STAGES) == 1


def test_what_was_seen_before_is_counted_once(traffic: Traffic) -> None:
    said: dict[str, Any] = {"selector": "version == '1.0'", "sampling": {"rate": 0.5}, "stages": STAGES}
    traffic.apply(policy_of(**said))
    arrived(traffic, *(spans_of(number, version=f"{number % 2}.0") for number in range(1, 21)))
    counted = dict(traffic.policies.counts("default", "answers"))
    assert (counted["seen"], counted["matched"]) == (20, 10)
    assert backfilled(traffic, **said) == 0
    assert traffic.policies.counts("default", "answers") == counted


def test_a_policy_of_sessions_is_put_to_work_on_past_sessions_and_not_on_their_traces(traffic: Traffic) -> None:
    said: dict[str, Any] = {"scope": "session", "stages": STAGES}
    arrived(traffic, *(spans_of(number, session=f"s{number % 2}") for number in range(1, 7)), spans_of(9))
    assert backfilled(traffic, **said) == 2
    work(traffic)
    assert backfilled(traffic, **said) == 0
    counted = traffic.policies.counts("default", "answers")
    assert (counted["seen"], counted["evaluated"]) == (2, 2)
    traffic.clock.turn(61)
    assert asyncio.run(complete_sessions(traffic.tools, limit=10)) == 2  # they end as well, and are not counted again
    assert traffic.policies.counts("default", "answers") == counted
    (found,) = traffic.traces.session_results("default", "s1")
    assert len(found.results) == 3


def test_two_versions_are_compared_with_the_direction_of_the_metric(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=[{"evaluators": [{"ref": "pii-leak"}, {"ref": "length", "name": "words"}]}]))
    old = [spans_of(number, version="1.0", answer=LEAK if number % 10 == 0 else "Fine.") for number in range(1, 61)]
    new = [spans_of(number, version="2.0", answer=LEAK if number % 2 else "Fine.") for number in range(61, 121)]
    arrived(traffic, *old, *new)
    checked = checked_policy(traffic.policies.policy("default", "answers"))
    found = compare_traffic(
        traffic.policies,
        checked,
        TrafficSlice(version="1.0"),
        TrafficSlice(version="2.0"),
        traffic.clock.now(),
    )
    leaks, words = found.comparisons
    assert (leaks.metric, leaks.verdict) == ("pii-leak", "regressed")
    assert leaks.baseline is not None
    assert leaks.candidate is not None
    assert (leaks.baseline.n, leaks.candidate.n) == (60, 60)
    assert leaks.difference == pytest.approx(0.5 - 0.9)
    assert leaks.ci is not None
    assert leaks.ci.high < 0
    assert leaks.p_value is not None
    assert leaks.p_value < 0.001
    assert (words.metric, words.verdict) == ("words", "inconclusive")  # it has no better direction


def compared_versions(traffic: Traffic) -> CompareTrafficResponse:
    checked = checked_policy(traffic.policies.policy("default", "answers"))
    sides = TrafficSlice(version="1.0"), TrafficSlice(version="2.0")
    return compare_traffic(traffic.policies, checked, *sides, traffic.clock.now())


def test_versions_that_were_asked_the_same_are_compared_pair_by_pair_as_runs_are(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=STAGES))
    answers = {1: [LEAK if number in (3, 4) else "Fine." for number in range(40)]}
    answers[2] = [LEAK if number % 4 == 3 else "Fine." for number in range(40)]
    arrived(
        traffic,
        *(
            spans_of(100 * version + number, version=f"{version}.0", question=f"Question {number}?", answer=answer)
            for version, said in answers.items()
            for number, answer in enumerate(said)
        ),
    )
    found = compared_versions(traffic)
    (leaks,) = found.comparisons
    assert found.paired_by == "input"
    assert (leaks.pairs, leaks.test) == (40, "McNemar, exact")
    # Nine answers got worse, one better: the exact test of ten discordant pairs.
    assert leaks.p_value == pytest.approx(2 * (1 + 10) / 2**10)
    assert leaks.verdict == "regressed"
    assert leaks.difference == pytest.approx(-8 / 40)


def test_the_senders_own_key_pairs_before_the_input_does(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=STAGES))
    arrived(
        traffic,
        *(
            spans_of(100 * version + number, version=f"{version}.0", attributes={"evalsi.key": f"request-{number}"})
            for version in (1, 2)
            for number in range(10)
        ),
    )
    found = compared_versions(traffic)
    assert (found.paired_by, found.comparisons[0].pairs) == ("key", 10)


def test_sessions_that_saw_both_versions_pair_them(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=STAGES))
    arrived(
        traffic,
        *(
            spans_of(
                100 * version + number, version=f"{version}.0", session=f"s{number % 5}", question=f"{version}/{number}"
            )
            for version in (1, 2)
            for number in range(10)
        ),
    )
    found = compared_versions(traffic)
    assert (found.paired_by, found.comparisons[0].pairs) == ("session", 5)


def test_versions_of_which_few_have_a_partner_are_independent_samples(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=STAGES))
    arrived(
        traffic,
        *(
            spans_of(
                100 * version + number,
                version=f"{version}.0",
                question=f"{number if number < 9 else (version, number)}",
                answer=LEAK if number % 3 == version else "Fine.",
            )
            for version in (1, 2)
            for number in range(20)
        ),
    )
    found = compared_versions(traffic)
    assert (found.paired_by, found.comparisons[0].pairs, found.comparisons[0].test) == ("", 0, "two proportions")


def test_nothing_on_one_side_is_no_verdict(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=STAGES))
    arrived(traffic, spans_of(1))
    checked = checked_policy(traffic.policies.policy("default", "answers"))
    (found,) = compare_traffic(
        traffic.policies, checked, TrafficSlice(), TrafficSlice(version="9"), traffic.clock.now()
    ).comparisons
    assert (found.difference, found.ci, found.p_value, found.verdict) == (None, None, None, "inconclusive")
