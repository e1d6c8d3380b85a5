"""The place of each sink in the audit log, in SQLite. PostgreSQL's is in `test_postgres`."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from evalsi.infra.store.access_store import SqlAccessStore
from evalsi.infra.store.audit_outbox import SqlAuditOutbox
from evalsi.infra.store.open_stores import open_sql_database
from evalsi.testing.audit_outbox_suite import AuditOutboxSuite, OpenAudit


class TestSqliteAuditOutbox(AuditOutboxSuite):
    @pytest.fixture
    def open_audit(self, tmp_path: Path) -> Iterator[OpenAudit]:
        with ExitStack() as stack:

            def opened() -> tuple[SqlAccessStore, SqlAuditOutbox]:
                database = stack.enter_context(closing(open_sql_database(str(tmp_path / "evalsi.db"))))
                return SqlAccessStore(database), SqlAuditOutbox(database)

            yield opened
