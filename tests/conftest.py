"""A folder with a small dataset, and the command line called inside it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command_line import Ended, environment, evalsi_here, write_jsonl


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("EVALSI_DIR", "EVALSI_JUDGE_PROVIDER", "EVALSI_JUDGE_MODEL", "NO_COLOR", "FORCE_COLOR"):
        if name not in environment():
            monkeypatch.delenv(name, raising=False)
    write_jsonl(tmp_path / "data.jsonl")
    return tmp_path


@pytest.fixture
def cli(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """`cli("eval", …)` runs it in `folder`, in this process."""
    assert folder.is_dir()
    return lambda *arguments: evalsi_here(capsys, *arguments)
