"""A policy that is wrong is told everything that is wrong with it, with its place, before anything is stored."""

import json
from pathlib import Path

import pytest

from evalsi.core.errors import InvalidSpecError, NotFoundError
from evalsi.schema import PolicyScope
from evalsi.schema.json_codec import to_jsonable
from evalsi.watch.condition import TRACE_VARIABLES, Condition
from evalsi.watch.policy import checked_policy
from evalsi.watch.read_policy import read_policy
from tests.watch.live_traffic import policy_of

RIGHT = """
apiVersion: evals.si/v1alpha1
kind: OnlineEvalPolicy
metadata:
  name: answers
  labels: {evals.si/project: support}
spec:
  selector: service == "support" && duration_ms > 500
  sampling:
    rate: 0.25
    always: [error, "'refund' in tools"]
  stages:
    - evaluators: [pii-leak, {ref: length, name: words}]
    - when: scores['pii-leak'] < 1
      evaluators: [secret-leak]
  window: 1h
  alerts:
    - {metric: pii-leak, below: 0.9, webhook: https://hooks.example.com/x}
  promote: {when: "scores['pii-leak'] < 1", dataset: leaks}
"""


def mistakes_in(text: str) -> list[str]:
    with pytest.raises(InvalidSpecError) as caught:
        read_policy(text)
    return [str(problem) for problem in caught.value.problems] or [str(caught.value)]


def test_a_right_policy_is_read_with_its_short_forms() -> None:
    checked = read_policy(RIGHT)
    assert (checked.policy.name, checked.policy.project) == ("answers", "support")
    assert checked.scope is PolicyScope.TRACE
    assert [ref.ref for ref in checked.policy.stages[0].evaluators] == ["pii-leak", "length"]
    assert set(checked.metrics) == {"pii-leak", "words", "secret-leak"}
    assert checked.window_s == 3600
    assert checked.is_quick
    assert not checked.asks_judge


def test_every_mistake_is_told_at_once_with_its_line_and_column() -> None:
    text = """apiVersion: evals.si/v1alpha1
kind: OnlineEvalPolicy
metadata:
  name: Support
spec:
  selector: servce == "support" && duration_ms > 500
  sampling:
    rate: 5
    always: [eror, "steps > 'x'"]
  stages:
    - evaluators: [tool-eror, {ref: length, params: {unti: words}}]
    - when: scores['toxicity'] > 1
      evaluators: [pii-leak]
  alerts:
    - metric: pii-leak
      below: 2
      webhook: ftp://x
      form: teams
  promote: {when: "scores['pii-leak'] < 1", dataset: "A b"}
  windw: 1h
"""
    found = "\n".join(mistakes_in(text))
    for wanted in (
        "<text>:4:9: metadata.name must be lower-case",
        "<text>:6:13: spec.selector: unknown name 'servce'; did you mean 'service'?",
        "<text>:8:11: spec.sampling.rate must lie between 0 and 1, not 5",
        "<text>:9:14: spec.sampling.always[0] must be one of error",
        "spec.sampling.always[1]: '>' does not take (int, string)",
        "<text>:11:20: spec.stages[0].evaluators[0].ref: unknown evaluator 'tool-eror'; did you mean 'tool-errors'?",
        "spec.stages[0].evaluators[1].params",
        "spec.alerts[0].below is 2, and 'pii-leak' is never more than 1",
        "spec.alerts[0].webhook must be an address",
        "spec.alerts[0].form must be one of json, slack, pagerduty, not 'teams'",
        "spec.promote.dataset must be lower-case",
        "<text>:20:3: unknown field spec.windw; did you mean window?",
    ):
        assert wanted in found, found


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("scores['pii-leek'] < 1", "there is no metric 'pii-leek' here; did you mean 'pii-leak'?"),
        ("scores['pii-leak']", ""),
        ("scores['pii-leak'] <", "syntax error: it ends too early\n"),
        ("cost_usd > 1.0", "unknown name 'cost_usd'"),
    ],
)
def test_a_condition_over_scores_knows_its_metrics(change: str, told: str) -> None:
    text = RIGHT.replace("when: scores['pii-leak'] < 1\n", f"when: {change}\n")
    if told:
        assert told in "".join(f"{mistake}\n" for mistake in mistakes_in(text))
    else:
        read_policy(text)


@pytest.mark.parametrize("selector", ['service = "lamp-app"', "service='lamp-app'", 'error && service = "lamp-app"'])
def test_one_equals_sign_is_one_mistake_that_says_what_to_write(selector: str) -> None:
    column = selector.index("=") + 1
    (problem,) = Condition(selector, TRACE_VARIABLES).problems
    assert (problem.column, problem.hint) == (column, "write == for equal")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"stages": []}, "stages names no evaluator"),
        ({"stages": [{"evaluators": []}]}, "stages[0].evaluators names no evaluator"),
        ({"stages": [{"when": "error", "evaluators": ["length"]}]}, "stands in the first stage"),
        ({"stages": [{"evaluators": ["length", "length"]}]}, "reports as 'length', as stages[0].evaluators[0] does"),
        ({"stages": [{"evaluators": ["corpus-bleu"]}]}, "which measures datasets and not traces"),
        ({"stages": [{"evaluators": ["user-frustration"]}]}, "write scope: session"),
        ({"alerts": [{"metric": "length", "below": 5}]}, "needs a metric with a known upper bound"),
        (
            {
                "stages": [{"evaluators": ["custom-judge", "pii-leak"]}],
                "alerts": [{"metric": "pii-leek", "below": 0.9}],
            },
            "metric 'pii-leek' is declared by none of the evaluators, and an alert needs a range; did you mean 'pii-leak'?",
        ),
        ({"alerts": [{"metric": "pii-leak"}]}, "says neither below nor above"),
        ({"alerts": [{"metric": "pii-leak", "below": 0.5, "secret_env": "a-b"}]}, "name of an environment variable"),
        ({"sampling": {"always": ["error"]}}, "changes nothing while all traces are taken"),
        ({"selector": "duration_ms == 'x'"}, "'==' does not take (double, string)"),
        ({"selector": "steps"}, "the condition gives INT, not true or false"),
        ({"budget": {"usd_per_day": 0}}, "must be above 0"),
        ({"view": {"detectors": ["emial"]}}, "did you mean 'email'?"),
        ({"view": {"patterns": ["("]}}, "view cannot be used"),
        (
            {"stages": [{"evaluators": [{"ref": "json-schema", "params": {"schema": {"$ref": "#/no"}}}]}]},
            "stages[0].evaluators[0].params: json-schema: `schema` refers to '#/no'",
        ),
    ],
)
def test_what_makes_no_sense_is_said(said: dict[str, object], told: str) -> None:
    policy = {"name": "answers", "stages": [{"evaluators": ["length", "pii-leak"]}], **said}
    assert told in "\n".join(mistakes_in(json.dumps(policy)))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"sampling": {"rate": 0.1, "always": ["error"] * 51}}, "sampling.always names 51 rules, where 50 may be"),
        ({"stages": [{"evaluators": [{"ref": "length"}]}] * 21}, "stages names 21 stages, where 20 may be"),
        ({"stages": [{"evaluators": [{"ref": "length"}] * 101}]}, "stages names 101 evaluators, where 100 may be"),
        ({"alerts": [{"metric": "length", "above": 1}] * 101}, "alerts names 101 alerts, where 100 may be"),
        ({"sinks": ["a"] * 21}, "sinks names 21 sinks, where 20 may be"),
        ({"view": {"patterns": ["a"] * 51}}, "view.patterns names 51 patterns, where 50 may be"),
    ],
)
def test_a_policy_asks_no_more_of_each_trace_than_all_projects_can_bear(said: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidSpecError) as caught:
        checked_policy(policy_of(**{"stages": [{"evaluators": [{"ref": "length"}]}], **said}))
    assert told in str(caught.value)


def test_a_policy_that_a_server_gives_can_be_applied_as_a_file() -> None:
    text = json.dumps(to_jsonable(policy_of(stages=[{"evaluators": [{"ref": "length"}]}]), camel=True))
    assert read_policy(text).policy.name == "answers"


def test_a_file_that_is_not_there_is_named_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(RIGHT, encoding="utf-8")
    with pytest.raises(NotFoundError, match=r"polcy\.yaml"):
        read_policy(tmp_path / "polcy.yaml")


def test_the_example_is_right() -> None:
    checked = read_policy(Path(__file__).parents[2] / "examples/watch/policy.yaml")
    assert checked.is_quick
    assert checked.promote is not None
