"""A policy as a person writes it: YAML or JSON, in an envelope or bare, every mistake with its line and column."""

from pathlib import Path
from typing import Any, cast

import msgspec

from evalsi.core.errors import InvalidSpecError, suggestion
from evalsi.documents.document_file import DocumentKind, listed, read_file
from evalsi.documents.placed_tree import PlacedTree
from evalsi.documents.spelling import worded
from evalsi.schema import OnlineEvalPolicy, RunMetadata
from evalsi.schema.thorough_reader import read_thoroughly
from evalsi.watch.policy import ANY_NAMES, CheckedPolicy, KnownNames, check_policy

KIND = "OnlineEvalPolicy"
API_VERSION = "evals.si/v1alpha1"
PROJECT_LABEL = "evals.si/project"
_ENVELOPE = ("apiVersion", "kind", "metadata", "spec")
_DOCUMENT = DocumentKind(what="policy", page="docs/guides/policies.md", example="policy.yaml")


def read_policy(source: Path | str, known: KnownNames = ANY_NAMES) -> CheckedPolicy:
    """The policy that a file or text describes.

    Args:
        source: A file (a text that is one line and ends like a file's name is one), or the text itself.
        known: Names of what there is.

    Raises:
        NotFoundError: there is no such file.
        InvalidSpecError: it is wrong; `problems` holds every mistake, each with its place.
    """
    file = read_file(source, _DOCUMENT)
    return _checked(file.tree, file.name, known)


def check_value(tree: PlacedTree, value: Any, path: str, known: KnownNames = ANY_NAMES) -> CheckedPolicy | None:
    """The bare policy at a path of another document, such as the settings of a server; notes its mistakes in the tree.

    None when the tree has any mistake.
    """
    if not isinstance(value, dict):
        tree.add(path, f"{path} must be a mapping")
        return None
    policy, wrong = _read(tree, cast("dict[str, Any]", value), path)
    return check_policy(tree, policy, path, wrong=wrong, known=known)


def _checked(tree: PlacedTree, name: str, known: KnownNames) -> CheckedPolicy:
    root: Any = tree.value
    if type(root) is not dict:
        raise InvalidSpecError.of([*tree.problems, InvalidSpecError("a policy is a mapping", where=name)][:1])
    value = cast("dict[str, Any]", root)
    bare = not any(key in value for key in ("apiVersion", "api_version", "kind", "spec"))
    policy, wrong = _read(tree, value, "") if bare else _from_envelope(tree, value)
    named = "name" if bare else "metadata.name"
    found = check_policy(tree, policy, "" if bare else "spec", name_at=named, wrong=wrong, known=known)
    if found is None:
        raise listed(tree.problems, name)
    return found


def _from_envelope(tree: PlacedTree, value: dict[str, Any]) -> tuple[OnlineEvalPolicy, set[str]]:
    for key in value:
        if key not in (*_ENVELOPE, "api_version"):
            tree.add(key, f"unknown field {key}", hint=suggestion(key, _ENVELOPE), at_key=True)
    version = value.get("apiVersion", value.get("api_version"))
    if version is None:
        tree.add("", "apiVersion is missing", hint=f"write apiVersion: {API_VERSION}")
    elif version != API_VERSION:
        tree.add("apiVersion", f"unknown apiVersion {version!r}; known: {API_VERSION}")
    if value.get("kind") != KIND:
        message = f"kind is {value['kind']}, and a policy needs {KIND}" if "kind" in value else "kind is missing"
        tree.add("kind", message, hint=f"write kind: {KIND}")
    metadata, mistakes = read_thoroughly(value.get("metadata") or {}, RunMetadata, at="metadata")
    for mistake in mistakes:
        tree.add(mistake.path, worded(tree, mistake))
    spec: Any = value.get("spec")
    if spec is None:
        tree.add("spec", "spec is missing", hint="it says what is evaluated: selector, sampling, stages")
        spec = {}
    policy, wrong = _read(tree, spec, "spec")
    for name in ("name", "project", "labels"):
        if tree.has(f"spec.{name}"):
            tree.add(f"spec.{name}", f"spec.{name} belongs into metadata", at_key=True)
    project = metadata.project or metadata.labels.get(PROJECT_LABEL, "")
    return msgspec.structs.replace(policy, name=metadata.name, project=project, labels=metadata.labels), wrong


def _read(tree: PlacedTree, value: Any, path: str) -> tuple[OnlineEvalPolicy, set[str]]:
    _expand(tree, value, path)
    policy, mistakes = read_thoroughly(value, OnlineEvalPolicy, at=path)
    for mistake in mistakes:
        tree.add(mistake.path, worded(tree, mistake), at_key=mistake.problem.startswith("unknown field"))
    return policy, {mistake.path for mistake in mistakes}


def _expand(tree: PlacedTree, value: Any, path: str) -> None:
    """Puts in what short forms stand for: a text among evaluators is a reference."""
    stages: Any = cast("dict[str, Any]", value).get("stages") if isinstance(value, dict) else None
    if not isinstance(stages, list):
        return
    for place, stage in enumerate(cast("list[Any]", stages)):
        listed_here: Any = cast("dict[str, Any]", stage).get("evaluators") if isinstance(stage, dict) else None
        if not isinstance(listed_here, list):
            continue
        items = cast("list[Any]", listed_here)
        for index, item in enumerate(items):
            if isinstance(item, str):
                items[index] = {"ref": item}
                here = f"{path}.stages" if path else "stages"
                spot = tree.spots.get(f"{here}[{place}].evaluators[{index}]")
                if spot is not None:
                    tree.spots[f"{here}[{place}].evaluators[{index}].ref"] = spot
