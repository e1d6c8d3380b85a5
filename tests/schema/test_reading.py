"""What a person or program may write, and what they are told when it is wrong."""

import json
from datetime import UTC, datetime
from typing import Any

import jsonschema
import msgspec
import pytest

from evalsi.schema import (
    Content,
    EvalRun,
    EvaluateRequest,
    EvaluationResult,
    Gate,
    GateStat,
    Outcome,
    Record,
    ResultsFile,
    Run,
    RunSpec,
    Step,
    StepType,
    Tensor,
    Usage,
)
from evalsi.schema.json_codec import SchemaError, check_content, convert, decode, encode_file, to_jsonable
from evalsi.schema.json_schema import json_schema


def refusal(text: str | bytes, kind: type[msgspec.Struct], at: str = "") -> SchemaError:
    with pytest.raises(SchemaError) as caught:
        decode(text, kind, at=at)
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        '{"usage": {"input_tokens": 7, "cost_usd": 0.5, "latency": 1.5}}',
        '{"usage": {"inputTokens": 7, "costUsd": 0.5, "latency": "1.5s"}}',
        '{"usage": {"inputTokens": "7", "cost_usd": 0.5, "latencyMs": 1500}}',
        '{"usage": {"input_tokens": 7.0, "costUsd": 0.5, "latency_ms": 1500.0}}',
    ],
)
def test_both_spellings_of_names_and_numbers_mean_the_same(text: str) -> None:
    assert decode(text, Record) == Record(usage=Usage(input_tokens=7, cost_usd=0.5, latency=1.5))


@pytest.mark.parametrize("word", ["scored", "SCORED", "OUTCOME_SCORED", "outcome_scored", 1])
def test_an_enum_is_read_by_word_full_name_or_number(word: object) -> None:
    assert convert({"outcome": word}, EvaluationResult).outcome is Outcome.SCORED


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1.5s", 1.5), ("5m", 300), ("1h30m", 5400), ("250ms", 0.25), ("-2s", -2), ("0s", 0), ("1us", 1e-6), (90, 90)],
)
def test_durations_are_read_the_way_people_write_them(text: object, seconds: float) -> None:
    spec = convert({"dataset": {"traces": {"lookback": text}}}, RunSpec)
    assert spec.dataset is not None and spec.dataset.traces is not None
    assert spec.dataset.traces.lookback == pytest.approx(seconds)


def test_names_inside_user_data_are_never_changed() -> None:
    given = {"camelCase": {"snake_case": [{"inputTokens": 1}]}, "snake_case": 2}
    record = decode(json.dumps({"metadata": given, "usage": {"inputTokens": 1}}), Record)
    assert record.metadata == given
    assert to_jsonable(record, camel=True)["metadata"] == given


def test_json_null_is_a_value_and_differs_from_nothing() -> None:
    record = decode('{"input": {"json": null}}', Record)
    assert record.input == Content(json=None) != Content()
    assert json.loads(encode_file(record)) == {"input": {"json": None}}


def test_null_is_the_same_as_leaving_a_field_out() -> None:
    assert decode('{"id": "a", "input": null, "context": null, "usage": {"latency": null}}', Record) == Record(
        id="a", usage=Usage()
    )


def test_a_record_line_is_read_by_the_plain_decoder() -> None:
    line = b'{"id":"q1","output":{"text":"Paris"},"usage":{"latency":0.5},"metadata":{"topic":"geo"}}'
    record = Record(id="q1", output=Content(text="Paris"), usage=Usage(latency=0.5), metadata={"topic": "geo"})
    assert msgspec.json.Decoder(Record).decode(line) == record
    assert msgspec.json.encode(record) == line


def test_structs_inside_plain_values_are_taken_as_they_are() -> None:
    record = Record(id="a", input=Content(text="x"))
    assert convert({"records": [record]}, EvaluateRequest).records[0] is record
    with pytest.raises(SchemaError, match=r"records\[0\].input sets none"):
        convert({"records": [Record(input=Content())]}, EvaluateRequest)


def test_times_are_read_in_any_zone_and_kept_in_utc() -> None:
    step = decode('{"startTime": "2026-01-31T12:00:00+02:00", "end_time": "2026-01-31T10:00:01.5Z"}', Step)
    assert step.start_time == datetime(2026, 1, 31, 10, tzinfo=UTC)
    assert to_jsonable(step, camel=True)["endTime"] == "2026-01-31T10:00:01.500000Z"


def test_bytes_are_read_from_both_alphabets_of_base64() -> None:
    assert decode('{"data": "-_8"}', Tensor).data == decode('{"data": "+/8="}', Tensor).data == b"\xfb\xff"


@pytest.mark.parametrize(
    ("text", "kind", "at", "path", "problem"),
    [
        (
            '{"evaluatrs": []}',
            RunSpec,
            "spec",
            "spec.evaluatrs",
            "unknown field spec.evaluatrs; did you mean evaluators?",
        ),
        ('{"qqq": 1}', RunSpec, "", "qqq", "unknown field qqq; known here: target, dataset, "),
        ('{"trials": 3}', EvalRun, "", "trials", "unknown field trials; it belongs in spec"),
        (
            '{"usage": {"inputTokns": 1}}',
            Record,
            "",
            "usage.inputTokns",
            "unknown field usage.inputTokns; did you mean inputTokens?",
        ),
        ('{"trials": "three"}', RunSpec, "spec", "spec.trials", "spec.trials must be an integer, not the text 'three'"),
        ('{"trials": true}', RunSpec, "spec", "spec.trials", "spec.trials must be an integer, not true"),
        ('{"trials": 1.5}', RunSpec, "spec", "spec.trials", "spec.trials must be an integer, not 1.5"),
        ('{"trials": 3000000000}', RunSpec, "spec", "spec.trials", "spec.trials must fit 32 bits"),
        ('{"gates": {}}', RunSpec, "spec", "spec.gates", "spec.gates must be a list, not an object"),
        (
            '{"gates": [{"stat": "maen"}]}',
            RunSpec,
            "spec",
            "spec.gates[0].stat",
            "spec.gates[0].stat must be one of mean, ci_low, ci_high, error_rate,",
        ),
        ('{"input": 5}', Record, "", "input", "input must be an object (Content), not 5"),
        ('{"usage": "little"}', Record, "", "usage", "usage must be an object (Usage), not the text 'little'"),
        ('{"input": {}}', Record, "", "input", "input sets none of text, messages, json, row, tensor, media"),
        ('{"input": {"text": "a", "json": null}}', Record, "", "input", "input sets text and json; set only one of"),
        (
            '{"usage": {"latency": "5 parsecs"}}',
            Record,
            "",
            "usage.latency",
            "usage.latency must be a duration such as",
        ),
        (
            '{"usage": {"inputTokens": 1, "input_tokens": 2}}',
            Record,
            "",
            "usage.input_tokens",
            "usage.input_tokens is given twice, in two spellings",
        ),
        (
            '{"trajectory": {"steps": [{"startTime": "2026-01-31T12:00:00"}]}}',
            Record,
            "",
            "trajectory.steps[0].startTime",
            "trajectory.steps[0].startTime must be a time with its zone",
        ),
        ("[]", Record, "", "", "the document must be an object (Record), not a list"),
        ("", Record, "", "", "the JSON is malformed: the document is empty"),
        ('{"id":\n  "a", nul}', Record, "", "", "at line 2 column 8"),
        ('{"metadata": {"x": NaN}}', Record, "", "", "the JSON is malformed"),
        ('{"metadata": {"x": 1e999}}', Record, "", "", "the JSON is malformed"),
        (b"\xff", Record, "", "", "the JSON is malformed"),
        ('{"metadata": {"x": ' + "[" * 101 + "]" * 101 + "}}", Record, "", "metadata", "nested deeper than 100 levels"),
        ('{"metadata": {"x": ' + "[" * 10**5 + "]" * 10**5 + "}}", Record, "", "", "nested deeper than 100 levels"),
    ],
)
def test_a_mistake_is_named_with_its_place(
    text: str | bytes, kind: type[msgspec.Struct], at: str, path: str, problem: str
) -> None:
    error = refusal(text, kind, at)
    assert error.path == path
    assert problem in error.problem
    assert str(error) == error.problem


@pytest.mark.parametrize(
    ("value", "kind", "problem"),
    [
        ({"labels": {"a": True}}, Run, "labels.a must be text, not true; put it in quotes"),
        ({"labels": {"a": 1.1}}, Run, "labels.a must be text, not 1.1; put it in quotes"),
        ({"labels": {True: "a"}}, Run, "labels has the key True, which is no text; put it in quotes"),
        ({"metadata": {"a b": {1: 2}}}, Record, "metadata['a b'] has the key 1, which is no text"),
        (
            {"metadata": {"at": datetime(2026, 1, 1, tzinfo=UTC)}},
            Record,
            "metadata.at reads as a date; put it in quotes",
        ),
        ({"metadata": {"a": float("nan")}}, Record, "metadata.a must be a finite number"),
        ({"metadata": {"a": {1, 2}}}, Record, "metadata.a must be a JSON value, not a Python set"),
        ({"gates": [{"min": float("inf")}]}, RunSpec, "gates[0].min must be a finite number"),
        ({"gates": [{"min": 10**400}]}, RunSpec, "gates[0].min must be a finite number"),
        ({1: 2}, RunSpec, "unknown field ['1']; known here"),
        ("text", RunSpec, "the document must be an object (RunSpec), not the text 'text'"),
    ],
)
def test_what_yaml_turns_into_something_else_is_named(value: Any, kind: type[msgspec.Struct], problem: str) -> None:
    with pytest.raises(SchemaError) as caught:
        convert(value, kind)
    assert problem in caught.value.problem


def test_the_nearest_name_is_given_apart_for_programs() -> None:
    assert refusal('{"evaluatrs": []}', RunSpec).nearest == "evaluators"
    assert refusal('{"gates": [{"stat": "maen"}]}', RunSpec).nearest == "mean"


def test_content_must_say_exactly_one_thing() -> None:
    check_content(Content(text=""), at="output")
    check_content(Content(json=None), at="output")
    for content in (Content(), Content(text="a", json=1), Content(json=None, text="")):
        with pytest.raises(SchemaError, match="output sets"):
            check_content(content, at="output")


def test_a_whole_number_beyond_a_double_keeps_its_digits_in_json() -> None:
    record = decode('{"metadata": {"n": 9007199254740993}}', Record)
    assert record.metadata["n"] == 9007199254740993
    assert b"9007199254740993" in encode_file(record)


def test_files_use_words_and_milliseconds() -> None:
    result = EvaluationResult(record_id="a", outcome=Outcome.SCORED, duration=0.0125)
    assert to_jsonable(ResultsFile(results=[result]), camel=False) == {
        "results": [{"record_id": "a", "outcome": "scored", "duration_ms": 12.5, "trial": 0, "attempts": 0}]
    }


def test_a_gate_of_a_failed_bound_prints_its_zero_over_rest() -> None:
    printed = to_jsonable(Gate(metric="m", stat=GateStat.CI_LOW, min=0.0), camel=True)
    assert {"metric": "m", "stat": "GATE_STAT_CI_LOW", "min": 0.0}.items() <= printed.items()
    assert "max" not in printed


def test_an_enum_member_knows_its_number_and_full_name() -> None:
    assert (StepType.LLM, StepType.LLM.number, StepType.LLM.proto_name) == ("llm", 1, "STEP_TYPE_LLM")
    assert StepType.of_number(1) is StepType.LLM
    assert StepType.of_number(999) is StepType.UNSPECIFIED


def test_a_text_stands_for_content_and_for_an_evaluator_wherever_either_is_expected() -> None:
    short = (
        b'{"records": [{"input": "a", "output": "b", "reference": "c", "context": ["d", {"text": "e"}], '
        b'"trajectory": {"steps": [{"type": "tool", "input": "f"}]}}], "evaluators": ["exact-match", {"ref": "contains"}]}'
    )
    long = (
        b'{"records": [{"input": {"text": "a"}, "output": {"text": "b"}, "reference": {"text": "c"}, '
        b'"context": [{"text": "d"}, {"text": "e"}], "trajectory": {"steps": [{"type": "tool", "input": {"text": "f"}}]}}], '
        b'"evaluators": [{"ref": "exact-match"}, {"ref": "contains"}]}'
    )
    assert decode(short, EvaluateRequest) == decode(long, EvaluateRequest)
    jsonschema.validate(json.loads(short), json_schema("evaluate-request"))
