"""A row's keys become a record's fields, whatever form they are written in; a wrong shape is refused by row."""

import json
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.core.errors import InvalidDataError
from evalsi.datasets import DatasetOptions, encode_record, open_dataset, parse_record
from evalsi.schema import (
    Content,
    MediaRef,
    Message,
    Messages,
    Provenance,
    Record,
    RunProvenance,
    Step,
    StepType,
    TabularRow,
    TaskCheck,
    Tensor,
    ToolCall,
    Trajectory,
    Usage,
)


def record_of(**row) -> Record:
    (record,) = open_dataset([{"id": "a", **row}])
    return record


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("text", Content(text="text")),
        ("", Content(text="")),
        (None, None),
        (5, Content(json=5)),
        (True, Content(json=True)),
        ([1, "a"], Content(json=[1, "a"])),
        ([], Content(json=[])),
        ({"any": "thing"}, Content(json={"any": "thing"})),
        ({"text": "x"}, Content(text="x")),
        ({"text": 5}, Content(json={"text": 5})),
        ({"json": None}, Content(json=None)),
        ({"json": {"text": "x"}}, Content(json={"text": "x"})),
        ({"media": {"uri": "s3://b/c.png", "media_type": "image/png"}},
         Content(media=MediaRef(uri="s3://b/c.png", media_type="image/png"))),
        ({"row": {"features": {"a": 1}, "prediction": "x"}},
         Content(row=TabularRow(features={"a": 1}, prediction="x"))),
        ({"row": {"a": 1}}, Content(json={"row": {"a": 1}})),
        ({"tensor": {"shape": [1], "dtype": "uint8", "data": "AQ=="}},
         Content(tensor=Tensor(shape=[1], dtype="uint8", data=b"\1"))),
        ([{"role": "user", "content": "hi"}], Content(messages=Messages(messages=[Message(role="user", content="hi")]))),
        ({"role": "user", "content": "hi"}, Content(messages=Messages(messages=[Message(role="user", content="hi")]))),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, "b"]}]},
         Content(messages=Messages(messages=[Message(role="user", content="a\nb")]))),
        ([{"role": "assistant", "content": None,
           "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"x":1}'}}]}],
         Content(messages=Messages(messages=[Message(
             role="assistant", tool_calls=[ToolCall(id="c", name="f", arguments='{"x":1}')])]))),
    ],
)  # fmt: skip
def test_content_takes_its_form_from_the_value(value, content: Content | None) -> None:
    assert record_of(input=value).input == content


def test_context_is_a_list_or_a_single_passage() -> None:
    assert record_of(context="one").context == [Content(text="one")]
    assert record_of(context=["one", {"text": "two"}]).context == [Content(text="one"), Content(text="two")]


def test_unknown_columns_join_the_metadata() -> None:
    assert record_of(topic="x", metadata={"level": 1}).metadata == {"level": 1, "topic": "x"}
    with pytest.raises(InvalidDataError, match="both a column and a key of metadata"):
        record_of(topic="x", metadata={"topic": "y"})


@pytest.mark.parametrize(
    ("given_usage", "usage"),
    [
        ({"input_tokens": 3, "output_tokens": 0, "cost_usd": 0.5, "latency_ms": 250},
         Usage(input_tokens=3, output_tokens=0, cost_usd=0.5, latency=0.25)),
        ({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7, "prompt_tokens_details": {"cached_tokens": 2}},
         Usage(input_tokens=3, output_tokens=4, cached_input_tokens=2)),
        ({"input_tokens": 3, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 5, "output_tokens": 1},
         Usage(input_tokens=18, cached_input_tokens=10, cache_write_tokens=5, output_tokens=1)),
        ({"inputTokens": "3", "cached": True, "latency": "1.5s"}, Usage(input_tokens=3, cached=True, latency=1.5)),
        ({"input_tokens": None}, Usage()),
        ({}, None),
        (None, None),
    ],
)  # fmt: skip
def test_usage_is_read_in_the_words_of_the_providers(given_usage, usage: Usage | None) -> None:
    assert record_of(usage=given_usage).usage == usage


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"usage": 5}, "usage is not an object"),
        ({"usage": {"input_token": 5}}, "did you mean 'input_tokens'"),
        ({"usage": {"input_tokens": -1}}, "usage.input_tokens is no number from 0 on"),
        ({"usage": {"input_tokens": True}}, "usage.input_tokens is no number from 0 on"),
        ({"usage": {"input_tokens": 1.5}}, "not a whole number"),
        ({"usage": {"cached": 1}}, "usage.cached"),
        ({"metadata": ["x"]}, "metadata is not an object"),
        ({"check": {"passed": "yes"}}, "check: expected `bool`"),
        ({"provenance": {"rum": {}}}, "provenance"),
        ({"trajectory": "x"}, "trajectory is neither"),
        ({"trajectory": {"stps": []}}, "did you mean 'steps'"),
        ({"trajectory": {"steps": [{"nam": "x"}]}}, "trajectory.steps[0] has no field 'nam'"),
        ({"trajectory": {"steps": [{"type": "loop"}]}}, "trajectory.steps[0].type"),
        ({"trajectory": {"steps": [{"start_time": "yesterday"}]}}, "trajectory.steps[0].start_time"),
        ({"trajectory": {"steps": [{"start_time": "2026-01-31T12:00:00"}]}}, "time zone"),
        ({"id": [1]}, "id is neither text nor a number"),
        ({"id": True}, "id is neither text nor a number"),
        ({"stop_reason": 5}, "stop_reason is not text"),
    ],
)
def test_a_wrong_shape_is_refused_in_the_checking_pass(row: dict, said: str) -> None:
    with pytest.raises(InvalidDataError) as refused:
        open_dataset([{"id": "a"}, {"id": "b", **row}]).scan()
    assert "row 2" in str(refused.value)
    assert said in str(refused.value)
    assert [r.id for r in open_dataset([{"id": "a"}, row], options=DatasetOptions(on_invalid="skip"))] == ["a"]


def test_a_trajectory_is_read_with_its_steps() -> None:
    steps = [
        {"type": "tool", "name": "search", "input": {"q": 1}, "output": "found", "duration_ms": 20,
         "spanId": "s1", "usage": {"latency_ms": 20}, "attributes": {"k": [1]}, "error": None},
        {"type": "STEP_TYPE_LLM", "start_time": "2026-01-31T12:00:00Z", "input": [{"role": "user", "content": "x"}]},
    ]  # fmt: skip
    record = record_of(trajectory={"trace_id": "t", "session_id": "s", "steps": steps}, check={"passed": True})
    assert record.check == TaskCheck(passed=True)
    assert record.trajectory == Trajectory(
        trace_id="t",
        session_id="s",
        steps=[
            Step(
                type=StepType.TOOL,
                name="search",
                span_id="s1",
                input=Content(json={"q": 1}),
                output=Content(text="found"),
                duration=0.02,
                usage=Usage(latency=0.02),
                attributes={"k": [1]},
            ),
            Step(
                type=StepType.LLM,
                start_time=datetime(2026, 1, 31, 12, tzinfo=UTC),
                input=Content(messages=Messages(messages=[Message(role="user", content="x")])),
            ),
        ],
    )
    assert record_of(trajectory=steps).trajectory is not None


def test_notes_are_a_list_of_texts_and_a_column_of_that_name_is_metadata() -> None:
    assert record_of(notes=["hit the limit"]).notes == ["hit the limit"]
    assert record_of(notes="mine").metadata == {"notes": "mine"}


TEXTS = st.text(max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.builds(
    Messages,
    messages=st.lists(
        st.builds(
            Message,
            role=TEXTS,
            content=TEXTS,
            tool_calls=st.lists(st.builds(ToolCall, id=TEXTS, name=TEXTS, arguments=TEXTS), max_size=2),
        ),
        max_size=2,
    ),
)
CONTENTS = st.one_of(
    st.builds(Content, text=TEXTS),
    st.builds(Content, json=JSON),
    st.builds(Content, messages=MESSAGES),
    st.builds(Content, media=st.builds(MediaRef, uri=TEXTS)),
    st.builds(Content, tensor=st.builds(Tensor, dtype=TEXTS, data=st.binary(max_size=4))),
)
SECONDS = st.floats(0, 1e6)
USAGES = st.builds(
    Usage, input_tokens=st.none() | st.integers(0, 2**62), latency=st.none() | SECONDS, cached=st.booleans()
)
RECORDS = st.builds(
    Record,
    id=st.text(min_size=1, max_size=8),
    input=st.none() | CONTENTS,
    output=st.none() | CONTENTS,
    context=st.lists(CONTENTS, max_size=2),
    metadata=st.dictionaries(TEXTS, JSON, max_size=3),
    usage=st.none() | USAGES.filter(lambda usage: usage != Usage()),
    check=st.none() | st.builds(TaskCheck, passed=st.booleans(), tests=st.dictionaries(TEXTS, TEXTS, max_size=2)),
    trajectory=st.none()
    | st.builds(
        Trajectory,
        trace_id=TEXTS,
        steps=st.lists(
            st.builds(Step, type=st.sampled_from(StepType), name=TEXTS, output=st.none() | CONTENTS, duration=SECONDS),
            max_size=2,
        ),
    ),
    provenance=st.none() | st.builds(Provenance, run=st.builds(RunProvenance, run_id=TEXTS, trial=st.integers(0, 9))),
    notes=st.lists(TEXTS, max_size=2),
    stop_reason=TEXTS,
)


@given(RECORDS)
def test_a_stored_record_reads_as_itself(record: Record) -> None:
    assert parse_record(encode_record(record)) == record


@given(st.lists(RECORDS, min_size=1, max_size=3, unique_by=lambda record: record.id))
def test_records_given_as_objects_come_back_as_they_are(records: list[Record]) -> None:
    assert list(open_dataset(records)) == records


@pytest.mark.parametrize("name", ["id", "input", "output", "reference", "metadata", "usage"])
def test_metadata_may_have_a_key_that_is_also_a_field(name: str) -> None:
    record = Record(id="r", metadata={name: "the user's own"})
    assert list(open_dataset([record])) == [record]


@given(st.lists(st.dictionaries(TEXTS, JSON, max_size=4), min_size=1, max_size=4))
def test_the_lines_of_a_batch_read_as_its_records(rows: list[dict]) -> None:
    options = DatasetOptions(on_invalid="skip")
    dataset = open_dataset([{"id": None}, *rows], options=options)
    for batch in dataset.batches(2):
        assert [parse_record(line) for line in batch.lines()] == batch.records
        assert [parse_record(line) for line in batch.json_lines().splitlines()] or not batch.records
        for line in batch.lines():
            json.loads(line, parse_constant=pytest.fail)


def test_a_line_is_stored_as_it_was_read_where_it_says_the_whole_record(tmp_path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"id": "a",  "input": "x"}\n{"input":"y"}\n{"id":null,"input":"z"}\n')
    (batch,) = open_dataset(path).batches(10)
    assert batch.raw[0] == b'{"id": "a",  "input": "x"}'
    assert batch.raw[1] == f'{{"id":"{batch.records[1].id}","input":"y"}}'.encode()
    assert batch.raw[2] is None
    assert [parse_record(line) for line in batch.lines()] == batch.records


def test_batches_are_numbered_and_full() -> None:
    batches = list(open_dataset([{"id": number} for number in range(1300)]).batches(500))
    assert [(batch.first_row, len(batch.records)) for batch in batches] == [(0, 500), (500, 500), (1000, 300)]
    assert [r.id for batch in batches for r in batch.records] == [str(number) for number in range(1300)]
    assert msgspec.json.decode(batches[0].json_lines().splitlines()[0]) == {"id": 0}


@pytest.mark.parametrize("rows", [[{"id": f"r{n}"} for n in range(700)], [{"input": "same"}] * 9])
@pytest.mark.parametrize("first", [0, 1, 5, 699, 700, 800])
def test_records_may_begin_anywhere_and_are_the_same_then(rows: list[dict[str, str]], first: int) -> None:
    whole = list(open_dataset(rows).records())
    assert list(open_dataset(rows).records(first)) == whole[first:]
