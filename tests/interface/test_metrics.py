"""What the interface lists of `/metrics` is there on a server that has done some work, with its labels, or stands in `later.toml`.

Apart from the other lists because only a server that works shows what it measures.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interface.test_interface import is_later, later, lines, stands_for
from tests.server.running_server import EXACT, running_server, wait_until
from tests.server.test_monitor_service import CONFIG, LEAK, evaluated, send
from tests.watch.webhook_receiver import receiver

_KIND = re.compile(r"^# TYPE (evalsi_\w+) \w+$", re.MULTILINE)
_SAMPLE = re.compile(r"^(evalsi_\w+)\{(.*)\} \S+$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="(?:[^"\\]|\\.)*"')

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, set[str]]]:
    """Every metric of a server on which a call, a run, a policy and its alert have been, with its labels."""
    folder: Path = tmp_path_factory.mktemp("measured")
    (folder / "evalsi.yaml").write_text(CONFIG)
    with receiver() as heard, running_server(folder, ["--config", "evalsi.yaml"]) as server:
        alert = {"metric": "pii-leak", "below": 0.9, "minSamples": 1, "webhook": f"{heard.url}/hook"}
        policy = {"name": "answers", "stages": [{"evaluators": [{"ref": "pii-leak"}]}], "alerts": [alert]}
        assert server.post("/v1alpha1/policies", policy)[0] == 200
        assert server.post("/v1/evaluate", EXACT)[0] == 200
        spec = {"dataset": {"inline": {"records": EXACT["records"]}}, "evaluators": EXACT["evaluators"]}
        assert server.post("/v1alpha1/runs", {"spec": spec})[0] == 200
        send(server, *range(40), answer=LEAK)
        assert wait_until(lambda: evaluated(server) == 40, 30)
        assert wait_until(lambda: server.metric('evalsi_webhook_attempts_total{outcome="delivered"}') == 1, 20)
        assert wait_until(lambda: server.metric('evalsi_runs_finished_total{status="done"}') == 1, 20)
        text = server.request("GET", "/metrics")[2].decode()
    found = defaultdict[str, set[str]](set, {name: set() for name in _KIND.findall(text)})
    for name, labels in _SAMPLE.findall(text):
        found[name].update(_LABEL.findall(labels))
    yield found


def listed() -> dict[str, set[str]]:
    named = [line.rstrip("}").partition("{") for line in lines("metrics")]
    return {name: set(filter(None, labels.split(","))) for name, _, labels in named}


def test_every_metric_that_the_interface_lists_is_exported_or_has_a_reason_not_to_be(
    exported: dict[str, set[str]],
) -> None:
    missing = [name for name in listed() if name not in exported and not is_later("metric", name)]
    assert missing == []


def test_a_listed_metric_has_the_labels_that_are_listed(exported: dict[str, set[str]]) -> None:
    lacking = {name: labels - exported[name] for name, labels in listed().items() if name in exported}
    assert {name: labels for name, labels in lacking.items() if labels} == {}


def test_what_is_said_to_come_later_is_listed_and_not_exported(exported: dict[str, set[str]]) -> None:
    for pattern in later()["metric"]:
        assert [name for name in listed() if stands_for(pattern, name)], (
            f"{pattern} is nothing that the interface lists"
        )
        assert not [name for name in exported if stands_for(pattern, name)], f"{pattern} is here"


def test_the_list_is_whole() -> None:
    """So that a line lost in a merge is noticed."""
    assert len(listed()) == 34
