"""What a run found, as pages, single records and slices: the reading half of RunService.

Functions of the stores, for threads: they block, and open no more of a run than they answer with.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from evalsi.analyze.choose_runs import ChosenRun
from evalsi.analyze.run_database import run_database
from evalsi.analyze.slice_metric import slice_metric
from evalsi.core.errors import NotFoundError, UsageError
from evalsi.engine.columns import result
from evalsi.ports.project_stores import ProjectStores
from evalsi.ports.run_store import RunQuery, RunStore, Segment
from evalsi.results.graded_run import stored_run
from evalsi.results.result_page import ResultQuery, ResultRow, RowChoice, result_page
from evalsi.results.stored_rows import RECORDS, WHOLE, rows_of
from evalsi.results.trial_tally import trial_of
from evalsi.results.zones import may_hold_record
from evalsi.schema import (
    EvaluationResult,
    GetRecordEvidenceRequest,
    GetRecordEvidenceResponse,
    ListRunResultsRequest,
    ListRunResultsResponse,
    Record,
    RunManifest,
    RunRecordEvidence,
    SliceRow,
    SliceRunsRequest,
    SliceRunsResponse,
)
from evalsi.server.values_of_runs import ValuesOfRuns

SLICED_RUNS, MOST_SLICED_RUNS = 20, 1000
_ORDERS = ("", "record", "score", "-score")


def list_results(
    stores: ProjectStores, request: ListRunResultsRequest, size: int, values: ValuesOfRuns
) -> ListRunResultsResponse:
    """A page of results.

    Raises: NotFoundError, UnknownNameError: no such run or evaluator. UsageError: the order or token makes no sense.
    """
    store = stores.of(stores.project_of(request.run_id))
    keep = _flipped(stores, store, request, values) if request.flipped_against else None
    page = result_page(store, request.run_id, _query(store, request), size=size, token=request.page_token, keep=keep)
    return ListRunResultsResponse(
        results=[each for row in page.rows for each in row.results],
        records=[] if request.without_records else _once_each(page.rows),
        next_page_token=page.next_token,
        records_by_trial=[] if request.without_records else [_evidence(row) for row in page.rows],
        matching_records=page.matching,
        whole_results=_whole_results(store, request) if not request.page_token else [],
    )


def _whole_results(store: RunStore, request: ListRunResultsRequest) -> list[EvaluationResult]:
    """The results that belong to no single record."""
    if not any(index == WHOLE for index, _, _ in store.segment_rows(request.run_id)):
        return []
    found = results_of_segment(store.segment(request.run_id, WHOLE))
    return [each for each in found if request.evaluator in ("", each.evaluator)]


def record_evidence(stores: ProjectStores, request: GetRecordEvidenceRequest) -> GetRecordEvidenceResponse:
    """One record with everything that was said about it. Raises: NotFoundError: no such run or record."""
    store = stores.of(stores.project_of(request.run_id))
    # A line that holds the id may hold it anywhere; one that does not cannot be the record.
    needle = msgspec.json.encode(request.record_id)
    for place in store.zones(request.run_id):
        if place.index == WHOLE or not may_hold_record(place.zones, request.record_id):
            continue
        segment = store.segment(request.run_id, place.index)
        if needle not in segment.records:
            continue
        rows = rows_of(segment)
        for number, line in enumerate(rows.record_lines):
            if needle not in line:
                continue
            record = RECORDS.decode(line)
            if record.id == request.record_id and trial_of(record) == request.trial:
                results = [result(each, number, record.id, request.trial) for each in rows.columns]
                row = ResultRow(record=record, trial=request.trial, results=results)
                return GetRecordEvidenceResponse(evidence=_evidence(row), results=results)
    raise NotFoundError(
        f"run {request.run_id} has no record {request.record_id!r} in trial {request.trial}",
        hint="ListRunResults lists them",
    )


def results_of_segment(segment: Segment) -> list[EvaluationResult]:
    """Every result in a segment, row by row."""
    rows = rows_of(segment)
    if segment.index == WHOLE:
        return [result(each, place, "", 0) for each in rows.columns for place in range(each.rows)]
    records = rows.records
    return [
        result(each, place, record.id, trial_of(record))
        for place, record in enumerate(records)
        for each in rows.columns
    ]


def slice_runs(stores: ProjectStores, request: SliceRunsRequest, projects: Sequence[str] | None) -> SliceRunsResponse:
    """A metric of several runs by a metadata key.

    Raises: NotFoundError: no such run. UnknownNameError, UsageError: as `slice_metric`.
    """
    if request.run_ids:
        rows = [stores.of(stores.project_of(run_id)).run(run_id) for run_id in request.run_ids]
    else:
        if request.limit < 0:
            raise UsageError(
                f"{request.limit} runs cannot be taken",
                where="limit",
                hint=f"leave it out for the newest {SLICED_RUNS}",
            )
        query = RunQuery(labels=request.labels, statuses=("succeeded", "failed"))
        rows = stores.page(projects, query, size=min(request.limit or SLICED_RUNS, MOST_SLICED_RUNS)).runs
    if not rows:
        raise NotFoundError("there is no finished run to slice")
    keys = [key.strip() for key in request.by.split(",") if key.strip()]
    with run_database(None) as database:
        loaded = database.load(ChosenRun(row, stored_run(stores.of(row.project), row.id)) for row in rows)
        slices = slice_metric(
            database, request.metric, keys, run_ids=loaded.run_ids, level=request.confidence_level or 0.95
        )
    return SliceRunsResponse(
        rows=[
            SliceRow(
                run_id=row.run_id,
                run_name=row.name,
                key=", ".join("" if value is None else value for value in row.group),
                n=row.estimate.n,
                mean=row.estimate.value or 0.0,
                low=row.estimate.interval.low if row.estimate.interval is not None else None,
                high=row.estimate.interval.high if row.estimate.interval is not None else None,
            )
            for row in slices.rows
        ],
        runs=len(rows),
    )


def _query(store: RunStore, request: ListRunResultsRequest) -> ResultQuery:
    by_score = request.order_by in ("score", "-score")
    bounded = request.min_score is not None or request.max_score is not None
    if request.order_by not in _ORDERS:
        raise UsageError(
            f"there is no order {request.order_by!r}", where="order_by", hint="write record, score or -score"
        )
    if (by_score or bounded) and not request.evaluator:
        raise UsageError(
            "scores of several evaluators are not comparable", where="evaluator", hint="name one evaluator"
        )
    worst_is_low = not by_score or _higher_is_better(store.manifest(request.run_id), request.evaluator)
    return ResultQuery(
        evaluator=request.evaluator,
        outcome=request.outcome,
        sort=request.evaluator if by_score else "",
        descending=by_score and (request.order_by == "score") != worst_is_low,
        metric=request.evaluator if bounded else "",
        lowest=request.min_score,
        highest=request.max_score,
        search=request.search,
        trial=request.trial,
    )


def _higher_is_better(manifest: RunManifest, evaluator: str) -> bool:
    """Whether high scores are good; where nobody said, they are taken to be."""
    for bound in manifest.evaluators:
        if bound.name == evaluator and bound.manifest is not None and bound.manifest.outputs:
            return bound.manifest.outputs[0].higher_is_better is not False
    return True


def _flipped(stores: ProjectStores, store: RunStore, request: ListRunResultsRequest, values: ValuesOfRuns) -> RowChoice:
    """Rows that were right in one of two runs and wrong in the other, by any evaluator that both have."""
    other = request.flipped_against
    if stores.project_of(other) != stores.project_of(request.run_id):
        raise NotFoundError(f"no run {other} in the project of run {request.run_id}")
    mine, theirs = (values.collect(stored_run(store, run_id), None) for run_id in (request.run_id, other))
    where = np.fromiter((theirs.rows.get(key, -1) for key in mine.rows), dtype=np.int64, count=mine.count)
    both = where >= 0
    flipped = np.zeros(mine.count, dtype=bool)
    names = (
        [request.evaluator] if request.evaluator else [each.name for each in store.manifest(request.run_id).evaluators]
    )
    for name in names:
        if name in mine.metrics and name in theirs.metrics:
            before = theirs.joined(name)[where[both]]
            # Also false where either is NaN: what was not scored in both did not flip.
            flipped[both] |= np.abs(mine.joined(name)[both] - before) >= _FLIP
    return RowChoice(np.asarray(mine.numbers, dtype=np.int64)[flipped].tolist())


_FLIP = 0.5
"""By how much a score must differ to count as another verdict: all verdicts do, and no rounding does."""


def _once_each(rows: Sequence[ResultRow]) -> list[Record]:
    found: Mapping[str, Record] = {row.record.id: row.record for row in reversed(rows)}
    return [found[record_id] for record_id in dict.fromkeys(row.record.id for row in rows)]


def _evidence(row: ResultRow) -> RunRecordEvidence:
    has_output = row.record.output is not None
    reasons = [each.reason for each in row.results if each.reason]
    return RunRecordEvidence(
        record_id=row.record.id,
        trial=row.trial,
        record=row.record,
        output_stored=has_output,
        output_error="" if has_output else (reasons[0] if reasons else "there is no output"),
    )
