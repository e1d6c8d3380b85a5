"""Every block of every page is run as a reader would run it, and what it shows is what comes out.

The blocks of a page run in order in a folder of their own. In a `console` block each line that is shown must appear in
the output, in order; `…` in it stands for anything.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
import yaml

from evalsi.testing.stand_in_model import StandInModel
from tests.docs.pages import ROOT, Block, Command, appears, blocks_of, commands_of, name_of, needs_of, pages
from tests.server.running_server import running_server

LANGUAGES = {"bash", "console", "python", "json", "jsonl", "yaml", "toml", "text", "csv", "proto"}
RUN_WORDS = ("evalsi", "make", "python", "pytest", "cd", "pip", "cat", "export", "printf", "head", "sed")
NOT_RUN = {
    "docs/guides/judges-and-costs.md": 1,
    "docs/guides/datasets.md": 1,
    "docs/guides/server.md": 4,
    "docs/guides/sandbox.md": 5,
    "docs/guides/pages.md": 1,
    "docs/guides/rewards.md": 3,
    "docs/guides/sending-traces.md": 1,
    "docs/guides/watch.md": 1,
}
"""How many blocks of a page are marked as not run. Each says why, where it stands."""
MODEL_ADDRESS = "http://127.0.0.1:8000"
SERVER_ADDRESS = "http://127.0.0.1:8080"
RUNNABLE = [page for page in pages() if any(b.language in ("bash", "console", "python") for b in blocks_of(page))]


@cache
def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.slow
@pytest.mark.parametrize("page", RUNNABLE, ids=name_of)
def test_every_block_of_the_page_runs_and_shows_what_comes_out(page: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        reader = Reader(tmp_path)
        for need in needs_of(page):
            if need == "model":
                model = stack.enter_context(StandInModel())
                reader.addresses[MODEL_ADDRESS] = model.root_url
            elif need.partition(" ")[0] == "server":
                configuration = need.partition(" ")[2]
                options: list[str] = []
                if configuration:
                    options = ["--config", str(ROOT / configuration), "--data-dir", str(tmp_path.parent / "data")]
                (tmp_path.parent / "server").mkdir(exist_ok=True)
                server = stack.enter_context(running_server(tmp_path.parent / "server", options))
                reader.addresses[SERVER_ADDRESS] = f"http://{server.address}"
            else:
                reader.bring(need)
        for block in blocks_of(page):
            reader.follow(block)


def test_blocks_that_are_not_run_are_few_and_give_a_reason() -> None:
    found: dict[str, int] = {}
    for page in pages():
        for block in blocks_of(page):
            if "not run" in block.directions:
                assert block.directions["not run"], f"{block.place} does not say why it is not run"
                found[name_of(page)] = found.get(name_of(page), 0) + 1
    assert found == NOT_RUN


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_block_says_its_language_and_can_be_read_in_it(page: Path) -> None:
    for block in blocks_of(page):
        assert block.language in LANGUAGES, f"{block.place}: {block.language!r} is no language we use"
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "jsonl":
            for line in block.text.splitlines():
                json.loads(line)
        elif block.language == "yaml":
            yaml.safe_load(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "python":
            compile(block.text, block.place, "exec")


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_shell_blocks_hold_only_commands_that_are_tested(page: Path) -> None:
    for block in blocks_of(page):
        if "not run" in block.directions:
            continue
        for command in commands_of(block):
            assert command.line.split()[0] in RUN_WORDS, f"{block.place}: {command.line}"


class Reader:
    """Somebody who types what a page says, in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.addresses: dict[str, str] = {}
        self._python = ""
        self._environment = {
            key: value for key, value in os.environ.items() if not key.startswith(("EVALSI_", "COV_", "PYTEST_"))
        }
        bin_folder = str(Path(sys.executable).parent)
        self._environment |= {
            "PATH": bin_folder + os.pathsep + os.environ["PATH"],
            "PYTHONPATH": "",
            "PYTHONIOENCODING": "utf-8",
            "PYTHONUNBUFFERED": "1",  # so that what is said and what is printed come out in their order
            "NO_COLOR": "1",
            "PYTHONWARNINGS": "error",
        }

    def bring(self, need: str) -> None:
        if need == "starter":
            self._run(["evalsi", "init", "."])
            return
        source = ROOT / need
        if source.is_dir():
            shutil.copytree(source, self.folder / source.name)
            return
        assert source.is_file(), f"there is no {need} to bring"
        shutil.copy(source, self.folder)

    def follow(self, block: Block) -> None:
        if "not run" in block.directions:
            return
        text = self._addressed(block.text)
        if "file" in block.directions:
            path = self.folder / block.directions["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
        elif block.language == "python":
            self._python = self._python + "\n" + text if "continues" in block.directions else text
            self._check(block, Command(line="python block"), self._run([sys.executable, "-c", self._python]))
        else:
            for command in commands_of(block):
                self._type(block, command)

    def _type(self, block: Block, command: Command) -> None:
        line = self._addressed(command.line)
        word, _, rest = line.partition(" ")
        if word == "cd":
            self.folder = self.folder / rest
        elif word == "export":
            name, _, value = rest.partition("=")
            self._environment[name] = value.strip("'\"")
        elif word == "make":
            assert rest in make_targets(), f"{block.place}: the Makefile has no target {rest!r}"
        elif word == "pip":
            _check_extras(block, rest)
        else:
            if word == "pytest":
                line += " -p no:cacheprovider"
            self._check(block, command, self._run(["bash", "-c", line]))

    def _check(self, block: Block, command: Command, done: subprocess.CompletedProcess[str]) -> None:
        told = f"{block.place}: {command.line}\n{done.stdout}"
        assert done.returncode == command.status, f"exit status {done.returncode}, not {command.status}: {told}"
        lines = iter(done.stdout.splitlines())
        for shown in command.shown:
            assert appears(shown, lines), f"not in the output: {shown!r}\n{told}"

    def _run(self, arguments: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            arguments,
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
            timeout=120,
        )

    def _addressed(self, text: str) -> str:
        for written, real in self.addresses.items():
            text = text.replace(written, real)
        return text


def _check_extras(block: Block, rest: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extras in re.findall(r"evalsi\[([\w,-]+)\]", rest):
        for extra in extras.split(","):
            assert extra in project["optional-dependencies"], f"{block.place}: there is no extra {extra!r}"
