"""The stores at an address: a SQLite file by its path, PostgreSQL by `postgresql://…`."""

from pathlib import Path

from evalsi.core.errors import MissingExtraError
from evalsi.infra.store.access_store import SqlAccessStore
from evalsi.infra.store.database import StoreOptions, open_database
from evalsi.infra.store.failure_store import SqlFailureStore
from evalsi.infra.store.policy_store import SqlPolicyStore
from evalsi.infra.store.project_stores import SqlProjectStores
from evalsi.infra.store.trace_migrations import TRACE_MIGRATIONS
from evalsi.infra.store.trace_sqlite import SqliteTraceStore
from evalsi.infra.store.trace_store import SqlTraceStore
from evalsi.infra.store.transactions import SqlDatabase
from evalsi.ports.object_store import ObjectStore

TRACES_FILE = "traces.db"
"""Beside `evalsi.db` (decision 0026)."""
_POSTGRES = ("postgresql://", "postgres://")


def is_postgres(address: str) -> bool:
    return address.startswith(_POSTGRES)


def open_sql_database(address: str, options: StoreOptions | None = None) -> SqlDatabase:
    """The database at `address`, brought up to date.

    Raises:
        StoreError: it cannot be reached, or is no store.
        MissingExtraError: PostgreSQL needs packages that are not installed.
    """
    if not is_postgres(address):
        return open_database(Path(address), options)
    try:
        from evalsi.infra.store.postgres import PostgresDatabase
        from evalsi.infra.store.postgres_schema import bring_up_to_date
    except ImportError as error:
        raise MissingExtraError("PostgreSQL", "server") from error
    bring_up_to_date(address)
    return PostgresDatabase(address, options)


def open_stores(address: str, objects: ObjectStore, options: StoreOptions | None = None) -> SqlProjectStores:
    """The runs and datasets of all projects at `address`. Raises: as `open_sql_database`."""
    return SqlProjectStores(open_sql_database(address, options), objects)


def open_access_store(address: str) -> SqlAccessStore:
    """Projects, keys and the audit log at `address`. Raises: as `open_sql_database`."""
    return SqlAccessStore(open_sql_database(address))


def open_trace_store(address: str, options: StoreOptions | None = None, *, create: bool = True) -> SqlTraceStore:
    """The traces of all projects at `address`: beside a SQLite file, in a file of their own.

    Args:
        create: Whether to make a file that is not there.

    Raises: as `open_sql_database`; NotFoundError: there is no file, and none was to be made.
    """
    if is_postgres(address):
        open_sql_database(address, options).close()
        from evalsi.infra.store.postgres import PostgresDatabase
        from evalsi.infra.store.trace_postgres import PostgresTraceStore

        return PostgresTraceStore(PostgresDatabase(address, options))
    return SqliteTraceStore(Path(address).with_name(TRACES_FILE), options, create=create)


def open_policy_store(address: str, options: StoreOptions | None = None) -> SqlPolicyStore:
    """The policies of all projects at `address`, beside its traces. Raises: as `open_sql_database`."""
    if is_postgres(address):
        return SqlPolicyStore(open_sql_database(address, options))
    path = Path(address).with_name(TRACES_FILE)
    return SqlPolicyStore(open_database(path, options, migrations=TRACE_MIGRATIONS))


def open_failure_store(address: str, options: StoreOptions | None = None) -> SqlFailureStore:
    """The failures of all projects at `address`, beside its traces. Raises: as `open_sql_database`."""
    if is_postgres(address):
        return SqlFailureStore(open_sql_database(address, options))
    path = Path(address).with_name(TRACES_FILE)
    return SqlFailureStore(open_database(path, options, migrations=TRACE_MIGRATIONS))
