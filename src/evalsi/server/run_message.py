"""A run as the interface shows it, put together from what the store and the queue know.

Its own module because every method of RunService answers with it, and each status means the same everywhere.
"""

from datetime import datetime

import msgspec

from evalsi.core.clock import moment_of
from evalsi.ports.project_stores import ProjectStores
from evalsi.ports.run_queue import QueueEntry
from evalsi.ports.run_store import RunRow
from evalsi.results.run_reach import Reach, reach_of
from evalsi.schema import Progress, Run, RunEvaluationContract, RunManifest, RunStatus
from evalsi.wiring.run_order import RunProgress

IMPORTED = "evals.si/imported"
"""Label of a run that was made elsewhere."""

_STATUS = {
    "waiting": RunStatus.PENDING,
    "running": RunStatus.RUNNING,
    "succeeded": RunStatus.SUCCEEDED,
    "failed": RunStatus.FAILED,
    "interrupted": RunStatus.CANCELLED,
    "error": RunStatus.ERROR,
}
STANDING = {status: word for word, status in _STATUS.items()}
"""The store's word for each status."""

_PROGRESS = msgspec.json.Decoder(RunProgress)


def run_message(stores: ProjectStores, row: RunRow, *, whole: bool = True) -> Run:
    """The message for a run.

    Args:
        whole: With its specification and manifest; lists leave them out.
    Raises: NotFoundError: it was deleted meanwhile.
    """
    store = stores.of(row.project)
    manifest = store.manifest(row.id)
    entry = stores.queue.entry(row.id)
    is_over = row.status not in ("waiting", "running")
    records = manifest.dataset.records if manifest.dataset is not None else 0
    return Run(
        id=row.id,
        name=row.name,
        project=row.project,
        spec=manifest.spec if whole else None,
        status=_STATUS[row.standing],
        created_at=datetime.fromisoformat(row.created_at),
        started_at=_started_at(manifest, entry),
        finished_at=datetime.fromisoformat(row.finished_at) if row.finished_at and is_over else None,
        error=row.error,
        progress=_progress(reach_of(store, row, manifest), entry),
        summaries=store.summaries(row.id) if is_over else [],
        gates=list(manifest.gates) if is_over else [],
        target_usage=manifest.target_usage,
        judge_usage=manifest.judge_usage,
        dataset_sha256=row.dataset_digest.removeprefix("sha256:"),
        records=records,
        labels=row.labels,
        created_by=entry.created_by if entry is not None else "",
        archived_at=datetime.fromisoformat(row.archived_at) if row.archived_at else None,
        imported=IMPORTED in row.labels,
        evaluation_contract=_contract(manifest) if whole else None,
        manifest=manifest if whole else None,
    )


def _started_at(manifest: RunManifest, entry: QueueEntry | None) -> datetime | None:
    if manifest.started_at is not None:
        return manifest.started_at
    return moment_of(entry.claimed_us) if entry is not None and entry.claimed_us is not None else None


def _progress(reach: Reach, entry: QueueEntry | None) -> Progress:
    """What is stored; while a run is new, what its worker last said of its size."""
    total = reach.total
    if not total and entry is not None and entry.progress:
        total = _PROGRESS.decode(entry.progress).total
    return Progress(total=total, done=reach.done)


def _contract(manifest: RunManifest) -> RunEvaluationContract:
    return RunEvaluationContract(
        evaluators=manifest.evaluators,
        settings_sha256=manifest.settings_sha256,
        server_version=manifest.evalsi_version,
    )
