"""Both stores pass the suite of the port."""

from pathlib import Path

import pytest

from evalsi.infra.memory_run_store import MemoryRuns, MemoryRunStore
from evalsi.infra.store.database import StoreOptions
from evalsi.infra.store.run_store import open_run_store
from evalsi.testing.run_store_suite import OpenStore, RunStoreSuite


class TestMemoryRunStore(RunStoreSuite):
    @pytest.fixture
    def open_store(self) -> OpenStore:
        shared = MemoryRuns()
        return lambda: MemoryRunStore(shared)


class TestSqliteRunStore(RunStoreSuite):
    @pytest.fixture(params=["full", "normal"])
    def open_store(self, tmp_path: Path, request: pytest.FixtureRequest) -> OpenStore:
        options = StoreOptions(synchronous=request.param)
        return lambda: open_run_store(tmp_path / ".evalsi" / "evalsi.db", options)
