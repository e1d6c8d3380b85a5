"""`code-check`: a compiler or a linter finds nothing wrong with the program, which is not run."""

import re
from typing import Annotated, Literal

import msgspec

from evalsi.core.errors import SandboxError, SandboxUnavailableError, SkipRecord
from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.matching.record_text import NO_FINAL_ANSWER, answer_reader
from evalsi.evaluators.programs.program_text import program_text
from evalsi.evaluators.programs.python_tests import sandbox_failure
from evalsi.evaluators.programs.running_params import RunningParams, runner_of
from evalsi.ports.sandbox import (
    Execution,
    SandboxCommand,
    SandboxFile,
    SandboxHost,
    SandboxOutcome,
    SandboxSpec,
)

CheckerName = Literal["gcc", "g++", "node", "bash", "ruff"]
_FILE = "{file}"
_ATTEMPTS = 2
_SHOWN_CHARACTERS = 300
_MODULE = re.compile(r"^\s*(?:import|export)\b", re.MULTILINE)


class _Checker(msgspec.Struct, frozen=True, kw_only=True):
    command: tuple[str, ...]
    file: str
    languages: frozenset[str]
    """How its programs are marked in an answer."""


_CHECKERS: dict[str, _Checker] = {
    "gcc": _Checker(
        command=("gcc", "-fsyntax-only", "-x", "c", _FILE), file="program.c", languages=frozenset({"c", "h"})
    ),
    "g++": _Checker(
        command=("g++", "-fsyntax-only", "-x", "c++", _FILE),
        file="program.cpp",
        languages=frozenset({"c++", "cpp", "cc", "cxx", "hpp"}),
    ),
    "node": _Checker(
        command=("node", "--check", _FILE), file="program.js", languages=frozenset({"javascript", "js", "mjs", "node"})
    ),
    "bash": _Checker(
        command=("bash", "-n", _FILE), file="program.sh", languages=frozenset({"bash", "sh", "shell", "zsh"})
    ),
    "ruff": _Checker(
        command=("ruff", "check", "--isolated", "--no-cache", "--output-format", "concise", _FILE),
        file="program.py",
        languages=frozenset({"python", "python3", "py", "py3"}),
    ),
}


class CodeCheckParams(RunningParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who checks the program."""

    checker: CheckerName | None = None
    """`gcc`, `g++`, `node` and `bash` look for mistakes of syntax and, where the language has them, of types; `ruff` lints."""
    command: list[str] | None = None
    """In place of `checker`: a command of your own, with {file} where the program's file goes. Status 0 is a pass."""
    file: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_.-]{1,80}$")] = "program"
    """Name of the program's file, for a command of your own."""
    language: str = ""
    """How blocks with the program are marked, for a command of your own; empty takes the last block."""


@evaluator(
    name="code-check",
    version="1.0.0",
    requires=["output", "sandbox"],
    params=CodeCheckParams,
    outputs=[output("code-check", "passed", description="The checker found nothing wrong.")],
    example={
        "record": {"output": "```c\nint add(int a, int b) { return a + b; }\n```"},
        "params": {"checker": "gcc"},
        "expected": {"code-check": True},
    },
)
class CodeCheck:
    """Whether a compiler or linter accepts the program in the answer, its last fenced block or all of it.

    The checker is the machine's own and runs in a sandbox; the program itself never runs. Where the checker is not
    installed the record is SKIPPED. A checker that runs out of time or memory over a program is its failure; a sandbox
    that fails is an ERROR.
    """

    def __init__(self, params: CodeCheckParams, context: EvalContext) -> None:
        if (params.checker is None) == (params.command is None):
            raise ValueError("give either `checker` or `command`")
        if params.command is not None and not any(_FILE in word for word in params.command):
            raise ValueError("`command` must hold {file} where the program's file goes")
        self._params = params
        self._context = context
        self._read = answer_reader(params.reasoning_tags)
        self._checker = _CHECKERS[params.checker] if params.checker is not None else _own(params)

    async def evaluate(self, record: Record) -> Score:
        answer = self._read(record)
        if answer is None:
            return Score(name="code-check", passed=False, explanation=NO_FINAL_ANSWER)
        source = program_text(answer, self._checker.languages)
        if not source.strip():
            return Score(name="code-check", passed=False, explanation="there is no program")
        execution = await self._checked(source)
        return Score(
            name="code-check",
            passed=execution.succeeded,
            explanation="" if execution.succeeded else _said(execution),
        )

    async def _checked(self, source: str) -> Execution:
        """How the checker ended. A sandbox that fails is tried once more, and then is an ERROR."""
        runner = runner_of(self._params, self._context)
        host = runner.require_host()
        name = self._checker.file
        if self._params.checker == "node" and _MODULE.search(source):
            name = "program.mjs"
        file = SandboxFile(path=name, content=source.encode(errors="replace"))
        spec = SandboxSpec(min_isolation=runner.least, limits=runner.limits, files=(file,))
        argv = tuple(word.replace(_FILE, name) for word in self._checker.command)
        reason = ""
        for _ in range(_ATTEMPTS):
            try:
                execution = await _run(host, spec, argv)
            except SandboxUnavailableError as error:
                raise sandbox_failure(str(error)) from error
            except SandboxError as error:
                reason = str(error)
                continue
            if execution.outcome is not SandboxOutcome.RUNNER_FAILURE:
                return execution
            reason = execution.reason
        raise sandbox_failure(reason)


async def _run(host: SandboxHost, spec: SandboxSpec, argv: tuple[str, ...]) -> Execution:
    """Raises: SkipRecord: there is no such checker. Asked beforehand, because a status of the checker proves nothing."""
    sandbox = await host.create(spec)
    try:
        found = await sandbox.execute(SandboxCommand(argv=("sh", "-c", 'command -v "$1"', "sh", argv[0])))
        if found.outcome is SandboxOutcome.EXIT and found.exit_code != 0:
            raise SkipRecord(f"{argv[0]} is not installed where programs run")
        return await sandbox.execute(SandboxCommand(argv=argv))
    finally:
        await sandbox.destroy()


def _own(params: CodeCheckParams) -> _Checker:
    assert params.command is not None
    languages = frozenset({params.language.lower()} if params.language else set[str]())
    return _Checker(command=tuple(params.command), file=params.file, languages=languages)


def _said(execution: Execution) -> str:
    match execution.outcome:
        case SandboxOutcome.TIMEOUT:
            return "the checker ran out of time"
        case SandboxOutcome.OUT_OF_MEMORY:
            return "the checker ran out of memory"
        case SandboxOutcome.DENIED:
            return f"the checker was stopped: {execution.reason}"
        case _:
            said = (execution.stderr.strip() or execution.stdout.strip()).decode(errors="replace")
            return said[:_SHOWN_CHARACTERS] or f"the checker ended with status {execution.exit_code}"
