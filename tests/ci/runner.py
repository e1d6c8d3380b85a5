"""The little of a runner of GitHub Actions that our files need: workflow commands, and the steps of a composite action.

Written from the documented behaviour (workflow commands, contexts, composite actions), so that what we print and ship is
run as it would be there.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_COMMANDS = {"error", "warning", "notice", "debug", "group", "endgroup", "add-mask", "stop-commands", "set-output"}
_LINE = re.compile(r"\s*::(?P<name>[\w-]+)(?: (?P<properties>.*?))?::(?P<data>.*)")
_OLD = re.compile(r"##\[(?P<name>[\w-]+)(?: (?P<properties>[^\]]*))?\](?P<data>.*)")
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


@dataclass(frozen=True)
class WorkflowCommand:
    name: str
    properties: dict[str, str]
    data: str


def commands_in(log: str) -> list[WorkflowCommand]:
    """Everything that a runner would obey in what a step printed."""
    found: list[WorkflowCommand] = []
    for line in re.split(r"\r\n|\n|\r", log):
        match = _LINE.match(line) or _OLD.search(line)
        if match is None or match["name"] not in _COMMANDS:
            continue
        pairs = [pair.partition("=") for pair in (match["properties"] or "").split(",") if pair]
        properties = {name.strip(): _unescaped(value, {":": "%3A", ",": "%2C"}) for name, _, value in pairs}
        found.append(WorkflowCommand(match["name"], properties, _unescaped(match["data"], {})))
    return found


def _unescaped(text: str, more: Mapping[str, str]) -> str:
    for sign, code in {"\r": "%0D", "\n": "%0A", **more, "%": "%25"}.items():
        text = text.replace(code, sign)
    return text


@dataclass
class Job:
    """A job in a folder: what steps share, and what they left."""

    folder: Path
    environment: dict[str, str]
    contexts: dict[str, str] = field(default_factory=dict[str, str])
    """Values of expressions such as `runner.temp`."""
    log: str = ""
    summary: str = ""
    outputs: dict[str, str] = field(default_factory=dict[str, str])
    status: int = 0

    def run_action(self, path: Path, inputs: Mapping[str, str]) -> None:
        """Runs a composite action; an input that is not given has its default, and a required one must be given."""
        action = yaml.safe_load(path.read_text("utf-8"))
        declared: dict[str, dict[str, Any]] = action["inputs"]
        unknown = set(inputs) - set(declared)
        assert not unknown, f"no such inputs: {unknown}"
        for name, about in declared.items():
            assert about.get("description"), name
            if about.get("required"):
                assert name in inputs, f"the input {name} is required"
            self.contexts[f"inputs.{name}"] = inputs.get(name, str(about.get("default", "")))
        assert action["runs"]["using"] == "composite"
        self.contexts["github.action_path"] = str(path.parent)
        self.run_steps(action["runs"]["steps"])
        for name, about in action["outputs"].items():
            self.outputs[name] = self._filled(about["value"])

    def run_steps(self, steps: list[dict[str, Any]]) -> None:
        """Runs steps in order. After one that failed only those with `if: always()` run, as there."""
        for number, step in enumerate(steps):
            condition = str(step.get("if", "success()"))
            if not self._holds(condition):
                continue
            if "uses" in step:
                self._use(step)
            else:
                self._run(step, number)

    def _holds(self, condition: str) -> bool:
        if "always()" in condition:
            condition = condition.replace("always()", "").strip().removeprefix("&&").strip()
        elif self.status:
            return False
        condition = condition.replace("success()", "").strip().removeprefix("&&").strip().removeprefix("${{").strip()
        if not condition:
            return True
        left, operator, right = re.fullmatch(
            r"(\S+)\s*(==|!=)\s*'([^']*)'", condition.removesuffix("}}").strip()
        ).groups()  # type: ignore[union-attr]
        return (self.contexts[left] == right) == (operator == "==")

    def _use(self, step: dict[str, Any]) -> None:
        name = step["uses"].partition("@")[0]
        assert name in ("actions/checkout", "actions/setup-python", "actions/upload-artifact"), name
        self.log += f"used {step['uses']}\n"

    def _run(self, step: dict[str, Any], number: int) -> None:
        assert "shell" in step or "name" in step, "a composite action's run step names its shell"
        files = {name: self.folder / f".{name.lower()}-{number}" for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.touch()
        given = {name: self._filled(str(value)) for name, value in (step.get("env") or {}).items()}
        environment = self.environment | {name: str(path) for name, path in files.items()} | given
        where = self.folder / self._filled(str(step.get("working-directory") or "."))
        script = self.folder / f".step-{number}.sh"
        script.write_text(self._filled(step["run"]), "utf-8")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=where,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
            timeout=300,
        )
        self.log += done.stdout
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text("utf-8")
        for name, value in _pairs(files["GITHUB_OUTPUT"].read_text("utf-8")):
            self.contexts[f"steps.{step.get('id')}.outputs.{name}"] = value
        if done.returncode and not step.get("continue-on-error"):
            self.status = self.status or done.returncode

    def _filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda found: self._value(found[1]), text)

    def _value(self, expression: str) -> str:
        for part in expression.split("||"):
            name = part.strip()
            value = name[1:-1] if name.startswith("'") else self.contexts.get(name, "")
            if value:
                return value
        return ""


def _pairs(text: str) -> list[tuple[str, str]]:
    """`name=value` lines, and `name<<WORD` blocks."""
    found: list[tuple[str, str]] = []
    lines = iter(text.splitlines())
    for line in lines:
        name, separator, word = line.partition("<<")
        if separator and "=" not in name:
            block: list[str] = []
            for inner in lines:
                if inner == word:
                    break
                block.append(inner)
            found.append((name, "\n".join(block)))
        elif line:
            name, _, value = line.partition("=")
            found.append((name, value))
    return found


def clean_environment(bin_folder: Path) -> dict[str, str]:
    """What a fresh runner has: programs, a home, no settings of ours."""
    kept = (
        "HOME",
        "LANG",
        "TMPDIR",
        "UV_CACHE_DIR",
        "PIP_INDEX_URL",
        "PIP_CONFIG_FILE",
        "SSL_CERT_FILE",
        "REQUESTS_CA_BUNDLE",
        "PIP_CERT",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "NO_PROXY",
        "https_proxy",
        "http_proxy",
        "no_proxy",
    )
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    return environment | {
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "CI": "true",
        "GITHUB_ACTIONS": "true",
    }
