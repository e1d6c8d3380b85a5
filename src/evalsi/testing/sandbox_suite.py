"""What every sandbox must do, as checks that any implementation can run: `await check_sandbox_host(make)`.

These are the promises of the port. What hostile programs try against the host is a suite of its own.
"""

import asyncio
import functools
from collections.abc import Callable

from evalsi.core.errors import SandboxError, UsageError
from evalsi.ports.sandbox import (
    AccessPolicy,
    Execution,
    OutputPiece,
    PythonProgram,
    SandboxCommand,
    SandboxFile,
    SandboxHost,
    SandboxLimits,
    SandboxOutcome,
    SandboxSpec,
)
from evalsi.schema import IsolationLevel

_LIMITS = SandboxLimits(wall_s=5.0, cpu_s=5)


async def check_sandbox_host(
    make: Callable[[], SandboxHost], limits: SandboxLimits = _LIMITS, *, at_once: int = 24
) -> None:
    """Runs all checks on one host, which is closed in the end.

    Args:
        make: A host on which at least one level above NONE works.
        limits: What programs get: more time where the host is slow.
        at_once: Programs that are asked for together, to be more than the host runs together.
    """
    host = make()
    try:
        for check in (
            _probe_tells_what_is_in_force,
            _programs_say_what_they_say,
            _ends_are_told_apart,
            _nothing_is_left_for_the_next_program,
            functools.partial(_many_programs_at_once, count=at_once),
            _commands_run_in_a_workspace_that_lasts,
            _output_comes_as_it_is_said,
            _only_regular_files_come_out,
            _a_snapshot_becomes_many_sandboxes,
            _more_than_the_policy_gives_is_denied,
            _paths_stay_inside,
            _a_destroyed_sandbox_says_so,
        ):
            await check(host, limits)
    finally:
        await host.close()
        await host.close()


async def _probe_tells_what_is_in_force(host: SandboxHost, limits: SandboxLimits) -> None:  # noqa: ARG001 - as the others
    rungs = await host.probe()
    working = [rung for rung in rungs if rung.available]
    assert working
    assert all(rung.isolation is not None and rung.limits for rung in working)
    assert all(rung.reason for rung in rungs if not rung.available)
    levels = [rung.level.number for rung in rungs]
    assert levels == sorted(levels, reverse=True)


async def _programs_say_what_they_say(host: SandboxHost, limits: SandboxLimits) -> None:
    source = "import sys\nname = input()\nprint('hello', name)\nprint('aside', file=sys.stderr)\nsys.exit(len(name))\n"
    runs = await host.run_python(PythonProgram(source=source, stdins=(b"Ada\n", b"Grace\n"), limits=limits))
    assert [run.stdout for run in runs.executions] == [b"hello Ada\n", b"hello Grace\n"], runs
    assert [run.stderr for run in runs.executions] == [b"aside\n", b"aside\n"]
    assert [run.exit_code for run in runs.executions] == [3, 5]
    assert not any(run.succeeded for run in runs.executions)
    assert runs.isolation.level.number > IsolationLevel.NONE.number
    (broken,) = (await host.run_python(PythonProgram(source="def f(:", limits=limits))).executions
    assert broken.exit_code == 1
    assert b"SyntaxError" in broken.stderr
    helped = PythonProgram(
        source="from part import value\nprint(value)\n",
        files=(SandboxFile(path="part.py", content=b"value = 41 + 1\n"),),
        limits=limits,
    )
    (found,) = (await host.run_python(helped)).executions
    assert found.stdout == b"42\n", found


async def _ends_are_told_apart(host: SandboxHost, limits: SandboxLimits) -> None:
    async def end(source: str, limits: SandboxLimits = limits) -> Execution:
        (run,) = (await host.run_python(PythonProgram(source=source, limits=limits))).executions
        return run

    assert (await end("pass")).succeeded
    killed = await end("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert (killed.outcome, killed.exit_code) == (SandboxOutcome.EXIT, -9)
    slow = await end(
        "import time; print('began', flush=True); time.sleep(60)", SandboxLimits(wall_s=0.06 * limits.wall_s)
    )
    assert slow.outcome is SandboxOutcome.TIMEOUT
    assert slow.stdout == b"began\n"
    busy = await end("while True: pass", SandboxLimits(wall_s=4 * limits.wall_s, cpu_s=1))
    assert busy.outcome is SandboxOutcome.TIMEOUT, busy
    loud = await end(
        "import os\nwhile True: os.write(1, b'x' * 65536)", SandboxLimits(wall_s=0.1 * limits.wall_s, output_bytes=1000)
    )
    assert loud.truncated
    assert loud.stdout == b"x" * 1000
    hungry = await end("x = bytearray(900 << 20)", SandboxLimits(memory_mib=200))
    assert not hungry.succeeded
    assert hungry.outcome is not SandboxOutcome.RUNNER_FAILURE


async def _nothing_is_left_for_the_next_program(host: SandboxHost, limits: SandboxLimits) -> None:
    leave = (
        "import os, tempfile\nopen('left', 'w').close()\nopen(tempfile.gettempdir() + '/left', 'w').close()\n"
        "import json; json.loads = None\nif os.fork() == 0:\n    os.setsid()\n    import time; time.sleep(60)\n"
    )
    look = (
        "import os, tempfile, json\nassert json.loads('[1]') == [1]\n"
        "print(sorted(os.listdir('.')), 'left' in os.listdir(tempfile.gettempdir()))\n"
    )
    for _ in range(4):
        await host.run_python(PythonProgram(source=leave, limits=limits))
        (seen,) = (await host.run_python(PythonProgram(source=look, limits=limits))).executions
        assert seen.stdout == b"['main.py'] False\n", seen


async def _many_programs_at_once(host: SandboxHost, limits: SandboxLimits, count: int) -> None:
    programs = [PythonProgram(source=f"print({number} ** 2)", limits=limits) for number in range(count)]
    runs = await asyncio.gather(*(host.run_python(program) for program in programs))
    assert [run.executions[0].stdout for run in runs] == [f"{number**2}\n".encode() for number in range(count)]


async def _commands_run_in_a_workspace_that_lasts(host: SandboxHost, limits: SandboxLimits) -> None:
    files = (SandboxFile(path="tools/greet.sh", content=b"#!/bin/sh\necho hello $WHO from $PWD\n", mode=0o755),)
    sandbox = await host.create(SandboxSpec(limits=limits, environment={"WHO": "world"}, files=files))
    try:
        greeted = await sandbox.execute(SandboxCommand(argv=("./greet.sh",), folder="tools"))
        assert greeted.succeeded, greeted
        assert greeted.stdout.startswith(b"hello world from ")
        assert greeted.stdout.endswith(b"/tools\n")
        made = await sandbox.execute(SandboxCommand(argv=("sh", "-c", "cat > made; exit 7"), stdin=b"text"))
        assert made.exit_code == 7
        read = await sandbox.read_files(["made", "absent"])
        assert [(file.path, file.content) for file in read.files] == [("made", b"text")]
        assert read.missing == ("absent",)
        unknown = await sandbox.execute(SandboxCommand(argv=("no-such-program",)))
        assert unknown.outcome is SandboxOutcome.EXIT
        assert unknown.exit_code == 127
        used = await sandbox.statistics()
        assert used.commands == 3
    finally:
        await sandbox.destroy()
        await sandbox.destroy()


async def _output_comes_as_it_is_said(host: SandboxHost, limits: SandboxLimits) -> None:
    sandbox = await host.create(SandboxSpec(limits=limits))
    try:
        heard: list[OutputPiece | Execution] = []
        script = "echo one; sleep 0.3; echo two >&2"
        async for event in sandbox.stream(SandboxCommand(argv=("sh", "-c", script))):
            heard.append(event)
        *pieces, last = heard
        assert pieces == [OutputPiece("stdout", b"one\n"), OutputPiece("stderr", b"two\n")]
        assert isinstance(last, Execution)
        assert last.succeeded
    finally:
        await sandbox.destroy()


async def _only_regular_files_come_out(host: SandboxHost, limits: SandboxLimits) -> None:
    sandbox = await host.create(SandboxSpec(limits=limits))
    try:
        plant = "ln -s /etc/passwd link; mkfifo pipe; mkdir folder; ln -s / root; echo fine > file"
        planted = await sandbox.execute(SandboxCommand(argv=("sh", "-c", plant)))
        assert planted.succeeded, planted
        read = await sandbox.read_files(["link", "pipe", "folder", "root/etc/passwd", "file"])
        assert [file.path for file in read.files] == ["file"]
        assert read.missing == ("link", "pipe", "folder", "root/etc/passwd")
        few = await sandbox.read_files(["file"], max_bytes=2)
        assert few.truncated
        assert few.files == ()
    finally:
        await sandbox.destroy()


async def _a_snapshot_becomes_many_sandboxes(host: SandboxHost, limits: SandboxLimits) -> None:
    sandbox = await host.create(SandboxSpec(limits=limits))
    try:
        await sandbox.write_files([SandboxFile(path="a/b", content=b"1", mode=0o700)])
        await sandbox.execute(SandboxCommand(argv=("ln", "-s", "a/b", "link")))
        kept = await sandbox.snapshot()
        await sandbox.write_files([SandboxFile(path="a/b", content=b"2")])
    finally:
        await sandbox.destroy()
    for name in ("first", "second"):
        again = await host.restore(kept)
        try:
            shown = await again.execute(
                SandboxCommand(argv=("sh", "-c", f"cat link; ls; find a/b -perm 700; echo > {name}"))
            )
            assert shown.stdout == b"1a\nlink\na/b\n", shown
        finally:
            await again.destroy()


async def _more_than_the_policy_gives_is_denied(host: SandboxHost, limits: SandboxLimits) -> None:
    sandbox = await host.create(SandboxSpec(limits=limits))
    try:
        full = await sandbox.execute(SandboxCommand(argv=("true",), policy=AccessPolicy.FULL))
        assert full.outcome is SandboxOutcome.DENIED
        assert full.reason
        write = SandboxCommand(argv=("sh", "-c", "echo x > file"), policy=AccessPolicy.READ_ONLY)
        assert not (await sandbox.execute(write)).succeeded
        assert (await sandbox.read_files(["file"])).missing == ("file",)
    finally:
        await sandbox.destroy()


async def _paths_stay_inside(host: SandboxHost, limits: SandboxLimits) -> None:
    sandbox = await host.create(SandboxSpec(limits=limits))
    try:
        for path in ("/etc/passwd", "../out", "a/../../out", "", "."):
            (written,) = await asyncio.gather(
                sandbox.write_files([SandboxFile(path=path, content=b"")]), return_exceptions=True
            )
            (read,) = await asyncio.gather(sandbox.read_files([path]), return_exceptions=True)
            assert isinstance(written, UsageError), path
            assert isinstance(read, UsageError), path
    finally:
        await sandbox.destroy()


async def _a_destroyed_sandbox_says_so(host: SandboxHost, limits: SandboxLimits) -> None:
    sandbox = await host.create(SandboxSpec(limits=limits))
    await sandbox.destroy()
    (read,) = await asyncio.gather(sandbox.read_files(["file"]), return_exceptions=True)
    assert isinstance(read, SandboxError)
    ended = await sandbox.execute(SandboxCommand(argv=("true",)))
    assert ended.outcome is SandboxOutcome.RUNNER_FAILURE
