"""Tests as datasets carry them: which fields of a record hold assertions, scripts, or inputs with expected outputs.

Its own module because the same datasets are graded by evaluators of two packs, and every field must mean the same there.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from evalsi.core.content import text_of
from evalsi.core.errors import SkipRecord
from evalsi.evaluators.programs.python_tests import PythonTests
from evalsi.schema import Record

_LISTS = ("test_list", "tests")
_SCRIPTS = ("test", "test_code", "tests")
_SETUPS = ("test_setup_code", "test_setup", "setup")
_CASES = ("test_cases", "cases", "input_output", "inputs_outputs", "private_test_cases", "public_test_cases")
_INPUTS = ("stdin", "input", "inputs")
_OUTPUTS = ("stdout", "output", "outputs", "expected", "expected_output")


class ProgramCase(msgspec.Struct, frozen=True, kw_only=True):
    """One input and what is expected. With a `function`, the input is its arguments and the output its value."""

    given: Any
    expected: Any
    function: str = ""


def python_tests_of(record: Record) -> PythonTests:
    """The tests in `metadata` (test_list, tests, test, test_code), else the reference's text.

    Raises: SkipRecord: there are none.
    """
    metadata = record.metadata
    listed = _first(metadata, _LISTS)
    if _are_cases(listed):
        raise SkipRecord("the record's tests are inputs with outputs, which code-exec-tests runs")
    if isinstance(listed, list):
        tests = tuple(str(each) for each in cast("list[Any]", listed) if str(each).strip())
    else:
        script = next((metadata[name] for name in _SCRIPTS if isinstance(metadata.get(name), str)), "")
        text = script or text_of(record.reference)
        tests = (text,) if text.strip() else ()
    if not tests:
        raise SkipRecord("the record has no tests: metadata.test_list, metadata.test or a reference")
    setups = [_lines(metadata.get("test_imports"))]
    setups += [metadata[name] for name in _SETUPS if isinstance(metadata.get(name), str)][:1]
    return PythonTests(
        tests=tests, setup="\n".join(filter(None, setups)), entry_point=str(metadata.get("entry_point") or "")
    )


def _lines(listed: Any) -> str:
    return "\n".join(map(str, cast("list[Any]", listed))) if isinstance(listed, list) else ""


def has_cases(record: Record) -> bool:
    """Whether a record's tests are inputs with outputs, rather than assertions or scripts."""
    return _first(record.metadata, _CASES) is not None or _are_cases(_first(record.metadata, _LISTS))


def cases_of(record: Record) -> list[ProgramCase]:
    """The cases in `metadata` (test_cases, input_output), as a list of cases or as lists of inputs and outputs; else the list
    `tests`, where it holds objects.

    Raises: SkipRecord: there are none, or they cannot be read.
    """
    raw = _first(record.metadata, _CASES)
    if raw is None and _are_cases(listed := _first(record.metadata, _LISTS)):
        raw = listed
    if isinstance(raw, str):
        try:
            raw = msgspec.json.decode(raw)
        except msgspec.DecodeError as error:
            raise SkipRecord(f"the test cases are no JSON: {error}") from None
    function = ""
    if isinstance(raw, Mapping):
        pairs = cast("Mapping[str, Any]", raw)
        function = str(pairs.get("fn_name") or "")
        inputs, outputs = pairs.get("inputs"), pairs.get("outputs")
        if not isinstance(inputs, list) or not isinstance(outputs, list):
            raise SkipRecord("the test cases have no lists `inputs` and `outputs`")
        given, expected = cast("list[Any]", inputs), cast("list[Any]", outputs)
        if len(given) != len(expected):
            raise SkipRecord(f"there are {len(given)} inputs and {len(expected)} outputs")
        found = [
            ProgramCase(given=one, expected=_unwrapped(two, function), function=function)
            for one, two in zip(given, expected, strict=True)
        ]
    elif isinstance(raw, Sequence) and not isinstance(raw, (str, bytes)):
        found = [_case(one) for one in cast("Sequence[Any]", raw)]
    else:
        found = []
    if not found:
        raise SkipRecord("the record has no test cases: metadata.test_cases")
    return found


def _are_cases(listed: Any) -> bool:
    """Whether a list of tests holds objects, which no assertion and no script is."""
    return isinstance(listed, list) and any(isinstance(each, Mapping) for each in cast("list[Any]", listed))


def _case(value: Any) -> ProgramCase:
    if not isinstance(value, Mapping):
        raise SkipRecord("a test case is no object with an input and an output")
    fields = cast("Mapping[str, Any]", value)
    expected = _first(fields, _OUTPUTS)
    if expected is None and not any(name in fields for name in _OUTPUTS):
        raise SkipRecord(f"a test case has no output; it has {', '.join(fields)}")
    function = str(fields.get("function") or fields.get("fn_name") or "")
    given = fields.get("args", []) if function else _first(fields, _INPUTS)
    return ProgramCase(given="" if given is None else given, expected=expected, function=function)


def _unwrapped(output: Any, function: str) -> Any:
    """APPS writes the value of a function in a list of one."""
    if not (function and isinstance(output, list)):
        return output
    values = cast("list[Any]", output)
    return values[0] if len(values) == 1 else values


def _first(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)
