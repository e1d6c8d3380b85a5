"""Answers of a newer version are read as far as they are known."""

import json
from typing import Any

import pytest

from evalsi.schema import EvaluateResponse, Outcome, Run, RunStatus
from evalsi.schema.json_codec import decode, decode_known, encode_camel
from evalsi.schema.schema_error import SchemaError

ANSWER = {
    "results": [
        {
            "recordId": "1",
            "outcome": "OUTCOME_SCORED",
            "scores": [{"name": "exact-match", "passed": True, "metadata": {"kept": {"whatever": 1}}, "news": [1]}],
            "durationMs": 5,
            "news": {"deep": True},
        }
    ],
    "summaries": [],
    "news": "yes",
}


def test_fields_that_are_not_known_are_left_out_at_any_depth() -> None:
    with pytest.raises(SchemaError, match="unknown field"):
        decode(json.dumps(ANSWER), EvaluateResponse)
    (result,) = decode_known(json.dumps(ANSWER), EvaluateResponse).results
    assert (result.record_id, result.outcome, result.duration) == ("1", Outcome.SCORED, 0.005)
    assert result.scores[0].metadata == {"kept": {"whatever": 1}}


def test_a_member_of_an_enum_that_is_not_known_is_unspecified() -> None:
    for status in ("RUN_STATUS_PONDERING", 99):
        assert decode_known(json.dumps({"id": "r", "status": status}), Run) == Run(id="r", status=RunStatus.UNSPECIFIED)


@pytest.mark.parametrize("wrong", [{"id": 1}, {"status": ["RUNNING"]}, {"progress": "half"}, {"summaries": {}}, []])
def test_a_wrong_value_in_a_known_field_is_still_an_error(wrong: Any) -> None:
    with pytest.raises(SchemaError):
        decode_known(json.dumps(wrong), Run)


def test_what_is_known_reads_as_ever() -> None:
    run = Run(id="r", status=RunStatus.RUNNING, labels={"status": "x", "unknown": "y"})
    assert decode_known(encode_camel(run), Run) == run
