"""The checks of evaluators: each is loaded, its params fit, no two report under one name.

Also says what they make, because gates name metrics. Evaluators are loaded and never called.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from evalsi.core.errors import EvalsiError
from evalsi.documents.part import Part
from evalsi.documents.placed_tree import PlacedTree
from evalsi.evaluators.api import Definition
from evalsi.evaluators.catalog import load
from evalsi.evaluators.metric_names import metrics_of
from evalsi.schema import EvaluatorRef, MetricSpec, RunSpec

__all__ = ["CheckedEvaluators", "check_evaluators"]


@dataclass(frozen=True, kw_only=True)
class CheckedEvaluators:
    """What the evaluators of a spec make and need."""

    refs: list[EvaluatorRef] = field(default_factory=list[EvaluatorRef])
    """The evaluators, files made absolute."""
    metrics: dict[str, MetricSpec] = field(default_factory=dict[str, MetricSpec])
    """Declared outputs by the name of their metric."""
    open_names: set[str] = field(default_factory=set[str])
    """Evaluators that declare no outputs: any metric that bears their name may come."""
    needs_judge: list[str] = field(default_factory=list[str])
    """Evaluators that ask a judge and name none of their own."""
    complete: bool = True
    """False when one could not be loaded, so that its metrics are not known."""

    def knows(self, metric: str) -> bool:
        return metric in self.metrics or any(
            metric == name or metric.startswith(f"{name}.") for name in self.open_names
        )


def check_evaluators(
    tree: PlacedTree, spec: RunSpec, wrong: Collection[str], folder: Path, judges: Collection[str]
) -> CheckedEvaluators:
    """Notes what is wrong with `spec.evaluators`."""
    part = Part(tree, "spec.evaluators", wrong)
    if not spec.evaluators:
        if tree.has("spec") and not {"spec", part.path} & set(wrong) and not _has_unknown(tree):
            path = part.path if tree.has(part.path) else "spec"
            state = "is empty" if tree.has(part.path) else "is missing"
            tree.add(path, f"spec.evaluators {state}; nothing would be scored", hint="see: evalsi catalog", at_key=True)
        return CheckedEvaluators(complete=False)
    checked = CheckedEvaluators()
    names: dict[str, int] = {}
    complete = True
    for index, ref in enumerate(spec.evaluators):
        here = part.below(index)
        resolved = _resolved(ref, folder)
        checked.refs.append(resolved)
        definition = _checked_one(here, resolved)
        if ref.judge and judges and ref.judge not in judges:
            here.one_of("judge", ref.judge, judges)
        if definition is None:
            complete = False
            continue
        name = ref.name or definition.name
        if name in names:
            here.say("", f"reports as {name!r}, as spec.evaluators[{names[name]}] does", "give one of them a name")
        names.setdefault(name, index)
        declared = metrics_of(definition, name)
        checked.metrics.update(declared)
        if not declared:
            checked.open_names.add(name)
        if "judge" in definition.requires and not ref.judge:
            checked.needs_judge.append(name)
    return replace(checked, complete=complete)


def _checked_one(part: Part, ref: EvaluatorRef) -> Definition | None:
    if not ref.ref:
        if part.at("ref") not in part.wrong:
            part.say("", "names no evaluator", "write ref: exact-match; see: evalsi catalog")
        return None
    try:
        definition = load(ref.ref)
    except EvalsiError as error:
        path = part.at("ref") if part.gives("ref") else part.path
        part.tree.add(path, f"{part.at('ref')}: {error.message}", hint=error.hint)
        return None
    try:
        definition.make_params(ref.params)
    except EvalsiError as error:
        path = part.at("params")
        name = getattr(error, "name", "")
        inner = f"{path}.{name}"
        part.tree.add(
            inner if part.tree.has(inner) else path, f"{path}: {error.message}", hint=error.hint, at_key=bool(name)
        )
        return definition
    part.at_least("deadline", ref.deadline, 0, beyond=True)
    return definition


def _resolved(ref: EvaluatorRef, folder: Path) -> EvaluatorRef:
    """An evaluator in a file is found beside the spec, as its data is."""
    place, colon, attribute = ref.ref.rpartition(":")
    if not colon or not place.endswith(".py") or Path(place).is_absolute():
        return ref
    found = f"{folder / place}:{attribute}"
    return msgspec.structs.replace(ref, ref=found)


def _has_unknown(tree: PlacedTree) -> bool:
    """Whether the missing evaluators were written under a wrong key, which is said already."""
    return any("did you mean evaluators?" in problem.message for problem in tree.problems)
