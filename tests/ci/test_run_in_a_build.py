"""`evalsi run` as a build uses it: further gates, a baseline, and what both mean for the verdict and its files."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.ci.runner import clean_environment, commands_in

ROOT = Path(__file__).parents[2]
SPEC = """\
api_version: evals.si/v1alpha1
kind: EvalRun
metadata: {name: support}
spec:
  dataset: {path: aster.jsonl}
  evaluators: [token-f1]
  gates:
    - {metric: token-f1, min: 0.2}
"""
pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "run.yaml").write_text(SPEC, "utf-8")
    for assistant in ("aster", "birch"):
        shutil.copy(ROOT / f"examples/demo/data/{assistant}.jsonl", tmp_path / "evals")
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["evalsi", "run", "-f", "evals/run.yaml", "--quiet", *arguments],
        cwd=folder,
        env=clean_environment(Path(sys.executable).parent),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def titles(done: subprocess.CompletedProcess[str]) -> list[tuple[str, str]]:
    return [(found.name, found.properties["title"]) for found in commands_in(done.stderr)]


def test_a_file_named_from_the_working_folder_is_the_baseline_of_a_spec_in_another(folder: Path) -> None:
    assert run(folder, "--output", "base.json").returncode == 0
    birch = ("--set", "spec.dataset.path=birch.jsonl", "--baseline", "base.json")
    done = run(folder, *birch, "--gate", "token-f1:0.02", "--junit", "junit.xml", "--report", "report.md")
    assert done.returncode == 3, done.stderr
    assert titles(done) == [("error", "Gate not met: token-f1 loss against the baseline ≤ 0.02")]
    cases = {
        (case.attrib["classname"], case.attrib["name"]): [child.tag for child in case]
        for case in ET.parse(folder / "junit.xml").getroot().iter("testcase")
    }
    assert cases["support.gates", "token-f1 mean ≥ 0.2"] == []
    assert cases["support.gates", "token-f1 loss against the baseline ≤ 0.02"] == ["failure"]
    assert cases["support.baseline", "token-f1"] == ["failure"]
    assert "Against `support`, 160 shared records" in (folder / "report.md").read_text("utf-8")


def test_a_regression_that_no_gate_forbids_is_a_warning(folder: Path) -> None:
    run(folder, "--output", "base.json")
    done = run(folder, "--set", "spec.dataset.path=birch.jsonl", "--baseline", "base.json")
    assert done.returncode == 0
    assert titles(done) == [("warning", "token-f1 regressed")]


@pytest.mark.parametrize("baseline", ["latest", "latest(branch=main)"])
def test_a_run_is_never_its_own_baseline(folder: Path, baseline: str) -> None:
    first = run(folder, "--label", "branch=main", "--baseline", baseline, "--gate", "token-f1:0.02")
    assert first.returncode == 3
    assert titles(first) == [("error", "Gate has no data: token-f1 loss against the baseline ≤ 0.02")]
    worse = ("--set", "spec.dataset.path=birch.jsonl", "--label", "branch=main")
    second = run(folder, *worse, "--baseline", baseline, "--gate", "token-f1:0.02")
    assert titles(second)[0] == ("error", "Gate not met: token-f1 loss against the baseline ≤ 0.02")


def test_a_further_gate_can_be_a_condition_with_a_colon_in_it(folder: Path) -> None:
    condition = "metric('token-f1').mean > 0.9 ? true : 0.5 > 0.6"
    done = run(folder, "--gate", condition, "--gate", "metric('token-f1').mean >= 0.1", "--output", "results.json")
    assert done.returncode == 3
    gates = json.loads((folder / "results.json").read_text("utf-8"))["gates"]
    assert [gate["gate"].get("cel") for gate in gates] == [None, condition, "metric('token-f1').mean >= 0.1"]
    assert titles(done) == [("error", f"Gate not met: {condition}")]


def test_a_further_gate_that_cannot_be_read_starts_nothing(folder: Path) -> None:
    done = run(folder, "--gate", "metric('token-f2').mean >= 0.1", "--output", "results.json")
    assert done.returncode == 2
    assert not (folder / "results.json").exists()
    assert [name for name, _ in titles(done)] == ["error"]
