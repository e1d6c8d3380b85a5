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

OFFICIAL = {
    "actions/checkout", "actions/setup-python", "actions/upload-artifact",
    "actions/cache", "actions/cache/restore", "actions/cache/save",
}  # fmt: skip
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
    """Values of expressions such as `github.event_name`."""
    actions: dict[str, Path] = field(default_factory=dict[str, Path])
    """Where the actions are that steps use; those of GitHub itself are only checked for their names."""
    log: str = ""
    summary: str = ""
    used: list[str] = field(default_factory=list[str])
    status: int = 0

    def run_action(self, path: Path, inputs: Mapping[str, str]) -> dict[str, str]:
        """Runs a composite action and returns its outputs. An input that is not given has its default."""
        action = yaml.safe_load(path.read_text("utf-8"))
        declared: dict[str, dict[str, Any]] = action["inputs"]
        assert not set(inputs) - set(declared), f"no such inputs: {set(inputs) - set(declared)}"
        inner = Job(self.folder, self.environment, {"github.action_path": str(path.parent)})
        for name, about in declared.items():
            assert about.get("description"), name
            assert not about.get("required") or name in inputs, f"the input {name} is required"
            inner.contexts[f"inputs.{name}"] = inputs.get(name, str(about.get("default", "")))
        assert action["runs"]["using"] == "composite"
        for step in action["runs"]["steps"]:
            assert "uses" in step or "shell" in step, "a run step of a composite action names its shell"
        inner.run_steps(action["runs"]["steps"])
        self.log, self.summary, self.status = (
            self.log + inner.log, self.summary + inner.summary, self.status or inner.status
        )  # fmt: skip
        self.used += inner.used
        return {name: inner.filled(about["value"]) for name, about in action["outputs"].items()}

    def run_steps(self, steps: list[dict[str, Any]]) -> None:
        """Runs steps in order. After one that failed only those with `if: always()` run, as there."""
        for number, step in enumerate(steps):
            if not self.holds(str(step.get("if", ""))):
                continue
            if "uses" in step:
                self._use(step)
            else:
                self._run(step, number)

    def holds(self, condition: str) -> bool:
        """Whether a step or job with this `if` runs."""
        condition = condition.strip().removeprefix("${{").removesuffix("}}")
        parts = [part.strip() for part in condition.split("&&") if part.strip()]
        if self.status and "always()" not in parts:
            return False
        for part in parts:
            if part in ("always()", "success()"):
                continue
            comparison = re.fullmatch(r"(\S+)\s*(==|!=)\s*'([^']*)'", part)
            assert comparison is not None, f"this runner does not know {part!r}"
            if (self.contexts.get(comparison[1], "") == comparison[3]) != (comparison[2] == "=="):
                return False
        return True

    def _use(self, step: dict[str, Any]) -> None:
        name, _, version = step["uses"].partition("@")
        assert version, f"{name} is not pinned to a version"
        self.used.append(name)
        if name not in self.actions:
            assert name in OFFICIAL, name
            return
        inputs = {key: self.filled(str(value)) for key, value in step.get("with", {}).items()}
        given = {key: self.filled(str(value)) for key, value in step.get("env", {}).items()}
        outer, self.environment = self.environment, self.environment | given
        outputs = self.run_action(self.actions[name], inputs)
        self.environment = outer
        self.contexts |= {f"steps.{step.get('id')}.outputs.{key}": value for key, value in outputs.items()}

    def _run(self, step: dict[str, Any], number: int) -> None:
        files = {name: self.folder / f".{name.lower()}-{number}" for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.touch()
        given = {name: self.filled(str(value)) for name, value in (step.get("env") or {}).items()}
        environment = self.environment | {name: str(path) for name, path in files.items()} | given
        where = self.folder / self.filled(str(step.get("working-directory") or "."))
        script = self.folder / f".step-{number}.sh"
        script.write_text(self.filled(step["run"]), "utf-8")
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

    def filled(self, text: str) -> str:
        """`text` with its expressions replaced by their values."""
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
