"""Traces in PostgreSQL pass the suite of all stores of traces."""

import uuid
from collections.abc import Iterator
from contextlib import closing

import pytest

from evalsi.infra.store.open_stores import open_sql_database
from evalsi.infra.store.postgres import PostgresDatabase
from evalsi.infra.store.trace_postgres import PostgresTraceStore
from evalsi.ports.trace_store import TraceStore
from evalsi.testing.trace_store_suite import TraceStoreSuite
from tests.postgres_server import PostgresServer


@pytest.fixture(scope="module")
def address(postgres: PostgresServer) -> str:
    address = postgres.new_database(f"t{uuid.uuid4().hex[:12]}")
    open_sql_database(address).close()
    return address


class TestPostgresTraces(TraceStoreSuite):
    @pytest.fixture
    def traces(self, address: str) -> Iterator[TraceStore]:
        import psycopg

        with psycopg.connect(address, autocommit=True) as connection:
            found = connection.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'trace%'").fetchall()
            tables = ", ".join(name for (name,) in found if name != "trace_marks")
            connection.execute(f"TRUNCATE {tables}".encode())
        with closing(PostgresTraceStore(PostgresDatabase(address))) as store:
            yield store
