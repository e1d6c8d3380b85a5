"""The command line as tests use it: as a process of its own, or in this one where nothing needs a process."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evalsi.cli.app import run
from evalsi.settings import SandboxSettings

DATA = [
    {"id": "fr", "input": "Capital of France?", "output": "Paris", "reference": "Paris", "topic": "cities"},
    {"id": "jp", "input": "Capital of Japan?", "output": "Kyoto", "reference": "Tokyo", "topic": "cities"},
    {"id": "sum", "input": "17 + 25?", "output": "42", "reference": "42", "topic": "numbers"},
    {"id": "é", "input": "Half of 9?", "output": "4,5 – “fünf”?", "reference": "4.5", "topic": "numbers"},
]


class Ended(NamedTuple):
    """How a command ended: exit status, standard output, standard error."""

    status: int
    out: str
    err: str


QUICK_SANDBOXES = SandboxSettings(drivers=("bubblewrap", "landlock"))
"""For tests of what runs in a sandbox, and not of sandboxes: a kernel of its own for every program takes a hundred times as
long. Every kind has its own tests in `tests/infra/sandbox`."""


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without anything that evalsi or a terminal would read, with quick sandboxes, and `extra`.

    Modules are compiled once and not in every process, which else is most of the time of short ones.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("EVALSI_", "OPENAI", "ANTHROPIC"))}
    for name in (
        "NO_COLOR",
        "FORCE_COLOR",
        "PYTHONIOENCODING",
        "COLUMNS",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "PYTHONDONTWRITEBYTECODE",
    ):
        kept.pop(name, None)
    return kept | {"EVALSI_SANDBOX_DRIVERS": ",".join(QUICK_SANDBOXES.drivers)} | dict(extra or {})


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "evalsi", *arguments]


def evalsi(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, stdin: str | None = None, encoding: str = "utf-8"
) -> Ended:
    """Runs `evalsi` as a process."""
    done = subprocess.run(
        command(*arguments),
        cwd=cwd,
        env=environment(env),
        input=stdin.encode() if stdin is not None else None,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Ended(done.returncode, done.stdout.decode(encoding), done.stderr.decode(encoding))


def evalsi_here(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ended:
    """Runs `evalsi` in this process and its current folder. A traceback would be an exception."""
    capsys.readouterr()
    status = run(arguments)
    said = capsys.readouterr()
    return Ended(status, said.out, said.err)


class _Terminal(io.StringIO):
    """Standard output as a terminal has it."""

    def isatty(self) -> bool:
        return True


def evalsi_shown(monkeypatch: pytest.MonkeyPatch, width: int | None, *arguments: str) -> str:
    """What `evalsi` writes in this process to a terminal that is so wide, without colours; None is a pipe."""
    stream = io.StringIO() if width is None else _Terminal()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", stream)
        patched.setenv("NO_COLOR", "1")
        patched.setenv("TERM", "dumb")
        patched.delenv("LINES", raising=False)
        if width is not None:
            patched.setenv("COLUMNS", str(width))
            patched.setenv("LINES", "40")  # without both, the library takes a dumb terminal for one of 80 columns
        assert run(arguments) in (0, 3), arguments
    return stream.getvalue()


def write_jsonl(path: Path, rows: Sequence[Mapping[str, Any]] = DATA) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path
