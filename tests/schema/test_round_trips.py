"""Laws: whatever can be said in the schema survives every form it is written in."""

import json
from typing import Any

import msgspec
import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from message_strategies import messages, nearly_equal

import evalsi.schema as types
from evalsi.schema import json_codec, proto_codec
from evalsi.schema.field import MESSAGE_NAMES, fields_of
from evalsi.schema.json_schema import documents, json_schema

FAST = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
every_message = pytest.mark.parametrize("name", MESSAGE_NAMES)


@every_message
@given(data=st.data())
@FAST
def test_a_message_survives_every_form(name: str, data: st.DataObject) -> None:
    kind: Any = getattr(types, name)
    message = data.draw(messages(name))
    assert nearly_equal(json_codec.decode(json_codec.encode_camel(message), kind), message)
    assert nearly_equal(json_codec.decode(json_codec.encode_file(message), kind), message)
    assert msgspec.json.decode(msgspec.json.encode(message), type=kind) == message
    assert nearly_equal(proto_codec.decode(proto_codec.encode(message), kind), message)


@every_message
@given(data=st.data())
@FAST
def test_the_rest_form_is_what_protobuf_itself_reads_and_writes(name: str, data: st.DataObject) -> None:
    kind: Any = getattr(types, name)
    message = data.draw(messages(name))
    wire = proto_codec.to_wire(message)
    ours = json.loads(json_codec.encode_camel(message))
    parsed = ParseDict(ours, type(wire)(), descriptor_pool=proto_codec.pool())
    assert nearly_equal(proto_codec.from_wire(parsed, kind), message)
    theirs = MessageToDict(wire, descriptor_pool=proto_codec.pool())
    assert nearly_equal(json_codec.convert(theirs, kind), message)


@pytest.mark.parametrize("document", documents())
@given(data=st.data())
@FAST
def test_what_is_written_fits_the_json_schema(document: str, data: st.DataObject) -> None:
    from jsonschema import Draft202012Validator

    schema = json_schema(document)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    name = "RunSpec" if document == "eval-run" else schema["title"]
    message = data.draw(messages(name))
    for form in (json_codec.encode_camel(message), json_codec.encode_file(message)):
        value = json.loads(form)
        if document == "eval-run":
            value |= {"dataset": {"path": "a.jsonl"}, "evaluators": [{"ref": "exact-match"}], "trials": 3}
            value = {"apiVersion": "evals.si/v1alpha1", "kind": "EvalRun", "metadata": {"name": "x"}, "spec": value}
        validator.validate(value)


@every_message
def test_an_empty_message_prints_every_zero_over_rest(name: str) -> None:
    kind: Any = getattr(types, name)
    printed = json_codec.to_jsonable(kind(), camel=True)
    expected = MessageToDict(
        proto_codec.message_class(kind)(),
        always_print_fields_with_no_presence=True,
        descriptor_pool=proto_codec.pool(),
    )
    objects = {field.json_name for field in fields_of(name) if field.kind == "object" and field.shape == "plain"}
    assert printed.keys() == expected.keys() | objects
    assert all(not value or str(value).endswith("_UNSPECIFIED") for value in printed.values())


@every_message
def test_an_answer_holds_every_field_but_those_that_may_be_unknown(name: str) -> None:
    written = json.loads(json_codec.encode_camel(getattr(types, name)()))
    known = {
        field.json_name
        for field in fields_of(name)
        if not field.oneof
        and (field.shape in ("list", "map") or (field.shape != "optional" and field.kind != "message"))
    }
    assert set(written) == known
