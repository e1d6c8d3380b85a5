"""The action, the workflow, the GitLab file and the container, run here as they would be there."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ci.runner import OFFICIAL, Job, clean_environment, commands_in

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"
EXAMPLES = ROOT / "examples" / "ci"
SPEC = """\
api_version: evals.si/v1alpha1
kind: EvalRun
metadata: {name: support}
spec:
  dataset: {path: answers.jsonl}
  evaluators: [token-f1]
  gates:
    - {metric: token-f1, min: 0.2}
"""
pytestmark = pytest.mark.slow
needs_uv = pytest.mark.skipif(shutil.which("uv") is None, reason="uv builds the wheel")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The distribution as users get it."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(["uv", "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT)], check=True, timeout=300)
    (found,) = folder.glob("evalsi-*.whl")
    return found


def python_with(wheel: Path, folder: Path) -> dict[str, str]:
    """The environment of a job whose Python has `wheel`. What a test imports once is compiled when it is imported."""
    python = folder / "python"
    make = ["uv", "venv", "--quiet", "--seed", "--python", sys.executable, str(python)]
    install = ["uv", "pip", "install", "--quiet", "--python", str(python / "bin" / "python"), str(wheel)]
    for command in (make, install):
        subprocess.run(command, env=os.environ | {"UV_COMPILE_BYTECODE": "0"}, check=True, timeout=300)
    return clean_environment(python / "bin") | {"PIP_NO_COMPILE": "1"}


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A Python that has evalsi; installing it again does nothing."""
    return python_with(wheel, tmp_path_factory.mktemp("shared"))


@pytest.fixture
def fresh(wheel: Path, tmp_path: Path) -> dict[str, str]:
    """A Python with what evalsi depends on, and without evalsi."""
    environment = python_with(wheel, tmp_path)
    remove = ["uv", "pip", "uninstall", "--quiet", "--python", str(tmp_path / "python" / "bin" / "python"), "evalsi"]
    subprocess.run(remove, check=True, timeout=60)
    assert shutil.which("evalsi", path=str(tmp_path / "python" / "bin")) is None
    return environment


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with an evaluation, whose answers come from the demonstration."""
    folder = tmp_path / "checkout"
    (folder / "evals").mkdir(parents=True)
    (folder / "evals" / "run.yaml").write_text(SPEC, "utf-8")
    answer(folder, "aster")
    return folder


def answer(folder: Path, assistant: str) -> None:
    shutil.copy(ROOT / f"examples/demo/data/{assistant}.jsonl", folder / "evals" / "answers.jsonl")


def act(folder: Path, environment: dict[str, str], **inputs: str) -> tuple[Job, dict[str, str]]:
    job = Job(folder, environment)
    outputs = job.run_action(ACTION, {name.replace("_", "-"): value for name, value in inputs.items()})
    return job, outputs


@needs_uv
def test_the_action_installs_runs_and_says_where_everything_is(
    checkout: Path, fresh: dict[str, str], wheel: Path
) -> None:
    job, outputs = act(checkout, fresh, file="evals/run.yaml", package=str(wheel), label="branch=main")
    assert (job.status, outputs["verdict"], outputs["status"]) == (0, "pass", "0"), job.log
    for name in ("report", "markdown", "results", "junit"):
        assert (checkout / outputs[name]).is_file(), name
    results = json.loads((checkout / outputs["results"]).read_text("utf-8"))
    assert results["manifest"]["labels"] == {"branch": "main"}
    assert "✅ PASS" in job.summary
    assert commands_in(job.log) == []


@needs_uv
def test_the_action_fails_on_a_regression_and_shows_it_on_the_pull_request(
    checkout: Path, environment: dict[str, str], wheel: Path
) -> None:
    _, before = act(checkout, environment, file="evals/run.yaml", package=str(wheel), directory="base")
    answer(checkout, "birch")
    inputs = {
        "file": "evals/run.yaml",
        "baseline": before["results"],
        "gates": "\ntoken-f1:0.02\nrun.errorRate <= 0.0\n",
    }
    job, outputs = act(checkout, environment, package="none", **inputs)
    assert (job.status, outputs["verdict"]) == (3, "fail"), job.log
    (error,) = commands_in(job.log)
    assert (error.name, error.properties["file"]) == ("error", "evals/run.yaml")
    assert error.properties["title"] == "Gate not met: token-f1 loss against the baseline ≤ 0.02"
    assert "| `token-f1` | 160 | 0.567 | 0.299 | **−0.268** |" in job.summary
    assert "Against" in (checkout / outputs["markdown"]).read_text("utf-8")
    job, outputs = act(checkout, environment, package="none", fail="false", **inputs)
    assert (job.status, outputs["verdict"]) == (0, "fail")


@needs_uv
def test_the_first_time_without_a_baseline_is_said_and_only_bounds_are_gated(
    checkout: Path, environment: dict[str, str], wheel: Path
) -> None:
    job, outputs = act(
        checkout, environment,
        file="evals/run.yaml", package=str(wheel), baseline="baseline/results.json", gates="token-f1:0.02",
    )  # fmt: skip
    assert (job.status, outputs["verdict"]) == (0, "pass"), job.log
    assert [(found.name, found.properties["title"]) for found in commands_in(job.log)] == [
        ("warning", "evalsi: no baseline")
    ]


@needs_uv
def test_a_mistake_in_the_specification_is_an_error_beside_its_line(
    checkout: Path, environment: dict[str, str], wheel: Path
) -> None:
    (checkout / "evals" / "run.yaml").write_text(SPEC.replace("token-f1]", "tokn-f1]"), "utf-8")
    job, outputs = act(checkout, environment, file="evals/run.yaml", package=str(wheel))
    assert (job.status, outputs["verdict"], outputs["report"]) == (2, "error", ""), job.log
    assert {(found.properties["file"], found.properties["line"]) for found in commands_in(job.log)} >= {
        ("evals/run.yaml", "6")
    }


@needs_uv
def test_text_in_an_input_is_never_code(checkout: Path, environment: dict[str, str], wheel: Path) -> None:
    evil = "x'; touch owned; $(touch owned) `touch owned` \"; touch owned #"
    job, _ = act(checkout, environment, file="evals/run.yaml", package=str(wheel), name=evil, label=f"title={evil}")
    assert job.status == 0, job.log
    assert not list(checkout.rglob("owned"))


@needs_uv
def test_the_workflow_gates_a_pull_request_against_the_last_night_that_passed(
    checkout: Path, environment: dict[str, str], wheel: Path
) -> None:
    workflow = yaml.safe_load((EXAMPLES / "github-workflow.yml").read_text("utf-8"))
    jobs: dict[str, dict[str, Any]] = workflow["jobs"]
    for about in jobs.values():
        for step in about["steps"]:
            if step.get("uses", "").startswith("evalsi/"):
                step["with"] |= {"package": str(wheel)}

    def run(event: str) -> Job:
        job = Job(checkout, environment, {"github.event_name": event, "github.run_id": "1"}, {"evalsi/evalsi": ACTION})
        (about,) = [about for about in jobs.values() if job.holds(about["if"])]
        job.run_steps(about["steps"])
        return job

    night = run("schedule")
    assert night.status == 0, night.log
    assert "actions/cache/save" in night.used
    assert (checkout / "baseline" / "results.json").is_file()
    answer(checkout, "birch")
    assert run("pull_request").status == 3
    worse = run("schedule")
    assert worse.status == 3
    assert "actions/cache/save" not in worse.used
    assert "actions/upload-artifact" in worse.used


@needs_uv
def test_the_gitlab_file_gates_a_merge_request_against_the_default_branch(
    checkout: Path, environment: dict[str, str], wheel: Path
) -> None:
    pipeline = yaml.safe_load((EXAMPLES / "gitlab-ci.yml").read_text("utf-8"))
    shared = pipeline[".evalsi"]

    def run(name: str) -> int:
        about = pipeline[name]
        assert about["extends"] == ".evalsi"
        given = shared["variables"] | {"EVALSI": str(wheel)}
        variables = {key: value.replace("$CI_PROJECT_DIR", str(checkout)) for key, value in given.items()}
        script = "\n".join(["set -eo pipefail", *shared["before_script"], *about["script"]])
        without = {key: value for key, value in environment.items() if not key.startswith("GITHUB_")}
        done = subprocess.run(["bash", "-c", script], cwd=checkout, env=without | variables, check=False, timeout=300)
        assert (checkout / shared["artifacts"]["reports"]["junit"]).is_file()
        return done.returncode

    assert run("evals") == 0  # there is no baseline yet
    assert run("evals-baseline") == 0
    answer(checkout, "birch")
    assert run("evals") == 3


@needs_uv
def test_the_commands_of_the_container_install_what_its_entry_point_runs(
    fresh: dict[str, str], wheel: Path, tmp_path: Path
) -> None:
    instructions = instructions_of(EXAMPLES / "Dockerfile")
    arguments = dict(text.split("=", 1) for word, text in instructions if word == "ARG")
    assert arguments == {"EVALSI": "evalsi"}
    variables = dict(pair.split("=", 1) for word, text in instructions if word == "ENV" for pair in text.split())
    given = fresh | variables | {"EVALSI": str(wheel)}
    for word, text in instructions:
        if word == "RUN" and "pip" in text:
            subprocess.run(["sh", "-ec", text], cwd=tmp_path, env=given, check=True, timeout=300)
    entry, default = (json.loads(dict(instructions)[word]) for word in ("ENTRYPOINT", "CMD"))
    done = subprocess.run([*entry, *default], cwd=tmp_path, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Commands:" in done.stdout


def instructions_of(path: Path) -> list[tuple[str, str]]:
    """(word, text) of each instruction, continued lines joined."""
    text = re.sub(r"^#.*\n", "", path.read_text("utf-8"), flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in text.splitlines() if line.strip()]


def test_the_container_is_pinned_small_and_not_root() -> None:
    instructions = instructions_of(EXAMPLES / "Dockerfile")
    words = [word for word, _ in instructions]
    known = {"FROM", "ARG", "ENV", "RUN", "USER", "WORKDIR", "COPY", "ENTRYPOINT", "CMD"}
    assert set(words) <= known  # nothing is fetched by ADD, nothing listens
    assert words[0] == "FROM"
    _, image = instructions[0]
    assert re.fullmatch(r"[\w./-]+:\d[\w.-]*", image), "the base has a version"
    for word, text in instructions:
        if word in ("ENTRYPOINT", "CMD"):
            assert isinstance(json.loads(text), list)  # no shell between the signal and the program
        if word == "RUN":
            subprocess.run(["sh", "-n", "-c", text], check=True)
            assert "sudo" not in text
        assert not re.search(r"(?i)(password|secret|token|api_key)\s*=", text)
    assert "USER" in words
    assert words.index("USER") > max(place for place, word in enumerate(words) if word == "RUN")
    assert dict(instructions)["USER"] not in ("root", "0")


def test_no_input_is_pasted_into_a_script() -> None:
    action = yaml.safe_load(ACTION.read_text("utf-8"))
    workflow = yaml.safe_load((EXAMPLES / "github-workflow.yml").read_text("utf-8"))
    steps = [*action["runs"]["steps"], *(step for job in workflow["jobs"].values() for step in job["steps"])]
    for step in steps:
        assert "${{" not in step.get("run", ""), step
        if "run" in step:
            subprocess.run(["bash", "-n", "-c", step["run"]], check=True)


def test_what_the_files_use_has_a_version_and_asks_for_no_more_than_reading() -> None:
    workflow = yaml.safe_load((EXAMPLES / "github-workflow.yml").read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"]
        for step in job["steps"]:
            if "uses" in step:
                name, _, version = step["uses"].partition("@")
                assert re.fullmatch(r"v\d+", version)
                assert name in OFFICIAL | {"evalsi/evalsi"}


def test_every_input_and_output_of_the_action_is_described_and_used() -> None:
    text = ACTION.read_text("utf-8")
    action = yaml.safe_load(text)
    for name in action["inputs"]:
        assert f"inputs.{name} " in text, name
    for name, about in action["outputs"].items():
        assert about["description"], name
        assert f"{name}=" in text, name
