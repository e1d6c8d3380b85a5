"""The runs of a server, as commands find them: the same words, the same figures, read page by page."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from evalsi.client.client import Client
from evalsi.client.result_columns import outputs_of, result_columns
from evalsi.client.run_row import UNDER_WAY, headline_of, run_row
from evalsi.core.errors import NotFoundError, UsageError
from evalsi.core.listed_in_pages import listed_in_pages
from evalsi.core.run_search import RunsAsked, run_search
from evalsi.engine.columns import pack
from evalsi.ports.run_store import RunRow, Segment
from evalsi.results.graded_run import GradedRun
from evalsi.results.rebuilt_summaries import RunSummary, Seen
from evalsi.results.stored_rows import GradedRows, encode_records
from evalsi.schema import (
    CancelRunRequest,
    DeleteRunRequest,
    GetRunRequest,
    ListRunResultsRequest,
    ListRunResultsResponse,
    ListRunsRequest,
    MetricSummary,
    Run,
    RunManifest,
    WatchRunRequest,
)

PAGE = 1000
"""Runs or records in one answer."""


class ServerRuns:
    """Implements `RunLibrary` over a server.

    Args:
        project: Whose runs; "" for those of every project that the caller may read.
        elsewhere: Says of a name that no run bears here where one does, and what to do about it; "" where none does.
    """

    def __init__(self, client: Client, project: str = "", elsewhere: Callable[[str], str] = lambda _: "") -> None:
        self._client = client
        self._project = project
        self._elsewhere = elsewhere

    def runs(self, *, labels: Mapping[str, str], name: str = "", limit: int | None = None) -> list[RunRow]:
        request = ListRunsRequest(project=self._project, labels=dict(labels), name=name)
        return [run_row(run) for run in self._listed(request, limit)]

    def find(self, reference: str) -> RunRow:
        try:
            return self._found(reference)
        except NotFoundError as error:
            if elsewhere := self._elsewhere(reference):
                raise NotFoundError(error.message, hint=elsewhere) from error
            raise

    def _found(self, reference: str) -> RunRow:
        search = run_search(reference, self._project)
        try:
            asked = next(search)
            while True:
                asked = search.send(self._answer(asked))
        except StopIteration as found:
            return run_row(found.value)

    def _answer(self, asked: RunsAsked) -> list[Run]:
        if isinstance(asked.request, ListRunsRequest):
            return list(self._listed(asked.request, asked.limit))
        try:
            return [self._run(asked.request.id)]
        except NotFoundError:
            return []

    def open(self, run_id: str) -> GradedRun:
        run = self._run(run_id)
        manifest = run.manifest or RunManifest(run_id=run.id, name=run.name, project=run.project, labels=run.labels)
        outputs = outputs_of(manifest.evaluators)

        def read() -> Iterator[GradedRows]:
            row = 0
            for page in self._pages(run_id):
                evidence = page.records_by_trial
                if evidence:
                    lines = encode_records([each.record for each in evidence if each.record is not None])
                    yield GradedRows(row, lines, result_columns(page.results, outputs), run_id)
                row += len(evidence)

        first = self._client.list_run_results(ListRunResultsRequest(run_id=run_id, page_size=1, without_records=True))
        graded = GradedRun(
            source=run_id,
            manifest=manifest,
            summaries=run.summaries,
            read_rows=read,
            whole=result_columns(first.whole_results, outputs),
            gates=run.gates,
            known_records=None if first.matching_records is None else lambda: first.matching_records or 0,
        )
        return graded if run.summaries else replace(graded, summaries=_summed_up(graded))

    def follow(self, run_id: str, *, interval_s: float) -> Iterator[Seen]:
        """As the server tells it; `interval_s` is the server's own."""
        del interval_s
        run = Run()
        for event in self._client.watch_run(WatchRunRequest(id=run_id)):
            if event.run is not None:
                run = event.run
            progress = event.progress or run.progress
            done, total = (progress.done, progress.total) if progress is not None else (0, 0)
            yield Seen(run_row(run).status, done, total, headline_of(run.summaries))

    def stop(self, row: RunRow) -> str:
        if row.status not in UNDER_WAY:
            raise UsageError(f"run {row.id[:8]} is not under way: it is {row.status}", hint="there is nothing to stop")
        self._client.cancel_run(CancelRunRequest(id=row.id))
        return "asked the server to stop it"

    def delete(self, run_id: str) -> None:
        self._client.delete_run(DeleteRunRequest(id=run_id))

    def _run(self, run_id: str) -> Run:
        run = self._client.get_run(GetRunRequest(id=run_id)).run
        if run is None or (self._project and run.project != self._project):
            raise NotFoundError(f"there is no run {run_id!r} in project {self._project!r}")
        return run

    def _listed(self, request: ListRunsRequest, limit: int | None) -> Iterator[Run]:
        def page(size: int, token: str) -> tuple[Sequence[Run], str]:
            found = self._client.list_runs(msgspec.structs.replace(request, page_size=size, page_token=token))
            return found.runs, found.next_page_token

        return listed_in_pages(page, at_once=PAGE, limit=limit)

    def _pages(self, run_id: str) -> Iterator[ListRunResultsResponse]:
        token = ""
        while True:
            request = ListRunResultsRequest(run_id=run_id, page_size=PAGE, page_token=token)
            page = self._client.list_run_results(request)
            yield page
            token = page.next_page_token
            if not token:
                return


def _summed_up(graded: GradedRun) -> list[MetricSummary]:
    """The summaries of a run that has not ended, as far as it is there."""
    summary = RunSummary(graded.manifest)
    taken = 0
    for rows in graded.read_rows():
        taken += rows.rows
        summary.add(
            Segment(
                index=rows.first_row,
                first_row=rows.first_row,
                rows=rows.rows,
                records=rows.records_jsonl,
                results=pack(rows.columns),
            )
        )
    return summary.finish() if taken else []
