"""A package that programs may count on: provided by the operator, an ERROR of the environment where it is missing."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.errors import MeasurementError
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.catalog import load
from evalsi.guest import landlock
from evalsi.infra.sandbox import DRIVERS, Ladder, LadderOptions
from evalsi.ports.sandbox import PythonProgram, SandboxCommand, SandboxLimits, SandboxSpec
from evalsi.schema import Content, ErrorKind, Fault, IsolationLevel, Record, Score
from evalsi.settings import SandboxSettings, Settings
from evalsi.wiring.sandboxing import sandbox_host
from tests.command_line import QUICK_SANDBOXES
from tests.infra.sandbox.machines import MACHINES, kept_packages
from tests.infra.sandbox.test_escapes import missing

pytestmark = [
    pytest.mark.xdist_group("sandbox"),
    pytest.mark.skipif(not landlock.version(), reason="no sandbox without Landlock on this kernel"),
]
PROGRAM = "import chosen_package\ndef f():\n    return chosen_package.VALUE\n"
TESTS = {"test_list": ["assert f() == 41"]}
CASES = {"test_cases": [{"input": "", "output": "41"}]}


@pytest.fixture
def packages() -> Path:
    return kept_packages()


def said(evaluator: str, program: str, metadata: dict[str, Any], sandboxes: SandboxSettings, **params: Any) -> Any:
    """What the evaluator says of the program, twice: what it found out about packages is kept."""

    async def run() -> Any:
        async with sandbox_host(Settings(sandbox=sandboxes)) as host:
            bound = bind(load(evaluator), context=EvalContext(sandbox=host), params=params)
            assert bound.call is not None
            record = Record(id="r", output=Content(text=program), metadata=metadata)
            found = await asyncio.gather(bound.call(record), bound.call(record), return_exceptions=True)
            assert type(found[0]) is type(found[1])
            return found[0]

    return asyncio.run(run())


@pytest.mark.slow
def test_a_program_that_imports_what_nobody_promised_fails_and_is_told_what(packages: Path) -> None:
    failed = said("unit-tests", PROGRAM, TESTS, QUICK_SANDBOXES)
    assert isinstance(failed, Score)
    assert failed.passed is False
    assert "imports chosen_package, which its sandbox does not have" in failed.explanation
    printed = said("code-exec-tests", "import chosen_package", CASES, QUICK_SANDBOXES)
    assert isinstance(printed, Score)
    assert printed.number == 0.0
    assert "imports chosen_package" in printed.explanation


@pytest.mark.slow
@pytest.mark.parametrize("evaluator", ["unit-tests", "code-exec-tests"])
def test_a_promised_package_that_is_missing_is_no_fault_of_the_program(evaluator: str) -> None:
    error = said(evaluator, PROGRAM, TESTS, QUICK_SANDBOXES, packages=["json", "chosen_package"])
    assert isinstance(error, MeasurementError)
    assert (error.kind, error.fault) == (ErrorKind.ENVIRONMENT, Fault.ENVIRONMENT)
    assert "chosen_package" in error.message
    assert "EVALSI_SANDBOX_PACKAGES" in error.message
    forged = "print('{}')\nimport sys\nsys.modules['chosen_package'] = sys\n" + PROGRAM
    assert isinstance(said(evaluator, forged, TESTS, QUICK_SANDBOXES, packages=["chosen_package"]), MeasurementError)


@pytest.mark.slow
def test_packages_that_the_operator_provides_are_found_and_cannot_be_changed(packages: Path) -> None:
    sandboxes = replace(QUICK_SANDBOXES, packages=packages)
    for evaluator in ("unit-tests", "code-exec-tests"):
        passed = said(evaluator, PROGRAM, TESTS, sandboxes, packages=["chosen_package"])
        assert isinstance(passed, Score), passed
        assert passed.passed or passed.number == 1.0, passed
    spoil = "import chosen_package\nopen(chosen_package.__file__, 'w')\n" + PROGRAM
    spoiled = said("unit-tests", spoil, TESTS, sandboxes, packages=["chosen_package"])
    assert isinstance(spoiled, Score)
    assert spoiled.passed is False
    assert (packages / "chosen_package" / "__init__.py").read_text(encoding="utf-8") == "VALUE = 41\n"


@pytest.mark.slow
@pytest.mark.parametrize("driver", ["qemu", "gvisor", "bubblewrap", "landlock", "none"])
def test_every_kind_of_sandbox_offers_them_to_programs_and_to_commands(driver: str, packages: Path) -> None:
    if driver in DRIVERS and missing((driver,)):
        pytest.skip(missing((driver,)))
    limits = SandboxLimits(wall_s=60.0 if driver == "qemu" else 10.0)
    place = packages if driver in ("landlock", "none") else "/.evalsi/packages"

    async def main() -> None:
        ladder = Ladder(LadderOptions(drivers=(driver,), packages=packages, machines=MACHINES))
        level = IsolationLevel.NONE if driver == "none" else IsolationLevel.CONFINED
        try:
            source = "import chosen_package; print(chosen_package.VALUE)"
            runs = await ladder.run_python(PythonProgram(source=source, limits=limits, min_isolation=level))
            assert runs.executions[0].stdout == b"41\n", runs
            box = await ladder.create(
                SandboxSpec(limits=limits, min_isolation=level, environment={"PYTHONPATH": "own"})
            )
            asked = SandboxCommand(argv=("sh", "-c", "echo $PYTHONPATH; python3 -c 'import chosen_package'"))
            ended = await box.execute(asked)
            assert (ended.exit_code, ended.stdout) == (0, f"own:{place}\n".encode()), ended
            spoil = SandboxCommand(argv=("sh", "-c", f"echo > {place}/chosen_package/__init__.py; echo > {place}/new"))
            assert not (await box.execute(spoil)).succeeded or driver == "none"
        finally:
            await ladder.close()

    asyncio.run(main())
