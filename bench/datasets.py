"""Microseconds of processor time per record of reading a dataset: the checking pass, the building pass, and batches with their raw lines.

python bench/datasets.py [--records 100000] [--file some.jsonl]
"""

import argparse
import json
import random
import resource
import tempfile
import time
from pathlib import Path

from evalsi.datasets import DatasetOptions, open_dataset

WORDS = [
    "a",
    "green",
    "lamp",
    "turns",
    "slowly",
    "over",
    "the",
    "quiet",
    "harbour",
    "while",
    "ships",
    "wait",
    "for",
    "the",
    "morning",
    "tide",
    "and",
    "the",
    "gulls",
]


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--records", type=int, default=100_000)
    arguments.add_argument("--file", type=Path)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        shapes = {chosen.file.name: chosen.file} if chosen.file else written(Path(folder), chosen.records)
        for name, path in shapes.items():
            for label, options in (("", DatasetOptions()), (" mapped", DatasetOptions(mapping={"input": "input"}))):
                measure(name + label, path, options)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def written(folder: Path, records: int) -> dict[str, Path]:
    draw = random.Random(7)

    def sentence(most: int) -> str:
        return " ".join(draw.choices(WORDS, k=draw.randint(most // 4, most)))

    flat = [
        {
            "id": f"r{number}",
            "input": f"Question {number}: {sentence(14)}?",
            "output": sentence(30),
            "reference": sentence(30),
            "topic": f"t{number % 20}",
            "level": number % 5,
        }
        for number in range(records)
    ]
    kinds = {
        "flat": flat,
        "nested metadata": [
            {**{key: row[key] for key in ("id", "input", "output", "reference")}, "metadata": {"topic": row["topic"]}}
            for row in flat
        ],
        "no ids": [{key: value for key, value in row.items() if key != "id"} for row in flat],
        "usage": [{**row, "usage": {"input_tokens": 12, "output_tokens": 40, "latency_ms": 310.5}} for row in flat],
        "JSON outputs": [{**row, "output": json.dumps({"answer": row["output"], "sure": True})} for row in flat],
    }
    paths: dict[str, Path] = {}
    for name, rows in kinds.items():
        paths[name] = folder / f"{name}.jsonl"
        paths[name].write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths


def measure(name: str, path: Path, options: DatasetOptions) -> None:
    best = {"scan": 9e9, "records": 9e9, "batches": 9e9, "stored lines": 9e9}
    count = 1
    for _ in range(3):
        dataset = open_dataset(path, options=options)
        started = time.process_time()
        count = dataset.scan().records
        best["scan"] = min(best["scan"], time.process_time() - started)
        started = time.process_time()
        for _record in dataset.records():
            pass
        best["records"] = min(best["records"], time.process_time() - started)
        started = time.process_time()
        for _batch in dataset.batches(1000):
            pass
        best["batches"] = min(best["batches"], time.process_time() - started)
        started = time.process_time()
        for batch in dataset.batches(1000):
            batch.json_lines()
        best["stored lines"] = min(best["stored lines"], time.process_time() - started)
    figures = "  ".join(f"{step} {seconds / count * 1e6:5.2f}" for step, seconds in best.items())
    print(f"{name:24s} us/record: {figures}", flush=True)


if __name__ == "__main__":
    main()
