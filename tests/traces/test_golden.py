"""One conversation, recorded by the real libraries (`golden/making`): every one of them gives the same record."""

import json

import pytest

from evalsi.core.content import text_of
from evalsi.schema import StepType
from evalsi.traces import MadeCall, atif_of_trajectory, tool_calls_of, trajectory_of_atif
from tests.traces.reading import GOLDEN, record_of, records_of, trajectory_of

WITH_CONTENT = ["openinference", "traceloop", "twice", "logfire", "pydantic-ai", "mlflow", "vercel-ai"]


@pytest.mark.parametrize("name", [*WITH_CONTENT, "genai"])
def test_every_library_gives_two_model_calls_and_their_tokens(name: str) -> None:
    record = record_of(GOLDEN / f"{name}.json")
    models = [step for step in trajectory_of(record).steps if step.type is StepType.LLM]
    assert len(models) == 2
    assert record.usage is not None
    assert (record.usage.input_tokens, record.usage.output_tokens) == (270, 30)
    assert record.usage.requests == 2
    assert record.usage.cost_usd is None
    assert record.usage.unpriced_requests == 2
    if name not in ("genai", "vercel-ai"):  # which do not record them in these versions
        assert record.usage.cached_input_tokens == 200


@pytest.mark.parametrize("name", WITH_CONTENT)
def test_every_library_gives_the_question_the_answer_and_the_one_tool_call(name: str) -> None:
    record = record_of(GOLDEN / f"{name}.json")
    assert "Is the hall lamp on?" in text_of(record.input)
    assert text_of(record.output) == "Yes, it is on."
    (call,) = tool_calls_of(trajectory_of(record))
    assert (call.name, call.arguments, call.result) == ("lamp_state", {"room": "hall"}, {"on": True})
    first = next(step for step in trajectory_of(record).steps if step.type is StepType.LLM)
    assert first.input is not None
    assert first.input.messages is not None
    assert [(message.role, message.content) for message in first.input.messages.messages] == [
        ("system", "You control lamps."),
        ("user", "Is the hall lamp on?"),
    ]


@pytest.mark.parametrize("name", ["openinference", "traceloop", "genai", "vercel-ai"])
def test_sessions_are_found_where_the_library_records_them(name: str) -> None:
    assert trajectory_of(record_of(GOLDEN / f"{name}.json")).session_id == "conv-1"


def test_two_libraries_on_one_client_do_not_double_calls_or_tokens() -> None:
    steps = trajectory_of(record_of(GOLDEN / "twice.json")).steps
    doubles = [step for step in steps if "evalsi.same_call_as" in step.attributes]
    assert len(doubles) == 2
    assert all(step.usage is None for step in doubles)


def test_a_gateway_that_puts_calls_beside_the_messages_is_read() -> None:
    asked, answered = records_of(GOLDEN / "litellm.json")
    (call,) = tool_calls_of(trajectory_of(asked))
    assert (call.name, call.arguments) == ("lamp_state", {"room": "hall"})
    assert asked.output is None
    assert text_of(answered.output) == "Yes, it is on."


def test_a_library_that_captures_no_content_leaves_input_and_output_absent() -> None:
    record = record_of(GOLDEN / "genai.json")
    assert record.input is None
    assert record.output is None


@pytest.mark.parametrize("name", WITH_CONTENT)
def test_every_trajectory_becomes_atif_and_keeps_calls_answer_and_tokens(name: str) -> None:
    record = record_of(GOLDEN / f"{name}.json")
    document = atif_of_trajectory(trajectory_of(record))
    sources = [step.source for step in document.steps]
    assert sources == ["system", "user", "agent", "agent"]
    assert document.final_metrics is not None
    assert document.final_metrics.total_prompt_tokens == 270
    assert document.final_metrics.total_cost_usd is None
    again = trajectory_of_atif(document)

    def seen(call: MadeCall) -> tuple[str, str]:
        return call.name, json.dumps([call.arguments, call.result])

    assert [seen(call) for call in tool_calls_of(again)] == [
        seen(call) for call in tool_calls_of(trajectory_of(record))
    ]


def test_the_golden_files_say_which_versions_made_them() -> None:
    for path in GOLDEN.glob("*.json"):
        made_by = json.loads(path.read_text())["madeBy"]
        assert made_by, path
