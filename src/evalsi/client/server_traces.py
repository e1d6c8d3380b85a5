"""The traces of a server, as commands find them. Implements `traces.TraceLibrary`."""

from collections.abc import Iterator, Sequence

import msgspec

from evalsi.client.client import Client
from evalsi.client.otlp_sending import send_spans
from evalsi.client.server_address import ServerAddress
from evalsi.core.listed_in_pages import listed_in_pages
from evalsi.schema import (
    DeleteTracesRequest,
    ExportTraceRequest,
    Feedback,
    GetTraceRequest,
    GetTraceResponse,
    ListFeedbackRequest,
    ListTracesRequest,
    TraceFilter,
    TraceSummary,
    WatchTracesRequest,
)
from evalsi.traces import Span
from evalsi.traces.stored_spans import spans_of_bodies

PAGE = 500


class ServerTraces:
    """The traces of a project on a server; in lists, those of every project that may be read where none is named."""

    def __init__(self, client: Client, server: ServerAddress) -> None:
        self._client = client
        self._server = server

    def traces(self, choice: TraceFilter, *, limit: int | None = None) -> Iterator[TraceSummary]:
        def page(size: int, token: str) -> tuple[Sequence[TraceSummary], str]:
            request = ListTracesRequest(project=self._server.project, filter=choice, page_size=size, page_token=token)
            found = self._client.list_traces(request)
            return found.traces, found.next_page_token

        return listed_in_pages(page, at_once=PAGE, limit=limit)

    def get(self, trace_id: str, *, project: str = "") -> GetTraceResponse:
        return self._client.get_trace(GetTraceRequest(project=project or self._server.project, trace_id=trace_id))

    def feedback(self, *, trace_id: str = "", session_id: str = "", limit: int | None = None) -> Iterator[Feedback]:
        about = ListFeedbackRequest(project=self._server.project, trace_id=trace_id, session_id=session_id)

        def page(size: int, token: str) -> tuple[Sequence[Feedback], str]:
            found = self._client.list_feedback(msgspec.structs.replace(about, page_size=size, page_token=token))
            return found.feedback, found.next_page_token

        return listed_in_pages(page, at_once=PAGE, limit=limit)

    def spans(self, trace_id: str, *, project: str = "") -> Sequence[Span]:
        request = ExportTraceRequest(project=project or self._server.project, trace_id=trace_id)
        return spans_of_bodies([b"".join(self._client.export_trace(request))])

    def follow(self, choice: TraceFilter, *, interval_s: float) -> Iterator[TraceSummary]:
        """As the server tells it; `interval_s` is the server's own."""
        del interval_s
        for event in self._client.watch_traces(WatchTracesRequest(project=self._server.project, filter=choice)):
            if event.trace is not None:
                yield event.trace

    def delete(self, request: DeleteTracesRequest) -> int:
        own = msgspec.structs.replace(request, project=self._server.project)
        return self._client.delete_traces(own).deleted

    def take(self, spans: Sequence[Span]) -> int:
        return send_spans(self._server, spans)
