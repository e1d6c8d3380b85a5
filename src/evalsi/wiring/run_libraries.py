"""Where runs are looked for: the store of this machine, or the server that was named."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evalsi.client.server_address import ServerAddress
from evalsi.core.errors import EvalsiError
from evalsi.infra.store import open_run_store
from evalsi.results.run_library import RunLibrary
from evalsi.settings import Settings

if TYPE_CHECKING:
    from evalsi.client.client import Client
    from evalsi.client.server_runs import ServerRuns


@contextmanager
def run_library(settings: Settings, server: ServerAddress | None = None) -> Generator[RunLibrary]:
    """The runs of `server`; those of this machine where there is none.

    Raises: NotFoundError: there is no store here yet.
    """
    if server is not None:
        from evalsi.client.client import Client

        with Client.at(server) as client:
            yield server_runs(client, server.project, settings)
        return
    from evalsi.results.stored_runs import StoredRuns

    store = open_run_store(settings.database, create=False)
    try:
        yield StoredRuns(store)
    finally:
        store.close()


def server_runs(client: "Client", project: str, settings: Settings) -> "ServerRuns":
    """The runs of a server, for somebody at this machine: `evalsi eval` keeps its runs here though a server is named, so who
    names one of those is told where it is.
    """
    from evalsi.client.server_runs import ServerRuns

    def here(reference: str) -> str:
        try:
            with run_library(settings) as library:
                found = library.find(reference)
        except EvalsiError:
            return ""
        return (
            f"run {found.id} of this machine is meant by it: say --server local, or bring it to the server with 'evalsi runs "
            f"export {found.id} FILE.zip --server local' and 'evalsi runs import FILE.zip'"
        )

    return ServerRuns(client, project, here)
