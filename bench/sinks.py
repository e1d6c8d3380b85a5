"""What sinks cost: processor time of grading with and without them, and of taking scores to one that answers at once.

    python bench/sinks.py [TRACES]

Everything runs in this process over SQLite in a folder of its own; the receiver is a process of its own, so that it is not
counted. Processor time, since a machine that others use gives no other.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from evalsi.infra.sinks.otel_sink import OtelSink
from evalsi.infra.sinks.webhook_sink import WebhookSink
from evalsi.watch.complete_traces import complete_traces
from evalsi.watch.deliver_scores import SinkLane, SinkPlan
from tests.infra.sinks.told_scores import endpoint
from tests.watch.live_traffic import Traffic, policy_of, spans_of, traffic_in

STAGES = [{"evaluators": [{"ref": "length"}, {"ref": "loop-detection"}, {"ref": "tool-errors"}]}]
RECEIVER = """
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


def cpu_s() -> float:
    times = os.times()
    return times.user + times.system


def grade(traffic: Traffic, count: int) -> float:
    """Microseconds of processor time that completing and grading a trace takes."""
    before = cpu_s()
    done = 0
    while some := asyncio.run(complete_traces(traffic.tools, limit=400)):
        done += some
    assert done == count, done
    return (cpu_s() - before) / count * 1e6


def deliver(traffic: Traffic, name: str, sink: WebhookSink | OtelSink, count: int) -> float:
    """Microseconds of processor time that taking the scores of a trace to a sink takes."""
    lane = SinkLane(traffic.tools, traffic.outbox, SinkPlan(name=name, sink=sink))

    async def work() -> int:
        done = 0
        while some := await lane.step():
            done += some
        await sink.close()
        return done

    before = cpu_s()
    assert asyncio.run(work()) == count
    return (cpu_s() - before) / count * 1e6


def main(count: int) -> None:
    receiver = subprocess.Popen([sys.executable, "-c", RECEIVER], stdout=subprocess.PIPE, text=True)
    assert receiver.stdout is not None
    url = f"http://127.0.0.1:{receiver.stdout.readline().strip()}"
    try:
        for sinks in ([], ["hook"], ["hook", "otel"]):
            with tempfile.TemporaryDirectory() as folder, traffic_in(Path(folder)) as traffic:
                traffic.apply(policy_of(stages=STAGES, sinks=sinks))
                for start in range(0, count, 500):
                    traffic.arrive(*(spans_of(number) for number in range(start, min(count, start + 500))))
                print(f"grading, {len(sinks)} sinks: {grade(traffic, count):,.0f} µs a trace")
                if "hook" in sinks:
                    hook = WebhookSink(endpoint=endpoint(url), secret=lambda: "secret", clock=traffic.clock)
                    print(f"  to a webhook: {deliver(traffic, 'hook', hook, count):,.0f} µs a trace of three scores")
                if "otel" in sinks:
                    otel = OtelSink(endpoint=endpoint(url), service_name="evalsi")
                    print(f"  to OTLP: {deliver(traffic, 'otel', otel, count):,.0f} µs a trace of three scores")
    finally:
        receiver.kill()
        receiver.wait()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4_000)
