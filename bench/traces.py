"""The store of traces: `python bench/traces.py [--traces 20000] [--spans 10] [--letters 1000] [--senders 4] [--folder DIR] [--postgres URL] [--pages]`.

Stores traces in calls of 50 from several threads, completes them as a worker would, and asks every kind of page. Prints
stored spans per second, CPU per span in the store, bytes on disk per byte of payload, and the milliseconds of each page, of the clock and of
the processor.
With `--pages`, a server on the folder is asked for every page of traffic over HTTP as well, at most 300 ms each.
With `--traces 1000000 --spans 1 --letters 60` the pages are those of a million traces. A folder that holds traces
already is only asked.
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

from otlp_ingest import asked, cpu_s, serving

from evalsi.core.clock import moment_of
from evalsi.infra.store.open_stores import open_policy_store, open_trace_store
from evalsi.ports.policy_store import PolicyMark, Settlement
from evalsi.ports.trace_store import CompletedTrace, DueTrace, TracePart, TraceStore, Waiting
from evalsi.schema import (
    EvaluationResult,
    OnlineEvalPolicy,
    Outcome,
    PolicyResults,
    Score,
    TraceFilter,
    TraceSummary,
)
from evalsi.schema.json_codec import convert
from evalsi.traces import Span
from evalsi.traces.otlp_writing import encode_otlp_protobuf
from evalsi.watch.fold import WatchFolding

WORDS = Path(__file__).read_text().split()
AT_ONCE = 50
BEGIN_NS = 1_770_000_000 * 10**9
MOST_MARKS = 20_000
WAITING = Waiting(grace_ms=0, session_ms=0)


def a_part(number: int, spans: int, letters: int) -> TracePart:
    draw = random.Random(number)
    trace_id = draw.randbytes(16)
    begin_ns = BEGIN_NS + number * 10_000_000 + draw.randrange(5_000_000)
    about = {"service.name": f"service-{number % 20}"}
    found: list[Span] = []
    said = " ".join(draw.choices(WORDS, k=letters // 6))
    for place in range(spans):
        text = f"{said} {place}"  # agents send the whole conversation each time
        found.append(
            Span(
                trace_id=trace_id.hex(),
                span_id=draw.randbytes(8).hex(),
                parent_span_id=found[0].span_id if found else "",
                name="chat",
                start_ns=begin_ns,
                end_ns=begin_ns + 10**9,
                attributes={
                    "gen_ai.operation.name": "chat" if place % 2 else "execute_tool",
                    "gen_ai.request.model": "model",
                    "gen_ai.usage.input_tokens": 200,
                    "gen_ai.usage.output_tokens": 40,
                    "gen_ai.input.messages": text,
                },
                resource=about,
            )
        )
    return TracePart(
        trace_id=trace_id,
        span_ids=b"".join(bytes.fromhex(span.span_id) for span in found),
        body=encode_otlp_protobuf(found),
        service=about["service.name"],
        name="chat",
        start_ns=begin_ns,
        end_ns=begin_ns + 10**9,
        root_ended=True,
        root_failed=number % 50 == 0,
        session_id=f"session-{number // 3}",
        user_id=f"user-{number % 5000}",
        labels={"env": "prod" if number % 10 else "test"},
    )


def completed(due: DueTrace, number: int) -> CompletedTrace:
    draw = random.Random(number)
    text = " ".join(draw.choices(WORDS, k=40)) + f" order{number}"
    values = {"tone": draw.random(), "care": draw.random()}
    results = [
        EvaluationResult(evaluator=name, outcome=Outcome.SCORED, scores=[Score(name=name, number=value)])
        for name, value in values.items()
    ]
    summary = TraceSummary(
        duration=draw.expovariate(1),
        error=number % 50 == 0,
        steps=2,
        version=f"1.{number % 7}",
        model=f"model-{number % 9}",
        input=text[:300],
        output=text[:300],
        input_tokens=200,
        output_tokens=40,
        cost_usd=draw.expovariate(1000),
        spans=2,
    )
    policies = [PolicyResults(policy="watch", results=results, revision=1, time=moment_of(BEGIN_NS // 1000))]
    return CompletedTrace(due=due, summary=summary, span_digest=b"d" * 32, text=text, policies=policies)


def store_all(store: TraceStore, options: argparse.Namespace) -> None:
    calls = range(0, options.traces, AT_ONCE)
    payload = 0
    prepared_s = wall_s = cpu_s = 0.0

    def send(parts: list[TracePart]) -> None:
        store.append("default", parts, now_ms=parts[0].start_ns // 10**6, waiting=WAITING)

    with ThreadPoolExecutor(options.senders) as pool:
        for begin in range(0, len(calls), 64):
            before = time.perf_counter()
            bodies = [
                [a_part(number, options.spans, options.letters) for number in range(first, first + AT_ONCE)]
                for first in calls[begin : begin + 64]
            ]
            payload += sum(len(part.body) for parts in bodies for part in parts)
            prepared_s += time.perf_counter() - before
            wall, cpu = time.perf_counter(), time.process_time()
            list(pool.map(send, bodies))
            wall_s += time.perf_counter() - wall
            cpu_s += time.process_time() - cpu
    spans = options.traces * options.spans
    print(f"stored {spans:,} spans: {spans / wall_s:,.0f} spans/s, {cpu_s / spans * 1e6:.2f} us CPU per span")
    before, cpu = time.perf_counter(), time.process_time()
    done = 0
    while due := store.claim(now_ms=2 * BEGIN_NS // 10**6, limit=500, lease_ms=60_000):
        store.complete([completed(each, done + place) for place, each in enumerate(due)], now_ms=BEGIN_NS // 10**6)
        done += len(due)
    wall_s, cpu_s = time.perf_counter() - before, time.process_time() - cpu
    print(
        f"completed {done:,} traces: {done / wall_s:,.0f} traces/s, {cpu_s / max(done, 1) * 1e6:.0f} us CPU per trace"
    )
    if options.folder is not None:
        size = sum(path.stat().st_size for path in options.folder.glob("traces.db*"))
        print(f"payload {payload / 1e6:,.1f} MB, on disk {size / 1e6:,.1f} MB: {size / payload:.3f} of it")


def pages(store: TraceStore, traces: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    middle = moment_of(BEGIN_NS // 1000 + traces * 10_000 // 2)
    choices: dict[str, dict[str, Any]] = {
        "all": {},
        "service": {"service": "service-7"},
        "session": {"session_id": "session-77"},
        "user": {"user_id": "user-77"},
        "version": {"version": "1.3"},
        "version that is not there": {"version": "9"},
        "model that is not there": {"model": "none"},
        "errors": {"error": True},
        "not complete": {"complete": False},
        "until the middle": {"until": middle},
        "an hour in the middle": {"since": middle, "until": middle + timedelta(hours=1)},
        "longer than all": {"min_duration": 1000.0},
        "dearer than all": {"min_cost_usd": 1.0},
        "negative feedback, none": {"negative_feedback": True},
        "label, frequent": {"labels": ["env=prod"]},
        "label, none": {"labels": ["env=none"]},
        "score": {"scores": ["tone<0.5"]},
        "score, none": {"scores": ["tone<-1"]},
        "two scores": {"scores": ["tone<0.01", "care<0.01"]},
        "policy": {"policy": "watch"},
        "rare word": {"text": f"order{traces // 2}"},
        "frequent word": {"text": "number"},
        "frequent words and label": {"text": "number import", "labels": ["env=test"]},
        "no word": {"text": "nowhere"},
        "id": {"trace_id_prefix": "abcd"},
        "service, error, label": {"service": "service-0", "error": True, "labels": ["env=test"]},
    }
    for name, choice in choices.items():
        yield name, lambda choice=choice: store.find(["default"], TraceFilter(**choice), size=50)
    for name in ("all", "service", "rare word", "frequent word", "score", "longer than all"):
        yield f"count: {name}", lambda choice=choices[name]: store.count(["default"], TraceFilter(**choice))


def marked(path: Path, traces: int) -> None:
    """A policy with what it found, so that its page has something to show."""
    policies = open_policy_store(str(path))
    policy = convert(
        {"name": "watch", "project": "default", "stages": [{"evaluators": [{"ref": "length"}]}]}, OnlineEvalPolicy
    )
    policies.apply(policy, now_ms=0)
    now_ms = int(time.time() * 1000)
    for first in range(0, min(traces, MOST_MARKS), 500):
        marks = [
            PolicyMark(
                policy="watch",
                subject=f"{number:032x}",
                at_ms=now_ms - number * 300,
                stage="evaluated",
                values={"length": [float(number % 90)]},
                groups={"version": f"1.{number % 7}", "service": f"service-{number % 20}"},
            )
            for number in range(first, first + 500)
        ]
        policies.settle(Settlement(project="default", marks=marks), WatchFolding("default", {}), now_ms=now_ms)
    policies.database.close()


def pages_of_server(folder: Path, store: TraceStore, traces: int) -> None:
    """Asks a server on the folder for its pages, over HTTP; CPU is that of the server's process."""
    marked(folder / "evalsi.db", traces)
    newest = store.find(["default"], TraceFilter(), size=1).traces[0]
    middle = store.find(["default"], TraceFilter(service="service-7"), size=1).traces[0]
    settings = {"data_dir": str(folder), "traces": {"retention": None}}
    (folder / "evalsi.yaml").write_text(json.dumps(settings))
    addresses = {
        "list": "traces",
        "list with its counts": "traces?counts=yes",
        "service": "traces?service=service-7",
        "label": "traces?label=env%3Dtest",
        "errors": "traces?error=yes",
        "score": "traces?score=tone%3C0.5",
        "score, none": "traces?score=tone%3C-1",
        "longer than all": "traces?min_s=1000",
        "rare word": f"traces?q=order{traces // 2}",
        "frequent word": "traces?q=number",
        "frequent words and label": "traces?q=number+import&label=env%3Dtest",
        "no word": "traces?q=nowhere",
        "one trace": f"traces/{newest.trace_id}",
        "one trace, as sent": f"traces/{newest.trace_id}?view=raw",
        "one trace in its list": f"traces/{middle.trace_id}?service=service-7",
        "session": f"sessions/{newest.session_id}",
        "policies": "policies",
        "policy": "policies/watch",
        "failures": "failures",
    }
    with serving([sys.executable, "-m", "evalsi"], folder, ["--config", "evalsi.yaml"]) as (port, pid):
        for name, address in addresses.items():
            took_ms: list[float] = []
            cpu_ms: list[float] = []
            for _ in range(4):
                wall, cpu = time.perf_counter(), cpu_s(pid)
                status, body = asked(port, f"/ui/{address}")
                took_ms.append((time.perf_counter() - wall) * 1000)
                cpu_ms.append((cpu_s(pid) - cpu) * 1000)
                assert status == 200, (address, status, body[:200])
            print(f"page: {name:26} {took_ms[0]:8.1f} ms, then {min(took_ms):8.1f} ms, {min(cpu_ms):8.1f} ms of CPU")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=20_000)
    parser.add_argument("--spans", type=int, default=10)
    parser.add_argument("--letters", type=int, default=1000)
    parser.add_argument("--senders", type=int, default=4)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--postgres", default="")
    parser.add_argument("--pages", action="store_true")
    options = parser.parse_args()
    made = Path(tempfile.mkdtemp(prefix="traces-")) if options.folder is None and not options.postgres else None
    folder: Path | None = options.folder or made
    options.folder = folder
    store = open_trace_store(options.postgres or f"{folder}/evalsi.db")
    try:
        if not store.projects():
            store_all(store, options)
        for name, ask in pages(store, options.traces):
            took_ms: list[float] = []
            cpu_ms: list[float] = []
            for _ in range(3):
                wall, cpu = time.perf_counter(), time.process_time()
                ask()
                took_ms.append((time.perf_counter() - wall) * 1000)
                cpu_ms.append((time.process_time() - cpu) * 1000)
            print(f"{name:32} {took_ms[0]:8.1f} ms, then {min(took_ms):8.1f} ms, {min(cpu_ms):8.1f} ms of CPU")
        if options.pages and folder is not None:
            pages_of_server(folder.resolve(), store, options.traces)
    finally:
        store.close()
        if made is not None:
            shutil.rmtree(made)


if __name__ == "__main__":
    sys.exit(main())
