"""The specification that a stored run was made with, and what has changed since."""

import platform
import shlex
from pathlib import Path

from evalsi.core.errors import UsageError
from evalsi.core.version import __version__
from evalsi.infra.git_state import git_state
from evalsi.run.spec.read_run_spec import RunDocument, kept_run_spec
from evalsi.schema import (
    EvalRun,
    RunManifest,
    RunMetadata,
)
from evalsi.score.manifest import installed_versions
from evalsi.settings import Settings
from evalsi.wiring.reading_runs import local_store


def kept_document(reference: str, settings: Settings) -> tuple[RunDocument, RunManifest]:
    """What a stored run was to do, as it was read then, and its manifest.

    Raises:
        NotFoundError: there is no such run.
        UsageError: it had no specification: it was made by `evalsi eval` or `evalsi rescore`.
        InvalidSpecError: the specification is no longer right, for example because an evaluator has gone.
    """
    with local_store(settings) as store:
        manifest = store.manifest(store.find(reference).id)
    if manifest.spec is None:
        again = shlex.join(manifest.argv) if manifest.argv else "the same call"
        raise UsageError(f"run {manifest.run_id[:8]} has no specification", hint=f"do it again with: {again}")
    metadata = RunMetadata(name=manifest.name, project=manifest.project, labels=manifest.labels)
    run = EvalRun(metadata=metadata, spec=manifest.spec)
    document = kept_run_spec(run, name=f"run {manifest.run_id[:8]}", folder=Path(manifest.spec_folder))
    return document, manifest


def what_changed(manifest: RunManifest, folder: Path) -> list[str]:
    """What is not as it was when the run was made, each as a sentence: versions and code that can change results."""
    changed: list[str] = []
    then = {**manifest.packages, "evalsi": manifest.evalsi_version, "python": manifest.python_version}
    now = {
        "evalsi": __version__,
        "python": platform.python_version(),
        **installed_versions(sorted(manifest.packages.keys() - {"evalsi"})),
    }
    for name, version in then.items():
        if version and now.get(name, "none") != version:
            changed.append(f"{name} was {version} and is now {now.get(name, 'none')}")
    git = git_state(folder)
    if manifest.git is not None:
        if git is None or git.commit != manifest.git.commit:
            changed.append(
                f"the code was at commit {manifest.git.commit[:12]} and is now at {git.commit[:12] if git else 'none'}"
            )
        if manifest.git.dirty:
            changed.append("the code had changes that were not committed")
    return changed
