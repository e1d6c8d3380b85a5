"""What `evalsi run` costs beside the model's own time, measured as a user feels it: whole processes, start included.

    python bench/run_overhead.py [--rounds 3] [--peer PATH_TO_EVALSI_0.3.1] [--only 0ms,100ms,recorded]

The model is a stand-in in a process of its own. Prints one JSON line per measurement: samples per second of the whole
process, CPU microseconds per sample, peak memory; at 100 ms the ratio to the ideal of ceil(samples / concurrency) x 100 ms.
With --peer, each round runs both one after the other, so that they share the same minutes of the machine. The best of the
rounds counts: other work on the machine only ever adds time.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OURS = [sys.executable, "-m", "evalsi"]


@dataclass(frozen=True)
class Measured:
    wall_s: float
    cpu_s: float
    peak_mib: float


def stand_in(latency_s: float) -> tuple["subprocess.Popen[str]", str]:
    command = [sys.executable, "-m", "evalsi.testing.stand_in_model", "--latency", str(latency_s), "--reply", "yes"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def write_work(folder: Path, samples: int, *, base_url: str = "", evaluators: Sequence[str] = ("exact-match",)) -> None:
    """A dataset and a spec that both programs read. Without an address the outputs are in the dataset."""
    with (folder / "data.jsonl").open("w") as file:
        for n in range(samples):
            row = {"id": f"r{n}", "input": f"Is {n} a number? Answer yes or no.", "reference": "yes" if n % 3 else "no"}
            file.write(json.dumps(row if base_url else row | {"output": "yes"}) + "\n")
    spec: dict[str, Any] = {"dataset": {"path": "data.jsonl"}, "evaluators": [{"ref": name} for name in evaluators]}
    if base_url:
        spec["target"] = {
            "connector": "openai-compatible",
            "model": "stand-in",
            "base_url": base_url,
            "api_key_env": "BENCH_KEY",
            "max_tokens": 10,
        }
    run = {"apiVersion": "evals.si/v1alpha1", "kind": "EvalRun", "metadata": {"name": "bench"}, "spec": spec}
    (folder / "run.json").write_text(json.dumps(run))


def measure(program: Sequence[str], folder: Path, concurrency: int) -> Measured:
    """One whole process. Its store is removed before, so that nothing is resumed or reused."""
    shutil.rmtree(folder / ".evalsi", ignore_errors=True)
    command = [*program, "run", "-f", "run.json", "--quiet", "--concurrency", str(concurrency)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"BENCH_KEY": "none", "EVALSI_DIR": str(folder / ".evalsi"), "HOME": str(folder)}
    began_s = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - began_s
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit {process.returncode}\n{said.decode(errors='replace')}")
    return Measured(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def report(name: str, rounds: Sequence[Measured], samples: int, **more: float) -> float:
    wall_s, cpu_s = min(each.wall_s for each in rounds), min(each.cpu_s for each in rounds)
    found = {
        "samples": samples,
        "wall_s": wall_s,
        "per_s": samples / wall_s,
        "cpu_us": cpu_s / samples * 1e6,
        "peak_mib": max(each.peak_mib for each in rounds),
    }
    rounded = {key: round(value, 3) for key, value in {**found, **more}.items()}
    print(json.dumps({"name": name, **rounded}), flush=True)
    return wall_s


def at_0_ms(folder: Path, rounds: int, peer: str | None, samples: int = 2000, concurrency: int = 64) -> None:
    process, url = stand_in(0.0)
    try:
        write_work(folder, samples, base_url=url)
        ours: list[Measured] = []
        theirs: list[Measured] = []
        for number in range(rounds + 1):  # the first round compiles the modules and is not counted
            ours.append(measure(OURS, folder, concurrency))
            if peer is not None:
                theirs.append(measure([peer], folder, concurrency))
            if number == 0:
                ours, theirs = [], []
    finally:
        process.terminate()
        process.wait()
    wall_s = report("0 ms", ours, samples)
    if theirs:
        their_wall_s = report("0 ms, peer", theirs, samples)
        print(json.dumps({"name": "0 ms, times the peer", "ratio": round(their_wall_s / wall_s, 2)}), flush=True)


def at_100_ms(folder: Path, rounds: int) -> None:
    process, url = stand_in(0.1)
    try:
        for concurrency in (64, 256, 1000):
            samples = 50 * concurrency
            ideal_s = math.ceil(samples / concurrency) * 0.1
            write_work(folder, samples, base_url=url)
            found = [measure(OURS, folder, concurrency) for _ in range(rounds)]
            ratio = min(each.wall_s for each in found) / ideal_s
            report(f"100 ms x {concurrency}", found, samples, ideal_s=ideal_s, ratio=ratio)
    finally:
        process.terminate()
        process.wait()


def recorded(folder: Path, rounds: int, samples: int = 100_000) -> None:
    write_work(folder, samples, evaluators=("exact-match", "contains"))
    report("recorded, 2 evaluators", [measure(OURS, folder, 16) for _ in range(rounds)], samples)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", help="the evalsi program of version 0.3.1")
    parser.add_argument("--only", default="0ms,100ms,recorded")
    options = parser.parse_args()
    wanted = options.only.split(",")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if "0ms" in wanted:
            at_0_ms(folder, options.rounds, options.peer)
        if "100ms" in wanted:
            at_100_ms(folder, options.rounds)
        if "recorded" in wanted:
            recorded(folder, options.rounds)


if __name__ == "__main__":
    main()
