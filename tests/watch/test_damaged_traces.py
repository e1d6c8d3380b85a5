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
from evalsi.schema import Outcome, Record, TraceFilter
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
