"""The runs of all projects, for who serves several: one store per project, and what reaches across."""

from collections.abc import Sequence
from typing import Protocol

from evalsi.ports.dataset_store import DatasetStore, VersionPage, VersionQuery
from evalsi.ports.run_queue import RunQueue
from evalsi.ports.run_store import RunPage, RunQuery, RunStore


class ProjectStores(Protocol):
    """One database, seen project by project. Who may see which project is decided above."""

    @property
    def queue(self) -> RunQueue: ...

    def of(self, project: str) -> RunStore:
        """The runs of one project. It need not have any yet; the store lives as long as this object."""
        ...

    def project_of(self, run_id: str) -> str:
        """Whose run it is. Raises: NotFoundError: there is no such run."""
        ...

    def page(self, projects: Sequence[str] | None, query: RunQuery, *, size: int, token: str = "") -> RunPage:
        """As `RunStore.page`, over the runs of several projects, or (None) of all."""
        ...

    def datasets(self, project: str) -> DatasetStore:
        """The datasets of one project."""
        ...

    def dataset_page(
        self, projects: Sequence[str] | None, query: VersionQuery, *, size: int, token: str = ""
    ) -> VersionPage:
        """Versions of datasets of several projects, or (None) of all, the newest first."""
        ...

    def give_space_back(self) -> None:
        """Gives the space of removed runs back to the disk, some at a time, as far as that is possible now."""
        ...

    def close(self) -> None:
        """Runs that a store made here is still writing become interrupted. Calling it twice is fine."""
        ...
