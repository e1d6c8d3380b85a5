"""The form that starts a run on a version of a dataset: what a person types becomes the request of `CreateRun`.

Its own module because it reads what people write, evaluators by name and a target in YAML, and checks nothing of it: the
server does, before it starts anything, as for every other caller.
"""

from typing import Any

from evalsi.core.errors import InvalidSpecError
from evalsi.documents.spelling import worded
from evalsi.documents.yaml_tree import read_yaml
from evalsi.schema import CreateRunRequest, DatasetSource, DatasetVersionRef, EvaluatorRef, RunSpec, Target
from evalsi.schema.thorough_reader import read_thoroughly
from evalsi.server.pages.visit import Query


def run_request(form: Query, name: str, version: str) -> CreateRunRequest:
    """What the form asks for. Raises: InvalidSpecError: no evaluator is named, or the target cannot be read."""
    names = [word.strip() for word in form.get("evaluators").replace("\n", ",").split(",") if word.strip()]
    if not names:
        raise InvalidSpecError(
            "no evaluator is named", where="evaluators", hint="write for example exact-match, contains"
        )
    project = form.get("project")
    spec = RunSpec(
        dataset=DatasetSource(catalog=DatasetVersionRef(project=project, name=name, version=version)),
        evaluators=[_evaluator(word) for word in names],
        target=_target(form.get("target")),
        judge=form.get("judge"),
    )
    return CreateRunRequest(name=form.get("name"), project=project, spec=spec)


def _evaluator(word: str) -> EvaluatorRef:
    """`exact-match`, or `strict=exact-match` as the command line takes it."""
    alias, equals, ref = word.partition("=")
    return EvaluatorRef(ref=ref.strip(), name=alias.strip()) if equals else EvaluatorRef(ref=word)


def _target(text: str) -> Target | None:
    if not text:
        return None
    tree = read_yaml(text, "target")
    value: Any = tree.value
    target, mistakes = read_thoroughly(value, Target)
    if mistakes:
        raise InvalidSpecError("; ".join(worded(tree, mistake) for mistake in mistakes), where="target")
    return target
