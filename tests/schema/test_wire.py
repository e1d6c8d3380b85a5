"""The binary form: what the laws of the round trips do not cover."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from evalsi.schema import Content, EvaluateStreamRequest, EvaluationResult, Outcome, Record, RunSpec, Step, Trajectory
from evalsi.schema.proto_codec import decode, encode, from_wire, message_class, to_wire
from evalsi.schema.schema_error import SchemaError


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (Record(id="\ud800"), "half of a surrogate pair"),
        (Record(metadata={"a": float("nan")}), "NaN and infinity are no JSON values"),
        (Record(metadata={"a": {1, 2}}), "a Python set is no JSON value"),
        (RunSpec(trials=2**40), "out of range"),
    ],
)
def test_what_the_wire_cannot_carry_is_refused(message: msgspec.Struct, problem: str) -> None:
    with pytest.raises(SchemaError, match=problem):
        encode(message)


def test_a_whole_number_beyond_a_double_travels_as_text() -> None:
    assert decode(encode(Record(metadata={"n": 2**53 + 1, "m": 2**53})), Record).metadata == {
        "n": "9007199254740993",
        "m": 2**53,
    }


@pytest.mark.parametrize(("wrap", "carried"), [(lambda value: [value], 40), (lambda value: {"a": value}, 26)])
def test_depth_is_carried_whole_or_refused(wrap: Callable[[Any], Any], carried: int) -> None:
    value: Any = 1
    for _ in range(carried):
        value = wrap(value)
    request = EvaluateStreamRequest(record=Record(trajectory=Trajectory(steps=[Step(input=Content(json=value))])))
    assert decode(encode(request), EvaluateStreamRequest) == request
    deeper = Record(metadata={"a": wrap(value)})
    with pytest.raises(SchemaError, match="nested deeper than the binary form can carry"):
        encode(deeper)


def test_bytes_that_are_no_message_are_refused() -> None:
    with pytest.raises(SchemaError, match="these bytes are no Record"):
        decode(b"\xff\xff\xff", Record)


def test_an_enum_number_of_a_newer_schema_reads_as_unspecified() -> None:
    wire = message_class(EvaluationResult)()
    wire.outcome = 77  # pyright: ignore[reportAttributeAccessIssue]
    assert from_wire(wire, EvaluationResult).outcome is Outcome.UNSPECIFIED


def test_a_field_of_a_newer_schema_is_left_out() -> None:
    assert decode(encode(Record(id="a")) + b"\xc2\x3e\x01x", Record) == Record(id="a")


def test_absent_and_empty_differ_for_messages() -> None:
    for record in (Record(input=Content(text="")), Record(input=Content(json=None)), Record()):
        assert decode(encode(record), Record) == record
    assert to_wire(Record(input=Content())).HasField("input")


def test_a_time_outside_of_the_calendar_is_refused() -> None:
    wire = message_class(Step)()
    wire.start_time.seconds = 10**12  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(SchemaError, match="years 1 to 9999"):
        from_wire(wire, Step)


def test_types_and_json_work_without_protobuf() -> None:
    code = """
import sys
sys.modules["google"] = None
from evalsi.schema import Record
from evalsi.schema.json_codec import decode, encode_camel
encode_camel(decode('{"input": {"text": "a"}}', Record))
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
