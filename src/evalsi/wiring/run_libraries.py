"""Where runs are looked for: the store of this machine, or the server that was named."""

from collections.abc import Generator
from contextlib import contextmanager

from evalsi.client.server_address import ServerAddress
from evalsi.infra.store import open_run_store
from evalsi.results.run_library import RunLibrary
from evalsi.settings import Settings


@contextmanager
def run_library(settings: Settings, server: ServerAddress | None = None) -> Generator[RunLibrary]:
    """The runs of `server`; those of this machine where there is none.

    Raises: NotFoundError: there is no store here yet.
    """
    if server is not None:
        from evalsi.client.client import Client
        from evalsi.client.server_runs import ServerRuns

        with Client(server.url, api_key=server.api_key, proxy=server.proxy) as client:
            yield ServerRuns(client, server.project)
        return
    from evalsi.results.stored_runs import StoredRuns

    store = open_run_store(settings.database, create=False)
    try:
        yield StoredRuns(store)
    finally:
        store.close()
