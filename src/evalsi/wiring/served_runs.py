"""What a server's runs are made of before anybody works on them: checked specifications and submissions.

Its own module because the server must not load what carries runs out: that is the business of its workers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from evalsi.access.outgoing_rights import OutgoingRights
from evalsi.core.canonical import digest
from evalsi.core.errors import QuotaError
from evalsi.core.ids import new_run_id
from evalsi.core.version import __version__
from evalsi.ports.run_queue import RunQueue, Submission, TokenQuota
from evalsi.ports.run_store import RunRow
from evalsi.schema import EvalRun, RunManifest, RunMetadata, RunSpec, RunStatus
from evalsi.wiring.served_spec import read_served_spec
from evalsi.wiring.tokens_of_day import used_up_tokens, utc_day


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


def submission_of(
    wish: RunWish,
    root: Path,
    now: datetime,
    rights: OutgoingRights,
    *,
    default_judge: str = "",
    has_usual_judge: bool = True,
) -> Submission:
    """The wish, checked as far as it can be without asking anybody or reading data. Raises: as `read_served_spec`."""
    run_id = new_run_id(now.timestamp())
    name = wish.name or f"run-{run_id[:10]}"
    metadata = RunMetadata(name=name, project=wish.project, labels=dict(wish.labels))
    run = EvalRun(metadata=metadata, spec=wish.spec)
    read_served_spec(
        run, name="spec", root=root, rights=rights, default_judge=default_judge, has_usual_judge=has_usual_judge
    )
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


def check_tokens(queue: RunQueue, wish: RunWish, quota: TokenQuota, now: datetime) -> None:
    """Raises: QuotaError: a run like this would be ended at once, since its project has used up the tokens of the day."""
    limits = (quota.target_tokens_per_day, quota.judge_tokens_per_day)
    if limits == (None, None):
        return
    day = utc_day(now)
    used = queue.add_usage(wish.project, day, target_tokens=0, judge_tokens=0)
    target, judges = used_up_tokens(wish.project, day, quota, used)
    needs_judges = bool(wish.spec.judge or wish.spec.judges)
    problem = (target if wish.spec.target is not None else "") or (judges if needs_judges else "")
    if problem:
        raise QuotaError(problem, hint="ask again after midnight UTC, or have the operator raise the quota")


def _dataset_name(spec: RunSpec) -> str:
    source = spec.dataset
    if source is None:
        return ""
    if source.run is not None:
        return f"run {source.run.run_id}"
    if source.catalog is not None:
        return f"{source.catalog.name}@{source.catalog.version or 'latest'}"
    if source.traces is not None:
        return f"traces of {source.traces.service}".removesuffix(" of ")
    return source.path or source.uri or "inline"
