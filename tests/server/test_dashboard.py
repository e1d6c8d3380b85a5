"""The Grafana dashboard: every panel can be drawn, every metric in it is exported."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.running_server import RunningServer, running_server

ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "grafana" / "evalsi.json"
KINDS = {"timeseries", "stat", "row"}
UNITS = {"short", "cps", "reqps", "bytes", "Bps", "s", "percentunit", "currencyUSD"}
_METRIC = re.compile(r"\bevalsi_[a-z_]+\b")


@pytest.fixture(scope="module")
def dashboard() -> Any:
    return json.loads(FILE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("dashboard")) as server:
        yield server


def panels(dashboard: Any) -> list[Any]:
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def test_every_panel_has_what_grafana_needs_and_none_covers_another(dashboard: Any) -> None:
    assert dashboard["schemaVersion"] >= 39
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        assert panel["type"] in KINDS
        assert panel["title"]
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert at["x"] + at["w"] <= 24
        assert not cells & taken
        taken |= cells
    for panel in panels(dashboard):
        assert panel["description"].endswith(".")
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
        references = [target["refId"] for target in panel["targets"]]
        assert references == sorted(set(references))
        for target in panel["targets"]:
            assert target["datasource"] == panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
            for one, other in ("()", "{}", "[]"):
                assert target["expr"].count(one) == target["expr"].count(other)
            for label in re.findall(r"{{(\w+)}}", target["legendFormat"]):
                assert label in target["expr"] or "evalsi_policy" in target["expr"]


@pytest.mark.slow
def test_every_metric_of_the_dashboard_is_one_that_a_server_exports(dashboard: Any, server: RunningServer) -> None:
    _, _, body = server.request("GET", "/metrics")
    exported: set[str] = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", body.decode(), re.MULTILINE):
        exported |= {f"{name}{end}" for end in ("_bucket", "_count", "_sum")} if kind == "histogram" else {name}
    queries = [target["expr"] for panel in panels(dashboard) for target in panel["targets"]]
    queries += [one["query"]["query"] for one in dashboard["templating"]["list"] if one["type"] == "query"]
    named = {name for query in queries for name in _METRIC.findall(query)}
    assert named
    assert named - exported == set()
