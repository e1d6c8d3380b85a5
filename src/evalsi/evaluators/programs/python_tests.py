"""Tests of a Python program, run where the program cannot reach them.

Two sandboxes take turns: in one the tests run without the program, in the other the program without the tests. The first
asks for answers, the second gives them as data, a fresh process for each test; the verdict is the first one's. So nothing
that the program does to its own process (exits, patched assertions, objects equal to everything, threads, signals) can
reach a verdict or an expected value.
"""

import ast
import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from evalsi.core.errors import MeasurementError, SandboxError, SandboxUnavailableError, SkipRecord
from evalsi.evaluators.programs.command_runs import CommandProgram, run_by_command
from evalsi.evaluators.programs.declared_packages import asking_program, missed_module, told_missing
from evalsi.evaluators.programs.inside.exchange import NotPlainError, decode, encode
from evalsi.evaluators.programs.program_text import inside_source
from evalsi.ports.sandbox import Execution, PythonProgram, SandboxHost, SandboxLimits, SandboxOutcome
from evalsi.schema import ErrorKind, Fault, IsolationLevel

OWN_PYTHON = "python3"
"""The interpreter that every sandbox has."""
_FILE = "main.py"
_MOST_ROUNDS = 400
_ROUNDS_WITHOUT_PROGRESS = 3
_MOST_TIMEOUTS = 3
"""How often a program may run out of time; what it would do after that counts as the same. So a program that hangs in
every test ends within the deadline of its record, as a failure of its own."""
_PREFIXES = 8
"""At how many places of a test it is looked whether the program's answers depend on what it is asked later."""
_ANSWER_FIELDS = ("value", "args", "kwargs", "raised", "modules", "message", "attributes")
_TEST_LIMITS = SandboxLimits(wall_s=20.0, cpu_s=20, memory_mib=512, output_bytes=8 << 20)

Answers = dict[str, list[tuple[dict[str, Any], dict[str, Any]]]]


class PythonTests(msgspec.Struct, frozen=True, kw_only=True):
    """Tests as a record brings them."""

    tests: tuple[str, ...]
    """Each an assertion, a script, or a module of pytest functions or unittest classes."""
    setup: str = ""
    """Runs before each of them, in their sandbox."""
    entry_point: str = ""
    """The function that `candidate` and `check(candidate)` mean; "" for the last that the program defines."""
    module: str = ""
    """Name by which tests import the program, beside the usual ones."""


class TestReport(msgspec.Struct, frozen=True, kw_only=True):
    """How the tests ended."""

    passed: int
    total: int
    first_failure: str
    """Which test failed first, and why."""


class ProgramRunner:
    """Runs programs in a sandbox; whatever goes wrong with the sandbox is a `MeasurementError`, never a score.

    Args:
        packages: Modules that programs may count on; looked for before the first program runs.
        interpreter: What runs programs, by its name or path in the sandbox; `python3` is the sandbox's own Python.
    """

    def __init__(
        self,
        host: SandboxHost | None,
        limits: SandboxLimits,
        least: IsolationLevel,
        packages: tuple[str, ...] = (),
        interpreter: str = OWN_PYTHON,
    ) -> None:
        self._host = host
        self.limits = limits
        self.least = least
        self._interpreter = interpreter
        self._packages = packages
        self._looking = asyncio.Lock()
        self._missing: dict[str, str] | None = None if packages else {}

    async def run(
        self, source: str, stdins: tuple[bytes, ...], limits: SandboxLimits | None = None
    ) -> tuple[Execution, ...]:
        """One execution per standard input.

        Raises: MeasurementError: the sandbox failed, also on a second try, or lacks a package that was declared.
        """
        await self._check_packages()
        return await self._run(source, stdins, limits or self.limits)

    async def _run(self, source: str, stdins: tuple[bytes, ...], limits: SandboxLimits) -> tuple[Execution, ...]:
        if self._interpreter != OWN_PYTHON:
            return await self.run_command((self._interpreter, _FILE), _FILE, source, stdins, limits)
        host = self.require_host()

        async def portion(some: tuple[bytes, ...]) -> tuple[Execution, ...]:
            program = PythonProgram(source=source, stdins=some, limits=limits, min_isolation=self.least)
            return (await host.run_python(program)).executions

        return await _in_portions(portion, stdins, _MOST_TIMEOUTS)

    async def run_command(
        self,
        argv: tuple[str, ...],
        file: str,
        source: str,
        stdins: tuple[bytes, ...],
        limits: SandboxLimits | None = None,
    ) -> tuple[Execution, ...]:
        """One execution of `argv` per standard input, beside a file that holds the program.

        Raises: MeasurementError: the sandbox failed, also on a second try, or has no such command.
        """
        program = CommandProgram(
            argv=argv, file=file, source=source, limits=limits or self.limits, min_isolation=self.least
        )
        host = self.require_host()
        return await _in_portions(lambda some: run_by_command(host, program, some), stdins, 1)

    async def _check_packages(self) -> None:
        if self._missing is None:
            async with self._looking:
                if self._missing is None:
                    source, stdin = asking_program(self._packages)
                    (execution,) = await self._run(source, (stdin,), _TEST_LIMITS)
                    self._missing = told_missing(execution.stdout)
                    if self._missing is None:
                        raise sandbox_failure(f"looking for packages ended with {_ending(execution)}")
        if self._missing:
            name, why = next(iter(self._missing.items()))
            raise MeasurementError(
                f"missing_package: the spec says that programs have {name}, and the sandbox cannot import it ({why}); provide "
                "it with EVALSI_SANDBOX_PACKAGES, or sandbox.packages_dir of a server",
                kind=ErrorKind.ENVIRONMENT,
                fault=Fault.ENVIRONMENT,
            )

    def require_host(self) -> SandboxHost:
        """Raises: MeasurementError: nobody lent one, so no program is run."""
        if self._host is None:
            raise sandbox_failure("no sandbox was lent to this evaluation, and programs are not run without one")
        return self._host


async def _in_portions(
    run: Callable[[tuple[bytes, ...]], Awaitable[tuple[Execution, ...]]], stdins: tuple[bytes, ...], size: int
) -> tuple[Execution, ...]:
    """One execution per standard input, the last of them not run where the program ran out of time too often.

    Raises: MeasurementError: a sandbox failed, or none is strong enough.
    """
    found: list[Execution] = []
    timeouts = 0
    while len(found) < len(stdins) and timeouts < _MOST_TIMEOUTS:
        count = min(size, _MOST_TIMEOUTS - timeouts)
        try:
            executions = await run(stdins[len(found) : len(found) + count])
        except (SandboxUnavailableError, SandboxError) as error:
            raise sandbox_failure(str(error)) from error
        found += _without_failures(executions)
        timeouts += sum(each.outcome is SandboxOutcome.TIMEOUT for each in executions)
    skipped = Execution(outcome=SandboxOutcome.TIMEOUT, reason=f"it ran out of time {timeouts} times before")
    return (*found, *[skipped] * (len(stdins) - len(found)))


def _without_failures(executions: tuple[Execution, ...]) -> tuple[Execution, ...]:
    for execution in executions:
        if execution.outcome is SandboxOutcome.RUNNER_FAILURE:
            raise sandbox_failure(execution.reason)
    return executions


def sandbox_failure(reason: str) -> MeasurementError:
    return MeasurementError(f"sandbox_unavailable: {reason}", kind=ErrorKind.ENVIRONMENT, fault=Fault.ENVIRONMENT)


async def run_python_tests(source: str, tests: PythonTests, runner: ProgramRunner) -> TestReport:
    """Runs every test against the program.

    Raises:
        SkipRecord: the tests cannot be read, or need what cannot cross to the program.
        MeasurementError: a sandbox failed, or the tests did not end before the program had said anything.
    """
    plain = _plain_cases(tests)
    if plain is not None:
        return await _run_plain(source, plain, tests, runner)
    answers: Answers = {}
    asked_before, patience = 0, _ROUNDS_WITHOUT_PROGRESS
    for _ in range(_MOST_ROUNDS):
        cases = await _drive(tests, answers, runner)
        if cases is None:
            return TestReport(passed=0, total=1, first_failure="the tests did not end with these answers")
        pending = [case for case in cases if case["state"] == "pending"]
        if not pending:
            return _report(await _confirmed(source, cases, answers, tests, runner))
        asked = sum(len(case["calls"]) for case in cases)
        patience = _ROUNDS_WITHOUT_PROGRESS if asked > asked_before else patience - 1
        if not patience:
            break
        asked_before = max(asked, asked_before)
        fresh = await _answers_of(source, [case["calls"] for case in pending], tests, runner)
        for case, answered in zip(pending, fresh, strict=True):
            answers[case["name"]] = list(zip(case["calls"], answered, strict=True))
    return TestReport(passed=0, total=1, first_failure="its answers differ from call to call")


async def _confirmed(
    source: str, cases: list[dict[str, Any]], answers: Answers, tests: PythonTests, runner: ProgramRunner
) -> list[dict[str, Any]]:
    """The cases, of which those fail in which the program answered otherwise when it knew what it would be asked next.

    A later call may be what a test expects of an earlier one, as in `assert light(5) == Color.RED`.
    """
    looked_at: list[tuple[dict[str, Any], int]] = []
    for case in cases:
        if case["state"] == "passed":
            telling = [place for place, call in enumerate(case["calls"]) if place and _is_telling(call)]
            step = max(1, len(telling) / _PREFIXES)
            looked_at += [(case, telling[int(at * step)]) for at in range(min(len(telling), _PREFIXES))]
    if not looked_at:
        return cases
    fresh = await _answers_of(source, [case["calls"][:place] for case, place in looked_at], tests, runner)
    for (case, place), answered in zip(looked_at, fresh, strict=True):
        if answered != [answer for _, answer in answers[case["name"]][:place]]:
            case.update(state="failed", reason="its answers depend on what it is asked later")
    return cases


def _is_telling(call: dict[str, Any]) -> bool:
    """Whether a call says what a test expects: it reads a constant of the program."""
    return call["op"] == "value" and all(isinstance(part, str) for part in call["target"])


def _report(cases: list[dict[str, Any]]) -> TestReport:
    counted = [case for case in cases if case["state"] in ("passed", "failed")]
    unsupported = next((case["reason"] for case in cases if case["state"] == "unsupported"), None)
    if unsupported is not None:
        raise SkipRecord(str(unsupported))
    if not counted:
        raise SkipRecord("the tests hold no test")
    failed = [case for case in counted if case["state"] == "failed"]
    return TestReport(
        passed=len(counted) - len(failed),
        total=len(counted),
        first_failure=f"test {failed[0]['name']}: {failed[0]['reason']}" if failed else "",
    )


async def _drive(tests: PythonTests, answers: Answers, runner: ProgramRunner) -> list[dict[str, Any]] | None:
    """What the tests say and ask. None where they did not end although answers of the program were in play."""
    order = {
        "tests": tests.tests,
        "setup": tests.setup,
        "entry_point": tests.entry_point,
        "module": tests.module,
        "answers": answers,
    }
    (execution,) = await runner.run(inside_source("drive_tests"), (msgspec.json.encode(order),), _TEST_LIMITS)
    try:
        reply = msgspec.json.decode(execution.stdout, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        if answers:
            return None
        raise MeasurementError(
            f"the tests did not run: {execution.outcome.value} {execution.stderr[-300:].decode(errors='replace')}"
        ) from None
    if "unreadable" in reply:
        raise SkipRecord(f"the tests are no Python: {reply['unreadable']}")
    return reply["cases"]


async def _answers_of(
    source: str, calls: list[list[dict[str, Any]]], tests: PythonTests, runner: ProgramRunner
) -> list[list[dict[str, Any]]]:
    """The program's answers to each list of calls, each list in a fresh process."""
    stdins = tuple(
        msgspec.json.encode({"source": source, "entry_point": tests.entry_point, "calls": asked}) for asked in calls
    )
    executions = await runner.run(inside_source("answer_calls"), stdins)
    return [
        await asyncio.to_thread(_read_answers, run, len(asked)) for run, asked in zip(executions, calls, strict=True)
    ]


def _read_answers(execution: Execution, wanted: int) -> list[dict[str, Any]]:
    """One answer for each call; a call that the program left without one is answered with why."""
    found: list[dict[str, Any]] = []
    broken = ""
    for line in execution.stdout.split(b"\n")[:wanted]:
        try:
            answer = msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            break
        if "broken" in answer:
            broken = f"does not load: {missed_module(str(answer['broken']).encode()) or answer['broken']}"
            break
        found.append({key: answer[key] for key in _ANSWER_FIELDS if key in answer})
    why = broken or _ending(execution)
    return found + [{"gone": why}] * (wanted - len(found))


def _ending(execution: Execution) -> str:
    match execution.outcome:
        case SandboxOutcome.TIMEOUT:
            return "ran out of time"
        case SandboxOutcome.OUT_OF_MEMORY:
            return "ran out of memory"
        case SandboxOutcome.DENIED:
            return f"was stopped: {execution.reason}"
        case _:
            return "said too much" if execution.truncated else f"ended with status {execution.exit_code}"


# Assertions of the plain form `f(1, 2) == 3` need no sandbox for the tests: the expected values are read here.


_LONGEST_FORM = 64
"""No form of a value is longer than another by this factor; so what is compared is bounded by what was expected."""


class _PlainCase(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    call: dict[str, Any]
    expected: Any


def _plain_cases(tests: PythonTests) -> list[_PlainCase] | None:
    """The tests as calls with expected values, where each is one assertion of that form and nothing is set up."""
    if tests.setup.strip():
        return None
    found: list[_PlainCase] = []
    for text in tests.tests:
        try:
            case = _plain_case(text)
        except (SyntaxError, ValueError, NotPlainError, RecursionError, MemoryError, TypeError):
            return None
        if case is None:
            return None
        found.append(case)
    return found or None


def _plain_case(text: str) -> _PlainCase | None:
    tree = ast.parse(text.strip())
    if len(tree.body) != 1:
        return None
    (statement,) = tree.body
    test = statement.test if isinstance(statement, ast.Assert) else getattr(statement, "value", None)
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
        return None
    call = test.left
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        return None
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return None
    arguments = [encode(ast.literal_eval(each)) for each in call.args]
    named = {str(each.arg): encode(ast.literal_eval(each.value)) for each in call.keywords}
    asked = {"op": "call", "target": [call.func.id], "args": arguments, "kwargs": named}
    return _PlainCase(text=text.strip(), call=asked, expected=ast.literal_eval(test.comparators[0]))


async def _run_plain(source: str, cases: list[_PlainCase], tests: PythonTests, runner: ProgramRunner) -> TestReport:
    answered = await _answers_of(source, [[case.call] for case in cases], tests, runner)
    failures: list[str] = []
    for case, (answer,) in zip(cases, answered, strict=True):
        why = _mismatch(case.expected, answer)
        if why:
            failures.append(f"{case.text}: {why}")
    return TestReport(
        passed=len(cases) - len(failures),
        total=len(cases),
        first_failure=failures[0] if failures else "",
    )


def _mismatch(expected: Any, answer: dict[str, Any]) -> str:
    """Why the answer is not the expected value; "" where it is. Only plain values are ever equal."""
    if "gone" in answer:
        return f"the program {answer['gone']}"
    try:
        if "raised" in answer:
            return f"it raised {str(answer['raised'][:1])[:100]}: {str(answer.get('message', ''))[:100]}"
        if len(msgspec.json.encode(answer.get("value"))) > _LONGEST_FORM * (len(repr(expected)) + _LONGEST_FORM):
            return "it answered far more than was asked for"
        value = decode(answer.get("value"))
        return "" if "value" in answer and bool(value == expected) else f"it answered {repr(value)[:100]}"
    except Exception:  # whatever the program made of its answer, it is not the expected value
        return "it answered no plain value"
