"""Tests of one group run one after another on one process: sandboxes and machines starve each other otherwise."""

import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_MODULE = """
import os, pytest

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("n", range(12))
def test_of_the_group(n):
    open(os.environ["SEEN"], "a").write(os.environ["PYTEST_XDIST_WORKER"] + chr(10))
"""
_OF_SANDBOXES = """
import os, pytest

@pytest.mark.xdist_group("sandbox")
@pytest.mark.parametrize("driver", ["qemu", "gvisor"])
@pytest.mark.parametrize("n", range(6))
def test_of_a_sandbox(driver, n):
    open(os.environ["SEEN"], "a").write(driver + " " + os.environ["PYTEST_XDIST_WORKER"] + chr(10))
"""


def ran(folder: Path, module: str, *options: str) -> list[str]:
    """What the tests of a module have written, run by three processes."""
    (folder / "test_grouped.py").write_text(module)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "3",
        "--dist",
        "loadgroup",
        "-p",
        "no:cacheprovider",
        *options,
    ]
    environment = {"PATH": "/usr/bin:/bin", "SEEN": str(folder / "seen"), "PYTHONPATH": str(_ROOT)}
    done = subprocess.run(
        [*command, "."], check=False, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout
    return (folder / "seen").read_text().splitlines()


def test_tests_of_a_group_run_on_one_process(tmp_path: Path) -> None:
    workers = ran(tmp_path, _MODULE)
    assert (len(workers), len(set(workers))) == (12, 1), "pytest and pytest-xdist do not fit together: groups are lost"


def test_tests_of_sandboxes_that_are_given_a_machine_run_beside_the_others(tmp_path: Path) -> None:
    seen = ran(tmp_path, _OF_SANDBOXES, "-p", "tests.conftest")
    workers = {kind: {line.split()[1] for line in seen if line.startswith(kind)} for kind in ("qemu", "gvisor")}
    assert len(seen) == 12
    assert [len(each) for each in workers.values()] == [1, 1]
    assert workers["qemu"] != workers["gvisor"]
