"""Whatever a file holds, the answer is a document or a typed error, and it comes quickly."""

import json
import time
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalsi.core.errors import EvalsiError
from evalsi.run.gates.condition import GateCondition
from evalsi.run.spec import read_run_spec
from tests.run.spec.specs import HEAD, SMALL, with_lines

QUICK = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
LIMIT_S = 1.0
WORDS = st.sampled_from(
    [
        *("apiVersion", "kind", "metadata", "name", "labels", "spec", "target", "dataset", "evaluators", "gates"),
        *("evals.si/v1alpha1", "EvalRun", "exact-match", "metric", "min", "max", "cel", "ref", "params", "trials"),
        *("judges", "budget", "path", "inline", "records", "slice", "max_drop", "stat", "sinks", "fallbacks"),
        *("metric('exact-match').mean > 0.5", "${X}", "yes", "", "0", "latest(a=b)", "{{ input }}", "pass_hat_k"),
    ]
)
SCALARS = WORDS | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=5), inner, max_size=5),
    max_leaves=25,
)


def answer(text: str) -> None:
    began = time.process_time()
    try:
        document = read_run_spec(text, environment={"A": "1"})
    except EvalsiError as error:
        assert str(error)
        assert error.exit_status in (1, 2)
    else:
        assert document.spec.evaluators
    assert time.process_time() - began < LIMIT_S


@QUICK
@given(content=st.binary(max_size=200))
def test_any_bytes_are_answered(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "run.yaml"
    path.write_bytes(content)
    began = time.process_time()
    with pytest.raises(EvalsiError):
        read_run_spec(path)
    assert time.process_time() - began < LIMIT_S


@QUICK
@given(st.text(alphabet="{}[]:,-?&*!|>'\"%@#ab1 \n\t~<=.", max_size=120))
def test_any_text_of_yaml_signs_is_answered(text: str) -> None:
    answer(text)
    answer(HEAD + text)


@QUICK
@given(VALUES)
def test_any_values_are_answered(value: Any) -> None:
    document = {"apiVersion": "evals.si/v1alpha1", "kind": "EvalRun", "metadata": {"name": "a"}, "spec": value}
    answer(json.dumps(document))
    answer(yaml.safe_dump(document, allow_unicode=True))


@settings(QUICK, max_examples=60)
@given(st.dictionaries(WORDS, VALUES, max_size=6))
def test_any_fields_of_a_right_spec_are_answered(fields: dict[str, Any]) -> None:
    spec = {"dataset": {"path": "a"}, "evaluators": ["exact-match"], **fields}
    document = {"apiVersion": "evals.si/v1alpha1", "kind": "EvalRun", "metadata": {"name": "a"}, "spec": spec}
    answer(json.dumps(document))


@QUICK
@given(st.text(max_size=40))
def test_any_override_is_answered(override: str) -> None:
    for flag in (override, f"spec.{override}", f"spec.gates[0].{override}", f"spec.trials={override}"):
        try:
            read_run_spec(SMALL, overrides=[flag])
        except EvalsiError as error:
            assert error.exit_status == 2


@QUICK
@given(st.text(max_size=30) | st.text(alphabet="metricun.()'\"<>=&|0123459 -+*?:!", max_size=60))
def test_any_condition_is_answered(text: str) -> None:
    condition = GateCondition(text)
    assert condition.problems or condition.references
    for problem in condition.problems:
        assert problem.line >= 1
        assert problem.column >= 1


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * 900 + "]" * 900,
        "a: &a [" + "x," * 1000 + "]\nb: [" + "*a," * 1000 + "]\n",
        "\n".join(f"k{n}: &a{n} [*a{n - 1}, *a{n - 1}]" if n else "k0: &a0 [x, x]" for n in range(40)),
        "&a a: &b b\n" * 2000,
        with_lines(*(f"x{n}: 1" for n in range(5000))),
        with_lines("gates:", *("  - {metric: exact-match, min: 90}" for _ in range(2000))),
        '{"a":' * 5000,
        "x" * 1_000_000,
        "'" * 100_000,
        "- " * 50_000,
        "a:\n" + " " * 200_000 + "b",
        "? " * 3000,
        '"' + "\\" * 99_999,
        with_lines("gates:", '  - "' + "(" * 3900 + '"'),
        with_lines("gates:", '  - "' + "!" * 3000 + "metric('exact-match').mean > 0.5" + '"'),
    ],
    ids=range(15),
)
def test_hostile_texts_cost_less_than_a_second(text: str) -> None:
    answer(text)
