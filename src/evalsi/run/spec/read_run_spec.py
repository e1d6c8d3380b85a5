"""From a file to a run that can be started: read, overridden, filled in, checked. All mistakes are reported together.

The order is fixed: the text becomes a placed tree, `--set` changes it, environment variables are put in, the schema
reads it, and then the checks that no schema can express look at what was read, even where something else is wrong.
Nothing is called, asked or opened besides the file itself and the evaluators that it names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import msgspec

from evalsi.core.errors import InvalidSpecError
from evalsi.documents.document_file import DocumentKind, listed, read_file
from evalsi.documents.json_tree import read_json
from evalsi.documents.placed_tree import PlacedTree
from evalsi.documents.spelling import as_written, first_spelling, value_at, worded
from evalsi.documents.yaml_tree import plain_value
from evalsi.run.spec.check_dataset import check_dataset
from evalsi.run.spec.check_envelope import API_VERSIONS, check_envelope
from evalsi.run.spec.check_evaluators import CheckedEvaluators, check_evaluators
from evalsi.run.spec.check_gates import check_gates
from evalsi.run.spec.check_judges import check_judges
from evalsi.run.spec.check_limits import check_limits
from evalsi.run.spec.check_target import check_target
from evalsi.run.spec.override import apply_overrides
from evalsi.run.spec.own_judge import HOW_TO_NAME, with_own_judge
from evalsi.run.spec.substitute import substitute
from evalsi.schema import EvalRun, RunMetadata, RunSpec, Target
from evalsi.schema.json_schema import json_schema
from evalsi.schema.thorough_reader import read_thoroughly

__all__ = ["RunDocument", "kept_run_spec", "read_run_spec", "run_spec_schema"]

DOCUMENT = DocumentKind(
    what="run spec",
    page="docs/reference/run-spec.md",
    example="run.yaml",
    remedy="put the records into a file: dataset.path",
)


@dataclass(frozen=True, kw_only=True)
class RunDocument:
    """A run that was read and found right, and where each of its values stands."""

    run: EvalRun
    source: str
    """The file as it was named, or "<text>"."""
    folder: Path
    """What relative paths in the spec are relative to: the folder of the file."""
    evaluators: CheckedEvaluators
    """What the evaluators make and need, as far as the spec alone says."""
    warnings: list[str] = field(default_factory=list[str])
    tree: PlacedTree = field(repr=False, default_factory=lambda: PlacedTree(source=""))

    @property
    def spec(self) -> RunSpec:
        assert self.run.spec is not None
        return self.run.spec

    def where(self, path: str) -> str:
        """`file:line:column` of the value at a path such as `spec.gates[0].min`; the name of a run whose spec was kept."""
        return self.tree.where(first_spelling(self.tree, path))


def read_run_spec(
    source: Path | str, *, overrides: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> RunDocument:
    """The run that `source` describes.

    Args:
        source: A file (a text that is one line and ends like a file's name is one), or the text of a spec. YAML or
            JSON, keys in snake_case or camelCase.
        overrides: Changes such as `spec.trials=3`, made before anything is checked.
        environment: What `${NAME}` stands for; empty by default.

    Raises:
        NotFoundError: there is no such file.
        InvalidSpecError: the spec is wrong; `problems` holds every mistake, each with its place.
    """
    file = read_file(source, DOCUMENT)
    tree, name, folder = file.tree, file.name, file.folder
    if type(tree.value) is not dict:
        raise InvalidSpecError.of([*tree.problems, InvalidSpecError("a run spec is a mapping", where=name)][:1])
    _expand(tree)
    apply_overrides(tree, overrides)
    substitute(tree, environment or {})
    _expand(tree)
    run, mistakes = read_thoroughly(_typed(tree), EvalRun)
    wrong = {mistake.path for mistake in mistakes} | tree.unresolved
    for mistake in mistakes:
        if mistake.path in tree.unresolved:
            continue
        unknown = mistake.problem.startswith(("unknown field", f"{mistake.path} is given twice"))
        is_judge = first_spelling(tree, "spec.judge") == mistake.path
        tree.add(mistake.path, worded(tree, mistake), hint=HOW_TO_NAME if is_judge else None, at_key=unknown)
    checked = _check(tree, run, wrong, folder)
    if tree.problems:
        raise listed(tree.problems, name)
    spec = run.spec or RunSpec()
    return RunDocument(
        run=_completed(run, checked.refs, _with_free(spec, tree)),
        source=name,
        folder=folder,
        evaluators=checked,
        tree=tree,
    )


def kept_run_spec(run: EvalRun, *, name: str, folder: Path) -> RunDocument:
    """A run whose spec was read before and kept, checked again: its evaluators may have gone since.

    Variables were put in when it was read, so a `${…}` that is in it now is plain text.

    Args:
        name: What the run is called where something is wrong with it.
        folder: What relative paths in the spec are relative to.
    Raises: InvalidSpecError: as `read_run_spec`.
    """
    # What a run is called on the command line need not be a name that a file may give.
    metadata = RunMetadata(name="kept")
    checked_run = msgspec.structs.replace(run, api_version=API_VERSIONS[0], kind="EvalRun", metadata=metadata)
    tree = read_json(msgspec.json.encode(_without_zeros(checked_run)).decode(), name)
    checked = _check(tree, checked_run, set(), folder)
    if tree.problems:
        raise listed(tree.problems, name)
    # Its text is one that nobody wrote, so a line and a column in it would say nothing.
    return RunDocument(run=run, source=name, folder=folder, evaluators=checked, tree=PlacedTree(source=name))


def _without_zeros(value: Any) -> Any:
    """The message with every fraction that says what is meant anyway left out.

    A message that came as JSON or in binary form has a 0 where its writer said nothing, and what is left out when it is
    written is only the very object that stands for nothing.
    """
    if isinstance(value, list):
        return [_without_zeros(each) for each in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _without_zeros(each) for key, each in cast("dict[str, Any]", value).items()}
    if not isinstance(value, msgspec.Struct):
        return value
    changes: dict[str, Any] = {}
    for each in msgspec.structs.fields(value):
        held = getattr(value, each.name)
        changes[each.name] = each.default if held == each.default else _without_zeros(held)
    return msgspec.structs.replace(value, **changes)


def run_spec_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a run spec, for editors. Not to be changed by the caller."""
    return json_schema("eval-run")


def _check(tree: PlacedTree, run: EvalRun, wrong: set[str], folder: Path) -> CheckedEvaluators:
    check_envelope(tree, run, wrong)
    spec = run.spec or RunSpec()
    judges = check_judges(tree, spec, wrong)
    evaluators = check_evaluators(tree, spec, wrong, folder, judges)
    if tree.has("spec") and "spec" not in wrong:
        check_target(tree, spec, wrong)
        check_dataset(tree, spec, wrong)
        check_limits(tree, spec, wrong)
        check_gates(tree, spec, evaluators)
    return evaluators


def _completed(run: EvalRun, refs: list[Any], spec: RunSpec) -> EvalRun:
    """The run with the project from its label and evaluator files made absolute."""
    metadata = run.metadata
    if metadata is not None and not metadata.project and "evals.si/project" in metadata.labels:
        metadata = msgspec.structs.replace(metadata, project=metadata.labels["evals.si/project"])
    return msgspec.structs.replace(
        run, metadata=metadata, spec=with_own_judge(msgspec.structs.replace(spec, evaluators=refs))
    )


def _with_free(spec: RunSpec, tree: PlacedTree) -> RunSpec:
    """The spec that says of a target whose two prices somebody wrote as 0 that it is free: a message cannot tell a 0 that is
    written from one that is not, and the spec goes on as one, to a store or a server.
    """
    return (
        spec if spec.target is None else msgspec.structs.replace(spec, target=_free(spec.target, tree, "spec.target"))
    )


def _free(target: Target, tree: PlacedTree, path: str) -> Target:
    pricing = target.pricing
    if pricing is not None and not (pricing.input_per_mtok or pricing.output_per_mtok):
        written = [value_at(tree, f"{path}.pricing.{name}_per_mtok") for name in ("input", "output")]
        if None not in written:
            target = msgspec.structs.replace(target, pricing=msgspec.structs.replace(pricing, free=True))
    if not target.fallbacks:
        return target
    fallbacks = [_free(one, tree, f"{path}.fallbacks[{place}]") for place, one in enumerate(target.fallbacks)]
    return msgspec.structs.replace(target, fallbacks=fallbacks)


def _expand(tree: PlacedTree) -> None:
    """Puts in what short forms stand for: a text is an evaluator's reference, or a gate's condition."""
    spec: Any = tree.value.get("spec")
    if not isinstance(spec, dict):
        return
    for name, key in (("evaluators", "ref"), ("gates", "cel")):
        listed = cast("dict[str, Any]", spec).get(name)
        if not isinstance(listed, list):
            continue
        items = cast("list[Any]", listed)
        for index, item in enumerate(items):
            if isinstance(item, str):
                items[index] = {key: item}
                spot = tree.spots.get(f"spec.{name}[{index}]")
                if spot is not None:
                    tree.spots[f"spec.{name}[{index}].{key}"] = spot


def _typed(tree: PlacedTree) -> Any:
    """The values with texts from environment variables read as the schema wants them: `stream: ${STREAM}`."""
    value: Any = tree.value
    return as_written(tree, value, "EvalRun", "", plain_value) if tree.substituted else value
