"""What a server takes in and gives on beside its own runs: runs made elsewhere, and results that become datasets.

Functions of the stores, for threads.
"""

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from evalsi.core.canonical import digest
from evalsi.core.clock import Clock
from evalsi.core.errors import InvalidSpecError
from evalsi.core.ids import new_run_id
from evalsi.datasets.condition import Condition
from evalsi.datasets.promoted_path import promoted_path
from evalsi.engine.columns import SCORED, EvaluatorColumns
from evalsi.ports.project_stores import ProjectStores
from evalsi.ports.run_store import RunRow, RunStore
from evalsi.results.document import result_dict
from evalsi.results.graded_run import stored_run
from evalsi.results.imported_run import keep_imported
from evalsi.results.read_document import read_document
from evalsi.schema import (
    BoundRunEvaluator,
    DatasetManifest,
    ImportRunRequest,
    PromoteResultsRequest,
    PromoteResultsResponse,
    Record,
    RunManifest,
    RunStatus,
    json_codec,
)
from evalsi.server.run_message import IMPORTED

_DATASET_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}\Z")
_SCORE = re.compile(r"""\bscore\(\s*(['"])([^'"\\]+)\1\s*\)""")


def import_run(store: RunStore, request: ImportRunRequest, project: str, clock: Clock) -> RunRow:
    """Stores a run that was made elsewhere, whole or not at all.

    Raises: InvalidDataError: records and results do not fit together.
    """
    now = clock.now()
    run_id = new_run_id(now.timestamp())
    manifest = RunManifest(
        run_id=run_id,
        name=request.name or f"import-{run_id[:10]}",
        project=project,
        spec=request.spec,
        labels={**request.labels, IMPORTED: "true"},
        started_at=request.started_at or now,
        finished_at=request.finished_at or now,
        dataset=DatasetManifest(
            source="import",
            sha256=digest(request.records).removeprefix("sha256:"),
            records=len(request.records),
        ),
        evaluators=[BoundRunEvaluator(name=name) for name in dict.fromkeys(each.evaluator for each in request.results)],
        trials=1 + max((each.trial for each in request.results), default=0),
        target_usage=request.target_usage,
        judge_usage=request.judge_usage,
        status=RunStatus.SUCCEEDED,
        settings_sha256=digest(request.spec).removeprefix("sha256:"),
    )
    document = {
        "records": [json_codec.to_jsonable(record, camel=False) for record in request.records],
        "results": [result_dict(each) for each in request.results],
    }
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(msgspec.json.encode(document))
        file.flush()
        run = replace(read_document(Path(file.name)), manifest=manifest, summaries=list(request.summaries))
        row = keep_imported(run, store, clock)
    if request.summaries:
        return row
    # Worked out from what is stored now, as for a run that was made here.
    summaries = stored_run(store, row.id).summaries
    store.finish(row, manifest, summaries)
    return store.run(row.id)


AddCases = Callable[[str, str, Sequence[Record]], int]
"""Adds records to a dataset of a project below the root: (project, dataset, records); how many were not there."""


def promote_results(stores: ProjectStores, request: PromoteResultsRequest, add: AddCases) -> PromoteResultsResponse:
    """Adds the records that meet the condition to a dataset below the root; those that are in it already are left out.

    Raises:
        NotFoundError: no such run.
        InvalidSpecError: the name or the condition cannot be used.
        StoreError: the dataset cannot be written.
    """
    if not _DATASET_NAME.match(request.dataset):
        raise InvalidSpecError(
            f"{request.dataset!r} is no name of a dataset",
            where="dataset",
            hint="use lower-case letters, digits, dots, dashes and underscores, at most 63",
        )
    project = stores.project_of(request.run_id)
    wanted = _Wanted(request.when)
    cases: dict[str, Record] = {}
    for rows in stored_run(stores.of(project), request.run_id).read_rows():
        for place, record in enumerate(rows.records):
            if record.id not in cases and wanted.holds(record, rows.columns, place):
                cases[record.id] = _promoted(record, with_output=request.include_outputs)
    promoted = add(project, request.dataset, list(cases.values()))
    return PromoteResultsResponse(promoted=promoted, path=promoted_path(project, request.dataset))


class _Wanted:
    """The condition of a promotion: CEL over a record, with `score('metric')` for its results.

    A record that lacks a score that the condition asks for does not meet it.
    """

    def __init__(self, text: str) -> None:
        self._asked = [match[2] for match in _SCORE.finditer(text)]
        self._condition = Condition(_SCORE.sub(lambda match: f'row["{match[2]}"]', text)) if text else None

    def holds(self, record: Record, columns: list[EvaluatorColumns], place: int) -> bool:
        if self._condition is None:
            return True
        scores = _scores(columns, place)
        if any(name not in scores for name in self._asked):
            return False
        return self._condition.matches(record, dict(scores), _RESULTS, place)


class _Results:
    """Where a row of results is, for messages."""

    def where(self, place: int) -> str:
        return f"when, result {place}"


_RESULTS: Any = _Results()


def _scores(columns: list[EvaluatorColumns], place: int) -> Mapping[str, float]:
    return {
        each.metric(output): column.values[place]
        for each in columns
        if each.outcomes[place] == SCORED
        for output, column in each.columns.items()
        if column.values[place] == column.values[place]
    }


def _promoted(record: Record, *, with_output: bool) -> Record:
    if with_output:
        return msgspec.structs.replace(record, provenance=None)
    return msgspec.structs.replace(
        record, provenance=None, output=None, usage=None, trajectory=None, notes=[], stop_reason=""
    )
