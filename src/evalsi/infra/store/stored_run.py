"""One row of runs as the statements read it, and what it says: how the run stands, and who has it.

Its own module because single runs and lists are read by different statements with these same columns.
"""

from typing import Any, NamedTuple

import msgspec

from evalsi.infra.store.writer import Writer, is_alive, this_process
from evalsi.ports.run_store import RunRow

COLUMNS = (
    "runs.project_id, runs.id, runs.name, runs.status, runs.created_at, runs.created_us, runs.finished_at, runs.dataset, "
    "runs.dataset_digest, runs.fingerprint, runs.rows, runs.labels, runs.headline, runs.verdict, runs.archived_at, "
    "runs.writer_token, runs.writer, runs.heartbeat_us, run_queue.state, run_queue.error, run_queue.holder"
)
SOURCE = "runs LEFT JOIN run_queue ON run_queue.run_id = runs.id"

_LABELS = msgspec.json.Decoder(dict[str, str])
_WRITER = msgspec.json.Decoder(Writer)
_SHOWN = {"waiting": "waiting", "claimed": "running", "failed": "error"}
"""What a run is called while, or after, a server works on it."""


class StoredRun(NamedTuple):
    """The columns of `COLUMNS`, in their order."""

    project: str
    id: str
    name: str
    status: str
    created_at: str
    created_us: int
    finished_at: str | None
    dataset: str
    dataset_digest: str
    fingerprint: str
    rows: int
    labels: str
    headline: str
    verdict: str
    archived_at: str | None
    writer_token: str | None
    writer: str | None
    heartbeat_us: int | None
    queue_state: str | None
    error: str | None
    holder: str | None

    @property
    def named_writer(self) -> Writer | None:
        return None if self.writer is None else _WRITER.decode(self.writer)

    @property
    def writer_in_words(self) -> str:
        writer = self.named_writer
        return "nobody" if writer is None else f"process {writer.pid} on {writer.place.partition(' ')[0]}"

    @property
    def is_promised(self) -> bool:
        """Whether a server is going to work on the run, and not by this process."""
        if self.queue_state == "claimed" and self.holder is not None:
            return _WRITER.decode(self.holder) != this_process()
        return self.queue_state == "waiting"

    def own_status(self, now_us: int, writer_timeout_s: float) -> str:
        """How the run stands in itself, whatever a server has in mind with it."""
        if self.status == "running" and not self._is_written(now_us, writer_timeout_s):
            return "interrupted"
        return self.status

    def shown(self, now_us: int, writer_timeout_s: float) -> RunRow:
        return RunRow(
            id=self.id,
            name=self.name,
            status=_SHOWN.get(self.queue_state or "") or self.own_status(now_us, writer_timeout_s),
            created_at=self.created_at,
            finished_at=self.finished_at,
            dataset=self.dataset,
            dataset_digest=self.dataset_digest,
            fingerprint=self.fingerprint,
            rows=self.rows,
            labels={} if self.labels == "{}" else _LABELS.decode(self.labels),
            headline=self.headline,
            verdict=self.verdict,
            project=self.project,
            archived_at=self.archived_at,
            error=self.error or "",
        )

    def _is_written(self, now_us: int, writer_timeout_s: float) -> bool:
        writer = self.named_writer
        if writer is None or self.heartbeat_us is None:
            return False
        alive = is_alive(writer)
        return now_us - self.heartbeat_us < writer_timeout_s * 1e6 if alive is None else alive


def stored_run_of(values: Any) -> StoredRun:
    return StoredRun._make(values)
