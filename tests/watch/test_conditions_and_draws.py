"""Selectors and draws mean the same on every worker, and have an answer for every trace."""

from math import nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.schema import Sampling
from evalsi.watch.condition import SCORE_VARIABLES, TRACE_VARIABLES, Condition
from evalsi.watch.sampling import Surroundings, draw_of, share_of

FACTS: dict[str, Any] = {
    "service": "support",
    "name": "invoke_agent",
    "duration_ms": 800.0,
    "error": False,
    "steps": 4,
    "tools": ["lookup", "refund"],
    "models": ["gpt-x"],
    "attributes": {"app.tier": "gold", "app.retries": 2, "app.big": 2**70},
    "resource": {"host.name": "a"},
    "labels": {"team": "payments"},
    "version": "1.4",
    "user_id": "u1",
    "session_id": "s1",
    "cost_usd": nan,
    "feedback": -1.0,
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("service == 'support'", True),
        ("duration_ms > 500", True),
        ("500 < duration_ms", True),
        ("duration_ms >= 800.0 && steps == 4", True),
        ("'refund' in tools && models.exists(m, m.startsWith('gpt'))", True),
        ("attributes['app.tier'] == 'gold'", True),
        ("attributes['app.retries'] > 1", True),
        ("labels['team'] == 'payments'", True),
        ("cost_usd > 0.1", False),
        ("cost_usd <= 0.1", False),
        ("feedback < 0", True),
        ("error || version == '1.4'", True),
    ],
)
def test_a_selector_reads_what_is_known_of_a_trace(text: str, holds: bool) -> None:
    condition = Condition(text, TRACE_VARIABLES)
    assert condition.problems == []
    facts = {**FACTS, "attributes": {key: value for key, value in FACTS["attributes"].items() if key != "app.big"}}
    assert condition.holds(facts) is holds


def test_a_selector_without_an_answer_is_not_met_and_says_why() -> None:
    condition = Condition("attributes['missing'] == 1", TRACE_VARIABLES)
    assert "missing" in str(condition.holds({**FACTS, "attributes": {}}))


def test_a_whole_number_beyond_64_bits_in_an_attribute_spoils_no_selector() -> None:
    assert Condition("service == 'support'", TRACE_VARIABLES).holds(FACTS) is True


def test_a_condition_over_scores_compares_with_whole_numbers() -> None:
    condition = Condition("scores['tone'] < 1 && labels['team'] == 'payments'", SCORE_VARIABLES)
    assert condition.holds({"scores": {"tone": 0.4}, "labels": {"team": "payments"}, "error": False}) is True


def test_the_draw_is_the_one_that_was_documented() -> None:
    # The first 8 bytes of SHA-256 of the id, as a fraction: a release that draws otherwise would sample other traces.
    assert share_of("0af7651916cd43dd8448eb211c80319c") == pytest.approx(0.0858071, abs=1e-6)


@given(st.text(alphabet="0123456789abcdef", min_size=32, max_size=32), st.floats(0, 1), st.floats(0, 1))
def test_a_trace_that_a_small_rate_takes_is_taken_by_every_larger_one(name: str, one: float, other: float) -> None:
    small, large = sorted((one, other))
    taken = draw_of(Sampling(rate=small)).takes(name, FACTS, Surroundings())
    assert not taken or draw_of(Sampling(rate=large)).takes(name, FACTS, Surroundings())


def test_a_rate_takes_its_share() -> None:
    draw = draw_of(Sampling(rate=0.25))
    taken = sum(draw.takes(f"{number:032x}", FACTS, Surroundings()) for number in range(4_000))
    assert 0.22 < taken / 4_000 < 0.28


@pytest.mark.parametrize(
    ("rule", "changed", "around"),
    [
        ("error", {"error": True}, Surroundings()),
        ("negative_feedback", {}, Surroundings()),
        ("slow", {}, Surroundings(slow_ms=700.0)),
        ("new_version", {}, Surroundings(seen_of_version=99)),
        ("duration_ms > 700", {}, Surroundings()),
    ],
)
def test_rules_take_traces_that_the_draw_leaves_out(rule: str, changed: dict[str, Any], around: Surroundings) -> None:
    draw = draw_of(Sampling(rate=0.0, always=[rule]))
    assert draw.takes("a", {**FACTS, "attributes": {}, **changed}, around)


@pytest.mark.parametrize(
    ("rule", "changed", "around"),
    [
        ("error", {}, Surroundings()),
        ("negative_feedback", {"feedback": nan}, Surroundings()),
        ("slow", {}, Surroundings()),
        ("slow", {}, Surroundings(slow_ms=900.0)),
        ("slow", {"duration_ms": nan}, Surroundings(slow_ms=900.0)),
        ("duration_ms < 700", {"attributes": {}, "duration_ms": nan}, Surroundings()),
        ("new_version", {}, Surroundings(seen_of_version=100)),
        ("new_version", {"version": ""}, Surroundings()),
    ],
)
def test_rules_leave_out_what_they_are_not_about(rule: str, changed: dict[str, Any], around: Surroundings) -> None:
    assert not draw_of(Sampling(rate=0.0, always=[rule])).takes("a", {**FACTS, **changed}, around)
