"""Every database passes the suite of policies."""

import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from evalsi.infra.store.database import StoreOptions
from evalsi.infra.store.open_stores import open_policy_store, open_trace_store
from evalsi.infra.store.policy_store import SqlPolicyStore
from evalsi.infra.store.score_outbox import SqlScoreOutbox
from evalsi.ports.score_outbox import ScoreOutbox
from evalsi.ports.trace_store import TraceStore
from evalsi.testing.policy_store_suite import PolicyStoreSuite
from tests.postgres_server import PostgresServer


@pytest.fixture(scope="module")
def address(postgres: PostgresServer) -> str:
    return postgres.new_database(f"p{uuid.uuid4().hex[:12]}")


class TestSqlitePolicyStore(PolicyStoreSuite):
    @pytest.fixture
    def policies(self, tmp_path: Path) -> Iterator[SqlPolicyStore]:
        store = open_policy_store(str(tmp_path / "evalsi.db"), StoreOptions(synchronous="normal"))
        yield store
        store.database.close()

    @pytest.fixture
    def outbox(self, policies: SqlPolicyStore) -> ScoreOutbox:
        return SqlScoreOutbox(policies.database)

    @pytest.fixture
    def traces(self, tmp_path: Path) -> Iterator[TraceStore]:
        with closing(open_trace_store(str(tmp_path / "evalsi.db"))) as store:
            yield store


class TestPostgresPolicyStore(PolicyStoreSuite):
    @pytest.fixture
    def policies(self, address: str) -> Iterator[SqlPolicyStore]:
        import psycopg

        store = open_policy_store(address)
        with psycopg.connect(address, autocommit=True) as connection:
            found = connection.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'polic%'").fetchall()
            tables = ", ".join(name for (name,) in found if name != "policy_generation")
            tables += ", traces, trace_parts, trace_sessions"
            connection.execute(f"TRUNCATE {tables}".encode())
        yield store
        store.database.close()

    @pytest.fixture
    def outbox(self, policies: SqlPolicyStore) -> ScoreOutbox:
        return SqlScoreOutbox(policies.database)

    @pytest.fixture
    def traces(self, address: str, policies: SqlPolicyStore) -> Iterator[TraceStore]:
        del policies  # which empties the tables
        with closing(open_trace_store(address)) as store:
            yield store
