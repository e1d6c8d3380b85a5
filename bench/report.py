"""Wall time and peak memory of a report on many records: `python bench/report.py [--records 100000] [--evaluators 5]`.

The run is made up, written as packed and compressed segments like those of a store, and read back from disk by a fresh
process, whose start and imports count. One evaluator in five explains itself, as a judge does.
"""

import argparse
import json
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

SEGMENT_ROWS = 1024
WORDS = "the quick brown fox jumps over lazy dog refund order customer policy approved within days shipping".split()


def make(folder: Path, records: int, evaluators: int) -> None:
    import numpy as np
    import zstandard

    from evalsi.engine.columns import SCORED, Column, EvaluatorColumns, Note, pack
    from evalsi.results.stored_rows import encode_records
    from evalsi.schema import ConfidenceInterval, Content, MetricKind, MetricSummary, Record, RunManifest, Usage

    draw, numbers = random.Random(7), np.random.default_rng(7)
    names = [f"metric-{index}" for index in range(evaluators)]
    compress = zstandard.ZstdCompressor(level=3).compress
    with (folder / "segments").open("wb") as file:
        for start in range(0, records, SEGMENT_ROWS):
            rows = range(start, min(records, start + SEGMENT_ROWS))
            batch = [
                Record(
                    id=f"r{row}",
                    input=Content(text=" ".join(draw.choices(WORDS, k=12))),
                    output=Content(text=" ".join(draw.choices(WORDS, k=20))),
                    reference=Content(text=" ".join(draw.choices(WORDS, k=20))),
                    metadata={"topic": f"t{row % 20}", "level": row % 4, "source": WORDS[row % 3], "order": str(row)},
                    usage=Usage(latency=draw.random(), input_tokens=row % 500, output_tokens=20, cost_usd=0.0001),
                )
                for row in rows
            ]
            columns: list[EvaluatorColumns] = []
            for index, name in enumerate(names):
                values = numbers.random(len(batch))
                kind = "passed" if index % 2 else "number"
                made = EvaluatorColumns(name, f"bench/{name}@1.0.0", name, bytearray([SCORED]) * len(batch))
                made.columns[name] = Column(name, kind, (values.round() if index % 2 else values).tolist())
                if index % 5 == 4:
                    made.notes = {
                        row: Note(explanations={name: "because it says so"}, usage=Usage(cost_usd=0.001, latency=0.3))
                        for row in range(len(batch))
                    }
                columns.append(made)
            for part in (compress(encode_records(batch)), compress(pack(columns))):
                file.write(struct.pack("<Q", len(part)) + part)
    summaries = [
        MetricSummary(
            metric=name,
            evaluator=name,
            kind=MetricKind.PROPORTION if index % 2 else MetricKind.NUMBER,
            n=records,
            total=records,
            mean=0.5,
            min=0.0,
            max=1.0,
            median=0.5,
            coverage=1.0,
            higher_is_better=True,
            ci=ConfidenceInterval(low=0.498, high=0.502, level=0.95, method="t"),
        )
        for index, name in enumerate(names)
    ]
    import msgspec

    (folder / "summaries").write_bytes(msgspec.json.encode(summaries))
    (folder / "manifest").write_bytes(msgspec.json.encode(RunManifest(run_id="bench", name="bench")))


def measure(folder: Path) -> None:
    started = time.perf_counter()
    import msgspec
    import zstandard

    from evalsi.report.html_report import write_html
    from evalsi.results.graded_run import GradedRun
    from evalsi.results.stored_rows import rows_of
    from evalsi.schema import MetricSummary, RunManifest

    expand = zstandard.ZstdDecompressor().decompress

    def read() -> Iterator:
        from evalsi.ports.run_store import Segment

        first = 0
        with (folder / "segments").open("rb") as file:
            while size := file.read(8):
                records = expand(file.read(struct.unpack("<Q", size)[0]))
                results = expand(file.read(struct.unpack("<Q", file.read(8))[0]))
                rows = records.count(b"\n")
                yield rows_of(Segment(index=first, first_row=first, rows=rows, records=records, results=results))
                first += rows

    run = GradedRun(
        source="bench",
        manifest=msgspec.json.decode((folder / "manifest").read_bytes(), type=RunManifest),
        summaries=msgspec.json.decode((folder / "summaries").read_bytes(), type=list[MetricSummary]),
        read_rows=read,
    )
    imported = time.perf_counter()
    write_html(run, folder / "report.html")
    used = resource.getrusage(resource.RUSAGE_SELF)
    figures = {
        "import_s": round(imported - started, 3),
        "write_s": round(time.perf_counter() - imported, 3),
        "cpu_s": round(used.ru_utime + used.ru_stime, 3),
        "peak_mib": round(used.ru_maxrss / 1024, 1),
        "file_kib": (folder / "report.html").stat().st_size // 1024,
    }
    print(json.dumps(figures))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--evaluators", type=int, default=5)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), given.records, given.evaluators)
        compiled = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        started = time.perf_counter()
        ran = subprocess.run(
            [sys.executable, __file__, "--measure", folder], check=True, capture_output=True, text=True, env=compiled
        )
        wall = time.perf_counter() - started
        print(json.dumps({"records": given.records, "evaluators": given.evaluators, "wall_s": round(wall, 3)}))
        print(ran.stdout, end="")


if __name__ == "__main__":
    main()
