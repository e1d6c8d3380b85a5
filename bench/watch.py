"""Traffic graded by a policy of three evaluators at 100%: `python bench/watch.py`.

    python bench/watch.py --traces 8000                     how much one worker does in a second of processor time
    python bench/watch.py --rate 500 --seconds 30           how soon scores are there, the server on the same machine
    python bench/watch.py --idle 10                         what a worker takes that has nothing to do

The first stores traces of ten spans with 1 KB of content each, then has the worker's own loop complete and grade them in
this process; `--profile FILE` keeps where the time went. The second sends at a set rate to a server with its workers, and
watches what becomes complete: freshness is from the moment at which a trace was complete to the moment at which somebody
who looks sees its scores. Prints one line of JSON for each.
"""

import argparse
import asyncio
import cProfile
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from otlp_ingest import SPANS_OF_TRACE, agent_trace, asked, cpu_s, serving

from evalsi.core.collector import tune_collector
from evalsi.infra.store.open_stores import open_policy_store, open_trace_store
from evalsi.ports.trace_store import TraceStore, Waiting
from evalsi.schema import OnlineEvalPolicy, TraceFilter
from evalsi.schema.json_codec import convert
from evalsi.settings import Settings
from evalsi.settings.server import ServerSettings
from evalsi.traces.otlp_writing import encode_otlp_protobuf
from evalsi.traces.trace_parts import PartLimits, parts_of_request
from evalsi.watch.policy import checked_policy
from evalsi.wiring.watch_work import watch
from evalsi.wiring.watching import WatchWorkerOrder, order_of_watch

POLICY: dict[str, Any] = {
    "name": "quick",
    "project": "default",
    "stages": [{"evaluators": [{"ref": "tool-errors"}, {"ref": "length"}, {"ref": "redundant-calls"}]}],
}
TRACES_OF_REQUEST = 50
WARMING = 500
EVALUATORS = 3
SENDERS = 4
GRACE_S = 1.0
LOOK_S = 0.2


def body_of(rng: random.Random, number: int) -> tuple[bytes, list[str]]:
    """A request, and the ids of its traces."""
    now_ns = time.time_ns()
    ids = [f"{rng.getrandbits(128) | 1:032x}" for _ in range(TRACES_OF_REQUEST)]
    spans = [span for trace_id in ids for span in agent_trace(rng, trace_id, number, now_ns)]
    return encode_otlp_protobuf(spans), ids


def store_traces(store: TraceStore, count: int, due_ms: int) -> None:
    rng = random.Random(due_ms)
    waiting = Waiting(grace_ms=0, limit_ms=0)
    for number in range(count // TRACES_OF_REQUEST):
        split = parts_of_request(body_of(rng, number)[0], PartLimits(), {})
        parts = [part for resource in split.resources for part in resource.parts]
        store.append("default", parts, now_ms=due_ms, waiting=waiting)


@contextmanager
def ordered(postgres: str) -> Iterator[WatchWorkerOrder]:
    """The order of a worker over stores of its own, with the policy applied."""
    with tempfile.TemporaryDirectory(prefix="watch-") as folder:
        order = order_of_watch(ServerSettings(data_dir=f"{folder}/.evalsi"), Settings.from_environment())
        store = postgres or f"{folder}/evalsi.db"
        order = msgspec.structs.replace(order, runs=msgspec.structs.replace(order.runs, store=store))
        policies = open_policy_store(order.runs.store)
        policies.apply(checked_policy(convert(POLICY, OnlineEvalPolicy)).policy, now_ms=0)
        policies.database.close()
        yield order


def yardstick_ms() -> float:
    """CPU milliseconds that a fixed piece of Python takes: on a busy machine, figures grow with it."""
    before_s = time.process_time()
    counts: dict[int, int] = {}
    for number in range(300_000):
        counts[number % 997] = counts.get(number % 997, 0) + 1
    return (time.process_time() - before_s) * 1000


def worker_alone(order: WatchWorkerOrder, traces: int, profile: str) -> dict[str, Any]:
    """Completes and grades traces that are all due. The first of them, which load what is needed, are not measured."""
    tune_collector()  # as a worker does
    store = open_trace_store(order.runs.store)
    store_traces(store, traces + WARMING, int(time.time() * 1000))
    stopped = threading.Event()
    profiler = cProfile.Profile() if profile else None
    figures: dict[str, Any] = {}

    def wait_and_measure() -> None:
        while (left := store.pending()) > traces:
            time.sleep(0.02)
        cpu_before_s, before_s = time.process_time(), time.perf_counter()
        while store.pending():
            time.sleep(0.05)
        used_s, took_s = time.process_time() - cpu_before_s, time.perf_counter() - before_s
        stopped.set()
        figures.update(
            {
                "traces per CPU second": round(left / used_s),
                "CPU ms per trace": round(used_s / left * 1e3, 3),
                "traces per second": round(left / took_s),
            }
        )

    thread = threading.Thread(target=wait_and_measure)
    thread.start()
    if profiler is not None:
        asyncio.to_thread = _here  # what other threads do is not seen by the profiler
        profiler.enable()
    asyncio.run(watch(order, Settings.from_environment(), stopped))
    if profiler is not None:
        profiler.disable()
        profiler.dump_stats(profile)
    thread.join()
    graded = store.count(["default"], TraceFilter(policy="quick")).total
    assert graded == traces + WARMING, f"{graded} traces were graded and not {traces + WARMING}"
    store.close()
    return {"measured": "worker alone", "traces": traces, "spans of a trace": SPANS_OF_TRACE, **figures}


async def _here(function: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
    return function(*given, **named)


def idle(order: WatchWorkerOrder, seconds: float) -> dict[str, Any]:
    """A worker over a store in which nothing is due."""
    stopped = threading.Event()
    figures: dict[str, Any] = {}

    def wait_and_measure() -> None:
        time.sleep(2.0)
        before_s = time.process_time()
        time.sleep(seconds)
        figures["CPU ms per second"] = round((time.process_time() - before_s) / seconds * 1e3, 2)
        stopped.set()

    thread = threading.Thread(target=wait_and_measure)
    thread.start()
    asyncio.run(watch(order, Settings.from_environment(), stopped))
    thread.join()
    return {"measured": "idle worker", "seconds": seconds, **figures}


def beside_a_server(rate: float, seconds: float, workers: int) -> dict[str, Any]:
    """Sends at a rate to a server; how long after they were complete traces are seen with their scores."""
    with tempfile.TemporaryDirectory(prefix="watch-") as place:
        settings = {
            "data_dir": ".evalsi",
            "otlp": {"grace": f"{GRACE_S:g}s"},
            "policies": [POLICY],
            **({"traces": {"workers": workers}} if workers else {}),
        }
        (Path(place) / "evalsi.yaml").write_text(json.dumps(settings))
        with serving([sys.executable, "-m", "evalsi"], Path(place), ["--config", "evalsi.yaml"]) as (port, pid):
            return _sent_and_seen(port, pid, Path(place) / ".evalsi" / "evalsi.db", rate, seconds)


def _sent_and_seen(port: int, pid: int, path: Path, rate: float, seconds: float) -> dict[str, Any]:
    rng = random.Random(7)
    bodies = [body_of(rng, number) for number in range(round(rate * seconds / TRACES_OF_REQUEST))]
    sent: dict[str, float] = {}
    waits_s: list[float] = []
    store = open_trace_store(str(path))
    _, mark = store.completed_since(["default"], TraceFilter(), after=0, size=1)
    before_s, began_s = cpu_s(pid), time.monotonic()

    def send(lane: int) -> None:
        for place in range(lane, len(bodies), SENDERS):
            body, ids = bodies[place]
            time.sleep(max(0.0, began_s + place * TRACES_OF_REQUEST / rate - time.monotonic()))
            while asked(port, "/v1/traces", body)[0] != 200:
                time.sleep(0.1)
            sent.update(dict.fromkeys(ids, time.monotonic()))

    lanes = [threading.Thread(target=send, args=(lane,)) for lane in range(SENDERS)]
    for lane in lanes:
        lane.start()
    wanted = len(bodies) * TRACES_OF_REQUEST
    most_waiting = 0
    while len(waits_s) < wanted:
        found, mark = store.completed_since(["default"], TraceFilter(), after=mark, size=10_000)
        now_s = time.monotonic()
        for each in found:
            assert each.results == EVALUATORS, f"trace {each.trace_id} has {each.results} results"
            waits_s.append(now_s - sent[each.trace_id] - GRACE_S)
        most_waiting = max(most_waiting, len(sent) - len(waits_s))
        time.sleep(LOOK_S)
    took_s = time.monotonic() - began_s
    used_s = cpu_s(pid) - before_s
    store.close()
    waits_s.sort()
    return {
        "measured": "beside a server",
        "traces per second sent": rate,
        "traces": wanted,
        "traces per second graded": round(wanted / (took_s - GRACE_S)),
        "freshness p50 s": round(waits_s[len(waits_s) // 2], 2),
        "freshness p95 s": round(waits_s[int(len(waits_s) * 0.95)], 2),
        "freshness max s": round(waits_s[-1], 2),
        "most that waited": most_waiting,
        "CPU s of the server and its workers": round(used_s, 1),
        "CPU ms per trace": round(used_s / wanted * 1e3, 3),
        "seconds": round(took_s, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=4_000)
    parser.add_argument("--profile", default="", metavar="FILE")
    parser.add_argument("--postgres", default="", metavar="URL")
    parser.add_argument("--rate", type=float, default=0.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--workers", type=int, default=0, help="watch workers of the server; 0 for the usual number")
    parser.add_argument("--idle", type=float, default=0.0, metavar="SECONDS")
    given = parser.parse_args()
    if given.rate:
        found = beside_a_server(given.rate, given.seconds, given.workers)
    else:
        with ordered(given.postgres) as order:
            found = idle(order, given.idle) if given.idle else worker_alone(order, given.traces, given.profile)
    print(json.dumps({**found, "yardstick ms": round(yardstick_ms(), 1), "load": round(os.getloadavg()[0], 1)}))


if __name__ == "__main__":
    main()
