"""What a server's runs are made of before anybody works on them: checked specifications and submissions.

Its own module because the server must not load what carries runs out: that is the business of its workers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from evalsi.core.canonical import digest
from evalsi.core.errors import InvalidSpecError
from evalsi.core.ids import new_run_id
from evalsi.core.version import __version__
from evalsi.ports.run_queue import Submission
from evalsi.ports.run_store import RunRow
from evalsi.run.spec.read_run_spec import kept_run_spec
from evalsi.run.spec.served import served_spec
from evalsi.schema import EvalRun, RunManifest, RunMetadata, RunSpec, RunStatus


@dataclass(frozen=True, kw_only=True)
class RunWish:
    """A run as somebody asks a server for it."""

    name: str
    project: str
    spec: RunSpec
    labels: Mapping[str, str]
    priority: int = 0
    created_by: str = ""
    request_key: str = ""


def submission_of(wish: RunWish, root: Path, now: datetime) -> Submission:
    """The wish, checked as far as it can be without asking anybody or reading data.

    Raises: InvalidSpecError: the specification is wrong, or asks for what a server does not do.
    """
    run_id = new_run_id(now.timestamp())
    name = wish.name or f"run-{run_id[:10]}"
    metadata = RunMetadata(name=name, project=wish.project, labels=dict(wish.labels))
    served_spec(wish.spec, root)
    _check(EvalRun(metadata=metadata, spec=wish.spec), root)
    manifest = RunManifest(
        run_id=run_id,
        name=name,
        project=wish.project,
        evalsi_version=__version__,
        trials=max(1, wish.spec.trials),
        spec=wish.spec,
        labels=dict(wish.labels),
        status=RunStatus.PENDING,
    )
    row = RunRow(
        id=run_id,
        name=name,
        status="waiting",
        created_at=now.isoformat(timespec="milliseconds"),
        finished_at=None,
        dataset=_dataset_name(wish.spec),
        dataset_digest="",
        fingerprint="",
        rows=0,
        labels=dict(wish.labels),
        headline="",
        project=wish.project,
    )
    return Submission(
        run=row,
        manifest=manifest,
        priority=wish.priority,
        created_by=wish.created_by,
        request_key=wish.request_key,
        request_digest=digest((wish.name, wish.spec, wish.labels, wish.priority)),
    )


def _check(run: EvalRun, root: Path) -> None:
    """Every mistake of the specification; places in a text that nobody wrote are left out, paths stand in each message."""
    try:
        kept_run_spec(run, name="spec", folder=root)
    except InvalidSpecError as error:
        if not error.problems:
            raise
        raise InvalidSpecError.of(
            [InvalidSpecError(problem.message, hint=problem.hint) for problem in error.problems]
        ) from None


def _dataset_name(spec: RunSpec) -> str:
    source = spec.dataset
    if source is None:
        return ""
    if source.run is not None:
        return f"run {source.run.run_id}"
    if source.catalog is not None:
        return f"{source.catalog.name}@{source.catalog.version or 'latest'}"
    return source.path or source.uri or "inline"
