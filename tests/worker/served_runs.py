"""A server's runs without its ports: a store, workers, and a way to ask for runs."""

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from evalsi.core.ids import new_run_id
from evalsi.infra.objects import open_objects
from evalsi.infra.run_workers import RunWorkers
from evalsi.infra.store.open_stores import open_stores
from evalsi.infra.store.project_stores import SqlProjectStores
from evalsi.ports.run_queue import QueueLimits, Submission
from evalsi.ports.run_store import RunRow
from evalsi.schema import RunManifest, RunSpec
from evalsi.settings.server import OWN_MACHINE
from evalsi.wiring.run_order import RunWorkerOrder


@dataclass
class ServedRuns:
    """Everything lies in `folder`."""

    folder: Path
    store: str = ""
    """Address of a database; by default a file in the folder."""

    @property
    def order(self) -> RunWorkerOrder:
        return RunWorkerOrder(
            store=self.store or str(self.folder / "evalsi.db"),
            datasets=str(self.folder / "datasets"),
            objects=f"file://{self.folder / 'objects'}",
            cache=str(self.folder / "cache"),
            lease_s=2.0,
            server=OWN_MACHINE,
        )

    def open(self) -> SqlProjectStores:
        return open_stores(self.order.store, open_objects(self.order.objects, cache=self.folder))

    def workers(self, count: int = 1, limits: QueueLimits | None = None) -> RunWorkers:
        order = msgspec.structs.replace(self.order, limits=limits or QueueLimits())
        return RunWorkers(order=msgspec.json.encode(order), count=count, log=subprocess.DEVNULL)


def submission(spec: RunSpec, *, project: str = "default", **changes: Any) -> Submission:
    """A run of `spec` that is asked for now."""
    run_id = new_run_id()
    row = RunRow(
        id=run_id,
        name="asked",
        status="waiting",
        created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        finished_at=None,
        dataset="",
        dataset_digest="",
        fingerprint="",
        rows=0,
        labels={},
        headline="",
        project=project,
    )
    manifest = RunManifest(run_id=run_id, name="asked", project=project, spec=spec)
    return Submission(run=row, manifest=manifest, **changes)


def wait_until(condition: Callable[[], bool], *, timeout_s: float = 60.0) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, "it did not happen in time"
        time.sleep(0.02)
