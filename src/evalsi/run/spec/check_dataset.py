"""The checks of the dataset: exactly one source, a condition and a mapping that can be read. No row is read."""

from collections.abc import Collection

from evalsi.core.errors import EvalsiError
from evalsi.datasets.condition import Condition
from evalsi.datasets.mapping import FieldMap
from evalsi.datasets.options import FORMATS
from evalsi.documents.part import Part
from evalsi.documents.placed_tree import PlacedTree
from evalsi.schema import DatasetSource, RunSpec

__all__ = ["SOURCES", "check_dataset"]

SOURCES = ("path", "uri", "inline", "run", "catalog", "traces")


def check_dataset(tree: PlacedTree, spec: RunSpec, wrong: Collection[str]) -> None:
    """Notes what is wrong with `spec.dataset`."""
    part = Part(tree, "spec.dataset", wrong)
    dataset = spec.dataset
    if dataset is None:
        if not part.gives("") and part.path not in wrong and not _was_misspelt(tree):
            tree.add("spec", "spec.dataset is missing", hint="write dataset: {path: cases.jsonl}", at_key=True)
        elif part.gives(""):
            part.say("", "is empty", "write dataset: {path: cases.jsonl}")
        return
    _check_source(part, dataset)
    part.at_least("limit", dataset.limit, 1)
    part.at_least("sample", dataset.sample, 1)
    part.one_of("format", dataset.format, FORMATS)
    _check_condition(part, dataset.where)
    for field, expression in dataset.mapping.items():
        try:
            FieldMap({field: expression})
        except EvalsiError as error:
            path = part.at(f"mapping.{field}")
            tree.add(path, f"{path}: {error.message}", hint=error.hint)


def _check_source(part: Part, dataset: DatasetSource) -> None:
    given = [name for name in SOURCES if getattr(dataset, name) not in (None, "")]
    if not given:
        if not any(part.tree.has(part.at(name)) and part.at(name) in part.wrong for name in SOURCES):
            part.say("", "names no source", f"set exactly one of {', '.join(SOURCES)}")
        return
    if dataset.uri and "://" not in dataset.uri:
        part.say(
            "uri", f"must be an address such as hf://squad?split=validation, not {dataset.uri!r}", "a file is a path"
        )
    if dataset.path and "://" in dataset.path and not dataset.uri:
        part.say("path", f"is the address {dataset.path!r}", "write it as uri")
    if dataset.inline is not None and not dataset.inline.records:
        part.say("inline", "holds no records")
    if dataset.run is not None and not dataset.run.run_id:
        part.say("run", "names no run", "write run: {run_id: …}")
    if dataset.run is not None:
        part.at_least("run.trial", dataset.run.trial, 0)
    if dataset.catalog is not None and not dataset.catalog.name:
        part.say("catalog", "names no dataset", "write catalog: {name: …}")
    if dataset.traces is not None:
        part.at_least("traces.lookback", dataset.traces.lookback, 0, beyond=True)


def _check_condition(part: Part, text: str) -> None:
    if not text:
        return
    try:
        Condition(text)
    except EvalsiError as error:
        path = part.at("where")
        _, _, place = (error.where or "").partition(":")
        line, _, column = place.partition(":")
        exact = line.isdecimal() and column.isdecimal()
        where = part.tree.inside(path, int(line), int(column)) if exact else part.tree.where(path)
        part.tree.note(where, f"{path}: {error.message}", error.hint)


def _was_misspelt(tree: PlacedTree) -> bool:
    return any("did you mean dataset?" in problem.message for problem in tree.problems)
