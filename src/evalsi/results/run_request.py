"""A graded run as the request that has a server take it in.

Its own module because a server takes records and results as messages, where every reader here has them in columns.
"""

from evalsi.engine.columns import result
from evalsi.results.graded_run import GradedRun
from evalsi.schema import EvaluationResult, ImportRunRequest, Record


def import_request(run: GradedRun, project: str = "") -> ImportRunRequest:
    """The whole run, a record for each trial.

    Args:
        project: Where it is to be; "" for the project of the run.
    """
    records: list[Record] = []
    results: list[EvaluationResult] = []
    for rows in run.read_rows():
        records += rows.records
        for row, record in enumerate(rows.records):
            about = record.provenance
            trial = about.run.trial if about is not None and about.run is not None else 0
            results += [result(columns, row, record.id, trial) for columns in rows.columns]
    results += [result(columns, 0, "") for columns in run.whole]
    manifest = run.manifest
    return ImportRunRequest(
        name=manifest.name,
        project=project or manifest.project,
        labels=dict(manifest.labels),
        spec=manifest.spec,
        records=records,
        results=results,
        summaries=list(run.summaries),
        started_at=manifest.started_at,
        finished_at=manifest.finished_at,
        target_usage=manifest.target_usage,
        judge_usage=manifest.judge_usage,
    )
