"""What rewards cost beside the evaluators: processor seconds for a batch of format and mathematics, new and repeated.

    uv run python bench/rewards.py [--rollouts 4096] [--programs]

With --programs: a batch of programs with their tests instead, first all well-behaved, then one in twenty hanging, forking,
eating memory or flooding; and what is left behind.

Processor time counts this process and its workers; wall-clock time depends on what else the machine does.
"""

import argparse
import os
import random
import resource
import tempfile
import time
from pathlib import Path

from evalsi import rewards
from evalsi.settings import Settings

SPEC = """
name: solved
components:
  - {ref: format-check, name: format, weight: 0.1, gate: true}
  - {ref: math-equiv, name: right, weight: 0.9}
onError: mask
"""


def rollout(draw: random.Random, number: int) -> tuple[str, str]:
    """A completion of about 1.3 kB and its reference; two in five are right as written."""

    def result() -> str:
        return draw.choice(
            [
                str(draw.randint(1, 999)),
                f"\\frac{{{draw.randint(1, 9)}}}{{{draw.randint(2, 9)}}}",
                f"{draw.random():.2f}",
                f"2\\sqrt{{{draw.randint(2, 9)}}}",
                f"({draw.randint(0, 9)}, {draw.randint(0, 9)})",
                f"{draw.randint(2, 9)}x^2+{draw.randint(1, 9)}",
            ]
        )

    reference = result()
    stated = reference if draw.random() < 0.4 else result()
    thoughts = "so we compute this and then that, " * 36
    return f"<think>{thoughts}{number}</think><answer>The answer is \\boxed{{{stated}}}.</answer>", reference


PROGRAMS = """
name: solved
components:
  - ref: unit-tests
    weight: 1
    params: {timeout_s: 0.25, memory_mb: 128}
cache: false
"""
HOSTILE = (
    "while True: pass",
    "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "x = []\nwhile True: x.append(bytearray(1 << 20))",
    "import os\nwhile True: os.write(1, b'x' * 65536)",
)


def program(number: int, *, hostile_every: int) -> str:
    if hostile_every and number % hostile_every == 0:
        return HOSTILE[number // hostile_every % len(HOSTILE)]
    return f"def value(n):\n    return n + {number}\n"


def left_behind() -> dict[str, int]:
    """What of this process and its sandboxes exists now."""
    agents = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                agents += b"evalsi.guest.agent" in (entry / "cmdline").read_bytes()
            except OSError:
                continue
    return {
        "agents": agents,
        "children": sum(
            len((task / "children").read_text().split()) for task in Path(f"/proc/{os.getpid()}/task").iterdir()
        ),
        "cgroups": sum(1 for _ in Path("/sys/fs/cgroup").rglob(f"evalsi-{os.getpid()}-*")),
        "mounts": Path("/proc/self/mountinfo").read_text(encoding="utf-8").count("\n"),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "folders": len(list(Path(tempfile.gettempdir()).glob(f"evalsi-sandbox-{os.getpid()}-*"))),
    }


def measure_programs(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(directory=Path(folder))
        print(f"before {left_behind()}")
        rates: list[float] = []
        for every in (0, 20):
            programs = [program(number, hostile_every=every) for number in range(count)]
            tests = [[f"assert value(1) == {number + 1}"] for number in range(count)]
            with rewards.load(PROGRAMS, settings=settings) as reward:
                reward(["q"] * 4, programs[1:5], test_list=tests[1:5])
                started = time.perf_counter()
                totals = reward(["q"] * count, programs, test_list=tests)
                took_s = time.perf_counter() - started
            wrong = sum(total != float(not (every and n % every == 0)) for n, total in enumerate(totals))
            rates.append(count / took_s)
            what = f"one in {every} hostile" if every else "well-behaved"
            print(f"{what:18} {took_s:6.1f} s on the clock, {rates[-1]:6.1f} rollouts/s, {wrong} wrong rewards")
        print(f"kept {rates[1] / rates[0]:.0%} of the clean rate; load {os.getloadavg()[0]:.1f}")
        print(f"after  {left_behind()}")


def used_s() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rollouts", type=int, default=4096)
    parser.add_argument("--programs", action="store_true", help="programs in sandboxes")
    arguments = parser.parse_args()
    count: int = arguments.rollouts
    if arguments.programs:
        measure_programs(count)
        return
    draw = random.Random(1)
    made = [rollout(draw, number) for number in range(count)]
    completions, references = [completion for completion, _ in made], [reference for _, reference in made]
    prompts = [f"question {number}" for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(directory=Path(folder))
        before = used_s()
        with rewards.load(SPEC, settings=settings) as reward:
            started = time.perf_counter()
            first = reward(prompts, completions, answer=references)
            first_s = time.perf_counter() - started
        new_s = used_s() - before  # its workers have ended and are counted
        with rewards.load(SPEC, settings=settings) as reward:
            before, started = used_s(), time.perf_counter()
            assert reward(prompts, completions, answer=references) == first
            print(f"new       {new_s:6.3f} s of processor, {first_s:6.3f} s on the clock")
            print(
                f"from disk {used_s() - before:6.3f} s of processor, {time.perf_counter() - started:6.3f} s on the clock"
            )
            before, started = used_s(), time.perf_counter()
            reward(prompts, completions, answer=references)
            print(
                f"repeated  {used_s() - before:6.3f} s of processor, {time.perf_counter() - started:6.3f} s on the clock"
            )


if __name__ == "__main__":
    main()
