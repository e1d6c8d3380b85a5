"""What a runner of GitHub Actions is told, read back as a runner reads it."""

import json
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.core.errors import InvalidSpecError
from evalsi.core.inert import inert_log
from evalsi.report.github import (
    MOST_ANNOTATIONS,
    Annotation,
    Place,
    annotations,
    append_summary,
    error_annotations,
    place_of,
)
from evalsi.results.graded_run import GradedRun
from evalsi.schema import (
    ConfidenceInterval,
    Gate,
    GateResult,
    GateVerdict,
    MetricSummary,
    RunManifest,
)
from evalsi.settings import Settings
from tests.ci.runner import commands_in

EVALSI = str(Path(sys.executable).with_name("evalsi"))
ROOT = Path(__file__).parents[2]
HOSTILE = (
    "::error::x",
    "  ::add-mask::a",
    "x ##[add-mask]a",
    "\r::error::x",
    "a\n::error::x",
    "\u2028::error::x",
    "%0A::error::x",
    ",title=y::",
)


def run_of(*gates: GateResult, scored: int = 10) -> GradedRun:
    return GradedRun(
        source="made",
        manifest=RunManifest(name="made"),
        summaries=[MetricSummary(metric="exact-match", n=scored, total=10, error_kinds={"provider": 10 - scored})],
        read_rows=lambda: iter(()),
        gates=list(gates),
    )


def told(run: GradedRun, **options: object) -> list[tuple[str, str, str]]:
    log = "\n".join(one.command() for one in annotations(run, **options))  # type: ignore[arg-type]
    return [(found.name, found.properties["title"], found.data) for found in commands_in(log)]


def gate_result(verdict: GateVerdict, *, passed: bool = False, metric: str = "exact-match") -> GateResult:
    return GateResult(
        gate=Gate(metric=metric, min=0.9),
        verdict=verdict,
        passed=passed,
        value=None if verdict is GateVerdict.NO_DATA else 0.75,
        ci=None if verdict is GateVerdict.NO_DATA else ConfidenceInterval(low=0.6, high=0.86, level=0.95),
        n=0 if verdict is GateVerdict.NO_DATA else 40,
        reason="because",
    )


def test_a_gate_that_is_not_met_is_an_error_with_the_number_the_interval_and_n() -> None:
    assert told(run_of(gate_result(GateVerdict.FAILED))) == [
        ("error", "Gate not met: exact-match mean ≥ 0.9", "mean 0.750 [0.600, 0.860], n = 40\nbecause")
    ]


def test_each_gate_is_shown_at_its_own_line_and_elsewhere_at_the_file() -> None:
    run = run_of(*[gate_result(GateVerdict.FAILED, metric=f"metric-{row}") for row in range(3)])
    found = annotations(run, place=Place(file="run.yaml"), gate_places=[Place(file="run.yaml", line=9), Place()])
    assert [one.place.line for one in found] == [9, None, None]
    assert {one.place.file for one in found} == {"run.yaml"}


@pytest.mark.parametrize(
    ("result", "wanted"),
    [
        (gate_result(GateVerdict.PASSED, passed=True), []),
        (gate_result(GateVerdict.NO_DATA), [("error", "Gate has no data")]),
        (gate_result(GateVerdict.INCONCLUSIVE), [("error", "Gate not decided")]),
        (gate_result(GateVerdict.INCONCLUSIVE, passed=True), [("warning", "Gate not decided")]),
    ],
)
def test_each_ending_of_a_gate_has_its_level(result: GateResult, wanted: list[tuple[str, str]]) -> None:
    assert [(level, title.partition(":")[0]) for level, title, _ in told(run_of(result))] == wanted


def test_a_run_without_a_score_says_so_and_why() -> None:
    assert told(run_of(scored=0)) == [("error", "Nothing was scored", "No evaluator gave a score: provider")]


def test_more_than_a_page_shows_become_one_that_counts_the_rest() -> None:
    found = told(run_of(*[gate_result(GateVerdict.FAILED, metric=f"metric-{row}") for row in range(25)]))
    assert len(found) == MOST_ANNOTATIONS
    assert found[-1][1] == "and 16 more"
    assert "metric-24" in found[-1][2]


@given(st.text(alphabet=st.characters(codec=None)), st.text(alphabet=st.characters(codec=None)))
def test_no_text_ends_its_command_or_begins_another(title: str, message: str) -> None:
    place = Place(file="evals/a,b:c.yaml", line=3)
    log = Annotation(level="error", title=f"t{title}", message=message, place=place).command()
    (found,) = commands_in(log)
    assert (found.name, found.properties["file"], found.properties["line"]) == ("error", "evals/a,b:c.yaml", "3")
    assert set(found.properties) == {"file", "line", "title"}


@given(
    st.one_of(
        st.sampled_from(HOSTILE), st.text(alphabet=st.characters(codec=None)), st.text(alphabet=" \r\n:#[]error%")
    )
)
def test_a_log_that_is_made_inert_holds_no_command(text: str) -> None:
    assert commands_in(inert_log(text)) == []


@given(
    st.recursive(
        st.text() | st.sampled_from(HOSTILE), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
@pytest.mark.slow
def test_inert_json_says_the_same(value: object) -> None:
    assert json.loads(inert_log(json.dumps(value, ensure_ascii=False, indent=2))) == value


def test_ordinary_text_is_left_as_it_is() -> None:
    text = "a::b ## [x] std::vector\n#[1]"
    assert inert_log(text) == text


def test_a_file_is_named_from_the_root_of_the_repository(tmp_path: Path) -> None:
    spec = tmp_path / "evals" / "run.yaml"
    spec.parent.mkdir()
    spec.touch()
    assert place_of(f"{spec}:7:3", tmp_path) == Place(file="evals/run.yaml", line=7)
    assert place_of(f"{spec}:7", tmp_path) == Place(file="evals/run.yaml", line=7)
    assert place_of(str(spec), tmp_path) == Place(file="evals/run.yaml")
    for elsewhere in (f"{spec}.txt", "latest", "", "a\0b", "spec.gates[0]", str(tmp_path.parent), sys.executable):
        assert place_of(elsewhere, tmp_path) == Place()


def test_each_mistake_in_a_spec_is_shown_beside_its_line(tmp_path: Path) -> None:
    spec = tmp_path / "run.yaml"
    spec.touch()
    mistakes = [
        InvalidSpecError("unknown key 'tagret'", where=f"{spec}:3:5", hint="did you mean target?"),
        InvalidSpecError("no such evaluator", where=f"{spec}:9:7"),
    ]
    log = "\n".join(one.command() for one in error_annotations(InvalidSpecError.of(mistakes), tmp_path))
    first, second = commands_in(log)
    assert (first.properties["file"], first.properties["line"], second.properties["line"]) == ("run.yaml", "3", "9")
    assert first.data.endswith("unknown key 'tagret'; did you mean target?")


def test_the_summary_is_added_to_what_is_there_and_never_grows_past_what_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n", "utf-8")
    append_summary(path, run_of(gate_result(GateVerdict.FAILED)))
    text = path.read_text("utf-8")
    assert text.startswith("before\n### `made`\n")
    assert "❌ FAIL" in text
    path.write_bytes(b"x" * 999_999)
    append_summary(path, run_of())
    assert path.stat().st_size == 999_999


def test_settings_read_what_github_sets(tmp_path: Path) -> None:
    settings = Settings.from_environment(
        {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "s"), "GITHUB_WORKSPACE": str(tmp_path)}
    )
    assert (settings.github_actions, settings.github_step_summary, settings.github_workspace) == (
        True,
        tmp_path / "s",
        tmp_path,
    )
    assert Settings.from_environment({}).github_step_summary is None
    assert not Settings.from_environment({"GITHUB_ACTIONS": "false"}).github_actions


def compare(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [EVALSI, "compare", *arguments],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graded")
    for name in ("aster", "birch"):
        lines = (ROOT / f"examples/demo/data/{name}.jsonl").read_text("utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        for row, hostile in zip(rows, cycle(HOSTILE), strict=False):
            row["id"] = hostile + str(row["id"])
        (folder / f"{name}.jsonl").write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
        command = [
            EVALSI,
            "eval",
            "--data",
            f"{name}.jsonl",
            "--evaluators",
            "token-f1",
            "--output",
            f"{name}.json",
            "--quiet",
        ]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
    return folder


@pytest.mark.slow
def test_a_regression_is_told_on_standard_error_and_in_the_summary(graded: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    done = compare(
        graded, "aster.json", "birch.json", "--gate", "token-f1:0.02", "--flips", "50", "--report", str(tmp_path / "junit.xml"),
        GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary), GITHUB_WORKSPACE=str(graded),
    )  # fmt: skip
    assert done.returncode == 3
    (found,) = commands_in(done.stderr)
    assert (found.name, found.properties["file"]) == ("error", "birch.json")
    assert found.properties["title"] == "Gate not met: token-f1 loss against the baseline ≤ 0.02"
    assert commands_in(done.stdout) == []
    assert "\\u003a:error::x" in done.stdout
    assert "\\u0023#[add-mask]" in done.stdout
    assert "❌ FAIL" in summary.read_text("utf-8")
    assert "| `token-f1` | 160 | 0.567 | 0.299 | **−0.268** |" in summary.read_text("utf-8")
    assert (tmp_path / "junit.xml").exists()


@pytest.mark.slow
def test_json_stays_json_and_holds_no_command(graded: Path) -> None:
    done = compare(graded, "aster.json", "birch.json", "--format", "json", GITHUB_ACTIONS="true")
    assert json.loads(done.stdout)["verdict"] == "REGRESSED"
    assert commands_in(done.stdout) == []
    (found,) = commands_in(done.stderr)
    assert (found.name, found.properties["title"]) == ("warning", "token-f1 regressed")


@pytest.mark.slow
def test_nothing_is_told_outside_a_build_or_where_it_is_not_wanted(graded: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    for arguments, environment in (([], {}), (["--ci", "none"], {"GITHUB_ACTIONS": "true"})):
        done = compare(graded, "aster.json", "birch.json", *arguments, GITHUB_STEP_SUMMARY=str(summary), **environment)
        assert commands_in(done.stderr) == []
        assert not summary.exists()
    done = compare(graded, "aster.json", "birch.json", "--ci", "github", GITHUB_STEP_SUMMARY=str(summary))
    assert len(commands_in(done.stderr)) == 1
    assert summary.exists()


@pytest.mark.slow
def test_a_mistake_is_told_too(graded: Path) -> None:
    done = compare(graded, "aster.json", "nothing.json", GITHUB_ACTIONS="true")
    assert [found.name for found in commands_in(done.stderr)] == ["error"]
    assert "nothing.json" in commands_in(done.stderr)[0].data
