"""What a worker has in hand is its own while it lives, and soon another's when it was killed."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.clock import SystemClock
from evalsi.settings import Settings
from evalsi.settings.server import ServerSettings
from evalsi.watch.complete_traces import complete_traces
from evalsi.watch.keep_claims import SIGNS_OF_LEASE, keeping_claims
from evalsi.watch.watch_traffic import IDLE_S
from evalsi.wiring.watching import order_of_watch
from tests.watch.live_traffic import part_of, policy_of, spans_of, trace_id, traffic_in

TAKEN_OVER_S = 15.0


def test_a_claim_is_kept_while_its_holder_is_at_it_and_runs_out_afterwards(tmp_path: Path) -> None:
    with traffic_in(tmp_path) as traffic:
        tools = replace(traffic.tools, clock=SystemClock(), lease_s=1.5)
        traces = tools.traces
        traces.append("default", [part_of(spans_of(1))], now_ms=tools.now_ms - 60_000, waiting=traffic.waiting)
        (due,) = traces.claim(now_ms=tools.now_ms, limit=9, lease_ms=tools.lease_ms)

        async def work() -> None:
            async with keeping_claims(tools, lambda: traces.renew([due], now_ms=tools.now_ms, lease_ms=tools.lease_ms)):
                await asyncio.sleep(1.5 * tools.lease_s)
                assert not traces.claim(now_ms=tools.now_ms, limit=9, lease_ms=1)

        asyncio.run(work())
        assert traces.claim(now_ms=tools.now_ms + tools.lease_ms, limit=9, lease_ms=1)


@pytest.mark.parametrize("stopped_at", ["reading", "settling"])
def test_a_worker_that_was_stopped_for_a_while_changes_nothing_that_another_found_since(
    tmp_path: Path, stopped_at: str
) -> None:
    with traffic_in(tmp_path) as traffic:
        traffic.apply(policy_of(stages=[{"evaluators": [{"ref": "length"}]}]))
        traffic.arrive(spans_of(1), spans_of(2))
        other = replace(traffic.tools, lease_s=10.0)

        def meanwhile() -> None:
            """What the other worker does while the first is stopped."""
            traffic.arrive(*(spans_of(n, answer="A later answer that is longer by far.", begun_s=3) for n in (1, 2)))
            traffic.clock.turn(60.0)
            assert asyncio.run(complete_traces(other, limit=9)) == 2

        class Traces(type(other.traces)):
            """The first worker's traces, when it is stopped as soon as it has read them."""

            def spans_of(self, project: str, trace_ids: Sequence[str]) -> Any:
                found = other.traces.spans_of(project, trace_ids)
                if stopped_at == "reading":
                    meanwhile()
                return found

        class Policies(type(other.policies)):
            """Its policies, when it is stopped with what it found in its hands."""

            def settle(self, *given: Any, **named: Any) -> None:
                if stopped_at == "settling":
                    meanwhile()
                other.policies.settle(*given, **named)

        def said() -> tuple[Any, ...]:
            marks = traffic.policies.marks("default", "answers", since_ms=0, until_ms=1 << 60, limit=9)
            found = [traffic.tools.traces.results("default", trace_id(number))[0].results for number in (1, 2)]
            scores = [result.scores[0].number for results in found for result in results]
            return (
                sorted(mark.values["length"][0] for mark in marks),
                scores,
                traffic.policies.counts("default", "answers"),
            )

        traces, policies = object.__new__(Traces), object.__new__(Policies)
        traces.__dict__.update(other.traces.__dict__)
        policies.__dict__.update(other.policies.__dict__)
        assert asyncio.run(complete_traces(replace(other, traces=traces, policies=policies), limit=9)) == 2
        values, scores, counts = said()
        assert values == scores == [8.0, 8.0]
        assert counts["evaluated"] == 2


def test_what_a_killed_worker_held_is_graded_once_by_another_within_15_seconds(tmp_path: Path) -> None:
    lease_s = order_of_watch(ServerSettings(), Settings.from_environment()).lease_s
    assert lease_s + lease_s / SIGNS_OF_LEASE + IDLE_S < TAKEN_OVER_S
    with traffic_in(tmp_path) as traffic:
        tools = replace(traffic.tools, lease_s=lease_s)
        traffic.apply(policy_of(stages=[{"evaluators": [{"ref": "length"}]}]))
        traffic.arrive(spans_of(1), spans_of(2))
        held = tools.traces.claim(now_ms=tools.now_ms, limit=9, lease_ms=tools.lease_ms)  # and then it is killed
        assert len(held) == 2
        traffic.clock.turn(lease_s - 0.5)
        assert asyncio.run(complete_traces(tools, limit=9)) == 0
        traffic.clock.turn(1.0)
        assert asyncio.run(complete_traces(tools, limit=9)) == 2
        assert asyncio.run(complete_traces(tools, limit=9)) == 0
        assert traffic.policies.counts("default", "answers")["evaluated"] == 2
        for number in (1, 2):
            (found,) = tools.traces.results("default", trace_id(number))
            assert [result.evaluator for result in found.results] == ["length"]
