"""How long comparing two runs takes, and how much memory: two results files of N records and five metrics.

    uv run python bench/compare.py [--records 100000]

Budget: 100,000 records within 2 s and 300 MB. Prints a line for the table and one for the Markdown with 50 flips.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from evalsi.engine.columns import ColumnsBuilder
from evalsi.evaluators.api import evaluator, output
from evalsi.results.document import write_document
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import GradedRows, encode_records
from evalsi.schema import Content, MetricSummary, Record, RunManifest, Usage

BATCH = 1000
COMPILED = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
"""Modules are compiled, as those of installed programs are."""
MEASURED = """
import resource, sys, time
started = time.process_time()
from evalsi.cli.app import run
status = run(sys.argv[1:])
used = time.process_time() - started
print(f"{used:.2f} s of CPU, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB, exit {status}", file=sys.stderr)
"""


@evaluator(name="verdict", outputs=[output("verdict", "passed")])
def verdict(_record: Record) -> bool:
    return True


@evaluator(name="numbers", outputs=[output(name, low=0, high=1) for name in ("one", "two", "three", "four")])
def numbers(_record: Record) -> dict[str, float]:
    return {}


def run_of(records: int, seed: int) -> GradedRun:
    def batches() -> "list[GradedRows]":
        chance = random.Random(seed)
        made: list[GradedRows] = []
        for first in range(0, records, BATCH):
            batch = [
                Record(
                    id=f"record-{first + row}",
                    input=Content(text="What is the answer to question number so and so, please?"),
                    output=Content(text=f"The answer is {chance.random()}."),
                    usage=Usage(input_tokens=100, output_tokens=chance.randrange(50), latency=chance.random()),
                )
                for row in range(BATCH)
            ]
            builders = [ColumnsBuilder(each, name=each.name, ref=each.name, rows=BATCH) for each in (verdict, numbers)]
            for row in range(BATCH):
                builders[0].put(row, chance.random() < 0.7 + 0.01 * seed)
                builders[1].put(row, {name: chance.random() for name in ("one", "two", "three", "four")})
            made.append(GradedRows(first, encode_records(batch), [builder.result for builder in builders]))
        return made

    held = batches()
    summaries = [MetricSummary(metric="verdict", evaluator="verdict")]
    return GradedRun(source="bench", manifest=RunManifest(name=f"run {seed}"), summaries=summaries, read_rows=lambda: iter(held))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--records", type=int, default=100_000)
    records = parser.parse_args().records
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{seed}.json" for seed in (0, 1)]
        for seed, path in enumerate(paths):
            write_document(run_of(records, seed), path)
        for more in ((), ("--format", "md", "--flips", "50")):
            arguments = ["compare", *map(str, paths), *more]
            done = subprocess.run(
                [sys.executable, "-c", MEASURED, *arguments], capture_output=True, text=True, check=True, env=COMPILED
            )
            print(f"compare, {records:,} records × 5 metrics {' '.join(more)}: {done.stderr.splitlines()[-1]}")


if __name__ == "__main__":
    main()
