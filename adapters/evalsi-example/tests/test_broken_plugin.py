"""A plugin that cannot be loaded breaks only itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

METADATA = "Metadata-Version: 2.1\nName: evalsi-broken\nVersion: 1.0.0\n"
ENTRY_POINTS = """\
[evalsi.evaluators]
never = evalsi_broken:never

[evalsi.packs]
nowhere = evalsi_broken.no_such_module
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which a plugin is installed that fails when it is imported."""
    site = tmp_path / "site"
    info = site / "evalsi_broken-1.0.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(METADATA, encoding="utf-8")
    (info / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    (site / "evalsi_broken.py").write_text("raise RuntimeError('the library it wraps is too old')\n", encoding="utf-8")
    return os.environ | {"PYTHONPATH": str(site), "NO_COLOR": "1"}


def evalsi(environment: dict[str, str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "evalsi", *arguments],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_everything_else_goes_on_working(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text('{"id": "1", "output": "{}"}\n', encoding="utf-8")
    done = evalsi(environment, tmp_path, "eval", "--data", "data.jsonl", "--evaluators", "json-valid,tone/shouts")
    assert done.returncode == 0, done.stderr


def test_naming_it_says_what_is_wrong_with_it(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text('{"id": "1", "output": "{}"}\n', encoding="utf-8")
    done = evalsi(environment, tmp_path, "eval", "--data", "data.jsonl", "--evaluators", "never")
    assert done.returncode == 1
    assert (
        "evaluator 'never' of evalsi-broken cannot be loaded: RuntimeError: the library it wraps is too old"
        in done.stderr
    )
    assert "Traceback" not in done.stderr


def test_the_catalog_lists_the_rest_and_names_it(environment: dict[str, str], tmp_path: Path) -> None:
    done = evalsi(environment, tmp_path, "catalog", "--format", "md")
    assert done.returncode == 0
    assert "core/exact-match" in done.stdout
    assert "evalsi-broken" in done.stderr
    assert "nowhere" in done.stderr


def test_the_doctor_reports_it_as_failed(environment: dict[str, str], tmp_path: Path) -> None:
    done = evalsi(environment, tmp_path, "doctor", "--format", "json")
    assert done.returncode == 1
    assert "too old" in done.stdout
