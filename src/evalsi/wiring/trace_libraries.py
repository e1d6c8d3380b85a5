"""Where traces are looked for: the store of this machine, or the server that was named."""

from collections.abc import Generator
from contextlib import closing, contextmanager

from evalsi.client.server_address import ServerAddress
from evalsi.settings import Settings
from evalsi.traces import Tracing, default_tracing
from evalsi.traces.trace_library import TraceLibrary

LOCAL_PROJECT = "default"


@contextmanager
def trace_library(
    settings: Settings,
    server: ServerAddress | None = None,
    *,
    tracing: Tracing | None = None,
    create: bool = False,
) -> Generator[TraceLibrary]:
    """The traces of `server`; those of this machine where there is none.

    Args:
        tracing: How spans are read; as shipped where it is None.
        create: Whether to make a store where there is none.

    Raises: NotFoundError: there are no traces here yet.
    """
    if server is not None:
        from evalsi.client.client import Client
        from evalsi.client.server_traces import ServerTraces

        with Client.at(server) as client:
            yield ServerTraces(client, server)
        return
    from evalsi.core.clock import SystemClock
    from evalsi.infra.store.open_stores import open_failure_store, open_policy_store, open_trace_store
    from evalsi.watch.stored_traces import CopiesOfTraces, StoredTraces

    address = str(settings.database)
    with closing(open_trace_store(address, create=create)) as store, closing(open_failure_store(address)) as failures:
        policies = open_policy_store(address)
        with closing(policies.database):
            copies = CopiesOfTraces(failures, policies)
            yield StoredTraces(store, copies, tracing or default_tracing(), SystemClock(), LOCAL_PROJECT)
