"""Environments of their own for what is never installed beside evalsi: products, frameworks, other releases.

Its own module because all of these are installed alike: by uv where it is there, without compiling what a test imports once.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

INSTALL_S = 600.0


def own_environment(folder: Path, requirements: Sequence[str]) -> Path:
    """The interpreter of a new environment in `folder`; the test is skipped where the requirements cannot be had."""
    uv, python = shutil.which("uv"), folder / "bin" / "python"
    steps = [
        [uv, "venv", "--quiet", "--python", sys.executable, str(folder)],
        [uv, "pip", "install", "--quiet", "--python", str(python), *requirements],
    ]
    if uv is None:
        steps = [
            [sys.executable, "-m", "venv", str(folder)],
            [
                str(python),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--no-compile",
                *requirements,
            ],
        ]
    environment = {**os.environ, "UV_COMPILE_BYTECODE": "0"}
    for step in steps:
        done = subprocess.run(
            [str(each) for each in step],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=INSTALL_S,
        )
        if done.returncode:
            pytest.skip(f"{', '.join(requirements)} cannot be installed here: {done.stderr.strip()[-300:]}")
    return python
