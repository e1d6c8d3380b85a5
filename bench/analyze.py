"""Many runs in DuckDB: `python bench/analyze.py [--records 100000] [--evaluators 5] [--runs 1]`.

Makes runs in a store, then loads them, asks one query and slices one metric, each run in a fresh process whose start and
imports count. Prints wall and CPU seconds and the peak resident memory of the process; with twice the records the peak should
stay where it was.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SEGMENT_ROWS = 1024
WORDS = "the quick brown fox jumps over lazy dog refund order customer policy approved within days shipping".split()
QUERY = "SELECT name, metric, count(number), avg(number) FROM scores JOIN runs USING (run_id) GROUP BY ALL ORDER BY ALL"


def make(folder: Path, run_id: str, records: int, evaluators: int) -> None:
    import random

    import numpy as np

    from evalsi.engine.columns import SCORED, Column, EvaluatorColumns, Note, pack
    from evalsi.infra.store import open_run_store
    from evalsi.ports.run_store import RunRow, Segment
    from evalsi.results.stored_rows import encode_records
    from evalsi.schema import Content, MetricKind, MetricSummary, Record, RunManifest, Usage

    draw, numbers = random.Random(run_id), np.random.default_rng(7)
    names = [f"metric-{index}" for index in range(evaluators)]
    store = open_run_store(folder / ".evalsi" / "evalsi.db")
    row = RunRow(
        id=run_id,
        name=run_id,
        status="running",
        created_at="2026-03-01T12:00:00+00:00",
        finished_at=None,
        dataset="made up",
        dataset_digest="sha256:00",
        fingerprint=f"sha256:{run_id}",
        rows=0,
        labels={},
        headline="",
    )
    manifest = RunManifest(run_id=run_id, name=run_id)
    store.create(row, manifest)
    for start in range(0, records, SEGMENT_ROWS):
        rows = range(start, min(records, start + SEGMENT_ROWS))
        batch = [
            Record(
                id=f"r{row}",
                input=Content(text=" ".join(draw.choices(WORDS, k=12))),
                output=Content(text=" ".join(draw.choices(WORDS, k=20))),
                reference=Content(text=" ".join(draw.choices(WORDS, k=20))),
                metadata={"topic": f"t{row % 20}", "level": row % 4, "order": str(row)},
                usage=Usage(latency=draw.random(), input_tokens=row % 500, output_tokens=20, cost_usd=0.0001),
            )
            for row in rows
        ]
        columns: list[EvaluatorColumns] = []
        for index, name in enumerate(names):
            values = numbers.random(len(batch))
            made = EvaluatorColumns(name, f"bench/{name}@1.0.0", name, bytearray([SCORED]) * len(batch))
            kind = "passed" if index % 2 else "number"
            made.columns[name] = Column(name, kind, (values.round() if index % 2 else values).tolist())
            if index % 5 == 4:
                made.notes = {row: Note(explanations={name: "because it says so"}) for row in range(len(batch))}
            columns.append(made)
        store.append(
            run_id,
            Segment(
                index=start, first_row=start, rows=len(batch), records=encode_records(batch), results=pack(columns)
            ),
        )
    summaries = [
        MetricSummary(
            metric=name,
            evaluator=name,
            n=records,
            total=records,
            mean=0.5,
            kind=MetricKind.PROPORTION if index % 2 else MetricKind.NUMBER,
        )
        for index, name in enumerate(names)
    ]
    import msgspec

    store.finish(
        msgspec.structs.replace(row, status="succeeded", finished_at="2026-03-01T12:05:00+00:00"), manifest, summaries
    )
    store.close()


def measure(database: Path, metric: str) -> None:
    started = time.perf_counter()
    from evalsi.analyze.choose_runs import RunChoice
    from evalsi.analyze.run_database import run_database
    from evalsi.analyze.slice_metric import slice_metric
    from evalsi.settings import Settings
    from evalsi.wiring.choosing_runs import chosen_runs

    settings = Settings.from_environment()
    marks = {"import_s": time.perf_counter() - started}
    with run_database(database) as tables:
        begun = time.perf_counter()
        tables.load(chosen_runs(RunChoice(), settings))
        marks["load_s"] = time.perf_counter() - begun
        begun = time.perf_counter()
        rows = [row for piece in tables.ask(QUERY).pieces for row in piece]
        marks["query_s"] = time.perf_counter() - begun
        begun = time.perf_counter()
        slices = slice_metric(tables, metric, ["metadata.topic"])
        marks["slice_s"] = time.perf_counter() - begun
    used = resource.getrusage(resource.RUSAGE_SELF)
    marks["cpu_s"] = used.ru_utime + used.ru_stime
    print(
        json.dumps(
            {name: round(value, 3) for name, value in marks.items()}
            | {
                "answer_rows": len(rows),
                "slices": len(slices.rows),
                "peak_mb": round(used.ru_maxrss / 1024, 1),
                "file_mb": round(database.stat().st_size / 1e6, 1),
            }
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--evaluators", type=int, default=5)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure, "metric-0")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for run in range(given.runs):
            make(folder, f"run{run}", given.records, given.evaluators)
        started = time.perf_counter()
        ran = subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), "--measure", str(folder / "runs.duckdb")],
            check=True,
            capture_output=True,
            text=True,
            cwd=folder,
            env={key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"},
        )
        wall_s = time.perf_counter() - started
        facts = {
            "records": given.records,
            "evaluators": given.evaluators,
            "runs": given.runs,
            "wall_s": round(wall_s, 3),
        }
        print(json.dumps(facts | json.loads(ran.stdout)))


if __name__ == "__main__":
    main()
