"""The container, without Docker: a linter reads it, and its commands run here as they would inside."""

import json
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.command_line import evalsi
from tests.server.running_server import running_server

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
INSIDE = "/var/lib/evalsi"


def instructions() -> list[tuple[str, str]]:
    """(instruction, arguments) of the last stage, continued lines joined, comments left out."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    found = [(line.split()[0], line.partition(" ")[2]) for line in lines]
    last = max(place for place, (word, _) in enumerate(found) if word == "FROM")
    return found[last:]


def argument(word: str) -> str:
    (found,) = [rest for name, rest in instructions() if name == word]
    return found


def service() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["evalsi"]


def test_the_linter_finds_nothing() -> None:
    linter = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if linter is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([linter, str(DEPLOY / "Dockerfile")], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


def test_everything_that_is_copied_is_there_and_let_in() -> None:
    let_in = {
        line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line.startswith("!")
    }
    text = (DEPLOY / "Dockerfile").read_text()
    copied = {
        name
        for line in text.splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for name in line.split()[1:-1]
    }
    assert copied == let_in
    assert all((ROOT / name).exists() for name in copied)


def test_the_server_runs_as_nobody_special() -> None:
    assert argument("USER") not in ("0", "root")
    assert service()["cap_drop"] == ["ALL"]
    assert service()["read_only"] is True
    assert all(port.startswith("127.0.0.1:") for port in service()["ports"])


@pytest.mark.slow
def test_the_commands_of_the_container_serve(tmp_path: Path) -> None:
    (mounted,) = [each for each in service()["volumes"] if each.startswith("./")]
    source, inside, _ = mounted.split(":")
    *command, config = json.loads(argument("CMD"))
    assert config == inside
    assert INSIDE in (DEPLOY / source).read_text()
    store = tmp_path / "data"
    (tmp_path / "evalsi.yaml").write_text((DEPLOY / source).read_text().replace(INSIDE, str(store)))
    assert command == ["serve", "--config"]
    assert f"EVALSI_DIR={INSIDE}" in argument("ENV")
    with running_server(tmp_path, ("--config", str(tmp_path / "evalsi.yaml")), {"EVALSI_DIR": str(store)}) as server:
        health = json.loads(argument("HEALTHCHECK").partition("CMD ")[2])
        code = health[2].replace("127.0.0.1:8080", server.address)
        subprocess.run([sys.executable, *health[1:2], code], check=True, timeout=30, env={**os.environ})
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"http://{server.address}/v1/runs", timeout=10)
        first = (DEPLOY / "compose.yaml").read_text().splitlines()[1]
        words = first.partition("exec evalsi evalsi ")[2].replace("'", "").split()
        made = evalsi(*words, cwd=tmp_path, env={"EVALSI_DIR": str(store)})
        assert made.status == 0, made.err
        environment = {"EVALSI_SERVER": f"http://{server.address}", "EVALSI_API_KEY": made.out.strip()}
        listed = evalsi("runs", "list", "--format", "json", cwd=tmp_path, env=environment)
        assert (listed.status, json.loads(listed.out)) == (0, [])
        refused = evalsi("runs", "list", cwd=tmp_path, env={**environment, "EVALSI_API_KEY": "evk_" + "x" * 40})
        assert refused.status == 1
