"""A worker that is killed between the sending of a message and the note that it was sent: it is sent again under its key.

The worker is a process of its own, killed by the receiver while it holds the message. SQLite, real HTTP.
"""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from evalsi.watch.complete_traces import complete_traces
from tests.watch.live_traffic import policy_of, spans_of, traffic_in
from tests.watch.webhook_receiver import receiver

pytestmark = pytest.mark.slow

WORKER = """
import asyncio, ipaddress, sys
from datetime import timedelta
from pathlib import Path
from evalsi.core.address_fence import AddressFence
from evalsi.infra.webhooks import WebhookSender
from evalsi.watch.deliver_notices import deliver_notices
from tests.watch.live_traffic import NOON, TurnedClock, traffic_in

clock = TurnedClock(NOON + timedelta(seconds=float(sys.argv[2])))
fence = AddressFence(allow_networks=(ipaddress.ip_network("127.0.0.0/8"),))
with traffic_in(Path(sys.argv[1]), clock=clock) as traffic:
    sender = WebhookSender(fence=fence, secret=lambda *_: "", clock=clock)
    while asyncio.run(deliver_notices(traffic.tools, sender)):
        pass
"""
THRESHOLDS = (0.6, 0.7, 0.8)


def put_messages_in_line(folder: Path, url: str) -> None:
    """An alert for each threshold fires."""
    with traffic_in(folder) as traffic:
        alerts = [{"metric": "pii-leak", "below": below, "webhook": url} for below in THRESHOLDS]
        traffic.apply(policy_of(stages=[{"evaluators": [{"ref": "pii-leak"}]}], alerts=alerts))
        traffic.arrive(*(spans_of(number, answer="My address is jane@example.com.") for number in range(60)))
        while asyncio.run(complete_traces(traffic.tools, limit=100)):
            pass


def test_the_receiver_can_tell_what_comes_again_and_nothing_is_lost(tmp_path: Path) -> None:
    with receiver() as heard:
        put_messages_in_line(tmp_path, f"http://127.0.0.1:{heard.port}/hook")
        statuses: list[int] = []
        for later_s in (10, 40, 70):  # beyond the lease of whoever was killed
            command = [sys.executable, "-c", WORKER, str(tmp_path), str(later_s)]
            worker = subprocess.Popen(command, cwd=Path(__file__).parents[2])
            if later_s < 70:

                def kill(process: "subprocess.Popen[bytes]" = worker) -> None:
                    with suppress(ProcessLookupError):
                        os.kill(process.pid, signal.SIGKILL)

                heard.when_heard = kill
            else:
                heard.when_heard = lambda: None
            statuses.append(worker.wait(60))
        assert statuses == [-signal.SIGKILL, -signal.SIGKILL, 0]
        bodies: dict[str, list[bytes]] = {}
        for headers, body in heard.heard:
            assert headers["Idempotency-Key"] == headers["Evalsi-Delivery"]
            bodies.setdefault(headers["Evalsi-Delivery"], []).append(body)
        assert len(bodies) == len(THRESHOLDS)
        assert all(len(set(each)) == 1 for each in bodies.values())
        assert max(len(each) for each in bodies.values()) >= 2
    with traffic_in(tmp_path) as traffic:
        traffic.clock.turn(3_600)
        assert traffic.policies.claim_deliveries(now_ms=traffic.tools.now_ms, limit=9, lease_ms=1) == []
