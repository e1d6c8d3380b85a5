"""Every example on a catalog page of these packs gives the scores it says, with the judge's reply it shows."""

from typing import Any

import pytest

from evalsi.engine.columns import SCORED, results
from evalsi.engine.measure import measure
from evalsi.evaluators.binding import bind, manifest_of, params_schema
from evalsi.evaluators.builtin import BUILTIN
from evalsi.evaluators.catalog import load
from evalsi.schema import Outcome
from tests.evaluators.judged import ScriptedModel, bound, grade_all, record, value_of

NAMES = [f"{pack}/{name}" for pack in ("judge", "rag") for name in BUILTIN[pack]]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_gives_what_it_says(name: str) -> None:
    example: dict[str, Any] = dict(load(name).example)
    model = ScriptedModel(example.get("judge_reply", ""))
    baselines = [record(**example["baseline"])] if "baseline" in example else []
    evaluator = bound(name, model, params=example.get("params"))
    (result,) = grade_all(evaluator, [record(**example["record"])], baselines)
    assert result.outcome is Outcome.SCORED, result.reason
    assert {score.name: value_of(score) for score in result.scores} == pytest.approx(example["expected"])
    assert ("judge_reply" in example) == bool(model.asked)


@pytest.mark.parametrize("name", NAMES)
def test_a_catalog_page_says_what_params_and_outputs_are(name: str) -> None:
    definition = load(name)
    manifest = manifest_of(definition)
    assert definition.version == "1.0.0"
    assert len(definition.description) > 40
    assert manifest.requires is not None
    assert manifest.requires.judge == ("judge" in definition.requires)
    assert params_schema(definition)["type"] == "object"
    for spec in definition.outputs:
        assert spec.description.endswith(".")


@pytest.mark.parametrize(
    ("name", "requires", "outputs"),
    [
        ("llm-judge", {"output", "judge"}, ["llm-judge"]),
        ("rubric-grade", {"input", "output", "judge"}, ["rubric-score"]),
        ("answer-relevance", {"input", "output", "judge"}, ["answer-relevance"]),
        ("citation-accuracy", {"output", "context"}, ["citation-accuracy"]),
        ("context-precision", {"input", "context", "judge"}, ["context-precision"]),
        ("context-recall", {"reference", "context", "judge"}, ["context-recall"]),
        ("faithfulness", {"output", "context", "judge"}, ["faithfulness"]),
    ],
)
def test_names_requirements_and_outputs_are_those_others_rely_on(
    name: str, requires: set[str], outputs: list[str]
) -> None:
    definition = load(f"builtin/{name}@1.0.0")
    assert definition.requires == requires
    assert [spec.name for spec in definition.outputs] == outputs
    if "judge" in requires:
        assert [(spec.min, spec.max) for spec in definition.outputs] == [(0.0, 1.0)]


@pytest.mark.parametrize("name", NAMES)
def test_every_prompt_of_a_judge_evaluator_has_a_digest_for_the_manifest(name: str) -> None:
    definition = load(name)
    if "judge" not in definition.requires:
        return
    evaluator = bound(name, ScriptedModel(""), params=definition.example.get("params"))
    digests: dict[str, str] = evaluator.instance.prompt_digests
    assert digests
    for label, value in digests.items():
        assert "@" in label
        assert len(value) == 64
        assert int(value, 16) >= 0


def test_citation_accuracy_needs_no_judge() -> None:
    from evalsi.evaluators.api import EvalContext

    evaluator = bind(load("citation-accuracy"), context=EvalContext())
    columns = measure(evaluator, [record(output="See [1].", context=["a"])])
    assert columns.outcomes[0] == SCORED
    assert [result.scores[0].passed for result in results(columns, ["1"])] == [True]
