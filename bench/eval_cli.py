"""`evalsi eval` over a large file beside a peer with the same flags, in one run: wall and CPU time, peak memory, ratios.

    python bench/eval_cli.py --peer PATH/TO/OTHER/evalsi [--records 100000] [--rounds 3]

Both are called in turn, so that a machine whose speed drifts slows both. The peer is installed elsewhere, never here.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

EVALUATORS = "exact-match,contains,token-f1,numeric-match,length"
WORDS = (
    "the quick brown fox jumps over lazy dog refund order customer policy approved within days shipping total".split()
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", default=f"{Path(sys.executable).parent}/evalsi")
    parser.add_argument("--peer")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.jsonl"
        write_records(data, options.records)
        commands = {"ours": options.ours} | ({"peer": options.peer} if options.peer else {})
        figures: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, command in commands.items():
                figures[name].append(measure(command, data, Path(folder)))
    medians = {
        name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in figures.items()
    }
    for name, (wall_s, cpu_s, peak_mb) in medians.items():
        print(f"{name:5} {options.records:,} records: wall {wall_s:.2f} s, CPU {cpu_s:.2f} s, peak {peak_mb:.0f} MB")
    if options.peer:
        wall, cpu, peak = (theirs / ours for ours, theirs in zip(medians["ours"], medians["peer"], strict=True))
        print(f"peer / ours: wall {wall:.1f}, CPU {cpu:.1f}, peak memory {peak:.1f}")


def measure(command: str, data: Path, folder: Path) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak MB of one call with its children."""
    results = folder / "results.json"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"EVALSI_DIR": str(folder / f"store-{time.monotonic_ns()}")}
    call = [command, "eval", "--data", str(data), "--evaluators", EVALUATORS, "--output", str(results), "--quiet"]
    started = time.perf_counter()
    process = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    done = threading.Event()
    peak = [0]
    watcher = threading.Thread(target=watch, args=(process.pid, done, peak))
    watcher.start()
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - started
    done.set()
    watcher.join()
    if status:
        raise SystemExit(
            f"{command} ended with {status}: {process.stderr.read().decode()[-500:] if process.stderr else ''}"
        )
    process.returncode = 0
    return wall_s, usage.ru_utime + usage.ru_stime, max(peak[0], usage.ru_maxrss * 1024) / 1e6


def watch(pid: int, done: threading.Event, peak: list[int]) -> None:
    """The largest resident set of a process, looked at every 30 ms."""
    while not done.wait(0.03):
        try:
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except (OSError, IndexError):
            return
        peak[0] = max(peak[0], pages * os.sysconf("SC_PAGE_SIZE"))


def write_records(path: Path, count: int) -> None:
    """Records of about 400 bytes; three in five outputs equal their reference."""
    generator = random.Random(7)

    def sentence() -> str:
        words = " ".join(generator.choice(WORDS) for _ in range(generator.randint(5, 30)))
        return f"{words} {generator.randint(1, 999)}"

    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            reference = sentence()
            output = reference if generator.random() < 0.6 else sentence()
            row = {
                "id": f"r{number}",
                "input": f"Question {number}: {' '.join(generator.choice(WORDS) for _ in range(12))}?",
                "output": output,
                "reference": reference,
                "topic": f"t{number % 20}",
            }
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
