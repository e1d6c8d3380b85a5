"""The shared cases of each convention, with their right answers."""

from typing import Any

import pytest

from evalsi.core.content import text_of
from evalsi.schema import Record, StepType
from evalsi.traces import tool_calls_of
from tests.case_files import CASES, case
from tests.traces.reading import record_of, trajectory_of

_TYPES = {
    "agent": StepType.AGENT,
    "llm": StepType.LLM,
    "tool": StepType.TOOL,
    "retriever": StepType.RETRIEVAL,
    "chain": StepType.GENERIC,
    "workflow": StepType.GENERIC,
}


def _read(identifier: str) -> tuple[Record, dict[str, Any]]:
    found = case(identifier)
    return record_of(CASES / found["input"]["file"]), found["expected"]


def _value(record: Record) -> Any:
    assert record.input is not None
    return record.input.text if record.input.text is not None else record.input.json


@pytest.mark.parametrize("identifier", ["H01", "H02", "H03", "H04"])
def test_each_convention_gives_the_steps_tokens_and_texts_that_are_right(identifier: str) -> None:
    record, expected = _read(identifier)
    trajectory = trajectory_of(record)
    assert [step.type for step in trajectory.steps] == [_TYPES[word] for word in expected["step_types"]]
    assert len(trajectory.steps) == expected["spans"]
    assert trajectory.session_id == expected.get("session", "")
    assert _value(record) == expected["input"]
    assert text_of(record.output) == expected["output"].removesuffix(" (no surrounding quotes)")
    assert record.usage is not None
    tokens = expected["tokens"]
    assert (record.usage.input_tokens, record.usage.output_tokens) == (tokens["input"], tokens["output"])
    assert record.usage.cached_input_tokens == tokens.get("cache_read")


def test_a_tool_call_that_is_recorded_three_times_is_one_call_with_its_result() -> None:
    record, expected = _read("H01")
    (call,) = tool_calls_of(trajectory_of(record))
    (wanted,) = expected["tool_calls"]
    assert (call.id, call.name, call.arguments, call.result) == tuple(
        wanted[key] for key in ("id", "name", "arguments", "result")
    )
    models = [step for step in trajectory_of(record).steps if step.type is StepType.LLM]
    assert len(models) == expected["llm_calls"]
    assert models[0].input is not None
    assert models[0].input.messages is not None
    assert models[0].input.messages.messages[0].content == expected["system"]
    assert record.usage is not None
    assert record.usage.latency == expected["duration_ms"] / 1000


def test_openinference_gives_passages_user_tags_and_every_message() -> None:
    record, expected = _read("H02")
    assert [text_of(passage) for passage in record.context] == expected["retrieved"]
    assert record.metadata["user_id"] == expected["user"]
    assert record.metadata["tags"] == expected["tags"]
    (model,) = [step for step in trajectory_of(record).steps if step.type is StepType.LLM]
    assert model.name == expected["model"]
    assert model.input is not None
    assert model.input.messages is not None
    roles = [message.role for message in model.input.messages.messages]
    assert [*roles, "assistant"] == expected["messages"]


def test_the_old_names_of_traceloop_give_messages_and_calls() -> None:
    record, expected = _read("H03")
    model = trajectory_of(record).steps[1]
    assert model.input is not None
    assert model.input.messages is not None
    assert model.output is not None
    assert model.output.messages is not None
    said = [*model.input.messages.messages, *model.output.messages.messages]
    assert [[message.role, message.content] for message in said] == expected["messages"]
    calls = [
        {"id": call.id, "name": call.name, "arguments": call.arguments} for call in tool_calls_of(trajectory_of(record))
    ]
    assert calls == expected["tool_calls"]


def test_a_result_that_mlflow_encoded_twice_is_an_object() -> None:
    record, expected = _read("H04")
    (call,) = tool_calls_of(trajectory_of(record))
    assert call.result == expected["tool_output"]
