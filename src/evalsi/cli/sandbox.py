"""`evalsi sandbox`: what fences programs that nobody trusts on this machine, and one program run behind it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from evalsi.cli.format_option import format_option
from evalsi.cli.group_with_serve import GroupWithServe
from evalsi.cli.terminal import as_json, console, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalsi.ports.sandbox import Execution, OutputPiece, RungStatus, SandboxCommand, SandboxFile, SandboxSpec

LEVELS = ("vm", "kernel", "namespaced", "confined", "none")


@click.group(cls=GroupWithServe, serve_in="evalsi.server.sandbox_command")
def sandbox() -> None:
    """Run programs nobody trusts, behind the strongest fence there is here, or on a host of sandboxes."""


@sandbox.command()
@format_option()
def probe(output_format: str) -> int:
    """Try every kind of sandbox, and say which work, what is in force, and how to enable the others.

    Exit status 1 when none works.
    """
    import asyncio

    from evalsi.settings import Settings
    from evalsi.wiring.sandboxing import sandbox_host

    async def find() -> "Sequence[RungStatus]":
        async with sandbox_host(Settings.from_environment()) as host:
            return await host.probe()

    rungs = asyncio.run(find())
    if output_format == "json":
        print(as_json(rungs))
    else:
        _show(rungs)
    return 0 if any(rung.available for rung in rungs) else 1


@sandbox.command(context_settings={"ignore_unknown_options": True})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--min-isolation",
    type=click.Choice(LEVELS),
    default="confined",
    show_default=True,
    help="The weakest fence that will do. `none` is the only word by which a program may run without one.",
)
@click.option("--copy", "copies", multiple=True, metavar="FILE", help="A file to copy into the workspace; repeatable.")
@click.option(
    "--image",
    default="",
    metavar="IMAGE",
    help="Run it in this image: name:tag, name@sha256:…, oci-layout:FOLDER[:TAG], docker-archive:FILE or dir:FOLDER.",
)
@click.option(
    "--allow-host",
    "allow_hosts",
    multiple=True,
    metavar="HOST[:PORT]",
    help="What it may reach, through a proxy that HTTP_PROXY and HTTPS_PROXY name; *.HOST for all below; port 443 by default; repeatable.",
)
@click.option("--stdin", type=click.File("rb"), metavar="FILE", help="The program's standard input; - for our own.")
@click.option(
    "--wall",
    "wall_s",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    help="Seconds on the clock.",
)
@click.option(
    "--cpu", "cpu_s", type=click.IntRange(1), default=60, show_default=True, help="Seconds of processor time."
)
@click.option("--memory", "memory_mib", type=click.IntRange(16), default=512, show_default=True, help="MiB.")
@click.option(
    "--processes", type=click.IntRange(1), default=64, show_default=True, help="Processes and threads at once."
)
@click.option("--disk", "disk_mib", type=click.IntRange(1), default=64, show_default=True, help="MiB of files.")
def run(
    command: tuple[str, ...],
    min_isolation: str,
    copies: tuple[str, ...],
    image: str,
    allow_hosts: tuple[str, ...],
    stdin: "BinaryIO | None",
    **limits: float,
) -> int:
    """Run COMMAND in a fresh sandbox: no network but what you allow, no files of yours, and nothing left afterwards.

    \b
    evalsi sandbox run --copy answer.py -- python3 answer.py

    The exit status is the program's own, 128 and the signal where one ended it, 124 out of time, 137 out of memory,
    126 stopped for something forbidden, 125 when the sandbox itself failed.
    """  # noqa: D301
    import asyncio

    import msgspec

    from evalsi.ports.sandbox import SandboxCommand, SandboxLimits, SandboxSpec
    from evalsi.schema import IsolationLevel

    bounds = msgspec.convert({**limits, "output_bytes": 16 << 20}, SandboxLimits)
    files = tuple(_file(Path(name)) for name in copies)
    given = stdin.read() if stdin is not None else b""
    spec = SandboxSpec(
        min_isolation=IsolationLevel(min_isolation), limits=bounds, files=files, image=image, allow_hosts=allow_hosts
    )
    ended = asyncio.run(_run(SandboxCommand(argv=command, stdin=given), spec))
    return _status(ended)


async def _run(command: "SandboxCommand", spec: "SandboxSpec") -> "Execution":
    from evalsi.ports.sandbox import Execution, SandboxOutcome
    from evalsi.results.fence_words import fence_words
    from evalsi.schema import IsolationLevel
    from evalsi.settings import Settings
    from evalsi.wiring.sandboxing import sandbox_host

    ended = Execution(outcome=SandboxOutcome.RUNNER_FAILURE, reason="the sandbox has died")
    async with sandbox_host(Settings.from_environment()) as host:
        box = await host.create(spec)
        if box.isolation.level is IsolationLevel.NONE:
            say(f"warning: {fence_words(box.isolation)}")
        async for event in box.stream(command):
            if isinstance(event, Execution):
                ended = event
            else:
                _pass_on(event)
    return ended


def _pass_on(piece: "OutputPiece") -> None:
    """To a file as it is; to a terminal with nothing in it that commands the terminal."""
    from evalsi.core.inert import printable

    stream = sys.stdout if piece.stream == "stdout" else sys.stderr
    if stream.isatty():
        stream.write(printable(piece.data.decode(errors="replace")))
    else:
        stream.flush()
        stream.buffer.write(piece.data)
    stream.flush()


def _status(ended: "Execution") -> int:
    from evalsi.ports.sandbox import SandboxOutcome

    for event in ended.egress:
        if event.reason:
            say(f"network: {event.host}:{event.port}: {event.reason}" if event.allowed else f"network: {event.reason}")
    if ended.truncated:
        say("warning: the program's output was cut off")
    if ended.outcome is SandboxOutcome.EXIT:
        code = ended.exit_code or 0
        return code if code >= 0 else 128 - code
    say(f"error: {ended.reason}")
    return {
        SandboxOutcome.TIMEOUT: 124,
        SandboxOutcome.OUT_OF_MEMORY: 137,
        SandboxOutcome.DENIED: 126,
        SandboxOutcome.RUNNER_FAILURE: 125,
    }[ended.outcome]


def _file(path: Path) -> "SandboxFile":
    from evalsi.ports.sandbox import SandboxFile

    return SandboxFile(path=path.name, content=path.read_bytes(), mode=path.stat().st_mode & 0o777)


def _show(rungs: "Sequence[RungStatus]") -> None:
    from rich.text import Text

    out = console()
    for rung in rungs:
        if not rung.available:
            out.print(Text.assemble((f"{rung.driver}", "bold"), f"  {rung.level}  ", ("does not work here", "dim")))
            out.print(f"  why     {rung.reason}\n  enable  {rung.remedy}")
            continue
        assert rung.isolation is not None
        out.print(
            Text.assemble((f"{rung.driver}", "bold green"), f"  {rung.level}  {rung.isolation.enforcement} enforcement")
        )
        for limit in rung.limits:
            out.print(f"  limit   {limit}")
        for note in rung.isolation.notes:
            out.print(f"  note    {note}")
