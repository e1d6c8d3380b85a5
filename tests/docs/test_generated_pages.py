"""What is generated from the code leaves no difference, and a difference is found."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.pages import ROOT

TOOLS = ("generate_reference", "generate_notices", "generate_dashboard")


def load(tool: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(tool, ROOT / "tools" / f"{tool}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("tool", TOOLS)
def test_what_is_written_follows_from_the_code(tool: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / f"{tool}.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_page_that_is_no_longer_true_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = load("generate_reference")
    files = tool.render()
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["generate_reference", "--check"])
    assert tool.main() == 0
    (tmp_path / "docs/reference/settings.md").write_text("# Settings\n", encoding="utf-8")
    assert tool.main() == 1


def test_every_option_of_every_command_is_explained() -> None:
    tool = load("generate_reference")
    unexplained = [
        f"{' '.join(path)} {option.opts[0]}"
        for path, command in tool.commands()
        for option in command.params
        if isinstance(option, tool.click.Option) and not option.help and option.opts[0] != "--format"
    ]
    assert unexplained == []
