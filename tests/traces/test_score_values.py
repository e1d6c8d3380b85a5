"""The numbers that lists and filters know a trace by."""

from datetime import UTC, datetime

from evalsi.schema import EvaluationResult, Outcome, PolicyResults, Score
from evalsi.traces.score_values import score_values


def found(value: bool, span_id: str = "") -> EvaluationResult:
    return EvaluationResult(
        evaluator="pii-leak",
        evaluator_ref="safety/pii-leak@1.0.0",
        span_id=span_id,
        outcome=Outcome.SCORED,
        scores=[Score(name="pii-leak", passed=value)],
    )


def at(hour: int, *results: EvaluationResult) -> PolicyResults:
    return PolicyResults(policy=f"p{hour}", time=datetime(2026, 1, 1, hour, tzinfo=UTC), results=list(results))


def test_a_leak_in_one_step_shows_though_the_last_step_has_none() -> None:
    steps = at(1, found(True, "a"), found(False, "b"), found(True, "c"), found(True, "d"))
    assert score_values([steps]) == {"pii-leak": 0.75}


def test_what_was_found_in_the_whole_goes_before_what_was_found_in_steps_whenever_that_was() -> None:
    whole, steps = at(1, found(False)), at(2, found(True, "a"))
    assert score_values([whole, steps]) == score_values([steps, whole]) == {"pii-leak": 0.0}


def test_of_two_policies_the_newer_counts() -> None:
    assert score_values([at(2, found(True)), at(1, found(False))]) == {"pii-leak": 1.0}
    assert score_values([at(2, found(True, "a")), at(1, found(False, "a"))]) == {"pii-leak": 1.0}
