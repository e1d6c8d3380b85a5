"""Many clients at once, on methods that grade, store runs, take datasets and list, while workers are killed: only deliberate
refusals, nothing that grows, and every run that was acknowledged is carried out.

It takes seconds, and a minute where tests are to be thorough.
"""

import json
import os
import random
import signal
import sys
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from tests.command_line import write_jsonl
from tests.server.running_server import EXACT, PATIENCE_S, RunningServer, running_server, wait_until
from tests.thoroughness import repeats

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]

CLIENTS = 8
SECONDS = repeats(8, 60)
MOST_GROWTH_BYTES = 64 << 20
SLOW = {"records": EXACT["records"], "evaluators": [{"ref": "token-f1"}]}
SPEC = {"dataset": {"path": "data.jsonl"}, "evaluators": [{"ref": "exact-match"}]}
UPLOAD = "".join(json.dumps({"id": str(n), "input": "x" * 100}) + "\n" for n in range(200))


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


EVERYTHING = {"evaluate", "worker", "create", "list", "upload"}


def hammer(server: RunningServer, number: int, until_s: float, seen: "list[tuple[str, int, bool]]") -> None:
    """Goes on until then, and until everything was answered once: how soon that is on a busy machine nobody promises."""
    rng = random.Random(number)
    while monotonic() < until_s or (answered(seen) != EVERYTHING and monotonic() < until_s + PATIENCE_S):
        what = rng.choice(["evaluate", "evaluate", "worker", "create", "list", "upload"])
        calls: dict[str, tuple[str, str, Any]] = {
            "evaluate": ("POST", "/v1/evaluate", json.dumps(EXACT)),
            "worker": ("POST", "/v1/evaluate", json.dumps(SLOW)),
            "create": ("POST", "/v1/runs", json.dumps({"name": "hammered", "spec": SPEC})),
            "list": ("GET", "/v1/runs?page_size=20", None),
            "upload": ("POST", f"/v1/datasets/cases-{rng.randrange(5)}/upload", UPLOAD),
        }
        status, headers, _ = server.request(*calls[what])
        seen.append((what, status, "retry-after" in headers))


def answered(seen: "list[tuple[str, int, bool]]") -> set[str]:
    return {what for what, status, _ in list(seen) if status in (200, 201)}


def test_clients_that_hammer_while_workers_die_meet_only_deliberate_refusals(tmp_path: Path) -> None:
    (tmp_path / "store" / "datasets").mkdir(parents=True)
    rows = [{"id": f"r{n}", "input": "?", "output": "a", "reference": "a"} for n in range(50)]
    write_jsonl(tmp_path / "store" / "datasets" / "data.jsonl", rows)
    rng = random.Random(3)
    seen: list[tuple[str, int, bool]] = []
    with running_server(tmp_path) as server:
        warm_until_s = monotonic() + 2
        hammer(server, 0, warm_until_s, seen)
        before = resident_bytes(server.process.pid)
        until_s = monotonic() + SECONDS
        threads = [threading.Thread(target=hammer, args=(server, n, until_s, seen)) for n in range(CLIENTS)]
        for thread in threads:
            thread.start()
        while monotonic() < until_s:
            sleep(0.5)
            victims = server.children()
            if victims:
                with suppress(ProcessLookupError):
                    os.kill(rng.choice(victims), signal.SIGKILL)
        for thread in threads:
            thread.join()
        wrong = Counter(
            (what, status) for what, status, waits in seen if status >= 500 and not (status == 503 and waits)
        )
        assert not wrong
        assert {status for _, status, _ in seen} <= {200, 201, 503}
        assert answered(seen) == EVERYTHING
        assert resident_bytes(server.process.pid) - before < MOST_GROWTH_BYTES
        assert wait_until(lambda: server.metric("evalsi_calls_in_flight") == 0)
        # Whatever was acknowledged is carried out, whoever died meanwhile.
        created = sum(what == "create" and status == 200 for what, status, _ in seen)
        _status, answer = server.get("/v1/runs?page_size=1000")
        assert len(answer["runs"]) == min(created, 1000)
        assert wait_until(lambda: "RUN_STATUS_SUCCEEDED" in str(server.get("/v1/runs?page_size=1000")[1]), PATIENCE_S)
        assert "RUN_STATUS_ERROR" not in str(server.get("/v1/runs?page_size=1000")[1])
