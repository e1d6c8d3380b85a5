"""What `evalsi run` costs beside the model's own time, measured as a user feels it: whole processes, start included.

    python bench/run_overhead.py [--rounds 3] [--only 0ms,100ms,judged,recorded,resume]
        [--peer PATH_TO_EVALSI_0.3.1] [--lm-eval PATH_TO_LM_EVAL] [--inspect PATH_TO_INSPECT]

The model is a stand-in in a process of its own. Prints one JSON line per measurement: samples per second of the whole
process and of its request phase (from the first question to the last answer), CPU microseconds per sample, peak memory;
at 100 ms the ratio to the ideal of ceil(samples / concurrency) x 100 ms. With others' programs, each round runs all one
after the other, so that they share the same minutes of the machine, and ratios are printed. The best of the rounds counts:
other work on the machine only ever adds time. `resume` stores most of a run of a million rows, and then tells how long
the command that continues it takes to ask its first question.
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
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OURS = [sys.executable, "-m", "evalsi"]
LEAN_MODEL = [sys.executable, str(Path(__file__).with_name("lean_model.py"))]
EXACT_MODEL = [sys.executable, "-m", "evalsi.testing.stand_in_model"]
"""Looks into each question, as an answer that follows a schema needs."""
INSPECT_TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import exact
from inspect_ai.solver import generate


@task
def bench():
    fields = FieldSpec(input="input", target="reference", id="id")
    return Task(dataset=json_dataset("data.jsonl", fields), solver=generate(), scorer=exact())
"""
LM_EVAL_TASK = """
task: bench
dataset_path: json
dataset_kwargs: {data_files: {test: data.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{input}}"
doc_to_target: "{{reference}}"
generation_kwargs: {until: ["\\n\\n"], max_gen_toks: 10}
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
"""


@dataclass(frozen=True)
class Measured:
    wall_s: float
    cpu_s: float
    peak_mib: float
    span_s: float = 0.0
    """From the first question to the last answer, as the model saw it."""


def stand_in(latency_s: float, program: Sequence[str] = LEAN_MODEL) -> tuple["subprocess.Popen[str]", str]:
    reply = ["--reply", "yes"] if program is LEAN_MODEL else []
    command = [*program, "--latency", str(latency_s), *reply]
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
    """One whole run of ours or of an earlier version. Its store is removed before: nothing is resumed or reused."""
    shutil.rmtree(folder / ".evalsi", ignore_errors=True)
    return measure_command([*program, "run", "-f", "run.json", "--quiet", "--concurrency", str(concurrency)], folder)


def measure_command(command: Sequence[str], folder: Path, model_url: str = "") -> Measured:
    """One whole process."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"BENCH_KEY": "none", "OPENAI_API_KEY": "none", "EVALSI_DIR": str(folder / ".evalsi")}
    environment |= {"HOME": str(folder), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    if model_url:
        stats_of(model_url)
    began_s = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - began_s
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit {process.returncode}\n{said.decode(errors='replace')}")
    span_s = stats_of(model_url)["span_s"] if model_url else 0.0
    return Measured(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, span_s)


def stats_of(model_url: str) -> dict[str, Any]:
    """What the lean stand-in has seen since the last look."""
    with urllib.request.urlopen(f"{model_url.removesuffix('/v1')}/stats", timeout=10) as answer:
        return json.load(answer)


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


@dataclass(frozen=True)
class Others:
    """Programs to compare with; None is left out."""

    peer: str | None
    lm_eval: str | None
    inspect: str | None


def at_0_ms(folder: Path, rounds: int, others: Others, samples: int = 2000, concurrency: int = 64) -> None:
    process, url = stand_in(0.0)
    write_work(folder, samples, base_url=url)
    (folder / "bench_task.py").write_text(INSPECT_TASK)
    (folder / "bench.yaml").write_text(LM_EVAL_TASK)
    run = ["run", "-f", "run.json", "--quiet", "--concurrency", str(concurrency)]
    commands = {"ours": [*OURS, *run]}
    if others.peer is not None:
        commands["evalsi 0.3.1"] = [others.peer, *run]
    if others.lm_eval is not None:
        arguments = f"model=stand-in,base_url={url}/chat/completions,num_concurrent={concurrency}"
        commands["lm-eval"] = [others.lm_eval, "--model", "local-chat-completions", "--model_args", arguments]
        commands["lm-eval"] += [
            "--tasks",
            "bench",
            "--include_path",
            ".",
            "--apply_chat_template",
            "--output_path",
            "out",
        ]
    if others.inspect is not None:
        commands["inspect"] = [others.inspect, "eval", "bench_task.py", "--model", "openai/stand-in"]
        commands["inspect"] += ["--model-base-url", url, "-M", "responses_api=false", "--display", "plain"]
        commands["inspect"] += ["--max-connections", str(concurrency), "--max-samples", str(concurrency)]
    found: dict[str, list[Measured]] = {name: [] for name in commands}
    try:
        for number in range(rounds + 1):  # the first round compiles the modules and is not counted
            for name, command in commands.items():
                if name == "inspect" and number != 1:
                    continue  # once is enough for something that takes minutes
                shutil.rmtree(folder / ".evalsi", ignore_errors=True)
                measured = measure_command(command, folder, url)
                if number:
                    found[name].append(measured)
    finally:
        process.terminate()
        process.wait()
    for name, measured in found.items():
        span_s = min(each.span_s for each in measured)
        report(f"0 ms, {name}", measured, samples, span_s=span_s, requests_per_s=samples / span_s)
    ours = found.pop("ours")
    for name, theirs in found.items():
        ratios = {
            key: round(min(map(of, theirs)) / min(map(of, ours)), 2)
            for key, of in (("wall", _wall_s), ("cpu", _cpu_s), ("request phase", _span_s))
        }
        print(json.dumps({"name": f"0 ms, {name} takes so many times as long", **ratios}), flush=True)


def _wall_s(measured: Measured) -> float:
    return measured.wall_s


def _cpu_s(measured: Measured) -> float:
    return measured.cpu_s


def _span_s(measured: Measured) -> float:
    return measured.span_s


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


def judged(folder: Path, rounds: int, peer: str | None, samples: int = 500, concurrency: int = 64) -> None:
    process, url = stand_in(0.1, EXACT_MODEL)
    ideal_s = math.ceil(samples / concurrency) * 0.1
    words = ["eval", "--data", "data.jsonl", "--quiet", "--no-cache", "--concurrency", str(concurrency)]
    words += ["--judge-provider", "openai-compatible", "--judge-model", "m", "--judge-base-url", url]
    commands = {"": [*OURS, *words, "--evaluators", "correctness", "--no-resume"]}
    if peer is not None:
        commands[", evalsi 0.3.1"] = [peer, *words, "--evaluators", "llm-judge"]
    found: dict[str, list[Measured]] = {name: [] for name in commands}
    try:
        write_work(folder, samples)
        for _ in range(rounds):
            for name, command in commands.items():
                found[name].append(measure_command(command, folder))
    finally:
        process.terminate()
        process.wait()
    walls_s = {
        name: report(
            f"judged, 100 ms x 64{name}", each, samples, ideal_s=ideal_s, ratio=min(map(_wall_s, each)) / ideal_s
        )
        for name, each in found.items()
    }
    if peer is not None:
        ours_s, theirs_s = walls_s.values()
        print(json.dumps({"name": "judged, of the time of evalsi 0.3.1", "ratio": round(ours_s / theirs_s, 3)}))


def resume(folder: Path, samples: int = 1_000_000, left: int = 1000) -> None:
    """The first try is stopped by its budget of time or by us, whichever the machine reaches first."""
    process, url = stand_in(0.0)
    shutil.rmtree(folder / ".evalsi", ignore_errors=True)
    try:
        write_work(folder, samples, base_url=url)
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"BENCH_KEY": "none", "EVALSI_DIR": str(folder / ".evalsi")}
        command = [*OURS, "run", "-f", "run.json", "--quiet", "--concurrency", "64"]
        first = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        asked = 0
        while asked < samples - left and first.poll() is None:
            time.sleep(0.2)
            asked += stats_of(url)["requests"]
        first.kill()
        first.wait()
        stats_of(url)
        began_s = time.perf_counter()
        second = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while second.poll() is None and not stats_of(url)["requests"]:
            time.sleep(0.01)
        first_question_s = time.perf_counter() - began_s
        second.wait()
    finally:
        process.terminate()
        process.wait()
    print(
        json.dumps({"name": "resume", "rows": samples, "asked": asked, "first_question_s": round(first_question_s, 2)})
    )


def recorded(folder: Path, rounds: int, samples: int = 100_000) -> None:
    write_work(folder, samples, evaluators=("exact-match", "contains"))
    report("recorded, 2 evaluators", [measure(OURS, folder, 16) for _ in range(rounds)], samples)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", help="the evalsi program of version 0.3.1")
    parser.add_argument("--lm-eval", help="the lm_eval program")
    parser.add_argument("--inspect", help="the inspect program")
    parser.add_argument("--only", default="0ms,100ms,judged,recorded")
    options = parser.parse_args()
    wanted = options.only.split(",")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if "0ms" in wanted:
            at_0_ms(folder, options.rounds, Others(options.peer, options.lm_eval, options.inspect))
        if "100ms" in wanted:
            at_100_ms(folder, options.rounds)
        if "judged" in wanted:
            judged(folder, options.rounds, options.peer)
        if "resume" in wanted:
            resume(folder)
        if "recorded" in wanted:
            recorded(folder, options.rounds)


if __name__ == "__main__":
    main()
