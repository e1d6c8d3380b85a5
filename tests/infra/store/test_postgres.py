"""PostgreSQL passes every suite that SQLite passes, holds the same schema, and its restarts are survived."""

import os
import sqlite3
import threading
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest

from evalsi.core.errors import StoreError, StoreTooNewError, UsageError
from evalsi.infra.objects import open_objects
from evalsi.infra.store.access_store import SqlAccessStore
from evalsi.infra.store.answer_store import SqlAnswerStore
from evalsi.infra.store.audit_outbox import SqlAuditOutbox
from evalsi.infra.store.database import StoreOptions, open_database
from evalsi.infra.store.failure_store import SqlFailureStore
from evalsi.infra.store.object_rows import ObjectRows
from evalsi.infra.store.open_stores import open_sql_database, open_stores
from evalsi.infra.store.postgres import PostgresDatabase
from evalsi.infra.store.run_store import SqlRunStore
from evalsi.infra.store.trace_migrations import TRACE_MIGRATIONS
from evalsi.ports.answer_store import AnswerStore
from evalsi.ports.object_store import ObjectStore
from evalsi.testing.access_store_suite import AccessStoreSuite, OpenAccess
from evalsi.testing.answer_store_suite import AnswerStoreSuite
from evalsi.testing.audit_outbox_suite import AuditOutboxSuite, OpenAudit
from evalsi.testing.failure_store_suite import FailureStoreSuite, OpenFailures
from evalsi.testing.object_store_suite import ObjectStoreSuite
from evalsi.testing.run_queue_suite import OpenStores, RunQueueSuite
from evalsi.testing.run_store_suite import OpenStore, RunStoreSuite, a_manifest, a_run, a_segment
from tests.postgres_server import PostgresServer

SEARCH_TABLES = ("trace_texts", "trace_words")
"""Where each finds words in its own way."""


@pytest.fixture
def address(postgres: PostgresServer) -> str:
    address = postgres.new_database(f"t{uuid.uuid4().hex[:12]}")
    open_sql_database(address).close()
    return address


class TestPostgresRunStore(RunStoreSuite):
    @pytest.fixture
    def open_store(self, address: str) -> OpenStore:
        return lambda: SqlRunStore(PostgresDatabase(address))


class TestPostgresFailureStore(FailureStoreSuite):
    @pytest.fixture
    def open_failures(self, address: str) -> Iterator[OpenFailures]:
        with ExitStack() as stack:
            yield lambda: SqlFailureStore(stack.enter_context(closing(PostgresDatabase(address))))


class TestPostgresRunQueue(RunQueueSuite):
    @pytest.fixture
    def open_stores(self, address: str, tmp_path: Path) -> OpenStores:
        objects = open_objects(f"file://{tmp_path / 'objects'}", cache=tmp_path / "cache")
        return lambda: open_stores(address, objects)


class TestPostgresAccessStore(AccessStoreSuite):
    @pytest.fixture
    def open_access(self, address: str) -> OpenAccess:
        return lambda: SqlAccessStore(PostgresDatabase(address))


class TestPostgresAuditOutbox(AuditOutboxSuite):
    @pytest.fixture
    def open_audit(self, address: str) -> Iterator[OpenAudit]:
        with ExitStack() as stack:

            def opened() -> tuple[SqlAccessStore, SqlAuditOutbox]:
                database = stack.enter_context(closing(PostgresDatabase(address)))
                return SqlAccessStore(database), SqlAuditOutbox(database)

            yield opened


class TestPostgresAnswers(AnswerStoreSuite):
    @pytest.fixture
    def answers(self, address: str) -> Iterator[AnswerStore]:
        with closing(PostgresDatabase(address)) as database:
            yield SqlAnswerStore(database)


class TestPostgresObjects(ObjectStoreSuite):
    @pytest.fixture
    def objects(self, address: str, tmp_path: Path) -> Iterator[ObjectStore]:
        with closing(PostgresDatabase(address)) as database:
            yield ObjectRows(database, tmp_path / "cache")


def test_both_databases_hold_the_same_tables_columns_and_indexes(address: str, tmp_path: Path) -> None:
    open_database(tmp_path / "evalsi.db").close()
    open_database(tmp_path / "traces.db", migrations=TRACE_MIGRATIONS).close()
    kinds = {"TEXT": "text", "INTEGER": "bigint", "BLOB": "bytea", "REAL": "double precision"}
    ours: dict[str, dict[str, tuple[str, bool]]] = {}
    indexes: set[str] = set()
    for file in ("evalsi.db", "traces.db"):
        with closing(sqlite3.connect(tmp_path / file)) as connection:
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                if table.startswith(SEARCH_TABLES):
                    continue
                columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
                ours[table] = {column[1]: (kinds[column[2]], bool(column[3])) for column in columns}
            indexes |= {
                row[0]
                for row in connection.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
                ).fetchall()
            }
    with psycopg.connect(address) as connection:
        found = connection.execute(
            "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
            "WHERE table_schema = 'public'"
        ).fetchall()
        there = connection.execute("SELECT indexname FROM pg_indexes WHERE schemaname = 'public'").fetchall()
    theirs: dict[str, dict[str, tuple[str, bool]]] = {}
    for table, column, kind, nullable in found:
        theirs.setdefault(table, {})[column] = (kind, nullable == "NO")
    del theirs["schema_revisions"], theirs["trace_texts"]
    assert theirs == {table: columns for table, columns in ours.items() if not table.startswith("sqlite_")}
    assert indexes <= {name for (name,) in there}


def test_several_servers_may_bring_a_new_database_up_to_date_at_once(postgres: PostgresServer) -> None:
    address = postgres.new_database(f"t{uuid.uuid4().hex[:12]}")
    failures: list[BaseException] = []

    def open_it() -> None:
        try:
            open_sql_database(address).close()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_database_of_a_later_version_is_refused(address: str) -> None:
    with psycopg.connect(address) as connection:
        connection.execute("UPDATE schema_revisions SET version_num = '9999'")
    with pytest.raises(StoreTooNewError, match="upgrade evalsi"):
        open_sql_database(address)


@pytest.mark.slow
def test_a_restart_of_the_database_costs_time_and_nothing_else(postgres: PostgresServer, address: str) -> None:
    with closing(SqlRunStore(PostgresDatabase(address))) as store:
        store.create(a_run("r1"), a_manifest())
        store.append("r1", a_segment(0))
        postgres.stop()
        starter = threading.Timer(0.5, postgres.start)
        starter.start()
        store.append("r1", a_segment(1))
        assert [index for index, _, _ in store.segment_rows("r1")] == [0, 1]
        starter.join()


def test_a_database_that_does_not_come_back_is_an_error_without_a_password(postgres: PostgresServer) -> None:
    address = f"postgresql://evalsi:hunter2@/none-there?host={postgres.folder}"
    with pytest.raises(StoreError) as caught:
        open_sql_database(address)
    assert "hunter2" not in str(caught.value)
    with pytest.raises(StoreError) as caught:
        PostgresDatabase(address, StoreOptions(busy_timeout_s=0.1)).read("SELECT 1")
    assert "hunter2" not in str(caught.value)


def test_a_character_that_postgresql_cannot_hold_is_refused_as_the_callers_mistake(address: str) -> None:
    with closing(SqlRunStore(PostgresDatabase(address))) as store, pytest.raises(UsageError, match="cannot be stored"):
        store.create(a_run("r1", name="a\0b"), a_manifest())


def test_a_text_that_no_index_can_hold_is_the_callers_mistake_and_not_tried_again(address: str) -> None:
    name = os.urandom(4000).hex()
    with (
        closing(PostgresDatabase(address, StoreOptions(busy_timeout_s=3600))) as database,
        pytest.raises(UsageError, match="exceeds"),
    ):
        database.write(lambda locked: locked.execute("INSERT INTO trace_projects (name) VALUES (?)", (name,)))
