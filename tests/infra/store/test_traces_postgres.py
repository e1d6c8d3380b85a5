"""Traces in PostgreSQL pass the suite of all stores of traces."""

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from evalsi.core.errors import StoreError
from evalsi.infra.store.database import StoreOptions
from evalsi.infra.store.open_stores import open_sql_database
from evalsi.infra.store.postgres import PostgresDatabase
from evalsi.infra.store.trace_postgres import PostgresTraceStore
from evalsi.ports.trace_store import TraceStore, Waiting
from evalsi.testing.trace_store_suite import NOON_MS, TraceStoreSuite, a_part, append
from tests.infra.store.test_traces_sqlite import refuses_children
from tests.postgres_server import PostgresServer, postgres_server


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

    def test_a_closed_store_begins_nothing(self, address: str) -> None:
        store = PostgresTraceStore(PostgresDatabase(address))
        append(store, a_part())
        store.close()
        store.close()
        with pytest.raises(StoreError, match="closed"):
            store.begin_append("default", [a_part(2)], now_ms=NOON_MS, waiting=Waiting())

    def test_a_child_made_by_fork_is_refused_and_does_not_wait(self, traces: TraceStore, address: str) -> None:
        del traces  # which emptied the tables
        assert refuses_children(address)

    def test_who_begins_more_than_may_wait_waits(
        self, traces: TraceStore, address: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import psycopg

        del traces
        monkeypatch.setattr("evalsi.infra.store.trace_postgres._MOST_WAITING", 2)
        with closing(PostgresTraceStore(PostgresDatabase(address))) as store, ThreadPoolExecutor(1) as pool:
            append(store, a_part(0))
            with psycopg.connect(address) as other:
                other.execute("LOCK TABLE traces")
                for number in (1, 2):
                    store.begin_append("default", [a_part(number)], now_ms=NOON_MS, waiting=Waiting())
                third = pool.submit(store.begin_append, "default", [a_part(3)], now_ms=NOON_MS, waiting=Waiting())
                with pytest.raises(TimeoutError):
                    third.result(timeout=0.3)
            assert third.result(timeout=60).result(timeout=60).spans == 2

    def test_a_store_whose_database_does_not_answer_is_closed_all_the_same(
        self, traces: TraceStore, address: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import psycopg

        del traces
        for module in ("postgres", "trace_postgres"):
            monkeypatch.setattr(f"evalsi.infra.store.{module}.CLOSE_S", 0.2)
        store = PostgresTraceStore(PostgresDatabase(address))
        append(store, a_part(0))
        with psycopg.connect(address) as other, ThreadPoolExecutor(2) as pool:
            other.execute("LOCK TABLE traces")
            begun = [
                store.begin_append("default", [a_part(number)], now_ms=NOON_MS, waiting=Waiting())
                for number in range(1, 20)
            ]
            appending = pool.submit(append, store, a_part(20))
            closing_it = pool.submit(store.close)
            try:
                closing_it.result(timeout=60)
                assert all(isinstance(each.exception(timeout=60), StoreError) for each in (*begun, appending))
            finally:
                other.rollback()


def test_a_store_whose_database_is_gone_is_closed_all_the_same() -> None:
    with postgres_server() as gone:
        address = gone.new_database("gone")
        open_sql_database(address).close()
        store = PostgresTraceStore(PostgresDatabase(address, StoreOptions(busy_timeout_s=3600)))
        append(store, a_part(0))
        gone.stop()
        try:
            begun = [
                store.begin_append("default", [a_part(number)], now_ms=NOON_MS, waiting=Waiting())
                for number in range(1, 30)
            ]
            closer = threading.Thread(target=store.close, daemon=True)
            closer.start()
            closer.join(60)
            assert not closer.is_alive()
            assert all(isinstance(each.exception(timeout=1), StoreError) for each in begun)
        finally:
            gone.start()
