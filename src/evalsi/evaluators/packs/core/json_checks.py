"""Whether the answer is JSON, fits a schema, or equals a JSON value.

JSON is what RFC 8259 says: NaN and Infinity are none, and an object that repeats a key is refused, because readers
disagree on what it means.
"""

from typing import Any, cast

import msgspec

from evalsi.core.errors import ScoreError, SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.matching.json_values import parse_json, same_json, without_code_fence
from evalsi.evaluators.matching.record_text import EMPTY_REFERENCE, answer_reader
from evalsi.evaluators.packs.core.verdicts import CheckParams, missed

_EXPLANATION_LENGTH = 300
_DATA_KEYWORDS = frozenset({"const", "enum", "default", "examples"})
_REFERENCE_KEYWORDS = ("$ref", "$dynamicRef")


class JsonParams(CheckParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the JSON is found in the answer."""

    allow_code_fence: bool = False
    """Read the inside of a Markdown code fence when the whole answer is one."""


class JsonSchemaParams(JsonParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The schema."""

    schema: dict[str, Any]
    """JSON Schema; the draft that its `$schema` names, 2020-12 by default."""
    check_formats: bool = False
    """Assert `format` keywords too."""


class JsonEqualParams(JsonParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The expected value."""

    value: Any = msgspec.UNSET
    """The JSON value; by default the record's reference. Text is read as JSON where it is JSON."""


class _JsonAnswer:
    """The answer as a JSON value."""

    def __init__(self, name: str, params: JsonParams) -> None:
        self.name = name
        self.read = answer_reader(params.reasoning_tags)
        self.allow_code_fence = params.allow_code_fence
        self.negate = params.negate
        self.no_answer = missed(name)

    def parse(self, record: Record, *, exact: bool = True) -> Any:
        """The value, or the miss of an answer that was never given. Raises: ValueError: the answer is not JSON."""
        answer = self.read(record)
        if answer is None:
            return self.no_answer
        return parse_json(without_code_fence(answer) if self.allow_code_fence else answer, exact=exact)

    def miss(self, why: str) -> bool | Score:
        return True if self.negate else missed(self.name, why[:_EXPLANATION_LENGTH])


@evaluator(
    name="json-valid",
    version="1.0.0",
    requires=["output"],
    params=JsonParams,
    outputs=[output("json-valid", "passed", description="The answer is JSON.")],
    bounded=True,
    example={"record": {"output": '{"a": NaN}'}, "expected": {"json-valid": False}},
)
class JsonValid(_JsonAnswer):
    """Whether the whole answer is one JSON value (RFC 8259) in which no object repeats a key."""

    def __init__(self, params: JsonParams) -> None:
        super().__init__("json-valid", params)

    def evaluate(self, record: Record) -> bool | Score:
        try:
            value = self.parse(record)
        except ValueError as error:
            return self.miss(f"not JSON: {error}")
        return value if value is self.no_answer else not self.negate


@evaluator(
    name="json-schema",
    version="1.0.0",
    requires=["output"],
    params=JsonSchemaParams,
    outputs=[output("json-schema", "passed", description="The answer is JSON that fits the schema.")],
    example={
        "record": {"output": '{"colour": "red"}'},
        "params": {"schema": {"type": "object", "required": ["colour", "size"]}},
        "expected": {"json-schema": False},
    },
)
class JsonSchema(_JsonAnswer):
    """Whether the answer is JSON that fits a schema; a miss names the first place that does not.

    The schema is checked before the run. References lead nowhere but into the schema itself: nothing is fetched.
    """

    def __init__(self, params: JsonSchemaParams) -> None:
        super().__init__("json-schema", params)
        self._validator = _schema_validator(params.schema, check_formats=params.check_formats)

    def evaluate(self, record: Record) -> bool | Score:
        try:
            value = self.parse(record, exact=False)
            if value is self.no_answer:
                return self.no_answer
        except ValueError as error:
            return self.miss(f"not JSON: {error}")
        except RecursionError:
            return self.miss("nested too deeply")
        try:
            failure = next(self._validator.iter_errors(value), None)
        except RecursionError:
            # Not a miss: nothing was found out about the answer.
            raise ScoreError(
                "`schema` refers to itself without end, or the answer is nested too deeply for it"
            ) from None
        if failure is None:
            return not self.negate
        return self.miss(f"{failure.json_path}: {failure.message}")


@evaluator(
    name="json-equal",
    version="1.0.0",
    requires=["output"],
    params=JsonEqualParams,
    outputs=[output("json-equal", "passed", description="The answer is the expected JSON value.")],
    bounded=True,
    example={
        "record": {"output": '{"a": 1, "b": [1, 2]}', "reference": {"json": {"b": [1, 2], "a": 1.0}}},
        "expected": {"json-equal": True},
    },
)
class JsonEqual(_JsonAnswer):
    """Whether the answer is the JSON value expected: 1 is 1.0, true is not 1, keys have no order, lists do."""

    def __init__(self, params: JsonEqualParams) -> None:
        super().__init__("json-equal", params)
        self._value: Any = params.value
        if isinstance(self._value, str):
            self._value = _value_of_text(self._value)

        self.needs = frozenset[str]() if self._value is not msgspec.UNSET else frozenset(("reference",))

    def evaluate(self, record: Record) -> bool | Score:
        wanted = self._value if self._value is not msgspec.UNSET else _reference_value(record)
        try:
            value = self.parse(record)
        except ValueError as error:
            return self.miss(f"not JSON: {error}")
        if value is self.no_answer:
            return self.no_answer
        return same_json(value, wanted) is not self.negate


def _reference_value(record: Record) -> Any:
    reference = record.reference
    if reference is None:
        raise SkipRecord("the record has no reference")
    if reference.text is None:
        if reference.json is not msgspec.UNSET:
            return reference.json
        raise SkipRecord("the reference is no JSON value")
    if not reference.text.strip():
        raise SkipRecord(EMPTY_REFERENCE)
    try:
        return parse_json(reference.text)
    except ValueError:
        raise SkipRecord("the reference is no JSON value") from None


def _value_of_text(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return text


def _schema_validator(schema: dict[str, Any], *, check_formats: bool) -> Any:
    """A validator that never leaves `schema`. Raises: ValueError: it is no schema, or refers to what is not in it."""
    import jsonschema
    from jsonschema.validators import validator_for
    from jsonschema_specifications import REGISTRY  # pyright: ignore[reportMissingTypeStubs]
    from referencing import Registry, Resource
    from referencing.exceptions import NoSuchResource
    from referencing.jsonschema import DRAFT202012

    kind: Any = validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise ValueError(f"`schema` is no JSON Schema: {error.json_path}: {error.message}") from None

    def refuse(uri: str) -> Any:
        raise NoSuchResource(ref=uri)

    known: Any = REGISTRY
    closed: Any = Registry(retrieve=refuse)  # pyright: ignore[reportCallIssue]
    registry = closed.combine(known)
    resource: Any = Resource.from_contents(schema, default_specification=DRAFT202012)
    base = resource.id() or ""
    _check_references(schema, registry.with_resource(base, resource).crawl().resolver(base), resource)
    return kind(schema, registry=registry, format_checker=kind.FORMAT_CHECKER if check_formats else None)


def _check_references(schema: Any, resolver: Any, resource: Any) -> None:
    """Raises: ValueError: a reference leads to nothing that is here."""
    from referencing.exceptions import Unresolvable

    pending: list[tuple[Any, Any]] = [(schema, resolver)]
    while pending:
        part, scope = pending.pop()
        if isinstance(part, list):
            pending.extend((item, scope) for item in cast("list[Any]", part))
        if not isinstance(part, dict):
            continue
        keywords = cast("dict[str, Any]", part)
        if keywords is not schema and isinstance(keywords.get("$id"), str):
            scope = scope.in_subresource(type(resource)(contents=part, specification=resource._specification))
        for key, value in keywords.items():
            if key in _REFERENCE_KEYWORDS and isinstance(value, str):
                try:
                    scope.lookup(value)
                except Unresolvable:
                    raise ValueError(
                        f"`schema` refers to {value!r}, which is not in it; nothing is fetched, so put it under $defs"
                    ) from None
            elif key not in _DATA_KEYWORDS:
                pending.append((value, scope))
