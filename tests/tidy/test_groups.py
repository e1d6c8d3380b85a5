"""Tests of one group run one after another on one process: sandboxes and machines starve each other otherwise."""

import subprocess
import sys
from pathlib import Path

_MODULE = """
import os, pytest

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("n", range(12))
def test_of_the_group(n):
    open(os.environ["SEEN"], "a").write(os.environ["PYTEST_XDIST_WORKER"] + chr(10))
"""


def test_tests_of_a_group_run_on_one_process(tmp_path: Path) -> None:
    (tmp_path / "test_grouped.py").write_text(_MODULE)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "3", "--dist", "loadgroup", "-p", "no:cacheprovider", "."]
    environment = {"PATH": "/usr/bin:/bin", "SEEN": str(tmp_path / "seen")}
    ran = subprocess.run(
        command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stdout
    workers = (tmp_path / "seen").read_text().split()
    assert (len(workers), len(set(workers))) == (12, 1), "pytest and pytest-xdist do not fit together: groups are lost"
