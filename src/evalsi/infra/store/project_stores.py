"""All projects of one database: implements `ports.ProjectStores`."""

import threading
from collections.abc import Sequence

from evalsi.core.errors import NotFoundError
from evalsi.infra.store.dataset_store import SqlDatasetStore, list_versions
from evalsi.infra.store.run_list import list_runs
from evalsi.infra.store.run_queue import SqlRunQueue
from evalsi.infra.store.run_store import SqlRunStore
from evalsi.infra.store.transactions import SqlDatabase
from evalsi.ports.dataset_store import VersionPage, VersionQuery
from evalsi.ports.object_store import ObjectStore
from evalsi.ports.run_store import RunPage, RunQuery

READ_PROJECT = "SELECT project_id FROM runs WHERE id = ?"


class SqlProjectStores:
    """Implements `ProjectStores`."""

    def __init__(self, database: SqlDatabase, objects: ObjectStore) -> None:
        self.database = database
        self._objects = objects
        self.queue = SqlRunQueue(database)
        self._stores: dict[str, SqlRunStore] = {}
        self._lock = threading.Lock()

    def of(self, project: str) -> SqlRunStore:
        with self._lock:
            found = self._stores.get(project)
            if found is None:
                found = self._stores[project] = SqlRunStore(self.database, project=project)
            return found

    def project_of(self, run_id: str) -> str:
        found = self.database.read(READ_PROJECT, (run_id,))
        if not found:
            raise NotFoundError(f"no run {run_id}", hint="'evalsi runs list' shows all")
        return found[0][0]

    def page(self, projects: Sequence[str] | None, query: RunQuery, *, size: int, token: str = "") -> RunPage:
        return list_runs(self.database, projects, query, size=size, token=token)

    def datasets(self, project: str) -> SqlDatasetStore:
        return SqlDatasetStore(self.database, self._objects, project=project)

    def dataset_page(
        self, projects: Sequence[str] | None, query: VersionQuery, *, size: int, token: str = ""
    ) -> VersionPage:
        return list_versions(self.database, projects, query, size=size, token=token)

    def give_space_back(self) -> None:
        self.database.give_space_back()

    def close(self) -> None:
        with self._lock:
            for store in self._stores.values():
                store.let_go()
            self.database.close()
