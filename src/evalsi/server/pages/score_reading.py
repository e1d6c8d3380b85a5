"""What a score in a list means: whether it is good or bad news, from the outputs that its evaluator declares.

Its own module because 1 is the best verdict and the worst share of failed calls, and every list of traces shows both beside
each other. What always holds: a score whose direction or range nobody declares is a plain number.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from evalsi.core.errors import EvalsiError
from evalsi.report.case_view import Directions
from evalsi.report.figures import number
from evalsi.report.verdict_word import is_good, verdict_word
from evalsi.schema import (
    ListEvaluatorsRequest,
    ListEvaluatorsResponse,
    ListPoliciesRequest,
    ListPoliciesResponse,
    MetricSpec,
    OnlineEvalPolicy,
    PolicyResults,
    ScoreType,
)
from evalsi.server.pages.visit import Visit

CATALOG_S = 0.2
"""Seconds that a list waits for the catalog, which is read once in the life of a server; until then scores are numbers."""
VERDICTS_S = 20.0
"""The same for a page that says verdicts in words: that no leak was found must not be read as a leak, be it only once."""


@dataclass(frozen=True, kw_only=True)
class ScoreCell:
    """A score as a list shows it."""

    name: str
    text: str = ""
    """Empty where there is none."""
    verdict: bool | None = None
    """Of a verdict, whether it is a good one."""
    is_bad: bool = False
    """Whether it lies in the worse half of its range."""


async def declared_outputs(
    visit: Visit, names: Collection[str], project: str, *, limit_s: float = CATALOG_S
) -> Mapping[str, MetricSpec]:
    """What evaluators declare of these scores, by their names as lists have them; nothing for those of unknown evaluators."""
    if not names or not visit.serves("CatalogService"):
        return {}
    policies: list[OnlineEvalPolicy] = []
    try:
        async with asyncio.timeout(limit_s):
            found = await visit.call("CatalogService.ListEvaluators", ListEvaluatorsRequest(), ListEvaluatorsResponse)
            if visit.serves("MonitorService"):
                asked = ListPoliciesRequest(project=project)
                policies = (await visit.call("MonitorService.ListPolicies", asked, ListPoliciesResponse)).policies
    except (TimeoutError, EvalsiError):  # who may see traces may not see policies
        return {}
    manifests = {one.name: one for one in found.evaluators}
    called = {
        ref.name: ref.ref for policy in policies for stage in policy.stages for ref in stage.evaluators if ref.name
    }
    specs: dict[str, MetricSpec] = {}
    for name in names:
        evaluator, _, output = name.partition(".")
        own_name = called.get(evaluator, evaluator).rpartition("/")[2].partition("@")[0]
        manifest = manifests.get(own_name)
        wanted = (output,) if output else (own_name, "")
        outputs = list(manifest.outputs) if manifest is not None else []
        spec = next((one for one in outputs if one.name in wanted), None)
        if spec is None and not output and len(outputs) == 1:
            spec = outputs[0]
        if spec is not None:
            specs[name] = spec
    return specs


async def directions_of_results(visit: Visit, policies: Iterable[PolicyResults], project: str) -> Directions:
    """By metric, which way is better, as far as evaluators declare it."""
    results = [one for policy in policies for one in policy.results]
    names = {one.evaluator for one in results}
    names |= {f"{one.evaluator}.{score.name}" for one in results for score in one.scores}
    specs = await declared_outputs(visit, names, project, limit_s=VERDICTS_S)
    return {name: spec.higher_is_better for name, spec in specs.items()}


def score_cell(name: str, value: float | None, specs: Mapping[str, MetricSpec]) -> ScoreCell:
    """The cell of a score that may be missing."""
    if value is None:
        return ScoreCell(name=name)
    spec = specs.get(name)
    if spec is not None and spec.type is ScoreType.PASSED and value in (0.0, 1.0):
        good = is_good(bool(value), better=spec.higher_is_better)
        word = verdict_word(bool(value), better=spec.higher_is_better)
        return ScoreCell(name=name, text=word, verdict=good, is_bad=good is False)
    if spec is None or spec.higher_is_better is None:
        return ScoreCell(name=name, text=number(value, 2))
    if spec.min is None or spec.max is None or spec.max <= spec.min:
        return ScoreCell(name=name, text=number(value, 2))
    share = (value - spec.min) / (spec.max - spec.min)
    return ScoreCell(name=name, text=number(value, 2), is_bad=share < 0.5 if spec.higher_is_better else share > 0.5)
