"""What sinks are told of a run: its scores under ids that stay the same, in an order that stays the same."""

import pytest

import evalsi
from evalsi import Content, Record, Step, Trajectory
from evalsi.results.graded_run import GradedRun
from evalsi.run.scores_for_sinks import scores_of_run
from evalsi.schema import Provenance, StepType, TraceProvenance

TRACE = "0af7651916cd43dd8448eb211c80319c"
ROOT = "00f067aa0ba902b7"


def of_traffic() -> Record:
    steps = [
        Step(span_id="00f067aa0ba902b8", parent_span_id=ROOT, type=StepType.TOOL),
        Step(span_id=ROOT, parent_span_id="b7ad6b7169203331", type=StepType.AGENT),
    ]
    return Record(
        id=TRACE,
        output=Content(text="a"),
        reference=Content(text="a"),
        trajectory=Trajectory(trace_id=TRACE, session_id="s1", steps=steps),
        provenance=Provenance(trace=TraceProvenance(trace_id=TRACE)),
    )


def a_run() -> GradedRun:
    records = [
        of_traffic(),
        Record(id="plain", output=Content(text="b"), reference=Content(text="a")),
        Record(id="no reference", output=Content(text="b")),
    ]
    return evalsi.evaluate(records, evaluators=["exact-match"]).run


def test_a_record_of_traffic_is_told_of_its_trace_and_others_of_their_place() -> None:
    traffic, plain, whole = scores_of_run(a_run(), "default")
    (score,) = traffic.scores
    assert (traffic.subject, traffic.first_trace_id, traffic.record_id) == (TRACE, TRACE, TRACE)
    assert (score.metric, score.passed, score.trace_id, score.span_id) == ("exact-match", True, TRACE, ROOT)
    assert (score.is_of_trace, score.session_id, score.is_judged) == (True, "s1", False)
    assert score.evaluator_ref.startswith("core/exact-match@")
    (other,) = plain.scores
    assert (plain.subject, plain.record_id, other.passed) == ("record 1", "plain", False)
    assert (plain.first_trace_id, other.trace_id, other.span_id) == ("", "", "")
    # What was skipped is told to nobody, and counted in the run as a whole.
    assert whole.run is not None
    (metric,) = whole.run.metrics
    assert (metric.metric, metric.n, metric.mean, metric.skipped, metric.errors) == ("exact-match", 2, 0.5, 1, 0)
    assert metric.low is not None
    assert metric.high is not None
    assert metric.low < 0.5 < metric.high


@pytest.mark.parametrize(
    "name", ["zz", "../../../2.0/mlflow/runs/delete?x=", "0" * 31, TRACE.upper(), TRACE + "\n", "é"]
)
def test_what_is_no_id_of_a_trace_or_span_is_told_as_none(name: str) -> None:
    steps = [Step(span_id=name, type=StepType.AGENT)]
    odd = [
        Record(
            id=name,
            output=Content(text="a"),
            reference=Content(text="a"),
            trajectory=Trajectory(trace_id=name, steps=steps),
            provenance=Provenance(trace=TraceProvenance(trace_id=trace)),
        )
        for trace in (name, TRACE)
    ]
    for record, trace in zip(odd, ("", TRACE), strict=True):
        told, _ = scores_of_run(evalsi.evaluate([record], evaluators=["exact-match"]).run, "default")
        (score,) = told.scores
        assert (told.first_trace_id, score.trace_id, score.span_id) == (trace, trace, "")


def test_the_same_run_is_told_in_the_same_order_under_the_same_ids_and_another_under_others() -> None:
    run = a_run()
    first, again, other = (list(scores_of_run(each, "default")) for each in (run, run, a_run()))
    assert first == again
    assert {each.policy for each in first} == {f"run/{run.manifest.run_id}"}
    assert {each.run_id for each in first} == {run.manifest.run_id}
    ids = [{score.id for each in told for score in each.scores} for told in (first, other)]
    assert len(ids[0]) == 2
    assert not ids[0] & ids[1]
