"""When a trace is complete: case H05 with a clock that the test turns, and laws that hold for any order of arrival."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi.traces import Assembly, AssemblyRules, Span, decode_otlp_json, default_tracing, trajectory_of_spans
from tests.case_files import CASES, case

RULES = AssemblyRules(grace_s=10, limit_s=100, forget_s=1000)


def _bodies() -> list[list[Span]]:
    paths = case("H05")["input"]["send_in_order"]
    return [decode_otlp_json((CASES / path).read_bytes()).spans for path in paths]


def test_out_of_order_duplicate_orphan_skewed_and_late_spans_are_as_the_case_says() -> None:
    expected = case("H05")["expected"]
    assembly = Assembly(RULES)
    stored: dict[str, Span] = {}
    now_s = 0.0
    *early, late = _bodies()
    for body in early:
        for span in body:
            assert (assembly.add(span, now_s) == "duplicate") == (span.span_id in stored)
            stored[span.span_id] = span
        now_s += 1
        assert assembly.complete(now_s) == []
    (first,) = assembly.complete(now_s + RULES.grace_s)
    assert (first.spans, first.revision, first.reason, first.orphans) == (expected["spans_after_4"], 1, "root ended", 1)
    now_s += RULES.grace_s + 2
    for span in late:
        assert assembly.add(span, now_s) == "late"
        stored[span.span_id] = span
    assert assembly.complete(now_s) == []
    (second,) = assembly.complete(now_s + RULES.grace_s)
    assert (second.spans, second.revision, second.reason) == (expected["spans_after_5"], 2, "late")
    assert assembly.complete(now_s + 2 * RULES.grace_s) == []
    trajectory = trajectory_of_spans(list(stored.values()), default_tracing())
    assert len(trajectory.steps) == expected["spans_after_5"]


def test_the_steps_of_the_case_are_in_order_of_their_start_and_flagged() -> None:
    spans = [span for body in _bodies() for span in body]
    steps = trajectory_of_spans(spans, default_tracing()).steps
    numbers: list[Any] = [
        json.loads(step.attributes["gen_ai.tool.call.arguments"])["n"]
        for step in steps
        if "gen_ai.tool.call.arguments" in step.attributes
    ]
    assert numbers == case("H05")["expected"]["order_of_steps_by_start"]
    by_number = dict(
        zip(numbers, [step for step in steps if "gen_ai.tool.call.arguments" in step.attributes], strict=True)
    )
    root = next(step for step in steps if not step.parent_span_id)
    orphan, skewed, negative = by_number[9], by_number[0], by_number[7]
    assert orphan.parent_span_id == root.span_id
    assert orphan.attributes["evalsi.flags"] == ["its parent is missing"]
    assert "started before its root" in skewed.attributes["evalsi.flags"]
    assert negative.attributes["evalsi.flags"] == ["ended before it started"]
    assert negative.duration == 0
    assert root.duration == 1.0


def test_a_trace_whose_root_never_ends_is_complete_at_the_limit() -> None:
    assembly = Assembly(RULES)
    assembly.add(Span(trace_id="t", span_id="child", parent_span_id="root", end_ns=1), 0)
    assert assembly.complete(99.9) == []
    assert assembly.due_s() == 100
    (found,) = assembly.complete(100)
    assert (found.reason, found.orphans) == ("limit", 1)


def test_a_trace_that_is_never_quiet_is_complete_at_the_limit() -> None:
    assembly = Assembly(RULES)
    assembly.add(Span(trace_id="t", span_id="root", end_ns=1), 0)
    for second in range(1, 100):
        assembly.add(Span(trace_id="t", span_id=f"s{second}", parent_span_id="root", end_ns=1), second)
        assert assembly.complete(second) == []
    assert assembly.complete(100)[0].spans == 100


def test_duplicates_neither_delay_completion_nor_score_again() -> None:
    assembly = Assembly(RULES)
    root = Span(trace_id="t", span_id="root", end_ns=1)
    assembly.add(root, 0)
    assert assembly.add(root, 9) == "duplicate"
    assert len(assembly.complete(10)) == 1
    assert assembly.add(root, 11) == "duplicate"
    assert assembly.complete(1000) == []


def test_a_span_that_is_its_own_parent_is_a_root() -> None:
    assembly = Assembly(RULES)
    assembly.add(Span(trace_id="t", span_id="root", parent_span_id="root", end_ns=1), 0)
    assert assembly.complete(10)[0].reason == "root ended"


def test_a_complete_trace_is_forgotten_after_its_time_and_memory_is_given_back() -> None:
    assembly = Assembly(RULES)
    for number in range(50):
        assembly.add(Span(trace_id=f"t{number}", span_id="root", end_ns=1), 0)
    assert len(assembly.complete(10)) == 50
    assert (len(assembly), assembly.pending) == (50, 0)
    assembly.complete(1010)
    assert len(assembly) == 0


def test_spans_beyond_the_limit_of_a_trace_are_counted_and_not_taken() -> None:
    assembly = Assembly(AssemblyRules(max_spans=2))
    spans = [Span(trace_id="t", span_id=str(number), end_ns=1) for number in range(3)]
    assert [assembly.add(span, 0) for span in spans] == ["new", "new", "dropped"]


def test_what_was_complete_before_a_restart_is_not_scored_again_and_late_spans_are() -> None:
    assembly = Assembly(RULES)
    assembly.restore([Span(trace_id="t", span_id="root", end_ns=1)], 0, revision=1)
    assert assembly.complete(500) == []
    assert assembly.add(Span(trace_id="t", span_id="x", parent_span_id="root", end_ns=1), 501) == "late"
    assert assembly.complete(511)[0].revision == 2


def test_rules_that_cannot_be_kept_are_refused() -> None:
    with pytest.raises(ValueError, match="grace_s"):
        AssemblyRules(grace_s=5, limit_s=1)


_ARRIVALS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7), st.floats(0, 30)), min_size=1, max_size=40)


@given(_ARRIVALS)
@settings(max_examples=200, deadline=None)
def test_every_arrival_is_in_exactly_one_revision_and_revisions_count_up(
    arrivals: list[tuple[int, int, float]],
) -> None:
    assembly = Assembly(RULES)
    now_s = 0.0
    seen: dict[str, set[str]] = {}
    revisions: dict[str, list[int]] = {}
    sizes: dict[str, int] = {}
    for trace, number, pause_s in arrivals:
        now_s += pause_s
        for done in assembly.complete(now_s):
            revisions.setdefault(done.trace_id, []).append(done.revision)
            sizes[done.trace_id] = done.spans
        parent = "" if number == 0 else "s0"
        assembly.add(Span(trace_id=f"t{trace}", span_id=f"s{number}", parent_span_id=parent, end_ns=1), now_s)
        seen.setdefault(f"t{trace}", set()).add(f"s{number}")
    for done in assembly.complete(now_s + RULES.limit_s):
        revisions.setdefault(done.trace_id, []).append(done.revision)
        sizes[done.trace_id] = done.spans
    assert assembly.pending == 0
    assert sizes == {trace: len(spans) for trace, spans in seen.items()}
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in revisions.values())
