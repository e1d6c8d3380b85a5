"""What another tool logged becomes spans that read back as it was."""

from pathlib import Path

import msgspec
import pytest

from evalsi.core.content import text_of
from evalsi.datasets.imports import ImportedSample, open_logs
from evalsi.schema import Content, Record, Step, StepType, Trajectory, Usage
from evalsi.traces import decode_otlp, decode_otlp_protobuf, default_tracing, tool_calls_of
from evalsi.traces.otlp_writing import encode_otlp_protobuf
from evalsi.traces.record_of_trace import record_of_trace
from evalsi.traces.spans_of_trajectory import spans_of_record
from tests.case_files import CASES, case
from tests.traces.reading import GOLDEN, records_of, trajectory_of


def read_back(record: Record) -> Record:
    """The record after it was stored as OTLP."""
    spans = decode_otlp_protobuf(encode_otlp_protobuf(spans_of_record(record))).spans
    return record_of_trace(spans, default_tracing())


def records_of_logs() -> list[Record]:
    logs = open_logs(f"atif://{CASES / case('P02')['files'][0]}")
    return [sample.record for log in logs for sample in log.read_samples() if isinstance(sample, ImportedSample)]


def test_a_trajectory_of_atif_keeps_its_steps_calls_and_texts() -> None:
    records = records_of_logs()
    assert records
    for record in records:
        again = read_back(record)
        before, after = trajectory_of(record), trajectory_of(again)
        kinds = [step.type for step in before.steps]
        assert [step.type for step in after.steps][-len(kinds) :] == kinds
        assert [(call.name, call.arguments, call.result) for call in tool_calls_of(after)] == [
            (call.name, call.arguments, call.result) for call in tool_calls_of(before)
        ]
        assert text_of(again.input) == text_of(record.input)
        assert text_of(again.output) == text_of(record.output)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json*"))[:8], ids=lambda path: path.stem)
def test_a_golden_trace_is_told_alike_by_its_spans(path: Path) -> None:
    for record in records_of(path):
        again = read_back(record)
        assert text_of(again.output) == text_of(record.output)
        before, after = record.usage or Usage(), again.usage or Usage()
        assert (after.input_tokens, after.output_tokens) == (before.input_tokens, before.output_tokens)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json*"))[:8], ids=lambda path: path.stem)
def test_steps_keep_the_names_of_their_spans_however_they_are_called_themselves(path: Path) -> None:
    spans = {span.span_id: span for span in decode_otlp(path.read_bytes(), str(path)).spans}
    steps = [step for record in records_of(path) if record.trajectory for step in record.trajectory.steps]
    kept = [step for step in steps if step.span_id in spans]
    assert kept
    for step in kept:
        assert step.attributes.get("evalsi.span_name", step.name) == spans[step.span_id].name


def test_the_same_record_gives_the_same_spans() -> None:
    step = Step(span_id="step one", type=StepType.USER, output=Content(text="Hello?"))
    record = Record(id="r", output=Content(text="Hi."), trajectory=Trajectory(session_id="s", steps=[step]))
    assert spans_of_record(record) == spans_of_record(msgspec.structs.replace(record))
    other = msgspec.structs.replace(record, output=Content(text="Ho."))
    assert {span.trace_id for span in spans_of_record(record)}.isdisjoint(
        span.trace_id for span in spans_of_record(other)
    )
    again = read_back(record)
    assert trajectory_of(again).session_id == "s"
    assert [text_of(step.output) for step in trajectory_of(again).steps if step.type is StepType.USER] == ["Hello?"]


def test_a_record_without_steps_is_a_span_with_its_question_and_answer() -> None:
    record = Record(id="r", input=Content(text="2 + 2?"), output=Content(text="4"))
    (span,) = spans_of_record(record)
    assert (len(span.trace_id), len(span.span_id), span.parent_span_id) == (32, 16, "")
    again = read_back(record)
    assert (text_of(again.input), text_of(again.output)) == ("2 + 2?", "4")
