"""What the embedded store costs: appending 100k records, reading them, listing 10k runs, deleting.

Run: uv run python bench/store.py. Each figure is the best of three; the others on the machine only ever add to it.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from evalsi.core.ids import new_run_id
from evalsi.infra.store.database import StoreOptions
from evalsi.infra.store.run_store import open_run_store
from evalsi.ports.run_store import RunRow, Segment
from evalsi.schema import MetricSummary, RunManifest


def run_row(number: int = 0) -> RunRow:
    created = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number)
    return RunRow(
        id=new_run_id(created.timestamp()),
        name=f"nightly-{number % 50}",
        status="running",
        created_at=created.isoformat(),
        finished_at=None,
        dataset="qa.jsonl",
        dataset_digest="sha256:" + "0" * 64,
        fingerprint=f"sha256:{number:064}",
        rows=0,
        labels={"branch": "main", "model": "small"},
        headline="exact-match 0.81 [0.78, 0.84]",
    )


def segments(rows: int, rows_per_segment: int) -> list[Segment]:
    """About 400 bytes of JSON a record, words drawn from a vocabulary as uneven as a language."""
    random.seed(7)
    words = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(2, 11))) for _ in range(8000)]
    weights = [1 / (rank + 5) for rank in range(len(words))]
    made: list[Segment] = []
    for index, first in enumerate(range(0, rows, rows_per_segment)):
        count = min(rows_per_segment, rows - first)
        lines: list[bytes] = []
        for row in range(first, first + count):
            text = random.choices(words, weights, k=45)
            record = {
                "id": f"case-{row}",
                "input": " ".join(text[:12]),
                "output": {"text": " ".join(text[12:40])},
                "reference": " ".join(text[40:]),
                "metadata": {"topic": text[0], "latency_ms": random.randint(100, 4000)},
            }
            lines.append(json.dumps(record).encode() + b"\n")
        results = bytes(random.choices((1, 1, 1, 2), k=count)) + random.randbytes(count * 2) + bytes(count * 38)
        made.append(Segment(index=index, first_row=first, rows=count, records=b"".join(lines), results=results))
    return made


def best(action: Callable[[], object], times: int = 3) -> tuple[float, float]:
    """(wall, CPU) in milliseconds."""
    taken: list[tuple[float, float]] = []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        action()
        taken.append(((time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3))
    return min(taken, key=lambda pair: pair[1])


def append_all(path: Path, options: StoreOptions, parts: list[Segment]) -> str:
    store = open_run_store(path, options)
    run = run_row()
    store.create(run, RunManifest())
    for part in parts:
        store.append(run.id, part)
    store.finish(finished(run), RunManifest(), [])
    store.close()
    return run.id


def finished(run: RunRow) -> RunRow:
    return msgspec.structs.replace(run, status="succeeded", finished_at="2026-01-02T00:00:00+00:00")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rows-per-segment", type=int, default=4096)
    parser.add_argument("--sweep", action="store_true", help="compression levels and synchronous modes")
    arguments = parser.parse_args()
    parts = segments(arguments.rows, arguments.rows_per_segment)
    size_mb = sum(len(part.records) + len(part.results) for part in parts) / 1e6
    print(f"{arguments.rows} records, {len(parts)} segments, {size_mb:.1f} MB")

    cases = [StoreOptions()]
    if arguments.sweep:
        cases = [StoreOptions(compression_level=level) for level in (-1, 1, 2, 3)]
        cases += [StoreOptions(synchronous="normal")]
    for options in cases:
        with tempfile.TemporaryDirectory(dir=".") as folder:
            numbers = iter(range(9))

            def append(options: StoreOptions = options, folder: str = folder, numbers: Iterator[int] = numbers) -> None:
                append_all(Path(folder) / f"{next(numbers)}.db", options, parts)

            wall, cpu = best(append)
            stored = (Path(folder) / "0.db").stat().st_size / 1e6
            print(
                f"append: level {options.compression_level}, synchronous {options.synchronous}: "
                f"{wall:.0f} ms, {cpu:.0f} ms CPU, {stored:.1f} MB"
            )

    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = Path(folder) / "evalsi.db"
        run_id = append_all(path, StoreOptions(), parts)
        store = open_run_store(path)
        print("read all: {:.0f} ms, {:.0f} ms CPU".format(*best(lambda: sum(1 for _ in store.segments(run_id)))))
        only = best(lambda: sum(1 for _ in store.segments(run_id, with_records=False)))
        print("read results: {:.0f} ms, {:.0f} ms CPU".format(*only))
        print("delete: {:.0f} ms, {:.0f} ms CPU".format(*best(lambda: store.delete(run_id), times=1)))
        print(f"file after it: {path.stat().st_size / 1e6:.2f} MB")

        summary = [MetricSummary(metric="exact-match", n=1000, mean=0.8)]
        for number in range(10_000):
            row = run_row(number)
            store.create(row, RunManifest())
            store.finish(finished(row), RunManifest(), summary)
        print("list 10k runs: {:.1f} ms, {:.1f} ms CPU".format(*best(store.runs, times=7)))
        print("list the newest 20: {:.2f} ms, {:.2f} ms CPU".format(*best(lambda: store.runs(limit=20), times=7)))
        print("find latest: {:.1f} ms, {:.1f} ms CPU".format(*best(lambda: store.find("latest"), times=7)))
        print("find by name: {:.1f} ms, {:.1f} ms CPU".format(*best(lambda: store.find("nightly-7"), times=7)))
        print("open: {:.1f} ms, {:.1f} ms CPU".format(*best(lambda: open_run_store(path).close(), times=5)))
        store.close()


if __name__ == "__main__":
    main()
