"""Stores with runs in them, for pages to show: small, awkward, hostile and large."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from evalsi.core.ids import new_run_id
from evalsi.engine.columns import Column, EvaluatorColumns, Note, pack
from evalsi.infra.objects import open_objects
from evalsi.infra.store.open_stores import open_stores
from evalsi.infra.store.project_stores import SqlProjectStores
from evalsi.ports.run_store import RunRow, Segment
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import encode_records
from evalsi.results.zones import encode_zones
from evalsi.schema import (
    BoundRunEvaluator,
    ConfidenceInterval,
    Content,
    DatasetManifest,
    Enforcement,
    IsolationLevel,
    IsolationReport,
    MetricKind,
    MetricSummary,
    Record,
    RunManifest,
    RunStatus,
    Usage,
)
from tests.graded_runs import awkward_run, demo_run, gate, hostile_run

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
_STATUSES = {"succeeded": RunStatus.SUCCEEDED, "failed": RunStatus.FAILED, "error": RunStatus.ERROR}


@contextmanager
def opened(folder: Path) -> Iterator[SqlProjectStores]:
    """The store that a server with this data folder opens."""
    folder.mkdir(parents=True, exist_ok=True)
    objects = open_objects(f"file://{folder / 'objects'}", cache=folder / "cache")
    with closing(open_stores(str(folder / "evalsi.db"), objects)) as stores:
        yield stores


def put_run(
    stores: SqlProjectStores,
    run: GradedRun,
    *,
    name: str,
    status: str = "succeeded",
    hours_ago: float = 0.0,
    labels: dict[str, str] | None = None,
    project: str = "default",
    error: str = "",
) -> str:
    """Stores the run as if it had been made then; its id."""
    at = NOW - timedelta(hours=hours_ago)
    run_id = new_run_id(at.timestamp())
    labels = labels if labels is not None else dict(run.manifest.labels)
    manifest = msgspec.structs.replace(
        run.manifest,
        run_id=run_id,
        name=name,
        project=project,
        labels=labels,
        status=_STATUSES[status],
        started_at=at,
        finished_at=at + timedelta(seconds=42),
    )
    row = RunRow(
        id=run_id,
        name=name,
        status="running",
        created_at=at.isoformat(timespec="milliseconds"),
        finished_at=None,
        dataset="data.jsonl",
        dataset_digest=f"sha256:{manifest.dataset.sha256 if manifest.dataset else ''}",
        fingerprint="",
        rows=0,
        labels=labels,
        headline="",
        project=project,
    )
    store = stores.of(project)
    store.create(row, manifest)
    for rows in run.read_rows():
        store.append(
            run_id,
            Segment(
                index=rows.first_row,
                first_row=rows.first_row,
                rows=rows.rows,
                records=rows.records_jsonl,
                results=pack(rows.columns),
                zones=encode_zones(rows.columns, rows.records),
            ),
        )
    ended = (at + timedelta(seconds=42)).isoformat(timespec="milliseconds")
    # A run whose gates were not met is one that succeeded, with a verdict.
    word, verdict = ("succeeded", "failed") if status == "failed" else (status, "")
    row = msgspec.structs.replace(row, status=word, verdict=verdict, finished_at=ended, error=error)
    store.finish(row, manifest, run.summaries)
    return run_id


def fill(stores: SqlProjectStores) -> dict[str, str]:
    """A store as a team has it: runs of two assistants over some weeks; ids by a word."""
    found: dict[str, str] = {}
    for week in range(9, 0, -1):
        for assistant in ("aster", "birch"):
            run = demo_run(assistant, limit=40 + 9 * week)
            put_run(
                stores,
                run,
                name=f"support-{assistant}",
                hours_ago=168 * week,
                labels={"branch": "main" if week % 3 else "tone-of-voice", "commit": f"{week:x}4f09b2"},
            )
    aster, birch = demo_run("aster"), demo_run("birch")
    found["baseline"] = put_run(stores, aster, name="support-aster", hours_ago=20, labels={"branch": "main"})
    mean = next(summary.mean for summary in birch.summaries if summary.metric == "correctness")
    failed = replace(
        birch,
        gates=[],
        manifest=msgspec.structs.replace(
            birch.manifest,
            gates=[gate("correctness", least=0.9, value=mean), gate("token-overlap", least=0.2, value=0.31)],
        ),
    )
    found["candidate"] = put_run(
        stores, failed, name="support-birch", status="failed", hours_ago=3, labels={"branch": "tone-of-voice"}
    )
    found["awkward"] = put_run(
        stores, awkward_run(), name="very-long-name-" * 4, hours_ago=2, labels={"語": "日本語" * 9}
    )
    hostile = hostile_run()
    found["hostile"] = put_run(stores, hostile, name=hostile.manifest.name, hours_ago=1.5)
    found["error"] = put_run(
        stores,
        demo_run("aster", limit=0),
        name="support-aster",
        status="error",
        hours_ago=1,
        error="the target could not be reached: connection refused at 127.0.0.1:9001",
    )
    one = demo_run("aster", limit=1)
    of_one = list(one.read_rows())
    for rows in of_one:
        rows.columns[0].notes[0] = Note(
            isolation=IsolationReport(
                driver="bubblewrap",
                level=IsolationLevel.NAMESPACED,
                enforcement=Enforcement.PARTIAL,
                notes=["the kernel has no Landlock"],
            )
        )
    one = replace(one, read_rows=lambda: iter(of_one))
    found["one"] = put_run(stores, one, name="smoke", hours_ago=0.6)
    found["twelve"] = put_run(stores, demo_run("aster", limit=12), name="smoke", hours_ago=0.5)
    return found


def put_large_run(stores: SqlProjectStores, rows: int, *, name: str = "large", shift: int = 0) -> str:
    """A run of so many records, made without an engine, in segments of a thousand."""
    at = NOW - timedelta(hours=30 + shift)
    run_id = new_run_id(at.timestamp())
    summaries = [
        MetricSummary(
            metric=metric,
            evaluator=metric,
            kind=kind,
            n=rows,
            total=rows,
            mean=0.8,
            min=0.0,
            max=1.0,
            higher_is_better=True,
            ci=ConfidenceInterval(low=0.797, high=0.803, level=0.95, method="wilson"),
        )
        for metric, kind in (("exact-match", MetricKind.PROPORTION), ("token-f1", MetricKind.NUMBER))
    ]
    manifest = RunManifest(
        run_id=run_id,
        name=name,
        project="default",
        status=RunStatus.SUCCEEDED,
        started_at=at,
        finished_at=at + timedelta(minutes=9),
        trials=1,
        dataset=DatasetManifest(source="large.jsonl", sha256="ab" * 32, records=rows),
        evaluators=[BoundRunEvaluator(name=summary.metric) for summary in summaries],
    )
    row = RunRow(
        id=run_id,
        name=name,
        status="running",
        created_at=at.isoformat(timespec="milliseconds"),
        finished_at=None,
        dataset="large.jsonl",
        dataset_digest="sha256:" + "ab" * 32,
        fingerprint="",
        rows=0,
        labels={},
        headline="",
    )
    store = stores.of("default")
    store.create(row, manifest)
    for first in range(0, rows, 1000):
        numbers = range(first, min(rows, first + 1000))
        columns = [_verdicts(numbers, shift), _overlaps(numbers)]
        records = [_record(number) for number in numbers]
        store.append(
            run_id,
            Segment(
                index=first,
                first_row=first,
                rows=len(numbers),
                records=encode_records(records),
                results=pack(columns),
                zones=encode_zones(columns, records),
            ),
        )
    ended = (at + timedelta(minutes=9)).isoformat(timespec="milliseconds")
    store.finish(msgspec.structs.replace(row, status="succeeded", finished_at=ended), manifest, summaries)
    return run_id


def _verdicts(numbers: Sequence[int], shift: int) -> EvaluatorColumns:
    columns = EvaluatorColumns(
        evaluator="exact-match",
        ref="builtin/exact-match@1.0.0",
        primary="exact-match",
        outcomes=bytearray(1 for _ in numbers),
    )
    values = [float((number + (shift if number % 1000 == 7 else 0)) % 5 != 0) for number in numbers]
    columns.columns["exact-match"] = Column("exact-match", "passed", values)
    return columns


def _overlaps(numbers: Sequence[int]) -> EvaluatorColumns:
    columns = EvaluatorColumns(
        evaluator="token-f1", ref="builtin/token-f1@1.0.0", primary="token-f1", outcomes=bytearray(1 for _ in numbers)
    )
    columns.columns["token-f1"] = Column("token-f1", "number", [number * 7919 % 10007 / 10006 for number in numbers])
    return columns


def _record(number: int) -> Record:
    return Record(
        id=f"case-{number:06d}",
        input=Content(text=f"Question {number}: what is the standing charge in region {number % 14}?"),
        output=Content(text=f"The standing charge in region {number % 14} is {number % 97} pence a day."),
        reference=Content(text=f"{number % 97} pence a day"),
        metadata={"region": str(number % 14)},
        usage=Usage(latency=0.2 + number % 50 / 40, cost_usd=0.0002),
    )
