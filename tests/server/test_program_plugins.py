"""Plugins that are programs, behind a server: what one does touches nobody else, and none outlives the server."""

import json
import os
import signal
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import pytest

from tests.server.running_server import EXACT, RunningServer, processes_with, running_server, wait_until

ROOT = Path(__file__).parents[2]


def plugins(folder: Path, **commands: list[str]) -> dict[str, str]:
    """The environment of a server that knows these programs."""
    listed = {name: {"command": command, "folder": str(ROOT)} for name, command in commands.items()}
    path = folder / "plugins.json"
    path.write_text(json.dumps({"plugins": listed}))
    return {"EVALSI_PLUGINS": str(path)}


@pytest.fixture(scope="module")
def with_programs(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    folder = tmp_path_factory.mktemp("programs")
    example = [sys.executable, str(ROOT / "examples" / "plugin" / "one_sentence.py")]
    odd = [sys.executable, "-m", "tests.infra.odd_program"]
    environment = plugins(folder, house=example, odd=odd, broken=["/nowhere/program"])
    with running_server(folder, ("--record-deadline", "6", "--workers", "2"), environment) as running:
        yield running


def grade(server: RunningServer, ref: str, *texts: str) -> list[tuple[str, str]]:
    records = [{"id": text, "output": {"text": text}} for text in texts]
    status, found = server.post("/v1/evaluate", {"records": records, "evaluators": [{"ref": ref}]})
    assert status == 200, found
    return [(result["recordId"], result["outcome"].removeprefix("OUTCOME_")) for result in found["results"]]


@pytest.mark.slow
def test_the_example_grades_and_is_listed(with_programs: RunningServer) -> None:
    found = grade(with_programs, "house/one-sentence", "Paris.", "Paris. It is in France.")
    assert found == [("Paris.", "SCORED"), ("Paris. It is in France.", "SCORED")]
    _, catalog = with_programs.get("/v1/evaluators")
    assert {"house", "odd"} <= {manifest.get("pack") for manifest in catalog["evaluators"]}


@pytest.mark.slow
def test_params_are_checked_as_the_program_says(with_programs: RunningServer) -> None:
    wrong = {"ref": "house/one-sentence", "params": {"most": 0}}
    status, found = with_programs.post("/v1/evaluate", {"records": [], "evaluators": [wrong]})
    assert (status, found["error"]) == (400, "invalid-params")
    assert "minimum" in found["message"]


@pytest.mark.slow
def test_a_program_that_hangs_or_dies_costs_its_own_records(with_programs: RunningServer) -> None:
    with ThreadPoolExecutor() as threads:
        hanging = threads.submit(grade, with_programs, "odd/odd", "fine", "hang")
        slowest = 0.0
        while not hanging.done():
            begun = monotonic()
            assert with_programs.post("/v1/evaluate", EXACT)[0] == 200
            slowest = max(slowest, monotonic() - begun)
        assert dict(hanging.result())["hang"] == "ERROR"
        assert slowest < 1
    assert grade(with_programs, "odd/odd", "fine", "crash", "well") == [
        ("fine", "SCORED"),
        ("crash", "ERROR"),
        ("well", "SCORED"),
    ]
    status, found = with_programs.post("/v1/evaluate", {"records": [], "evaluators": [{"ref": "broken/any"}]})
    assert (status, found["error"]) == (500, "plugin")


@pytest.mark.slow
def test_programs_are_gone_when_their_server_was_killed(tmp_path: Path) -> None:
    mark = f"--of={tmp_path}"
    environment = plugins(tmp_path, odd=[sys.executable, "-m", "tests.infra.odd_program", mark])
    with running_server(tmp_path, (), environment) as server:
        grade(server, "odd/odd", "fine")
        assert processes_with(mark)
        os.kill(server.process.pid, signal.SIGKILL)
        assert wait_until(lambda: not processes_with(mark))


@pytest.mark.slow
@pytest.mark.interop
def test_the_published_worker_is_a_program_like_any_other(tmp_path: Path, published: Path) -> None:
    environment = plugins(tmp_path, peer=[str(published), "-m", "evalsi", "worker"])
    with running_server(tmp_path, (), environment) as server:
        records = [
            {"id": str(n), "output": {"text": text}, "reference": {"text": "Paris"}}
            for n, text in enumerate(("Paris", "Lyon"))
        ]
        status, found = server.post("/v1/evaluate", {"records": records, "evaluators": [{"ref": "peer/exact-match"}]})
        assert status == 200, found
        assert [result["scores"][0]["passed"] for result in found["results"]] == [True, False]
