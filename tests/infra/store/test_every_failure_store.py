"""Every database passes the suite of failures."""

from pathlib import Path

import pytest

from evalsi.infra.store.open_stores import open_failure_store
from evalsi.testing.failure_store_suite import FailureStoreSuite, OpenFailures


class TestSqliteFailureStore(FailureStoreSuite):
    @pytest.fixture
    def open_failures(self, tmp_path: Path) -> OpenFailures:
        return lambda: open_failure_store(str(tmp_path / "evalsi.db"))
