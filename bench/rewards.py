"""What rewards cost beside the evaluators: processor seconds for a batch of format and mathematics, new and repeated.

    uv run python bench/rewards.py [--rollouts 4096]

Processor time counts this process and its workers; wall-clock time depends on what else the machine does.
"""

import argparse
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


def used_s() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rollouts", type=int, default=4096)
    count = parser.parse_args().rollouts
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
