"""From flags and options to choices of evaluators."""

from typing import Any

import pytest

from evalsi.core.errors import InvalidParamsError, InvalidSpecError, UnknownNameError
from evalsi.evaluators.catalog import load
from evalsi.evaluators.choose import FlagValue, choices_of, param_of_flag, split_list
from evalsi.schema import EvaluatorRef


def test_a_list_ignores_blanks_and_empty_parts() -> None:
    assert split_list(" a, b,,c = d ,") == ["a", "b", "c = d"]
    assert split_list(" , ") == []


@pytest.mark.parametrize(
    ("reference", "key", "text", "value"),
    [
        ("contains", "substring", "42", "42"),
        ("contains", "substring", '"42"', "42"),
        ("contains", "substring", "007", "007"),
        ("contains", "substring", "a=b", "a=b"),
        ("contains", "substring", "", ""),
        ("contains", "ignore_case", "true", True),
        ("numeric-match", "tolerance", "0.1", 0.1),
        ("numeric-match", "tolerance", "x", "x"),
        ("exact-match", "reasoning_tags", '["a"]', ["a"]),
        ("exact-match", "nothing", "3", 3),
    ],
)
def test_a_value_is_read_as_the_params_type_takes_it(reference: str, key: str, text: str, value: Any) -> None:
    name, found, read = param_of_flag(f"{reference}.{key}={text}")
    assert (name, found, str(read)) == (reference, key, text)
    (choice,) = choices_of([reference], {name: {key: read}})
    assert isinstance(choice, EvaluatorRef)
    assert choice.params == {key: value}
    assert type(choice.params[key]) is type(value)


@pytest.mark.parametrize("flag", ["", "=", "a", "a=1", "a.=1", ".k=1", "a.b"])
def test_what_is_no_param_is_refused(flag: str) -> None:
    with pytest.raises(InvalidSpecError, match="is no param"):
        param_of_flag(flag)


def test_params_go_to_an_alias_or_a_definition_in_hand() -> None:
    definition = load("contains")
    first, second = choices_of(["c=contains", definition], {"c": {"ignore_case": True}, "contains": {"substring": FlagValue("7")}})  # fmt: skip
    assert isinstance(first, EvaluatorRef)
    assert (first.name, first.params) == ("c", {"ignore_case": True})
    assert second.preset == {"substring": "7"}  # type: ignore[union-attr]


def test_params_for_nobody_and_params_twice_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'contains'"):
        choices_of(["contains"], {"contain": {}})
    with pytest.raises(InvalidParamsError, match="in its reference and beside it"):
        choices_of([EvaluatorRef(ref="contains", params={"substring": "a"})], {"contains": {"substring": "b"}})
