"""One server with a team's runs for all tests of the pages that only look."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.server.pages.page_server import PageServer
from tests.server.pages.stored_runs import fill, opened
from tests.server.pages.stored_traffic import fill_traffic, opened_traffic
from tests.server.running_server import running_server, wait_until


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Generator[PageServer]:
    folder: Path = tmp_path_factory.mktemp("pages")
    with opened(folder / "store") as stores:
        ids = fill(stores)
    with opened_traffic(folder / "store") as traces:
        ids |= fill_traffic(traces)
    with running_server(folder) as server:
        for version, extra in ((1, []), (2, [{"id": "q3", "input": "<b>third</b>"}])):
            rows = [
                {"id": "q1", "input": f"first {version}", "reference": "one"},
                {"id": "q2", "input": "שאלה"},
                *extra,
            ]
            body = "".join(json.dumps(row) + "\n" for row in rows)
            status, _, answer = server.request(
                "POST", "/v1/datasets/questions/upload?description=Asked+by+people", body
            )
            assert status == 201, answer
        for word in ("hostile-trace", "research-desk-wrong"):
            status, captured = server.post("/v1/failures", {"traceId": ids[word], "reason": f"<b>{word}</b> \u202e"})
            assert status == 200, captured
            ids["failure"] = captured["failure"]["id"]
        yield PageServer(server, folder / "store", ids)


@pytest.fixture(scope="session")
def graded(pages: PageServer) -> PageServer:
    """The same server when a policy has evaluated the traffic that is stored."""
    policy = {
        "name": "agent-health",
        "selector": "service == 'support-agent'",
        "sampling": {"rate": 0.99, "always": ["error"]},
        "stages": [{"evaluators": [{"ref": "tool-errors"}, {"ref": "loop-detection"}]}],
        "alerts": [{"metric": "loop-detection", "above": 0.5, "minSamples": 20, "webhook": "http://127.0.0.1:9/"}],
        "window": "86400s",
        "labels": {"team": "<b>care</b>"},
    }
    assert pages.server.post("/v1alpha1/policies", policy)[0] == 200
    assert pages.server.post("/v1alpha1/policies/agent-health:backfill", {"since": "2020-01-01T00:00:00Z"})[0] == 200

    def is_done() -> bool:
        stats = pages.server.get("/v1alpha1/policies/agent-health/stats")[1]["stats"]
        return bool(stats["metrics"]) and stats["tracesWaiting"] == 0

    assert wait_until(is_done, 90)
    return pages
