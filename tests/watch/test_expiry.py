"""Traces are kept as long as their project says, and go then."""

import threading

from evalsi.schema import Feedback
from evalsi.settings.server import TraceSettings
from evalsi.testing.memory_trace_store import MemoryTraceStore
from evalsi.testing.trace_store_suite import EVERYTHING, NOON_MS, WAITING, a_part, trace_id
from evalsi.wiring.trace_serving import expire_traces

DAY_S = 86_400.0


def left_after(plan: TraceSettings, days: float) -> dict[str, int]:
    """How many traces each project has that many days after noon; "a" and "b" got three at noon and one two days later."""
    store = MemoryTraceStore()
    for project in ("a", "b"):
        store.append(project, [a_part(number) for number in range(3)], now_ms=NOON_MS, waiting=WAITING)
        store.append(project, [a_part(9)], now_ms=NOON_MS + round(2 * DAY_S * 1000), waiting=WAITING)
    expire_traces(store, plan, NOON_MS + round(days * DAY_S * 1000), threading.Event())
    return {project: len(list(store.export(project, EVERYTHING))) for project in ("a", "b")}


def test_what_is_old_goes_and_what_is_newer_stays() -> None:
    assert left_after(TraceSettings(), 6.9) == {"a": 4, "b": 4}
    assert left_after(TraceSettings(), 7.1) == {"a": 1, "b": 1}
    assert left_after(TraceSettings(), 9.1) == {"a": 0, "b": 0}


def test_a_project_may_have_a_time_of_its_own_and_all_may_stay_for_ever() -> None:
    assert left_after(TraceSettings(project_retention={"b": DAY_S}), 1.5) == {"a": 4, "b": 1}
    assert left_after(TraceSettings(retention=None, project_retention={"b": DAY_S}), 100) == {"a": 4, "b": 0}


def test_feedback_that_came_after_its_trace_had_gone_goes_as_old_as_a_trace() -> None:
    store = MemoryTraceStore()
    store.append("a", [a_part(1)], now_ms=NOON_MS, waiting=WAITING)
    said = [Feedback(id="f", trace_id=trace_id(2), passed=True)]
    store.add_feedback("a", said, now_ms=NOON_MS, reconsider=False)

    def left(days: float) -> int:
        expire_traces(store, TraceSettings(), NOON_MS + round(days * DAY_S * 1000), threading.Event())
        return store.feedback("a", trace_id=trace_id(2), size=9).total

    assert (left(6.9), left(7.1)) == (1, 0)


def test_an_expiry_that_is_told_to_stop_stops() -> None:
    store = MemoryTraceStore()
    store.append("a", [a_part()], now_ms=NOON_MS, waiting=WAITING)
    stopped = threading.Event()
    stopped.set()
    assert expire_traces(store, TraceSettings(), NOON_MS * 2, stopped) == 0
    assert store.projects() == ["a"]
