"""Traces as the records of a run: `dataset: {traces: …}` of a run specification."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from itertools import islice

import msgspec

from evalsi.infra.store.open_stores import open_trace_store
from evalsi.schema import DatasetSource, Record, TraceFilter, TraceQuery
from evalsi.traces.record_of_trace import record_of_trace
from evalsi.traces.stored_spans import spans_of_bodies
from evalsi.wiring.span_mappings import tracing_with


def records_of_traces(
    address: str, project: str, source: DatasetSource, until: datetime, mappings: Sequence[str] = ()
) -> Iterator[Record]:
    """The complete traces of the query, the newest first, with their scores in the metadata.

    Args:
        address: Of the database of runs, beside which traces are.
        source: The whole source; its `traces` is the query.
        until: Traces begun from then on are left out, so that a run that is continued meets the same ones again.
        mappings: Files with mappings of the operator's own.

    Raises: NotFoundError: there are no traces at the address. StoreError: they cannot be read.
    """
    query = source.traces or TraceQuery()
    choice = TraceFilter(
        service=query.service,
        policy=query.policy,
        complete=True,
        since=until - timedelta(seconds=query.lookback) if query.lookback is not None else None,
        until=until,
    )
    tracing = tracing_with(mappings)
    # A condition or a draw chooses among them all.
    most = None if source.where or source.sample or query.filter else source.limit or None
    with closing(open_trace_store(address, create=False)) as store:
        for shown, bodies in islice(store.export(project, choice), most):
            if not (spans := spans_of_bodies(bodies)):
                continue  # nothing of it can be read
            record = record_of_trace(spans, tracing)
            scores = {"scores": shown.scores} if shown.scores else {}
            yield msgspec.structs.replace(record, metadata={**record.metadata, **scores})


def condition_of(source: DatasetSource) -> str | None:
    """The condition that a record must meet: that of the source, and that of its query of traces."""
    own = source.traces.filter if source.traces is not None else ""
    return f"({source.where}) && ({own})" if source.where and own else source.where or own or None
