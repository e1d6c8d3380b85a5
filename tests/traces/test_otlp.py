"""OTLP as it arrives: ids, enums, partial success, damage. The real protobuf runtime is the oracle of our reader."""

import base64
import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi.core.errors import InvalidDataError
from evalsi.traces import DecodedSpans, decode_otlp, decode_otlp_json, decode_otlp_protobuf
from tests.case_files import CASES
from tests.traces.otlp_encoding import encode_request
from tests.traces.reading import GOLDEN

ROWS: list[dict[str, Any]] = json.loads((CASES / "files" / "H06_id_variants.json").read_text())
RIGHT = {  # spans that are taken, spans that are not
    "hex lower": (1, 0),
    "hex upper": (1, 0),
    "base64 id (wrong for OTLP JSON)": (0, 1),
    "all zero trace id": (0, 1),
    "31 digits": (0, 1),
    "span id equals parent": (1, 0),
    "integer times as JSON numbers": (1, 0),
    "enum as name": (1, 0),
    "unknown field": (1, 0),
    "attribute without value": (1, 0),
    "empty request": (0, 0),
    "empty list": (0, 0),
    "two good one bad": (2, 1),
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_ids_enums_and_partial_success_are_as_the_case_says(row: dict[str, Any]) -> None:
    decoded = decode_otlp_json(json.dumps(row["body"]).encode())
    assert (len(decoded.spans), len(decoded.rejected)) == RIGHT[row["name"]]


def test_upper_and_lower_case_ids_are_one_trace() -> None:
    lower, upper = (decode_otlp_json(json.dumps(ROWS[place]["body"]).encode()).spans[0] for place in (0, 1))
    assert lower.trace_id == upper.trace_id


def test_a_base64_id_is_named_with_its_span_and_what_is_asked_for() -> None:
    (rejected,) = decode_otlp_json(json.dumps(ROWS[2]["body"]).encode()).rejected
    assert "'ok'" in rejected.where
    assert "base64" in rejected.reason
    assert "hexadecimal" in rejected.reason


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_protobuf_and_json_of_the_same_spans_decode_alike(path: Any) -> None:
    request = json.loads(path.read_bytes())
    request.pop("resourceLogs", None)  # which are read beside the spans in JSON alone
    assert decode_otlp_protobuf(encode_request(request)) == decode_otlp_json(json.dumps(request).encode())


def test_a_file_of_messages_with_their_lengths_is_read() -> None:
    request = json.loads((GOLDEN / "mlflow.json").read_bytes())
    message = encode_request(request)
    framed = b"".join(len(part).to_bytes(4, "big") + part for part in (message, message))
    assert len(decode_otlp(framed, "spans.pb").spans) == 8


def test_a_file_of_one_document_per_line_is_read_and_a_bad_line_is_named() -> None:
    line = json.dumps(ROWS[0]["body"]).encode()
    assert len(decode_otlp(line + b"\n\n" + line + b"\n", "spans.jsonl").spans) == 2
    with pytest.raises(InvalidDataError, match=r"spans\.jsonl:2"):
        decode_otlp(line + b"\n{broken}\n", "spans.jsonl")


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b'{"resourceSpans": 5}', b'{"resourceSpans": [{"scopeSpans": 1}]}', b"\xff\xfe"]
)
def test_what_is_no_otlp_is_refused_in_a_sentence(body: bytes) -> None:
    with pytest.raises(InvalidDataError):
        decode_otlp(body, "spans")


@given(st.binary(max_size=400))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_decoded_or_refused(body: bytes) -> None:
    for decode in (decode_otlp_protobuf, decode_otlp_json):
        with contextlib.suppress(InvalidDataError):
            assert isinstance(decode(body), DecodedSpans)


@given(st.integers(0, 4000), st.integers(0, 255))
@settings(max_examples=60, deadline=None)
def test_a_damaged_message_is_decoded_or_refused(place: int, byte: int) -> None:
    body = bytearray(encode_request(json.loads((GOLDEN / "mlflow.json").read_bytes())))
    body[place % len(body)] = byte
    with contextlib.suppress(InvalidDataError):
        assert isinstance(decode_otlp_protobuf(bytes(body)), DecodedSpans)


def test_deep_values_are_cut_and_many_attributes_are_taken() -> None:
    value: dict[str, Any] = {"stringValue": "end"}
    for _ in range(100):
        value = {"arrayValue": {"values": [value]}}
    attributes = [{"key": f"k{number}", "value": {"intValue": number}} for number in range(5000)]
    span = {"traceId": "a" * 32, "spanId": "b" * 16, "attributes": [*attributes, {"key": "deep", "value": value}]}
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    (decoded,) = decode_otlp_json(json.dumps(body).encode()).spans
    assert len(decoded.attributes) == 5001
    assert "nested deeper" in json.dumps(decoded.attributes["deep"])


def test_numbers_that_json_has_not_become_their_names() -> None:
    span = {
        "traceId": "a" * 32,
        "spanId": "b" * 16,
        "attributes": [
            {"key": "nan", "value": {"doubleValue": "NaN"}},
            {"key": "bytes", "value": {"bytesValue": base64.b64encode(b"x").decode()}},
            {"key": "big", "value": {"intValue": "9007199254740993"}},
        ],
    }
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    (decoded,) = decode_otlp_json(json.dumps(body).encode()).spans
    assert decoded.attributes == {"nan": "NaN", "bytes": "eA==", "big": 9007199254740993}
