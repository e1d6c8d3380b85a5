"""When a trace is complete, through a store, with a clock that the test turns: case H05, and laws that hold for any order."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi.infra.store.database import StoreOptions
from evalsi.infra.store.trace_sqlite import SqliteTraceStore
from evalsi.ports.trace_store import TraceStore, Waiting
from evalsi.schema import PolicyResults, Step
from evalsi.testing.memory_trace_store import MemoryTraceStore
from evalsi.testing.trace_store_suite import NOON_MS, found_by
from evalsi.traces import Span, decode_otlp_json, default_tracing
from evalsi.traces.otlp_writing import encode_otlp_protobuf
from evalsi.traces.record_of_trace import record_of_trace
from evalsi.traces.stored_spans import spans_of_bodies
from evalsi.traces.trace_parts import PartLimits, parts_of_request
from evalsi.watch.summary_of_trace import completed_trace
from tests.case_files import CASES, case

WAITING = Waiting(grace_ms=10_000, limit_ms=100_000)


class Traffic:
    """Spans that are received and completed as a server and its worker do it, one policy looking at each revision."""

    def __init__(self, store: TraceStore) -> None:
        self.store = store
        self.now_ms = NOON_MS
        self.evaluated: list[tuple[str, int, int]] = []
        """Trace, revision and number of spans of each evaluation."""

    def receive(self, *spans: Span) -> None:
        split = parts_of_request(encode_otlp_protobuf(spans), PartLimits(), {})
        for resource in split.resources:
            self.store.append("default", resource.parts, now_ms=self.now_ms, waiting=WAITING)

    def wait(self, seconds: float) -> None:
        self.now_ms += round(seconds * 1000)
        for due in self.store.claim(now_ms=self.now_ms, limit=100, lease_ms=60_000):
            spans = spans_of_bodies(self.store.spans(due.project, due.trace_id))
            done = completed_trace(due, spans, record_of_trace(spans, default_tracing()), self._found(due.revision))
            if done.span_digest != due.evaluated_spans:
                self.evaluated.append((due.trace_id, due.revision, done.summary.spans))
            self.store.complete([done], now_ms=self.now_ms)

    def _found(self, revision: int) -> list[PolicyResults]:
        return [found_by("p", revision / 10, revision=revision)]


@pytest.fixture
def traffic(tmp_path: Path) -> Iterator[Traffic]:
    with closing(SqliteTraceStore(tmp_path / "traces.db", StoreOptions(synchronous="normal"))) as store:
        yield Traffic(store)


def bodies() -> list[list[Span]]:
    paths = case("H05")["input"]["send_in_order"]
    return [decode_otlp_json((CASES / path).read_bytes()).spans for path in paths]


def a_span(number: int = 1, parent: int = 0, trace: int = 1) -> Span:
    return Span(
        trace_id=f"{trace:032x}",
        span_id=f"{number:016x}",
        parent_span_id=f"{parent:016x}" if parent else "",
        name="work",
        start_ns=10**18,
        end_ns=10**18 + 1,
    )


def test_out_of_order_duplicate_orphan_skewed_and_late_spans_are_as_the_case_says(traffic: Traffic) -> None:
    expected = case("H05")["expected"]
    *early, late = bodies()
    for body in early:
        traffic.receive(*body)
        traffic.wait(1)
    assert traffic.evaluated == []
    traffic.wait(WAITING.grace_ms / 1000)
    name = late[0].trace_id
    assert traffic.evaluated == [(name, 1, expected["spans_after_4"])]
    traffic.wait(2)
    traffic.receive(*late)
    traffic.wait(1)
    assert len(traffic.evaluated) == 1
    traffic.wait(WAITING.grace_ms / 1000)
    assert traffic.evaluated[1:] == [(name, 2, expected["spans_after_5"])]
    traffic.wait(1000)
    assert len(traffic.evaluated) == 2
    (results,) = traffic.store.results("default", name)
    assert results == found_by("p", 0.2, revision=2)
    assert traffic.store.summary("default", name).spans == expected["spans_after_5"]


def test_the_steps_of_the_case_are_in_order_of_their_start_and_flagged(traffic: Traffic) -> None:
    for body in bodies():
        traffic.receive(*body)
    spans = spans_of_bodies(traffic.store.spans("default", bodies()[0][0].trace_id))
    trajectory = record_of_trace(spans, default_tracing()).trajectory
    assert trajectory is not None
    numbered: dict[Any, Step] = {
        json.loads(step.attributes["gen_ai.tool.call.arguments"])["n"]: step
        for step in trajectory.steps
        if "gen_ai.tool.call.arguments" in step.attributes
    }
    assert list(numbered) == case("H05")["expected"]["order_of_steps_by_start"]
    root = next(step for step in trajectory.steps if not step.parent_span_id)
    orphan, skewed, negative = numbered[9], numbered[0], numbered[7]
    assert orphan.parent_span_id == root.span_id
    assert orphan.attributes["evalsi.flags"] == ["its parent is missing"]
    assert "started before its root" in skewed.attributes["evalsi.flags"]
    assert negative.attributes["evalsi.flags"] == ["ended before it started"]
    assert negative.duration == 0
    assert root.duration == 1.0


def test_spans_that_are_sent_again_in_another_request_are_not_scored_again(traffic: Traffic) -> None:
    traffic.receive(a_span(1), a_span(2, parent=1))
    traffic.wait(10)
    traffic.receive(a_span(2, parent=1), a_span(1))
    traffic.wait(100)
    assert traffic.evaluated == [(f"{1:032x}", 1, 2)]
    assert traffic.store.summary("default", f"{1:032x}").revision == 1
    assert traffic.store.pending() == 0


def test_what_was_complete_before_a_restart_is_not_scored_again_and_late_spans_are(tmp_path: Path) -> None:
    evaluated: list[tuple[str, int, int]] = []
    for run, span in enumerate((a_span(1), None, a_span(2, parent=1))):
        with closing(SqliteTraceStore(tmp_path / "traces.db")) as store:
            traffic = Traffic(store)
            traffic.now_ms += run * 1_000_000
            if span is not None:
                traffic.receive(span)
        with closing(SqliteTraceStore(tmp_path / "traces.db")) as store:
            after = Traffic(store)
            after.now_ms = traffic.now_ms
            after.wait(10)
            evaluated += after.evaluated
    assert evaluated == [(f"{1:032x}", 1, 1), (f"{1:032x}", 2, 2)]


ARRIVALS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 8), st.integers(0, 30)), min_size=1, max_size=30)


@given(ARRIVALS)
@settings(max_examples=60, deadline=None)
def test_every_arrival_is_in_a_revision_and_revisions_count_up_by_one(arrivals: list[tuple[int, int, int]]) -> None:
    traffic = Traffic(MemoryTraceStore())
    seen: dict[str, set[int]] = {}
    for trace, number, pause_s in arrivals:
        traffic.wait(pause_s)
        traffic.receive(a_span(number, parent=0 if number == 1 else 1, trace=trace))
        seen.setdefault(f"{trace:032x}", set()).add(number)
    traffic.wait(WAITING.limit_ms / 1000)
    assert traffic.store.pending() == 0
    last: dict[str, tuple[int, int]] = {}
    for trace, revision, spans in traffic.evaluated:
        before, fewer = last.get(trace, (0, 0))
        assert revision == before + 1
        assert spans > fewer
        last[trace] = revision, spans
    assert {trace: spans for trace, (_, spans) in last.items()} == {trace: len(found) for trace, found in seen.items()}
