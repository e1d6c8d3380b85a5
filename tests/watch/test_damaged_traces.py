"""A stored trace that cannot be read is set aside for everybody to see, and keeps nobody waiting."""

import asyncio
import logging
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard

from evalsi.infra.store.open_stores import TRACES_FILE
from evalsi.infra.store.trace_rows import DAMAGED_RESULTS
from evalsi.ports.trace_store import ScoreChoice
from evalsi.schema import Feedback, Outcome, PolicyResults, Record, TraceFilter
from evalsi.traces import Span, Tracing
from evalsi.watch import complete_traces as completing
from evalsi.watch.complete_sessions import complete_sessions
from evalsi.watch.complete_traces import DAMAGED_LABEL
from evalsi.watch.reading_traces import read_trace
from tests.watch.live_traffic import Traffic, part_of, policy_of, spans_of, trace_id, traffic_in
from tests.watch.test_watching import JUDGED, QUICK, StandInJudge, complete, judged, results, work

NO_OTLP = zstandard.ZstdCompressor().compress(b"\xff\xff\xff no message")
NOT_PACKED = b"never compressed"
DAMAGED = TraceFilter(labels=[f"{DAMAGED_LABEL}=true"])


@pytest.fixture
def traffic(tmp_path: Path) -> Iterator[Traffic]:
    with traffic_in(tmp_path) as found:
        yield found


def damage(traffic: Traffic, number: int, body: bytes, *, part: int = 0) -> None:
    """What a disk may do to a part of a trace."""
    chosen = (
        "SELECT p.key FROM trace_parts p JOIN traces t ON p.trace = t.key WHERE t.trace_id = ? "
        "ORDER BY p.key LIMIT 1 OFFSET ?"
    )
    with closing(sqlite3.connect(traffic.folder / TRACES_FILE)) as file, file:
        changed = file.execute(
            f"UPDATE trace_parts SET body = ? WHERE key = ({chosen})",
            (body, bytes.fromhex(trace_id(number)), part),
        )
        assert changed.rowcount == 1


def damaged(traffic: Traffic) -> list[str]:
    return sorted(each.trace_id for each in traffic.traces.find(["default"], DAMAGED, size=10).traces)


@pytest.mark.parametrize("body", [NO_OTLP, NOT_PACKED])
def test_a_trace_that_cannot_be_read_is_set_aside_and_the_others_are_graded(
    traffic: Traffic, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[int] = []
    traffic.tools = replace(traffic.tools, tell_damaged=lambda: told.append(1))
    traffic.apply(policy_of(stages=QUICK))
    traffic.arrive(spans_of(1), spans_of(2), spans_of(3))
    damage(traffic, 2, body)
    with caplog.at_level(logging.ERROR):
        assert complete(traffic) == 3
        traffic.clock.turn(60)
        assert complete(traffic) == 0, "it is due again"
    assert [bool(results(traffic, number)) for number in (1, 2, 3)] == [True, False, True]
    assert damaged(traffic) == [trace_id(2)]
    assert len(told) == 1
    assert f"1 of the 1 parts of trace {trace_id(2)} of project default cannot be read; it is set aside" in caplog.text
    shown = read_trace(traffic.traces, traffic.tools.tracing, "default", trace_id(2))
    assert shown.record is None
    assert shown.summary is not None
    assert (shown.summary.service, shown.summary.labels) == ("support", {DAMAGED_LABEL: "true"})


def test_what_can_be_read_of_a_damaged_trace_is_graded_and_marked(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=QUICK))
    root, *tools = spans_of(1)
    parts = [part_of(tools), part_of([root])]
    traffic.traces.append("default", parts, now_ms=traffic.tools.now_ms, waiting=traffic.waiting)
    traffic.clock.turn(1.5)
    damage(traffic, 1, NO_OTLP)
    assert complete(traffic) == 1
    assert results(traffic, 1) == {"pii-leak": Outcome.SCORED, "words": Outcome.SCORED}
    assert damaged(traffic) == [trace_id(1)]


def test_a_damaged_trace_takes_no_other_task_of_its_policy_along(tmp_path: Path) -> None:
    judge = StandInJudge()
    with traffic_in(tmp_path, judged(judge)) as traffic:
        traffic.apply(policy_of(stages=JUDGED))
        traffic.arrive(spans_of(1), spans_of(2), spans_of(3))
        complete(traffic)
        damage(traffic, 2, NOT_PACKED)
        work(traffic)
        assert [bool(results(traffic, number)) for number in (1, 2, 3)] == [True, False, True]


def test_a_damaged_trace_does_not_keep_its_session_from_ending(traffic: Traffic) -> None:
    traffic.apply(policy_of(scope="session", stages=QUICK))
    traffic.arrive(spans_of(1, session="s"), spans_of(2, session="s"))
    complete(traffic)
    damage(traffic, 2, NO_OTLP)
    traffic.clock.turn(120)
    assert asyncio.run(complete_sessions(traffic.tools, limit=10)) == 1
    assert traffic.traces.session_results("default", "s")


def test_a_trace_that_our_own_reading_breaks_on_is_set_aside_alone(
    traffic: Traffic, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sound = completing.record_of_trace

    def breaking(spans: Sequence[Span], tracing: Tracing) -> Record:
        if spans[0].trace_id == trace_id(2):
            raise RuntimeError("never seen such a thing")
        return sound(spans, tracing)

    monkeypatch.setattr(completing, "record_of_trace", breaking)
    traffic.apply(policy_of(stages=QUICK))
    traffic.arrive(spans_of(1), spans_of(2), spans_of(3))
    complete(traffic)
    traffic.clock.turn(60)
    assert complete(traffic) == 0
    assert [bool(results(traffic, number)) for number in (1, 2, 3)] == [True, False, True]
    assert damaged(traffic) == [trace_id(2)]
    assert "never seen such a thing" in caplog.text


def test_one_project_that_cannot_be_counted_holds_up_no_other(
    traffic: Traffic, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle = traffic.policies.settle

    def breaking(settlement: Any, *rest: Any, **named: Any) -> Any:
        if settlement.project == "broken":
            raise RuntimeError("its figures are damaged")
        return settle(settlement, *rest, **named)

    monkeypatch.setattr(traffic.policies, "settle", breaking)
    traffic.apply(policy_of(stages=QUICK))
    traffic.traces.append("broken", [part_of(spans_of(9))], now_ms=traffic.tools.now_ms, waiting=traffic.waiting)
    traffic.arrive(spans_of(1))
    complete(traffic)
    assert results(traffic, 1) != {}
    assert not traffic.traces.summary("broken", trace_id(9)).revision


HUGE = b"\x28\xb5\x2f\xfd\xe0" + (1 << 50).to_bytes(8, "little") + b"\x01\x00\x00"
"""A frame of zstd that says it unpacks to a million gigabytes."""


def spoil(traffic: Traffic, table: str, column: str, body: bytes) -> None:
    with closing(sqlite3.connect(traffic.folder / TRACES_FILE)) as file, file:
        assert file.execute(f"UPDATE {table} SET {column} = ?", (body,)).rowcount


def test_a_part_that_says_it_is_larger_than_memory_is_set_aside_alone(traffic: Traffic) -> None:
    traffic.apply(policy_of(stages=QUICK))
    traffic.arrive(spans_of(1), spans_of(2))
    damage(traffic, 2, HUGE)
    assert complete(traffic) == 2
    assert complete(traffic) == 0
    assert [bool(results(traffic, number)) for number in (1, 2)] == [True, False]
    assert damaged(traffic) == [trace_id(2)]


@pytest.mark.parametrize("body", [NO_OTLP, NOT_PACKED, HUGE, b""])
def test_results_that_cannot_be_read_are_an_error_in_the_name_of_their_policy_until_they_are_found_anew(
    traffic: Traffic, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    traffic.apply(policy_of(stages=QUICK))
    traffic.arrive(spans_of(1))
    complete(traffic)
    spoil(traffic, "trace_results", "body", body)
    with caplog.at_level(logging.WARNING):
        assert results(traffic, 1) == {DAMAGED_RESULTS: Outcome.ERROR}
    assert "what the policy answers found cannot be read" in caplog.text
    listed, _ = traffic.traces.scores(["default"], ScoreChoice(), size=9)
    assert [each.results[0].outcome for _, found in listed for each in found] == [Outcome.ERROR]
    fresh = PolicyResults(policy="other", revision=1)
    assert traffic.traces.write_results("default", trace_id(1), fresh, now_ms=traffic.tools.now_ms)
    assert traffic.traces.write_results(
        "default", trace_id(1), PolicyResults(policy="answers", revision=1), now_ms=traffic.tools.now_ms
    )
    assert results(traffic, 1) == {}


@pytest.mark.parametrize("body", [NO_OTLP, NOT_PACKED, HUGE])
def test_results_of_a_session_that_cannot_be_read_keep_it_from_nothing(traffic: Traffic, body: bytes) -> None:
    traffic.apply(policy_of(scope="session", stages=[{"evaluators": [{"ref": "pii-leak"}]}]))
    for number in (1, 2):
        traffic.arrive(spans_of(number, session="s1", begun_s=200 * number))
        complete(traffic)
        traffic.clock.turn(120)
        assert asyncio.run(complete_sessions(traffic.tools, limit=9)) == 1
        (found,) = traffic.traces.session_results("default", "s1")
        assert [each.outcome for each in found.results] == [Outcome.SCORED] * number
        spoil(traffic, "trace_session_results", "body", body)
        (found,) = traffic.traces.session_results("default", "s1")
        assert [each.evaluator for each in found.results] == [DAMAGED_RESULTS]


@pytest.mark.parametrize("body", [NO_OTLP, NOT_PACKED, HUGE])
def test_feedback_that_cannot_be_read_is_left_out_and_the_trace_is_graded(traffic: Traffic, body: bytes) -> None:
    traffic.apply(policy_of(sampling={"rate": 1.0, "always": ["negative_feedback"]}, stages=QUICK))
    traffic.arrive(spans_of(1))
    said = [Feedback(id=name, trace_id=trace_id(1), passed=False) for name in ("f1", "f2")]
    traffic.traces.add_feedback("default", said[:1], now_ms=traffic.tools.now_ms, reconsider=False)
    spoil(traffic, "trace_feedback", "body", body)
    traffic.traces.add_feedback("default", said[1:], now_ms=traffic.tools.now_ms, reconsider=False)
    complete(traffic)
    assert results(traffic, 1)
    assert [each.id for each in traffic.traces.feedback("default", trace_id=trace_id(1), size=9).feedback] == ["f2"]


@pytest.mark.parametrize(
    ("table", "column"), [("policy_marks", "body"), ("policy_marks", "told"), ("policy_deliveries", "body")]
)
def test_what_policies_keep_of_a_trace_may_be_damaged_and_holds_up_no_other(
    traffic: Traffic, table: str, column: str
) -> None:
    traffic.apply(policy_of(stages=QUICK, sinks=["hook"]))
    root, *tools = spans_of(1)
    traffic.arrive([root])
    complete(traffic)
    spoil(traffic, table, column, b"\xc1")
    assert traffic.policies.marks("default", "answers", since_ms=0, until_ms=2**60, limit=9) is not None
    traffic.arrive(tools, spans_of(2))
    assert complete(traffic) == 2
    assert complete(traffic) == 0
    assert results(traffic, 2)
    if table == "policy_deliveries":
        spoil(traffic, table, column, b"\xc1")
    claimed = traffic.outbox.claim_scores("hook", now_ms=traffic.tools.now_ms, limit=9, lease_ms=1000)
    (standing,) = traffic.outbox.sink_standings()
    assert (len(claimed), standing.waiting, standing.given_up) == (
        (0, 0, 2) if table == "policy_deliveries" else (2, 2, 0)
    )
