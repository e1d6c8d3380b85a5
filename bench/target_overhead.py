"""What asking a target costs beside the target's own time, measured against a stand-in server in another process.

    python bench/target_overhead.py [--rounds 3] [--quick]

Prints one JSON line per measurement: requests per second of wall time, CPU microseconds per question of this process, and
at 100 ms latency the ratio to the ideal of ceil(questions / concurrency) x latency. The best of the rounds counts: other
work on the machine only ever adds time. `floor` is a bare loop over the HTTP client with the same bodies: what is above
it is ours.
"""

import argparse
import asyncio
import json
import math
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

import aiohttp

from evalsi.infra.targets.make_target import Surroundings, make_target
from evalsi.ports.target import Target, TargetTask
from evalsi.schema import Content, Record
from evalsi.schema import Target as TargetSpec

Ask = Callable[[int], Awaitable[object]]
TEXT = "x" * 1500


def stand_in(latency_s: float) -> tuple["subprocess.Popen[str]", str]:
    command = [sys.executable, "-m", "evalsi.testing.stand_in_model", "--latency", str(latency_s)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def target_at(url: str, connector: str, *, stream: bool = False) -> Target:
    base_url = url if connector == "openai-compatible" else url.removesuffix("/v1")
    spec = TargetSpec(
        connector=connector, model="m", base_url=base_url, stream=stream, system_prompt="Be brief.", temperature=0.0
    )
    return make_target(spec, Surroundings())


async def spread(ask: Ask, questions: int, concurrency: int) -> tuple[float, float]:
    """Wall and CPU seconds of asking `questions` questions, `concurrency` at a time."""
    numbers = iter(range(questions))

    async def work() -> None:
        for number in numbers:
            await ask(number)

    wall_s, cpu_s = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(concurrency)))
    return time.perf_counter() - wall_s, time.process_time() - cpu_s


async def measure(target: Target, questions: int, concurrency: int) -> tuple[float, float]:
    async def ask(number: int) -> object:
        record = Record(id=str(number), input=Content(text=f"Question {number}: {TEXT}"))
        return await target.answer(TargetTask(record=record))

    try:
        return await spread(ask, questions, concurrency)
    finally:
        await target.close()


async def measure_floor(url: str, questions: int, concurrency: int) -> tuple[float, float]:
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:

        async def ask(number: int) -> object:
            messages = [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": f"Question {number}: {TEXT}"},
            ]
            body = json.dumps({"model": "m", "messages": messages, "temperature": 0.0}).encode()
            async with session.post(f"{url}/chat/completions", data=body) as response:
                return json.loads(await response.read())

        return await spread(ask, questions, concurrency)


def report(name: str, rounds: list[tuple[float, float]], questions: int, **more: float) -> None:
    wall_s, cpu_s = min(rounds)[0], min(cpu for _, cpu in rounds)
    found = {"questions": questions, "wall_s": wall_s, "per_s": questions / wall_s, "cpu_us": cpu_s / questions * 1e6}
    rounded = {key: round(value, 4) for key, value in {**found, **more}.items()}
    print(json.dumps({"name": name, **rounded}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a quarter of the questions")
    options = parser.parse_args()
    questions = 2000 if options.quick else 8000
    process, url = stand_in(0.0)
    try:
        found = [asyncio.run(measure_floor(url, questions, 64)) for _ in range(options.rounds)]
        report("floor: bare HTTP client, 0 ms x 64", found, questions)
        for connector in ("openai-compatible", "anthropic"):
            for stream in (False, True):
                makes = [target_at(url, connector, stream=stream) for _ in range(options.rounds)]
                found = [asyncio.run(measure(target, questions, 64)) for target in makes]
                report(f"{connector}{', streamed' if stream else ''}, 0 ms x 64", found, questions)
    finally:
        process.terminate()
        process.wait()
    process, url = stand_in(0.1)
    try:
        for concurrency in (64, 256, 1000):
            questions = concurrency * (4 if options.quick else 10)
            ideal_s = math.ceil(questions / concurrency) * 0.1
            found = [
                asyncio.run(measure(target_at(url, "openai-compatible"), questions, concurrency))
                for _ in range(options.rounds)
            ]
            report(
                f"openai-compatible, 100 ms x {concurrency}",
                found,
                questions,
                ideal_s=ideal_s,
                ratio=min(found)[0] / ideal_s,
            )
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
