"""The runs of the store of this machine, as commands find them."""

import os
import signal
import time
from collections.abc import Iterator, Mapping

import msgspec

from evalsi.core.errors import UsageError
from evalsi.ports.run_store import RunRow, RunStore
from evalsi.results.graded_run import GradedRun, stored_run
from evalsi.results.rebuilt_summaries import Seen, StoredProgress
from evalsi.results.run_reach import reach_of


class StoredRuns:
    """Implements `RunLibrary` over a store."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    def runs(self, *, labels: Mapping[str, str], name: str = "", limit: int | None = None) -> list[RunRow]:
        fitting = (row for row in self._store.runs() if labels.items() <= row.labels.items())
        return [self._with_reach(row) for row in [row for row in fitting if name in ("", row.name)][:limit]]

    def find(self, reference: str) -> RunRow:
        return self._store.find(reference)

    def open(self, run_id: str) -> GradedRun:
        return stored_run(self._store, run_id)

    def follow(self, run_id: str, *, interval_s: float) -> Iterator[Seen]:
        progress = StoredProgress(self._store, run_id)
        while True:
            seen = progress.look()
            yield seen
            if seen.status != "running":
                return
            time.sleep(interval_s)

    def stop(self, row: RunRow) -> str:
        """As Ctrl-C does it: the process that writes the run gets SIGINT."""
        writer = self._store.writer(row.id)
        if writer is None:
            raise UsageError(
                f"run {row.id[:8]} is not being written: it is {row.status}", hint="there is nothing to stop"
            )
        if not writer.is_here:
            raise UsageError(
                f"run {row.id[:8]} is written by process {writer.pid} on {writer.host}, which cannot be reached from here",
                hint=f"on that machine: kill -INT {writer.pid}",
            )
        os.kill(writer.pid, signal.SIGINT)
        return f"asked process {writer.pid} to stop"

    def _with_reach(self, row: RunRow) -> RunRow:
        if row.status == "succeeded":
            return row
        done, total = reach_of(self._store, row, self._store.manifest(row.id))
        return msgspec.structs.replace(row, rows=done, total=total)

    def delete(self, run_id: str) -> None:
        self._store.delete(run_id)
