"""What a server tells its run workers, what they tell of their runs, and the stores that both open.

Its own module because a server must not load what carries runs out: that is the business of its workers.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from evalsi.infra.objects import open_objects
from evalsi.infra.store.database import StoreOptions
from evalsi.infra.store.object_rows import ObjectRows
from evalsi.infra.store.open_stores import open_sql_database
from evalsi.infra.store.project_stores import SqlProjectStores
from evalsi.ports.run_queue import QueueLimits, TokenQuota
from evalsi.schema import Usage
from evalsi.settings.server import ServerSettings


class RunWorkerOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What a server tells its run workers: where the runs are, and how much may be done at once."""

    store: str
    """Path of a SQLite store, or address of a PostgreSQL database."""
    datasets: str
    """The root of datasets: every path in a specification is below it."""
    objects: str
    """Where the records of published datasets lie, e.g. file:///var/lib/evalsi/objects; empty for the database itself."""
    object_options: dict[str, str] = {}
    """Settings of that place, its keys included."""
    cache: str
    """A folder for copies of objects that lie elsewhere."""
    limits: QueueLimits = QueueLimits()
    quotas: Mapping[str, TokenQuota] = {}
    """By project; under "" that of projects which have none of their own."""
    server: ServerSettings = ServerSettings()
    """What else the operator decided: judges, targets, credentials, where addresses may lead."""
    adopt_s: float = 1.0
    """The longest that an idle worker waits before it looks for work that nobody told it of."""
    lease_s: float = 30.0
    """How long after its last sign of life a worker that cannot be seen counts as gone."""


class RunProgress(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a run is, as its worker tells it with every sign of life."""

    done: int = 0
    total: int = 0
    headline: str = ""
    outcomes: dict[str, int] = {}
    spent: Usage | None = None
    target_spent: Usage | None = None
    """The target's part of `spent`."""


def opened_stores(order: RunWorkerOrder, options: StoreOptions | None = None) -> SqlProjectStores:
    """The stores that the order names. Raises: StoreError: they cannot be reached."""
    database = open_sql_database(order.store, options)
    try:
        cache = Path(order.cache)
        if order.objects:
            return SqlProjectStores(database, open_objects(order.objects, cache=cache, options=order.object_options))
        return SqlProjectStores(database, ObjectRows(database, cache))
    except BaseException:
        database.close()
        raise
