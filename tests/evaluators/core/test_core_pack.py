"""Pack core: what each check promises beyond the shared matching cases."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.core.errors import InvalidParamsError, UnknownNameError
from evalsi.engine.columns import ERROR, SCORED, SKIPPED
from evalsi.evaluators import catalog
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from tests.evaluators.measuring import bound, called, columns, definitions, record, result, value

ANY_TEXT = st.text(max_size=40)
INTERFACE_PARAMS = {
    "contains": {"ignore_case": True, "substring": None},
    "cost": {},
    "exact-match": {"ignore_punctuation": False, "normalize": True},
    "fuzzy-match": {"ignore_case": True},
    "json-schema": {},
    "json-valid": {},
    "latency": {},
    "length": {"unit": "words"},
    "numeric-match": {"abs_tol": 1e-09, "rel_tol": 1e-06},
    "regex-match": {"full_match": False, "ignore_case": False},
    "token-usage": {},
}
YES_NO = [
    ("exact-match", "lamp", "lamp", {}),
    ("equals", "lamp", None, {"value": "lamp"}),
    ("contains", "red lamp", "lamp", {}),
    ("contains-any", "red lamp", None, {"substrings": ["lamp"]}),
    ("contains-all", "red lamp", None, {"substrings": ["lamp"]}),
    ("starts-with", "red lamp", "red", {}),
    ("ends-with", "red lamp", "lamp", {}),
    ("numeric-match", "It is 7", "7", {}),
    ("choice-match", "B", "B", {}),
    ("regex-match", "red lamp", None, {"pattern": "l.mp"}),
    ("json-valid", "{}", None, {}),
    ("json-schema", "{}", None, {"schema": {"type": "object"}}),
    ("json-equal", "{}", "{}", {}),
]


DEFINITIONS = definitions("core")


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.name)
def test_every_example_gives_what_the_catalog_says(definition):
    example = definition.example
    fields = dict(example["record"])
    reference = fields.pop("reference", None)
    if isinstance(reference, dict):
        reference = reference["json"]
    given = record(fields.pop("output"), reference, **fields)
    found = called(bind(definition, context=EvalContext(), params=example.get("params")), given)
    if not isinstance(found, dict):
        found = {definition.name: found if not hasattr(found, "passed") else found.passed}
    assert found == pytest.approx(example["expected"])


@pytest.mark.parametrize(("name", "defaults"), INTERFACE_PARAMS.items())
def test_names_versions_and_defaults_are_those_of_the_interface(name, defaults):
    definition = catalog.load(f"builtin/{name}@1.0.0")
    required = {"regex-match": {"pattern": "x"}, "json-schema": {"schema": {}}}.get(name, {})
    params = definition.make_params(required)
    assert {key: getattr(params, key) for key in defaults} == defaults


@pytest.mark.parametrize(("name", "output", "reference", "params"), YES_NO)
def test_every_yes_no_check_can_be_negated(name, output, reference, params):
    assert value(name, output, reference, **params) is True
    assert value(name, output, reference, **params, negate=True) is False


@pytest.mark.parametrize(("name", "output", "reference", "params"), YES_NO)
@pytest.mark.parametrize("negate", [False, True])
def test_an_unclosed_reasoning_block_is_a_miss_negated_or_not(name, output, reference, params, negate):
    found = result(name, f"<think>{output}", reference, **params, negate=negate).scores[0]
    assert found.passed is False
    assert found.explanation == "no final answer: the reasoning block is not closed"


@pytest.mark.parametrize(("name", "output", "reference", "params"), YES_NO)
def test_every_yes_no_check_reads_the_answer_after_the_reasoning(name, output, reference, params):
    assert value(name, f"<think>hm</think>\n{output}", reference, **params) is True


EMPTY = ["", "  \n", "\u200b", []]
COMPARING = [
    "exact-match", "contains", "starts-with", "ends-with", "numeric-match", "choice-match", "fuzzy-match", "levenshtein",
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "reference"),
    [(name, reference) for name in COMPARING for reference in EMPTY] + [("json-equal", ""), ("json-equal", " \n")],
)
def test_an_empty_reference_is_skipped_and_never_passes(name, reference):
    found = result(name, "", reference)
    assert found.outcome.name == "SKIPPED"
    assert "reference" in found.reason


def test_unanswerable_questions_may_be_compared_with_an_empty_reference():
    assert value("exact-match", "", "", allow_empty_reference=True) is True
    assert value("exact-match", "Paris", "", allow_empty_reference=True) is False
    assert value("fuzzy-match", "", "", allow_empty_reference=True) == 1.0


def test_a_reference_that_is_a_list_of_texts_allows_any_of_them():
    assert value("exact-match", "NYC", ["New York", "NYC", None]) is True
    assert value("contains", "in new york", ["Boston", "New York"]) is True
    assert value("numeric-match", "7", ["5", "7"]) is True
    assert value("fuzzy-match", "lamp", ["light", "lamp"]) == 1.0


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("contains", {"substring": ""}),
        ("contains", {"substring": " \u200b "}),
        ("contains-any", {"substrings": []}),
        ("contains-all", {"substrings": ["a", ""]}),
        ("starts-with", {"prefix": ""}),
        ("ends-with", {"suffix": ""}),
        ("regex-match", {"pattern": ""}),
        ("regex-match", {"pattern": "a("}),
        ("regex-match", {"pattern": "*a"}),
        ("json-schema", {"schema": {"type": "objekt"}}),
        ("json-schema", {"schema": {"$ref": "#/$defs/missing"}}),
        ("json-schema", {"schema": {"$ref": "https://example.com/schema.json"}}),
        ("json-schema", {"schema": {"properties": {"a": {"items": [{"$ref": "other.json"}]}}}}),
        ("choice-match", {"choices": ["A"]}),
        ("choice-match", {"choices": ["A", "a"]}),
        ("exact-match", {"normalize": "maybe"}),
        ("exact-match", {"reasoning_tags": [" "]}),
        ("numeric-match", {"rel_tol": -1}),
        ("numeric-match", {"percent": "sometimes"}),
        ("length", {"unit": "miles"}),
    ],
)
def test_params_that_cannot_work_are_refused_before_any_record(name, params):
    with pytest.raises(InvalidParamsError) as refused:
        bound(name, **params)
    assert name in str(refused.value)


def test_an_unknown_param_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match="ignore_case"):
        bound("contains", ignorecase=True)


@pytest.mark.parametrize("pattern", ["^(a+)+$", r"(a+)+$", r"^(?:a|a)*$", r"(x+x+)+y"])
@pytest.mark.parametrize("full_match", [False, True])
def test_a_pattern_that_would_run_away_is_run_in_linear_time(pattern, full_match):
    evaluator = bound("regex-match", pattern=pattern, full_match=full_match)
    assert evaluator.bounded
    started = time.process_time()
    assert called(evaluator, record("a" * 50_000 + "!")) is False
    assert time.process_time() - started < 1


@pytest.mark.parametrize("pattern", [r"(?=(a+))\1b", r"(a)\1", r"(?<!x)a", r"\bword\b"])
def test_a_pattern_that_linear_time_cannot_run_is_isolated(pattern):
    assert not bound("regex-match", pattern=pattern).bounded


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        (r"^\w+$", "café", True),
        (r"^\w+$", "हिन्दी", True),
        (r"[\w-]+", "é", True),
        (r"^\d+$", "٤٢", True),
        (r"\d+$", "line 42\n", True),
        (r"\d+\Z", "line 42\n", False),
        (r"\bé\b", "un é.", True),
        (r"a\sb", "a\u00a0b", True),
        (r"[^\W\d]+", "é", True),
        (r"é", "e\u0301", True),
        (r"(?m)^line2$", "line1\nline2", True),
        (r"[]a]", "]", True),
        (r"[$]", "$", True),
        (r"(?i)STRASSE", "strasse", True),
        (r"^Yes", "\ufeffYes", True),
        (r"(?P<a>x)(?P=a)", "xx", True),
    ],
)
def test_a_pattern_means_what_it_means_in_python(pattern, text, matches):
    assert value("regex-match", text, pattern=pattern) is matches


def test_the_whole_answer_or_several_lines_are_matched_on_request():
    assert value("regex-match", "a1b", pattern=r"\d") is True
    assert value("regex-match", "a1b", pattern=r"\d", full_match=True) is False
    assert value("regex-match", "a\nb", pattern="^b$", multiline=True) is True


def test_a_lone_surrogate_does_not_break_a_match():
    assert value("regex-match", "a\ud800b", pattern="^a.b$") is True


@pytest.mark.parametrize("text", ["NaN", '{"a": 1, "a": 2}', "", "{", "[1,]", "{'a': 1}", "<think>{}", "[" * 90_000])
def test_json_valid_refuses_what_the_standard_refuses(text):
    found = result("json-valid", text).scores[0]
    assert found.passed is False
    assert found.explanation


def test_json_in_a_code_fence_counts_on_request():
    fenced = '```json\n{"a": 1}\n```'
    assert value("json-valid", fenced) is False
    assert value("json-valid", fenced, allow_code_fence=True) is True


def test_a_schema_miss_names_the_place():
    schema = {
        "type": "object",
        "properties": {"size": {"$ref": "#/$defs/size"}},
        "$defs": {"size": {"type": "integer"}},
    }
    assert value("json-schema", '{"size": 3}', schema=schema) is True
    assert value("json-schema", '{"size": 0.1}', schema={"properties": {"size": {"multipleOf": 0.1}}}) is True
    assert (
        result("json-schema", '{"size": "3"}', schema=schema).scores[0].explanation
        == "$.size: '3' is not of type 'integer'"
    )


def test_a_schema_may_refer_to_its_own_parts_and_to_its_metaschema():
    schema = {
        "$id": "https://example.com/root",
        "$defs": {"part": {"$id": "part", "$anchor": "here", "type": "string"}},
        "properties": {"a": {"$ref": "part"}, "b": {"$ref": "part#here"}, "c": {"const": {"$ref": "nowhere"}}},
    }
    assert value("json-schema", '{"a": "x", "b": "y"}', schema=schema) is True
    assert value("json-schema", '{"a": 1}', schema=schema) is False
    assert value("json-schema", '{"type": 5}', schema={"$ref": "https://json-schema.org/draft/2020-12/schema"}) is False


def test_formats_are_asserted_on_request():
    schema = {"type": "string", "format": "date"}
    assert value("json-schema", '"2024-13-01"', schema=schema) is True
    assert value("json-schema", '"2024-13-01"', schema=schema, check_formats=True) is False


def test_json_equal_takes_values_and_references_of_every_kind():
    assert value("json-equal", "[1.0]", [1]) is True
    assert value("json-equal", '{"a": null}', {"a": None}) is True
    assert value("json-equal", "1", value=True) is False
    assert value("json-equal", "null", value=None) is True
    assert value("json-equal", '"x"', value="x") is True
    assert value("json-equal", "not json", {"a": 1}) is False
    assert value("json-equal", "{}", "not json") == "SKIPPED"


def test_output_that_is_a_json_value_is_read_as_json():
    assert value("json-valid", {"a": [1, None]}) is True
    assert value("json-equal", {"a": 1}, {"a": 1.0}) is True


@pytest.mark.parametrize(
    ("unit", "text", "length"),
    [
        ("words", "The lamp is on.", 4.0), ("words", "東京は晴れ", 5.0), ("words", "", 0.0),
        ("characters", "cafe\u0301", 4.0), ("lines", "a\n\n b\n", 2.0), ("bytes", "é", 2.0),
    ],
)  # fmt: skip
def test_length_counts_in_the_unit_asked_for(unit, text, length):
    assert value("length", text, unit=unit) == length


def test_length_counts_reasoning_unless_told_not_to():
    assert value("length", "<think>a b</think> c") == 3.0
    assert value("length", "<think>a b</think> c", reasoning_tags=["think"]) == 1.0


def test_resources_that_were_not_measured_are_skipped_and_never_zero():
    nothing = record("ok")
    partial = record("ok", usage={"input_tokens": 3, "cost_usd": 0.5, "unpriced_requests": 1})
    for name in ("latency", "cost", "token-usage"):
        assert columns(name, nothing).outcomes[0] == SKIPPED
    assert columns("cost", partial).outcomes[0] == SKIPPED
    tokens = columns("token-usage", partial)
    assert tokens.outcomes[0] == SCORED
    assert tokens.columns["input_tokens"].values == [3.0]
    assert str(tokens.columns["total_tokens"].values) == "[nan]"


def test_free_work_costs_zero_and_is_scored():
    assert columns("cost", record("ok", usage={"cost_usd": 0})).columns["cost"].values == [0.0]


@given(ANY_TEXT, ANY_TEXT)
def test_no_text_breaks_a_check(output, reference):
    for name in ("exact-match", "contains", "starts-with", "ends-with", "numeric-match", "choice-match", "fuzzy-match",
                 "levenshtein", "json-valid", "json-equal", "length"):  # fmt: skip
        assert result(name, output, reference).outcome.name in ("SCORED", "SKIPPED")


@given(ANY_TEXT.filter(lambda text: any(mark.isalnum() for mark in text)))
def test_a_text_matches_itself(text):
    assert value("exact-match", text, text, reasoning_tags=[]) is True
    assert value("contains", text, text, reasoning_tags=[]) is True
    assert value("fuzzy-match", text, text, reasoning_tags=[]) == 1.0


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_what_json_writes_is_valid_json_and_equals_itself(document):
    text = json.dumps(document)
    assert value("json-valid", text, reasoning_tags=[]) is True
    assert value("json-equal", text, value=document, reasoning_tags=[]) is True


@pytest.mark.parametrize("name", [definition.name for definition in DEFINITIONS if definition.bounded])
def test_a_bounded_check_of_100_kilobytes_takes_less_than_a_second(name):
    params = {
        "equals": {"value": "a"}, "contains-any": {"substrings": ["zz"]}, "contains-all": {"substrings": ["zz"]},
        "regex-match": {"pattern": "(a|b|ab)*c"},
    }.get(name, {})  # fmt: skip
    evaluator = bound(name, **params)
    for text in (
        "answer: 1,000 (ab) é " * 5_000,
        "((((" * 25_000,
        '{"a":' * 20_000,
        "[0," * 33_000,
        "<think>" * 14_000,
    ):
        started = time.process_time()
        columns(name, record(text, text), **params)
        assert time.process_time() - started < 1
    assert evaluator.bounded


def test_a_schema_that_refers_to_itself_without_end_is_an_error_and_no_low_score() -> None:
    endless = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
    found = columns("json-schema", record("1"), schema=endless)
    assert list(found.outcomes) == [ERROR]
