"""The checks of what surrounds a spec: version, kind, name, labels."""

import re
from collections.abc import Collection

from evalsi.core.errors import suggestion
from evalsi.documents.placed_tree import PlacedTree
from evalsi.documents.spelling import first_spelling
from evalsi.schema import EvalRun

__all__ = ["API_VERSIONS", "KINDS", "check_envelope"]

API_VERSIONS = ("evals.si/v1alpha1",)
KINDS = ("EvalRun",)
OTHER_KINDS = ("OnlineEvalPolicy", "TraceSource", "RewardSpec")
PROJECT_LABEL = "evals.si/project"
_DNS_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")


def check_envelope(tree: PlacedTree, run: EvalRun, wrong: Collection[str]) -> None:
    """Notes what is wrong with everything outside of `spec`, and a `spec` that is missing."""
    version_path = first_spelling(tree, "api_version")
    if not tree.has(version_path):
        tree.add("", "apiVersion is missing", hint=f"write apiVersion: {API_VERSIONS[0]}")
    elif run.api_version not in API_VERSIONS and version_path not in wrong:
        tree.add(version_path, f"unknown apiVersion {run.api_version!r}; known: {', '.join(API_VERSIONS)}")
    _check_kind(tree, run, wrong)
    _check_metadata(tree, run, wrong)
    if not tree.has("spec"):
        tree.add("", "spec is missing", hint="it says what the run is to do: dataset, evaluators, target")
    elif run.spec is None and "spec" not in wrong:
        tree.add("spec", "spec is empty", hint="it says what the run is to do: dataset, evaluators, target")


def _check_kind(tree: PlacedTree, run: EvalRun, wrong: Collection[str]) -> None:
    if not tree.has("kind"):
        tree.add("", "kind is missing", hint="write kind: EvalRun")
    elif not run.kind and any(problem.where == tree.where("kind") for problem in tree.problems):
        return  # why it could not be read is said already
    elif run.kind in OTHER_KINDS:
        tree.add("kind", f"kind is {run.kind}, and a run needs EvalRun")
    elif run.kind not in KINDS and "kind" not in wrong:
        near = next((kind for kind in KINDS if kind.lower() == run.kind.lower()), None)
        tree.add(
            "kind",
            f"unknown kind {run.kind!r}",
            hint=f"did you mean {near!r}?" if near else suggestion(run.kind, KINDS),
        )


def _check_metadata(tree: PlacedTree, run: EvalRun, wrong: Collection[str]) -> None:
    metadata = run.metadata
    if metadata is None:
        if "metadata" not in wrong:
            tree.add("metadata", "metadata.name is missing", hint="write metadata: {name: my-run}")
        return
    if not metadata.name and "metadata.name" not in wrong:
        tree.add("metadata", "metadata.name is missing", hint="write metadata: {name: my-run}")
    elif metadata.name and not _DNS_LABEL.match(metadata.name):
        proposed = re.sub(r"[^a-z0-9]+", "-", metadata.name.lower()).strip("-")[:63].strip("-")
        tree.add(
            "metadata.name",
            f"metadata.name must be a DNS label (lower-case letters, digits and dashes, at most 63), not {metadata.name!r}",
            hint=f"for example {proposed!r}" if proposed else None,
        )
    labelled = metadata.labels.get(PROJECT_LABEL)
    if labelled is not None and metadata.project and labelled != metadata.project:
        tree.add(
            "metadata.project",
            f"metadata.project is {metadata.project!r} and the label {PROJECT_LABEL} is {labelled!r}",
            hint="keep one of them",
        )
