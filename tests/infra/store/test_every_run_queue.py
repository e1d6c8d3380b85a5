"""Every database passes the suite of the queue."""

from pathlib import Path

import pytest

from evalsi.infra.objects import open_objects
from evalsi.infra.store.open_stores import open_stores
from evalsi.testing.run_queue_suite import OpenStores, RunQueueSuite


class TestSqliteRunQueue(RunQueueSuite):
    @pytest.fixture
    def open_stores(self, tmp_path: Path) -> OpenStores:
        objects = open_objects(f"file://{tmp_path / 'objects'}", cache=tmp_path / "cache")
        return lambda: open_stores(str(tmp_path / "evalsi.db"), objects)
