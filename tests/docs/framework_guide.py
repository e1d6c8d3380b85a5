"""A guide for a framework, followed as its reader would: install what its `pip install` says, set its variables, run its app.

Its own module because tests follow the guides and so does the making of golden traces. Packages are installed in an
environment of their own, in the versions that the page says it was run with, beside this evalsi.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.docs.pages import ROOT, Block, blocks_of, commands_of
from tests.own_environment import own_environment

FOLDER = ROOT / "docs/guides/frameworks"
_VERSION = re.compile(r"`([\w.-]+)==([\w.]+)`")


@dataclass(frozen=True, kw_only=True)
class Guide:
    """What a page tells its reader to do, and what it says they will see."""

    page: Path
    packages: tuple[str, ...]
    """As the page's `pip install` has them, without evalsi itself."""
    extras: str
    """Of evalsi, in brackets."""
    versions: tuple[str, ...]
    """`name==version` of everything whose version the page tells."""
    variables: Mapping[str, str]
    app: str
    policy: str
    shown: tuple[str, ...]
    """Lines of the trace, as `evalsi traces show` prints them; "…" stands for anything."""


def guide_of(name: str) -> Guide:
    """The guide at `docs/guides/frameworks/NAME.md`."""
    page = FOLDER / f"{name}.md"
    blocks = list(blocks_of(page))
    words = _installed(blocks)
    own = next(word for word in words if word.startswith("evalsi"))
    exports = [command.line.removeprefix("export ") for block in blocks for command in commands_of(block)
               if command.line.startswith("export ")]  # fmt: skip
    return Guide(
        page=page,
        packages=tuple(word for word in words if word != own),
        extras=own.removeprefix("evalsi"),
        versions=tuple("==".join(found) for found in _VERSION.findall(page.read_text(encoding="utf-8"))),
        variables=dict(export.split("=", 1) for export in exports),
        app=_file(blocks, "app.py"),
        policy=_file(blocks, "policy.yaml"),
        shown=tuple(line for block in blocks if block.language == "text" for line in block.text.splitlines() if line),
    )


def install(guide: Guide, folder: Path) -> Path:
    """An environment with what the guide installs; its interpreter. The test is skipped where it cannot be had."""
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(guide.versions), encoding="utf-8")
    wanted = ["--constraint", str(constraints), *guide.packages, f"evalsi{guide.extras} @ {ROOT.as_uri()}"]
    return own_environment(folder / "environment", wanted)


def run_app(guide: Guide, python: Path, folder: Path, addresses: Mapping[str, str], server: str) -> str:
    """Runs the app of the guide; what it printed.

    Args:
        addresses: Variables that lead the framework to a model.
        server: Address of the server of evalsi, in place of the one that the page writes.
    """
    (folder / "app.py").write_text(guide.app, encoding="utf-8")
    variables = {name: value.replace("http://127.0.0.1:8080", server) for name, value in guide.variables.items()}
    environment = {
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "EVALSI_SERVER": server,
        **addresses,
        **variables,
    }
    done = subprocess.run(
        [str(python), "app.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def _installed(blocks: list[Block]) -> list[str]:
    lines = [command.line for block in blocks for command in commands_of(block)]
    line = next((line for line in lines if line.startswith("pip install ")), "pip install evalsi")
    return [word.strip("\"'") for word in line.split()[2:]]


def _file(blocks: list[Block], name: str) -> str:
    return next((block.text + "\n" for block in blocks if block.directions.get("file") == name), "")
