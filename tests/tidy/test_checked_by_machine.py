"""What `make check` says of every file holds for what is tested too: style and layers."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent


@pytest.mark.parametrize(
    "words", [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("lint-imports", "--no-cache")], ids=" ".join
)
def test_the_checker_finds_nothing(words: tuple[str, ...]) -> None:
    command = [str(PROGRAMS / words[0]), *words[1:]]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
