"""What asking a judge costs beside the model's own time, measured against a stand-in server in another process.

    python bench/judge_overhead.py [--rounds 5]

Prints one JSON line per measurement: requests per second of wall time, CPU microseconds per question of this process, and
at 100 ms latency the ratio to the ideal of ceil(questions / concurrency) x latency. There the stand-in is the lean one, which
leaves the processors to who is measured, and beside the judge stands a client that does nothing but send and wait: what the
machine itself adds. The best of the rounds counts: other work on the machine only ever adds time.
"""

import argparse
import asyncio
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from evalsi.infra.models.endpoint import Access
from evalsi.infra.models.openai import OpenAICompatibleModel
from evalsi.infra.reply_cache import SqliteReplyCache
from evalsi.judges.judge import JudgeSettings, ModelJudge
from evalsi.judges.prompt import Template
from evalsi.judges.replies.label import label_reader
from evalsi.ports.chat_model import ChatMessage, ChatModel, ChatRequest
from evalsi.ports.reply_cache import ReplyCache

TEMPLATE = Template(
    name="bench",
    version="1",
    system="You grade answers. End with 'Verdict: CORRECT' or 'Verdict: INCORRECT'.",
    user="Question:\n{{ input }}\n\nAnswer:\n{{ output }}\n\nReference:\n{{ reference }}",
)
READ = label_reader(("CORRECT", "INCORRECT"))
Ask = Callable[[int], Awaitable[object]]


EXACT_MODEL = [sys.executable, "-m", "evalsi.testing.stand_in_model"]
LEAN_MODEL = [sys.executable, str(Path(__file__).with_name("lean_model.py")), "--reply", "Verdict: CORRECT"]


def stand_in(latency_s: float, program: Sequence[str] = EXACT_MODEL) -> tuple["subprocess.Popen[str]", str]:
    command = [*program, "--latency", str(latency_s)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


async def spread(ask: Ask, questions: int, concurrency: int) -> tuple[float, float]:
    """Wall and CPU seconds of asking `questions` questions, `concurrency` at a time."""
    numbers = iter(range(questions))

    async def work() -> None:
        for number in numbers:
            await ask(number)

    wall_s, cpu_s = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(concurrency)))
    return time.perf_counter() - wall_s, time.process_time() - cpu_s


def asking_plainly(model: ChatModel) -> Ask:
    async def ask(number: int) -> object:
        text = f"Question {number}: " + "x" * 1500
        return await model.complete(ChatRequest(model="m", messages=(ChatMessage(role="user", content=text),)))

    return ask


def asking_a_judge(model: ChatModel, cache: ReplyCache | None) -> Ask:
    judge = ModelJudge(model, JudgeSettings(provider="openai-compatible", model="m"), cache=cache)

    async def ask(number: int) -> object:
        values = {"input": f"Question {number}?", "output": "x" * 700, "reference": "y" * 700}
        return await judge.ask(TEMPLATE.render(values), READ)

    return ask


async def measure(url: str, make: Callable[[ChatModel], Ask], questions: int, concurrency: int) -> tuple[float, float]:
    model = OpenAICompatibleModel(Access(base_url=url, api_key="none"))
    try:
        return await spread(make(model), questions, concurrency)
    finally:
        await model.close()


async def measure_barely(url: str, questions: int, concurrency: int) -> tuple[float, float]:
    """As `measure`, of a client that sends the same bytes each time and reads nothing of what it gets but its length."""
    address = urlsplit(url)
    body = b'{"model":"m","messages":[{"role":"user","content":"%b"}]}' % (b"x" * 1500)
    head = f"POST {address.path}/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: {len(body)}\r\n\r\n"
    free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(_number: int) -> None:
        reader, writer = free.pop() if free else await asyncio.open_connection(address.hostname, address.port)
        writer.write(head.encode() + body)
        length = int((await reader.readuntil(b"\r\n\r\n")).partition(b"content-length: ")[2].split(b"\r\n")[0])
        await reader.readexactly(length)
        free.append((reader, writer))

    return await spread(ask, questions, concurrency)


def report(name: str, rounds: list[tuple[float, float]], questions: int, **more: float) -> None:
    wall_s, cpu_s = min(rounds)[0], min(cpu for _, cpu in rounds)
    found = {"questions": questions, "wall_s": wall_s, "per_s": questions / wall_s, "cpu_us": cpu_s / questions * 1e6}
    rounded = {key: round(value, 4) for key, value in {**found, **more}.items()}
    print(json.dumps({"name": name, **rounded}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    process, url = stand_in(0.0)
    try:
        makes: dict[str, Callable[[ChatModel], Ask]] = {
            "client, 0 ms": asking_plainly,
            "judge without cache, 0 ms": lambda model: asking_a_judge(model, None),
        }
        for name, make in makes.items():
            report(name, [asyncio.run(measure(url, make, 4000, 64)) for _ in range(rounds)], 4000)
        with tempfile.TemporaryDirectory() as folder:
            for name in ("judge with an empty cache, 0 ms", "judge with a full cache"):
                found: list[tuple[float, float]] = []
                for number in range(rounds):
                    cache = SqliteReplyCache(Path(folder) / f"{number}.db")
                    make = lambda model: asking_a_judge(model, cache)  # noqa: E731, B023
                    found.append(asyncio.run(measure(url, make, 4000, 64)))
                    cache.close()
                report(name, found, 4000)
    finally:
        process.terminate()
        process.wait()
    process, url = stand_in(0.1, LEAN_MODEL)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for concurrency in (64, 256):
                questions = 500 if concurrency == 64 else 2560
                ideal_s = math.ceil(questions / concurrency) * 0.1
                judged, barely = [], []
                for number in range(rounds):
                    cache = SqliteReplyCache(Path(folder) / f"{concurrency}-{number}.db")
                    make = lambda model: asking_a_judge(model, cache)  # noqa: E731, B023
                    judged.append(asyncio.run(measure(url, make, questions, concurrency)))
                    cache.close()
                    barely.append(asyncio.run(measure_barely(url, questions, concurrency)))
                for who, found in (("judge", judged), ("bare client", barely)):
                    ratio = min(found)[0] / ideal_s
                    report(f"{who}, 100 ms x {concurrency}", found, questions, ideal_s=ideal_s, ratio=ratio)
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
