"""`make test` tries a slow test once more, says so, keeps what its file shares, and lets every other test fail at once."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SLOW_FILES

_ROOT = Path(__file__).parents[2]
_FILE = """
import itertools, pathlib, pytest

tries = {name: itertools.count(1) for name in ("once", "always")}

@pytest.fixture(scope="module")
def shared():
    with pathlib.Path(__file__).with_suffix(".log").open("a") as log:
        log.write("made ")
        yield
        log.write("ended ")

def test_that_fails_once(shared):
    assert next(tries["once"]) == 2

def test_that_always_fails(shared):
    assert next(tries["always"]) == 3

def test_that_passes(shared):
    pass
"""
_MARKED = "import pytest\npytestmark = pytest.mark.slow\n" + _FILE


@pytest.mark.slow
def test_only_a_slow_test_is_tried_again_and_with_what_its_file_shares(tmp_path: Path) -> None:
    listed = next(file for file in SLOW_FILES if file.startswith("tests/"))
    files = {listed: _FILE, "tests/test_marked.py": _MARKED, "tests/test_pure.py": _FILE}
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    asked = re.search(r"^SECOND_TRY = (.+)$", (_ROOT / "Makefile").read_text(), re.MULTILINE)
    assert asked is not None, "the Makefile no longer says how tests are tried again"
    options = ["-n", "1", "--dist", "loadgroup", "-p", "no:cacheprovider", "-p", "tests.conftest"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options, *asked[1].split(), "--reruns-delay", "0", "tests"],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    said = {match.groups() for match in re.finditer(r"^(RERUN|FAILED) ([^:\s]+)::(\w+)", ran.stdout, re.MULTILINE)}
    tried_again = [
        ("RERUN", file, test)
        for file in (listed, "tests/test_marked.py")
        for test in ("test_that_fails_once", "test_that_always_fails")
    ]
    assert said == {
        *tried_again,
        *(("FAILED", file, "test_that_always_fails") for file in files),
        ("FAILED", "tests/test_pure.py", "test_that_fails_once"),
    }, ran.stdout + ran.stderr
    assert ran.returncode == 1
    assert {(tmp_path / file).with_suffix(".log").read_text() for file in files} == {"made ended "}
