"""A run as a server tells it, in the form in which lists of this machine show theirs."""

from evalsi.ports.run_store import NOTHING_SCORED, RunRow
from evalsi.schema import GateVerdict, MetricSummary, Run, RunStatus

_STATUS = {
    RunStatus.PENDING: "waiting",
    RunStatus.RUNNING: "running",
    RunStatus.SUCCEEDED: "succeeded",
    RunStatus.FAILED: "succeeded",
    RunStatus.CANCELLED: "interrupted",
}
"""The store's word for each status; what is not listed is an error."""
_NOT_OVER = (RunStatus.PENDING, RunStatus.RUNNING, RunStatus.CANCELLED, RunStatus.ERROR)
UNDER_WAY = ("waiting", "running")


def run_row(run: Run) -> RunRow:
    return RunRow(
        id=run.id,
        name=run.name,
        status=_STATUS.get(run.status, "error"),
        created_at=run.created_at.isoformat(timespec="milliseconds") if run.created_at is not None else "",
        finished_at=run.finished_at.isoformat(timespec="milliseconds") if run.finished_at is not None else None,
        dataset=_dataset_of(run),
        dataset_digest=f"sha256:{run.dataset_sha256}" if run.dataset_sha256 else "",
        fingerprint="",
        rows=run.progress.done if run.progress is not None else 0,
        total=run.progress.total if run.progress is not None and run.status in _NOT_OVER else 0,
        labels=run.labels,
        headline=_headline_of(run),
        verdict=_verdict_of(run),
        project=run.project,
        archived_at=run.archived_at.isoformat(timespec="milliseconds") if run.archived_at is not None else None,
        error=run.error,
    )


def _headline_of(run: Run) -> str:
    ended = _STATUS.get(run.status) == "succeeded"
    return NOTHING_SCORED if ended and not any(each.n for each in run.summaries) else headline_of(run.summaries)


def headline_of(summaries: list[MetricSummary]) -> str:
    """The first metric that has a mean, with its interval."""
    for summary in summaries:
        if summary.mean is not None:
            bounds = f" [{summary.ci.low:.3f}, {summary.ci.high:.3f}]" if summary.ci is not None else ""
            return f"{summary.metric} {summary.mean:.3f}{bounds}"
    return ""


def _verdict_of(run: Run) -> str:
    if run.status is RunStatus.FAILED:
        return "failed"
    if not run.gates or run.status is not RunStatus.SUCCEEDED:
        return ""
    return "passed" if all(gate.verdict is GateVerdict.PASSED for gate in run.gates) else "undecided"


def _dataset_of(run: Run) -> str:
    about = run.manifest.dataset if run.manifest is not None else None
    return about.source if about is not None else ""
