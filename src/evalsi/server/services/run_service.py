"""RunService: runs are asked for, followed, read, compared. What computes a run is a worker; here the store is read.

What always holds: what a method has answered is stored; a method that reads opens no more of a run than it shows; and
nothing here blocks the event loop, since every look at the store happens in a thread.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from evalsi.access.caller import Caller
from evalsi.access.gate import DEFAULT_PROJECT, visible_projects
from evalsi.access.outgoing_rights import OutgoingRights
from evalsi.compare.compare_runs import compare_runs
from evalsi.compare.paired_metric import ComparePlan, PairedMetric
from evalsi.core.clock import Clock
from evalsi.core.errors import (
    ForbiddenError,
    InvalidSpecError,
    NotFoundError,
    UnimplementedError,
    UnknownNameError,
    UsageError,
)
from evalsi.core.run_reference import RESCORED_FROM
from evalsi.datasets import DatasetOptions, open_dataset
from evalsi.datasets.confined_path import confined_path
from evalsi.documents.named_outside import about_field
from evalsi.ports.project_stores import ProjectStores
from evalsi.ports.run_queue import Submission, TokenQuota
from evalsi.ports.run_store import RunQuery, RunRow
from evalsi.results.graded_run import stored_run
from evalsi.schema import (
    ArchiveRunRequest,
    ArchiveRunResponse,
    CancelRunRequest,
    CancelRunResponse,
    CompareRunsRequest,
    CompareRunsResponse,
    ConfidenceInterval,
    CreateRunRequest,
    CreateRunResponse,
    CreateShadowReplayRequest,
    CreateShadowReplayResponse,
    DatasetSource,
    DatasetVersionRef,
    DeleteRunRequest,
    DeleteRunResponse,
    EvaluationResult,
    ExportRunRequest,
    ExportRunResponse,
    GetRecordEvidenceRequest,
    GetRecordEvidenceResponse,
    GetRunRequest,
    GetRunResponse,
    ImportRunRequest,
    ImportRunResponse,
    ListRunResultsRequest,
    ListRunResultsResponse,
    ListRunsRequest,
    ListRunsResponse,
    MetricComparison,
    PromoteResultsRequest,
    PromoteResultsResponse,
    RescoreRunRequest,
    RescoreRunResponse,
    ResumeRunRequest,
    ResumeRunResponse,
    Run,
    RunOutputs,
    RunSpec,
    SinkState,
    SliceRunsRequest,
    SliceRunsResponse,
    WatchRunRequest,
    WatchRunResponse,
)
from evalsi.server.run_message import STANDING, run_message
from evalsi.server.run_reading import list_results, record_evidence, results_of_segment, slice_runs
from evalsi.server.run_taking import AddCases, import_run, promote_results
from evalsi.server.values_of_runs import ValuesOfRuns
from evalsi.wiring.moving_runs import archived_run
from evalsi.wiring.served_runs import RunWish, check_tokens, submission_of

PAGE, LARGEST_PAGE = 50, 1000
WATCH_INTERVAL_S = 0.25


@dataclass(frozen=True, kw_only=True)
class RunService:
    """Implements the service of that name.

    Args:
        datasets: The root of datasets: every path that a request names is below it.
        add_cases: Adds records to a dataset of a project below that root.
        most_stored: How many runs a project may hold; None is no limit.
        rights: What runs of a project may call.
        default_judge: The judge of evaluators that need one where a specification names none.
        has_usual_judge: Whether workers know a judge of their own beside those of the project.
        tokens: What a project may use in a day.
        wake: Tells who carries out runs that there is one.
        sinks: How the deliveries of a run to its sinks stand, by project and id.
        forget_scores: Removes what waits for sinks of a run that is deleted, by project and id.
    """

    stores: ProjectStores
    clock: Clock
    datasets: Path
    add_cases: AddCases
    most_stored: Callable[[str], int | None] = lambda _project: None
    rights: Callable[[str], OutgoingRights] = lambda _project: OutgoingRights()
    default_judge: str = ""
    has_usual_judge: bool = True
    tokens: Callable[[str], TokenQuota] = lambda _project: TokenQuota()
    wake: Callable[[], None] = lambda: None
    sinks: Callable[[str, str], Sequence[SinkState]] = lambda _project, _run_id: ()
    forget_scores: Callable[[str, str], None] = lambda _project, _run_id: None
    service: str = field(default="RunService", init=False)
    _values: ValuesOfRuns = field(default_factory=ValuesOfRuns, init=False)

    async def create_run(self, request: CreateRunRequest, caller: Caller) -> CreateRunResponse:
        _check_traces(request, caller)
        wish = RunWish(
            name=request.name,
            project=request.project or DEFAULT_PROJECT,
            spec=request.spec or RunSpec(),
            labels=request.labels,
            priority=request.priority,
            created_by=caller.principal,
            request_key=caller.idempotency_key,
        )
        run = await asyncio.to_thread(self._asked_for, wish, validate_only=request.validate_only)
        return CreateRunResponse(run=run)

    async def get_run(self, request: GetRunRequest, caller: Caller) -> GetRunResponse:
        del caller

        def get() -> GetRunResponse:
            run = self._run(request.id)
            return GetRunResponse(run=run, sinks=list(self.sinks(run.project, run.id)))

        return await asyncio.to_thread(get)

    async def list_runs(self, request: ListRunsRequest, caller: Caller) -> ListRunsResponse:
        query = RunQuery(
            statuses=tuple(STANDING[status] for status in request.statuses if status in STANDING),
            name=request.name,
            labels=request.labels,
            since=request.since.isoformat() if request.since is not None else "",
            until=request.until.isoformat() if request.until is not None else "",
            search=request.search,
            archived=None if request.include_archived else False,
        )
        projects = _projects(request.project, caller)
        size = page_size(request.page_size)

        def read() -> ListRunsResponse:
            page = self.stores.page(projects, query, size=size, token=request.page_token)
            runs = [run_message(self.stores, row, whole=False) for row in page.runs]
            return ListRunsResponse(runs=runs, next_page_token=page.next_token)

        return await asyncio.to_thread(read)

    async def watch_run(self, request: WatchRunRequest, caller: Caller) -> AsyncIterator[WatchRunResponse]:
        del caller
        before: Run | None = None
        seen: set[int] = set()
        while True:
            run = await asyncio.to_thread(self._run, request.id)
            if request.include_results:
                # After the run was read: whatever it counts is in the store.
                for index in await asyncio.to_thread(self._new_segments, run, seen):
                    for result in await asyncio.to_thread(self._results_of, run, index):
                        yield WatchRunResponse(result=result)
            is_over = run.finished_at is not None or run.error != "" or not _is_under_way(run)
            if before is None or run.status != before.status or is_over:
                yield WatchRunResponse(run=run)
            elif run.progress != before.progress:
                yield WatchRunResponse(progress=run.progress)
            if is_over:
                return
            before = run
            await asyncio.sleep(WATCH_INTERVAL_S)

    async def cancel_run(self, request: CancelRunRequest, caller: Caller) -> CancelRunResponse:
        del caller

        def cancel() -> Run:
            self._row(request.id)
            self.stores.queue.cancel(request.id)
            return self._run(request.id)

        return CancelRunResponse(run=await asyncio.to_thread(cancel))

    async def resume_run(self, request: ResumeRunRequest, caller: Caller) -> ResumeRunResponse:
        del caller

        def resume() -> Run:
            row = self._row(request.id)
            if self.stores.of(row.project).manifest(row.id).spec is None:
                raise UsageError(f"run {row.id} has no specification", hint="make it again where it was made")
            self.stores.queue.resume(row.id)
            self.wake()
            return self._run(row.id)

        return ResumeRunResponse(run=await asyncio.to_thread(resume))

    async def delete_run(self, request: DeleteRunRequest, caller: Caller) -> DeleteRunResponse:
        del caller

        def delete() -> None:
            project = self.stores.project_of(request.id)
            self.stores.of(project).delete(request.id)
            self.forget_scores(project, request.id)

        await asyncio.to_thread(delete)
        return DeleteRunResponse()

    async def archive_run(self, request: ArchiveRunRequest, caller: Caller) -> ArchiveRunResponse:
        del caller
        at = None if request.restore else self.clock.now().isoformat(timespec="milliseconds")

        def archive() -> Run:
            row = self.stores.of(self.stores.project_of(request.id)).archive(request.id, at=at)
            return run_message(self.stores, row)

        return ArchiveRunResponse(run=await asyncio.to_thread(archive))

    async def list_run_results(self, request: ListRunResultsRequest, caller: Caller) -> ListRunResultsResponse:
        del caller
        return await asyncio.to_thread(list_results, self.stores, request, page_size(request.page_size), self._values)

    async def get_record_evidence(self, request: GetRecordEvidenceRequest, caller: Caller) -> GetRecordEvidenceResponse:
        del caller
        return await asyncio.to_thread(record_evidence, self.stores, request)

    async def compare_runs(self, request: CompareRunsRequest, caller: Caller) -> CompareRunsResponse:
        del caller

        def compare() -> CompareRunsResponse:
            baseline, candidate = (
                stored_run(self.stores.of(self.stores.project_of(run_id)), run_id)
                for run_id in (request.baseline_run_id, request.candidate_run_id)
            )
            level = request.confidence_level or 0.95
            found = compare_runs(
                baseline,
                candidate,
                ComparePlan(level=level),
                cluster_by=request.cluster_by or None,
                max_flips=0,
                collect=self._values.collect,
            )
            return CompareRunsResponse(
                comparisons=[_comparison(metric) for metric in found.metrics],
                baseline_only=found.only_baseline,
                candidate_only=found.only_candidate,
                warnings=found.warnings,
            )

        return await asyncio.to_thread(compare)

    async def slice_runs(self, request: SliceRunsRequest, caller: Caller) -> SliceRunsResponse:
        projects = _projects(request.project, caller)
        return await asyncio.to_thread(slice_runs, self.stores, request, projects)

    async def promote_results(self, request: PromoteResultsRequest, caller: Caller) -> PromoteResultsResponse:
        del caller
        return await asyncio.to_thread(promote_results, self.stores, request, self.add_cases)

    async def create_shadow_replay(
        self, request: CreateShadowReplayRequest, caller: Caller
    ) -> CreateShadowReplayResponse:
        del request, caller
        raise UnimplementedError(
            "a shadow replay takes its inputs from recorded traffic, and this server records none",
            hint="run the candidate on a dataset with CreateRun",
        )

    async def import_run(self, request: ImportRunRequest, caller: Caller) -> ImportRunResponse:
        del caller
        project = request.project or DEFAULT_PROJECT

        def take() -> Run:
            row = import_run(self.stores.of(project), request, project, self.clock)
            return run_message(self.stores, row)

        return ImportRunResponse(run=await asyncio.to_thread(take))

    async def export_run(self, request: ExportRunRequest, caller: Caller) -> AsyncIterator[ExportRunResponse]:
        del caller
        row = await asyncio.to_thread(self._row, request.run_id)
        pieces = archived_run(self.stores.of(row.project), row.id)
        try:
            while piece := await asyncio.to_thread(next, pieces, b""):
                yield ExportRunResponse(chunk=piece)
        finally:
            await asyncio.to_thread(pieces.close)

    async def rescore_run(self, request: RescoreRunRequest, caller: Caller) -> RescoreRunResponse:
        def rescore() -> Run:
            row = self._row(request.run_id)
            about = self.stores.of(row.project).manifest(row.id)
            spec = RunSpec(
                dataset=DatasetSource(run=RunOutputs(run_id=row.id, all_trials=True)),
                evaluators=request.evaluators,
                judge=request.judge,
                judges=about.spec.judges if about.spec is not None else {},
                trials=max(1, about.trials),
                summary=request.summary or about.summary,
                gates=request.gates,
            )
            wish = RunWish(
                name=request.name or f"{row.name}-rescored",
                project=row.project,
                spec=spec,
                labels={**row.labels, **request.labels, RESCORED_FROM: row.id},
                created_by=caller.principal,
                request_key=caller.idempotency_key,
            )
            return self._asked_for(wish)

        return RescoreRunResponse(run=await asyncio.to_thread(rescore))

    def _asked_for(self, wish: RunWish, *, validate_only: bool = False) -> Run:
        wish = replace(wish, spec=self._with_versions(wish.spec))
        submission = submission_of(
            wish,
            self.datasets,
            self.clock.now(),
            self.rights(wish.project),
            default_judge=self.default_judge,
            has_usual_judge=self.has_usual_judge,
        )
        self._find_dataset(wish)
        if validate_only:
            row = submission.run
            return Run(
                id=row.id,
                name=row.name,
                project=row.project,
                spec=wish.spec,
                labels=row.labels,
                created_by=wish.created_by,
            )
        check_tokens(self.stores.queue, wish, self.tokens(wish.project), self.clock.now())
        submission = self._with_the_version_of_now(submission)
        run_id = self.stores.queue.submit(submission, most_stored=self.most_stored(wish.project))
        self.wake()
        return self._run(run_id)

    def _with_versions(self, spec: RunSpec) -> RunSpec:
        """The specification with a version of a dataset in place of a path such as name@version, where no file is there."""
        source = spec.dataset
        if source is None or not source.path or "/" in source.path:
            return spec
        name, _, version = source.path.partition("@")
        if not (name and version) or confined_path(self.datasets, source.path).exists():
            return spec
        reference = DatasetVersionRef(name=name, version=version)
        return msgspec.structs.replace(spec, dataset=msgspec.structs.replace(source, path=None, catalog=reference))

    def _with_the_version_of_now(self, submission: Submission) -> Submission:
        """The version in place of the latest one, so that a run that waits, goes on or is repeated reads the same data."""
        spec = submission.manifest.spec
        source = spec.dataset if spec is not None else None
        if spec is None or source is None or source.catalog is None or source.catalog.version not in ("", "latest"):
            return submission
        found = self.stores.datasets(submission.run.project).version(source.catalog.name, "latest").content
        if found is None:
            return submission
        pinned = msgspec.structs.replace(source.catalog, version=found.version)
        spec = msgspec.structs.replace(spec, dataset=msgspec.structs.replace(source, catalog=pinned))
        return msgspec.structs.replace(
            submission,
            run=msgspec.structs.replace(submission.run, dataset=f"{pinned.name}@{pinned.version}"),
            manifest=msgspec.structs.replace(submission.manifest, spec=spec),
        )

    def _find_dataset(self, wish: RunWish) -> None:
        """Sees that what the specification reads is there, so that a run does not end where it could not have begun.

        Raises: InvalidSpecError, NotFoundError: it is not.
        """
        source = wish.spec.dataset
        if source is None:
            return
        if source.path and not any(sign in source.path for sign in "*?["):
            path = confined_path(self.datasets, source.path)
            if not path.exists():
                raise InvalidSpecError(
                    f"there is no {source.path!r} below the root of datasets",
                    where="spec.dataset.path",
                    hint="store it as a dataset and name that: dataset.catalog.name",
                )
            _check_mapping(source, lambda: path)
        elif (reference := source.catalog) is not None:
            if reference.project not in ("", wish.project):
                raise InvalidSpecError(
                    f"a run of project {wish.project} reads datasets of its own project, not of {reference.project}",
                    where="spec.dataset.catalog.project",
                )
            datasets = self.stores.datasets(wish.project)
            with about_field("spec.dataset.catalog"):
                datasets.version(reference.name, reference.version or "latest")
            _check_mapping(source, lambda: datasets.path_of(reference))
        elif source.run is not None and source.run.run_id:
            with about_field("spec.dataset.run.run_id"):
                self.stores.of(wish.project).find(source.run.run_id)

    def _row(self, run_id: str) -> RunRow:
        if not run_id:
            raise NotFoundError("no run was named")
        return self.stores.of(self.stores.project_of(run_id)).run(run_id)

    def _run(self, run_id: str) -> Run:
        return run_message(self.stores, self._row(run_id))

    def _new_segments(self, run: Run, seen: set[int]) -> list[int]:
        found = [index for index, _, _ in self.stores.of(run.project).segment_rows(run.id) if index not in seen]
        seen.update(found)
        return found

    def _results_of(self, run: Run, index: int) -> list[EvaluationResult]:
        return results_of_segment(self.stores.of(run.project).segment(run.id, index))


def _check_traces(request: CreateRunRequest, caller: Caller) -> None:
    """Raises: ForbiddenError: the run would show its maker traces that the maker may not read."""
    source = request.spec.dataset if request.spec is not None else None
    project = request.project or DEFAULT_PROJECT
    if source is not None and source.traces is not None and not caller.has("traces.read", project):
        raise ForbiddenError(
            f"a run over traces needs the permission traces.read in the project {project!r}",
            hint="ask for it, or name another dataset",
        )


def _check_mapping(source: DatasetSource, found: Callable[[], Path]) -> None:
    """Raises: InvalidSpecError: the mapping names a column that the data has not; a row without one would be refused."""
    if not source.mapping or source.skip_invalid:
        return
    options = DatasetOptions(mapping=source.mapping, format=source.format or None, limit=1)
    try:
        open_dataset(found(), options=options).scan()
    except UnknownNameError as error:
        raise InvalidSpecError(error.message, where="spec.dataset.mapping", hint=error.hint) from None


def page_size(asked: int) -> int:
    """Entries of a page: what was asked for, within bounds. Raises: UsageError: it is negative."""
    if asked < 0:
        raise UsageError(
            f"a page cannot have {asked} entries", where="page_size", hint="leave it out for the usual size"
        )
    return min(asked or PAGE, LARGEST_PAGE)


def _projects(asked: str, caller: Caller) -> Sequence[str] | None:
    """The projects of a list; None for all of them."""
    if asked:
        return [asked]
    visible = visible_projects(caller, "runs.read")
    return None if visible is None else sorted(visible)


def _is_under_way(run: Run) -> bool:
    return STANDING.get(run.status) in ("waiting", "running")


def _comparison(metric: PairedMetric) -> MetricComparison:
    interval = metric.interval
    verdicts: Mapping[str, str] = {"NO DATA": "inconclusive", "NO DIRECTION": "inconclusive"}
    return MetricComparison(
        metric=metric.metric,
        baseline_mean=metric.baseline_mean,
        candidate_mean=metric.candidate_mean,
        diff=metric.difference,
        diff_ci=None
        if interval is None
        else ConfidenceInterval(low=interval.low, high=interval.high, level=interval.level, method=interval.method),
        paired_n=metric.pairs,
        significant=metric.verdict in ("IMPROVED", "REGRESSED"),
        verdict=verdicts.get(metric.verdict, metric.verdict.lower()),
        p_value=metric.p_adjusted,
        wins=metric.worse if metric.higher_is_better is False else metric.better,
        losses=metric.better if metric.higher_is_better is False else metric.worse,
        ties=metric.pairs - metric.better - metric.worse,
        higher_is_better=metric.higher_is_better,
    )
