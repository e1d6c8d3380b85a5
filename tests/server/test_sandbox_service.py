"""A host of sandboxes over the network: the port's promises, who may call, what is taken back, and that nothing outlives it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from evalsi import schema
from evalsi.core.errors import (
    EvalsiError,
    NotFoundError,
    OverloadedError,
    SandboxError,
    SandboxUnavailableError,
    UnknownNameError,
    UsageError,
)
from evalsi.core.own_time import OwnTime, turn_has_come
from evalsi.guest import landlock
from evalsi.infra.sandbox import Ladder, LadderOptions
from evalsi.infra.sandbox.remote_connection import RemoteConnection, RemoteOptions
from evalsi.infra.sandbox.remote_host import RemoteSandboxHost
from evalsi.ports.sandbox import (
    Execution,
    PythonProgram,
    PythonRuns,
    SandboxCommand,
    SandboxFile,
    SandboxHost,
    SandboxLimits,
    SandboxOutcome,
    SandboxSpec,
)
from evalsi.schema import IsolationLevel
from evalsi.schema.proto_codec import encode
from evalsi.server.client_certificates import MutualTls
from evalsi.server.journal import Journal
from evalsi.server.sandbox_leases import LeaseLimits
from evalsi.server.sandbox_server import SandboxServePlan, serving_sandboxes
from evalsi.server.services import sandbox_service
from evalsi.testing.sandbox_suite import check_sandbox_host
from tests.command_line import environment, evalsi
from tests.infra.sandbox.test_escapes import missing
from tests.server.certificates import Authority
from tests.server.running_server import processes_with

pytestmark = [
    pytest.mark.xdist_group("sandbox"),
    pytest.mark.skipif(not landlock.version(), reason="no sandbox without Landlock on this kernel"),
]
LIMITS = SandboxLimits(wall_s=5.0, cpu_s=5, memory_mib=256)
SPEC = SandboxSpec(limits=LIMITS)
DRIVERS = ("bubblewrap", "landlock")


def lent(
    use: Callable[[RemoteOptions], Awaitable[None]],
    *,
    plan: SandboxServePlan | None = None,
    options: LadderOptions | None = None,
) -> None:
    """Runs `use` beside a host in this process."""

    async def main() -> None:
        ladder = Ladder(options or LadderOptions(drivers=DRIVERS, allows_none=False))
        wanted = plan or SandboxServePlan(port=0)
        async with serving_sandboxes(wanted, ladder, Journal("error", write=lambda _: None)) as port:
            await use(RemoteOptions(address=f"127.0.0.1:{port}"))

    asyncio.run(main())


async def code_of(action: Awaitable[object]) -> str:
    """The code of the error that an action ends with."""
    (ended,) = await asyncio.gather(action, return_exceptions=True)
    assert isinstance(ended, EvalsiError), ended
    return ended.code


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture(scope="module")
def authority(folder: Path) -> Authority:
    return Authority(folder, "authority")


def mutual(authority: Authority) -> MutualTls:
    chain, key = authority.sign("host")
    return MutualTls(chain=chain, key=key, client_ca=authority.file)


def shown(options: RemoteOptions, authority: Authority, name: str) -> RemoteOptions:
    certificate, key = authority.sign(name)
    return replace(options, authority=authority.file, certificate=certificate, key=key)


@pytest.mark.slow
def test_sandboxes_of_another_machine_keep_the_promises_of_the_port(authority: Authority) -> None:
    async def use(options: RemoteOptions) -> None:
        def make() -> SandboxHost:
            return RemoteSandboxHost(shown(options, authority, "trainer"))

        await check_sandbox_host(make)

    lent(use, plan=SandboxServePlan(port=0, tls=mutual(authority), allowed=("trainer",)))


def test_without_a_certificate_of_the_authority_nobody_runs_anything(authority: Authority, folder: Path) -> None:
    (folder / "others").mkdir(exist_ok=True)
    stranger = Authority(folder / "others", "stranger")

    async def use(options: RemoteOptions) -> None:
        known = shown(options, authority, "trainer")
        ours = RemoteSandboxHost(known)
        (run,) = (await ours.run_python(PythonProgram(source="print(1)", limits=LIMITS))).executions
        assert run.stdout == b"1\n"
        await ours.close()
        certificate, key = stranger.sign("trainer")
        for refused in (
            options,
            replace(options, authority=authority.file),
            replace(known, certificate=certificate, key=key),
        ):
            host = RemoteSandboxHost(refused)
            assert await code_of(host.create(SPEC)) == "sandbox", refused
            await host.close()

    lent(use, plan=SandboxServePlan(port=0, tls=mutual(authority)))


@pytest.mark.parametrize("days", [(-2, -1), (1, 2)])
def test_a_certificate_that_holds_no_more_or_not_yet_opens_nothing(authority: Authority, days: tuple[int, int]) -> None:
    async def use(options: RemoteOptions) -> None:
        certificate, key = authority.sign(f"untimely{days[0]}", days=days)
        host = RemoteSandboxHost(replace(options, authority=authority.file, certificate=certificate, key=key))
        assert await code_of(host.create(SPEC)) == "sandbox"
        await host.close()

    lent(use, plan=SandboxServePlan(port=0, tls=mutual(authority)))


@pytest.mark.parametrize(("address", "days"), [("127.0.0.2", (-1, 1)), ("127.0.0.1", (-2, -1))])
def test_a_host_with_another_address_or_an_old_certificate_is_given_no_program(
    authority: Authority, address: str, days: tuple[int, int]
) -> None:
    chain, key = authority.sign(f"host-{address}-{days[0]}", address=address, days=days)

    async def use(options: RemoteOptions) -> None:
        host = RemoteSandboxHost(shown(options, authority, "trainer"))
        (refused,) = await asyncio.gather(host.create(SPEC), return_exceptions=True)
        assert isinstance(refused, SandboxError)
        assert "cannot be used" in refused.message
        await host.close()

    lent(use, plan=SandboxServePlan(port=0, tls=MutualTls(chain=chain, key=key, client_ca=authority.file)))


def test_a_certificate_with_another_name_is_refused_by_name(authority: Authority) -> None:
    async def use(options: RemoteOptions) -> None:
        host = RemoteSandboxHost(shown(options, authority, "somebody"))
        (refused,) = await asyncio.gather(host.create(SPEC), return_exceptions=True)
        await host.close()
        assert isinstance(refused, EvalsiError)
        assert (refused.code, "'somebody'" in refused.message) == ("forbidden", True)

    lent(use, plan=SandboxServePlan(port=0, tls=mutual(authority), allowed=("trainer",)))


@pytest.mark.slow
def test_an_address_that_others_reach_needs_certificates(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="everybody there could run programs"):
        SandboxServePlan(host="0.0.0.0", port=0).check()
    ended = evalsi("sandbox", "serve", "--listen", "0.0.0.0:0", cwd=tmp_path)
    assert ended.status == 2
    assert "--client-ca" in ended.err
    half = evalsi("sandbox", "serve", "--tls-cert", "a.pem", "--tls-key", "a.key", cwd=tmp_path)
    assert (half.status, "belong together" in half.err) == (2, True)


def test_a_host_lends_no_more_than_it_takes_and_says_when_to_come_again() -> None:
    async def use(options: RemoteOptions) -> None:
        connection = RemoteConnection(options)
        request, kind = schema.SandboxCreateRequest(), schema.SandboxCreateResponse
        first = await connection.call("Create", request, kind, 30)
        (refused,) = await asyncio.gather(connection.call("Create", request, kind, 30), return_exceptions=True)
        assert isinstance(refused, OverloadedError), refused
        assert refused.retry_after_s == 2.0
        raw = grpc.aio.insecure_channel(options.address)
        with pytest.raises(grpc.RpcError) as told:
            await raw.unary_unary("/evalsi.sandbox.v1alpha1.SandboxService/Create")(encode(request))
        assert told.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED  # type: ignore[attr-defined] # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]
        await raw.close()
        gone = schema.SandboxDestroyRequest(sandbox_id=first.sandbox_id)
        for _ in range(2):
            await connection.call("Destroy", gone, schema.SandboxDestroyResponse, 30)
        again = await connection.call("Create", request, kind, 30)
        assert again.sandbox_id != first.sandbox_id
        await connection.close()

    lent(use, plan=SandboxServePlan(port=0, limits=LeaseLimits(most=1)))


class HeldUp(Ladder):
    """Programs wait for their turn, and then to be let go."""

    def __init__(self) -> None:
        super().__init__(LadderOptions(drivers=DRIVERS, allows_none=False))
        self.asked, self.turn, self.end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def run_python(self, program: PythonProgram) -> PythonRuns:
        self.asked.set()
        await self.turn.wait()
        turn_has_come()
        await self.end.wait()
        return await super().run_python(program)


async def within(own: OwnTime, action: Awaitable[Any]) -> Any:
    async with own:
        return await action


def test_the_wait_for_a_place_at_the_host_is_in_no_deadline_and_what_follows_is() -> None:
    async def main() -> None:
        ladder, own = HeldUp(), OwnTime(120.0)
        journal = Journal("error", write=lambda _: None)
        async with serving_sandboxes(SandboxServePlan(port=0), ladder, journal) as port:
            host = RemoteSandboxHost(RemoteOptions(address=f"127.0.0.1:{port}"))
            running = asyncio.ensure_future(
                within(own, host.run_python(PythonProgram(source="print(1)", limits=LIMITS)))
            )
            await ladder.asked.wait()
            assert own.stands_still
            ladder.turn.set()
            await until(lambda: not own.stands_still)
            assert not running.done(), "its time goes on before its answer is there"
            ladder.end.set()
            assert (await running).executions[0].stdout == b"1\n"
            await host.close()

    asyncio.run(main())


def test_who_gives_up_while_it_waits_takes_its_program_along() -> None:
    async def main() -> None:
        ladder = HeldUp()
        journal = Journal("error", write=lambda _: None)
        async with serving_sandboxes(SandboxServePlan(port=0), ladder, journal) as port:
            connection = RemoteConnection(RemoteOptions(address=f"127.0.0.1:{port}"))
            request, kind = schema.SandboxRunPythonRequest(source="pass", stdins=[b""]), schema.SandboxRunPythonResponse
            with pytest.raises(SandboxError, match=r"had no place for 0\.2 s"):
                await connection.call_in_turn("RunPython", request, kind, 60, place_s=0.2)
            waiting = asyncio.ensure_future(connection.call_in_turn("RunPython", request, kind, 60, place_s=60))
            await ladder.asked.wait()
            waiting.cancel()
            assert isinstance((await asyncio.gather(waiting, return_exceptions=True))[0], asyncio.CancelledError)
            await connection.close()

    asyncio.run(main())


def test_who_is_told_to_come_again_for_a_sandbox_loses_nothing_of_its_deadline() -> None:
    async def use(options: RemoteOptions) -> None:
        host, own = RemoteSandboxHost(options), OwnTime(120.0)
        first = await host.create(SPEC)
        second = asyncio.ensure_future(within(own, host.create(SPEC)))
        await until(lambda: own.stands_still)
        await first.destroy()
        await (await second).destroy()
        await host.close()

    lent(use, plan=SandboxServePlan(port=0, limits=LeaseLimits(most=1)))


@pytest.mark.slow
def test_an_honest_program_behind_one_that_hangs_keeps_its_deadline_on_another_machine() -> None:
    hangs, deadline_s = 8.0, 5.0

    async def use(options: RemoteOptions) -> None:
        host = RemoteSandboxHost(options)
        honest = PythonProgram(source="print(1)", limits=LIMITS)
        await host.run_python(honest)  # what works here was found out
        limits = SandboxLimits(wall_s=hangs, cpu_s=60, memory_mib=256)
        hanging = asyncio.ensure_future(host.run_python(PythonProgram(source="while True: pass", limits=limits)))
        await asyncio.sleep(0.5)
        runs = await within(OwnTime(deadline_s), host.run_python(honest))
        assert runs.executions[0].stdout == b"1\n"
        assert (await hanging).executions[0].outcome is SandboxOutcome.TIMEOUT
        await host.close()

    lent(use, options=LadderOptions(drivers=DRIVERS, allows_none=False, places=1))


@pytest.mark.slow
def test_what_nobody_uses_is_taken_back_and_what_is_held_is_not() -> None:
    idle_s = 2.0  # who holds one says so several times meanwhile, also on a machine with much else to do

    async def use(options: RemoteOptions) -> None:
        connection = RemoteConnection(options)
        lease = await connection.call("Create", schema.SandboxCreateRequest(), schema.SandboxCreateResponse, 30)
        assert lease.idle_timeout == idle_s
        host = RemoteSandboxHost(options)
        held = await host.create(SPEC)
        await asyncio.sleep(1.5 * idle_s)
        stats = schema.SandboxStatsRequest(sandbox_id=lease.sandbox_id)
        assert await code_of(connection.call("Stats", stats, schema.SandboxStatsResponse, 30)) == NotFoundError.code
        command = SandboxCommand(argv=("sleep", str(1.5 * idle_s)))
        assert (await held.execute(command)).succeeded, "a command at work is not idle"
        await host.close()
        await connection.close()

    lent(use, plan=SandboxServePlan(port=0, limits=LeaseLimits(idle_s=idle_s)))


def test_who_hangs_up_takes_the_command_and_the_sandbox_along() -> None:
    async def use(options: RemoteOptions) -> None:
        host = RemoteSandboxHost(options)
        sandbox = await host.create(SPEC)
        marker = f"3{os.getpid()}.25"
        events = sandbox.stream(SandboxCommand(argv=("sh", "-c", f"echo begun; exec sleep {marker}")))
        async for _ in events:
            break
        await until(lambda: processes_with(marker))
        await events.aclose()
        await until(lambda: not processes_with(marker))
        (read,) = await asyncio.gather(sandbox.read_files(["file"]), return_exceptions=True)
        assert isinstance(read, SandboxError)
        await host.close()

    lent(use)


def test_who_stops_reading_without_hanging_up_holds_no_sandbox_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_service, "PATIENCE_S", 0.5)

    async def use(options: RemoteOptions) -> None:
        endless = schema.SandboxSpec(resources=schema.SandboxResources(output_bytes=1 << 40, wall=0.5))
        connection, reader = RemoteConnection(options), RemoteConnection(options)
        made = await connection.call(
            "Create", schema.SandboxCreateRequest(spec=endless), schema.SandboxCreateResponse, 60
        )
        request = schema.SandboxExecRequest(sandbox_id=made.sandbox_id, command=["yes"])
        answers = reader.listen("Exec", request, schema.SandboxExecResponse, 600)
        assert (await anext(answers)).stdout
        host = RemoteSandboxHost(options)
        await (await host.create(SPEC)).destroy()  # asked again until there is room
        await host.close()
        await answers.aclose()
        await reader.close()
        await connection.close()

    lent(use, plan=SandboxServePlan(port=0, limits=LeaseLimits(most=1)))


def test_what_cannot_be_sent_is_refused_here_and_nothing_else_is_sent_in_its_place() -> None:
    async def use(options: RemoteOptions) -> None:
        host = RemoteSandboxHost(options)
        sandbox = await host.create(SPEC)
        broken = "a\udc80"
        for command in (
            SandboxCommand(argv=("echo", broken)),
            SandboxCommand(argv=("echo",), environment={"A": broken}),
            SandboxCommand(argv=("echo",), folder=broken),
        ):
            with pytest.raises(UsageError, match="cannot be sent"):
                await sandbox.execute(command)
        for action in (
            sandbox.write_files([SandboxFile(path=broken, content=b"")]),
            sandbox.read_files([broken]),
            host.run_python(PythonProgram(source=f"print('{broken}')", limits=LIMITS)),
        ):
            assert await code_of(action) == "usage"
        assert (await sandbox.execute(SandboxCommand(argv=("echo", "alive")))).stdout == b"alive\n"
        await host.close()

    lent(use)


@pytest.mark.parametrize("wrong", [{"output_limit_bytes": -1}, {"timeout": -1.0}])
def test_a_number_below_zero_is_refused_and_costs_no_sandbox(wrong: dict[str, Any]) -> None:
    async def use(options: RemoteOptions) -> None:
        connection = RemoteConnection(options)
        made = await connection.call("Create", schema.SandboxCreateRequest(), schema.SandboxCreateResponse, 60)
        for given, said in ((wrong, ""), ({}, "hello\n")):
            request = schema.SandboxExecRequest(sandbox_id=made.sandbox_id, command=["echo", "hello"], **given)
            out = b""
            try:
                async for answer in connection.listen("Exec", request, schema.SandboxExecResponse, 60):
                    out += answer.stdout or b""
            except UsageError as error:
                assert "below 0" in str(error)
                assert given
            assert out.decode() == said
        await connection.close()

    lent(use)


def test_what_this_version_cannot_give_is_refused_and_names_are_checked() -> None:
    async def use(options: RemoteOptions) -> None:
        connection = RemoteConnection(options)

        async def refused(spec: schema.SandboxSpec) -> str:
            request = schema.SandboxCreateRequest(spec=spec)
            return await code_of(connection.call("Create", request, schema.SandboxCreateResponse, 30))

        network = schema.SandboxNetworkPolicy(mode=schema.SandboxNetworkMode.ALLOW)
        assert await refused(schema.SandboxSpec(network=network)) == UsageError.code
        assert await refused(schema.SandboxSpec(services=[schema.EnvironmentService(name="db")])) == UsageError.code
        assert await refused(schema.SandboxSpec(min_isolation="namespace")) == UnknownNameError.code
        assert await refused(schema.SandboxSpec(mode="everything")) == UnknownNameError.code
        assert await refused(schema.SandboxSpec(resources=schema.SandboxResources(memory_mb=-1))) == UsageError.code
        assert await refused(schema.SandboxSpec(min_isolation="vm")) == SandboxUnavailableError.code
        assert await refused(schema.SandboxSpec(files={"../out": b""})) == UsageError.code
        restore = schema.SandboxRestoreRequest(snapshot_id="snap-none")
        assert await code_of(connection.call("Restore", restore, schema.SandboxRestoreResponse, 30)) == "not-found"
        await connection.close()
        host = RemoteSandboxHost(options)
        assert await code_of(host.create(SandboxSpec(min_isolation=IsolationLevel.VM))) == "sandbox-unavailable"
        sandbox = await host.create(SPEC)
        for wrong in (SandboxCommand(argv=()), SandboxCommand(argv=("true",), folder="../out")):
            assert await code_of(sandbox.execute(wrong)) == UsageError.code
        assert (await sandbox.execute(SandboxCommand(argv=("true",)))).succeeded, "a mistake costs no sandbox"
        await host.close()

    lent(use)


def test_a_spec_that_says_none_gets_none_only_where_the_operator_allows_it() -> None:
    async def none(options: RemoteOptions) -> tuple[str, str]:
        host = RemoteSandboxHost(options)
        spec = SandboxSpec(limits=LIMITS, min_isolation=IsolationLevel.NONE)
        try:
            sandbox = await host.create(spec)
            return sandbox.isolation.driver, sandbox.isolation.notes[0]
        finally:
            await host.close()

    async def refused(options: RemoteOptions) -> None:
        with pytest.raises(SandboxUnavailableError, match="not allowed here"):
            await none(options)

    async def allowed(options: RemoteOptions) -> None:
        driver, note = await none(options)
        assert (driver, "NOTHING" in note) == ("none", True)

    lent(refused, options=LadderOptions(drivers=("none",), allows_none=False))
    lent(allowed, options=LadderOptions(drivers=("none",), allows_none=True))


def test_hosts_are_reached_only_where_the_operator_allows_it() -> None:
    async def use(options: RemoteOptions) -> None:
        host = RemoteSandboxHost(options)
        assert await code_of(host.create(SandboxSpec(limits=LIMITS, allow_hosts=("example.com",)))) == "forbidden"
        await host.close()

    lent(use, options=LadderOptions(drivers=DRIVERS, allows_network=False))


def test_the_mode_of_a_spec_and_the_limit_of_output_hold_where_a_command_does_not_say_it() -> None:
    async def use(options: RemoteOptions) -> None:
        connection = RemoteConnection(options)
        spec = schema.SandboxSpec(mode="read-only", workdir="inner", files={"inner/name": b"there"})
        request = schema.SandboxCreateRequest(spec=spec)
        lease = await connection.call("Create", request, schema.SandboxCreateResponse, 30)

        async def said(command: list[str], **more: object) -> tuple[bytes, schema.SandboxExecResult]:
            asked = schema.SandboxExecRequest(sandbox_id=lease.sandbox_id, command=command, **more)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
            heard, result = b"", schema.SandboxExecResult()
            async for answer in connection.listen("Exec", asked, schema.SandboxExecResponse, 30):
                heard += answer.stdout or b""
                result = answer.result or result
            return heard, result

        heard, result = await said(["sh", "-c", "cat name; echo x > name"])
        assert heard == b"there"
        assert result.exit_code != 0
        writes = schema.SandboxAccessPolicy.WORKSPACE_WRITE
        _, result = await said(["sh", "-c", "echo x > name"], policy=writes)
        assert result.exit_code == 0
        heard, result = await said(["sh", "-c", "echo 0123456789"], output_limit_bytes=4)
        assert (heard, result.truncated) == (b"0123", True)
        await connection.close()

    lent(use)


def test_hosts_that_may_be_reached_and_what_was_tried_cross_the_network() -> None:
    if missing(("bubblewrap",)):
        pytest.skip(missing(("bubblewrap",)))

    async def use(options: RemoteOptions) -> None:
        host = RemoteSandboxHost(options)
        sandbox = await host.create(SandboxSpec(limits=LIMITS, allow_hosts=("name.invalid:80",)))
        ask = "import urllib.request as u\nfor name in ('other', 'name'):\n    try: u.urlopen(f'http://{name}.invalid', timeout=3)\n    except OSError: pass\n"
        ended = await sandbox.execute(SandboxCommand(argv=("python3", "-c", ask)))
        assert [(event.host, event.port) for event in ended.egress] == [("other.invalid", 80), ("name.invalid", 80)]
        assert not ended.egress[0].allowed
        assert ended.egress[0].reason
        assert (await sandbox.statistics()).egress == ended.egress
        await host.close()

    lent(use)


@pytest.mark.slow
@pytest.mark.parametrize("driver", ["gvisor", "bubblewrap", "landlock"])
def test_a_host_that_dies_is_a_failure_of_sandboxes_and_leaves_nothing_alive(tmp_path: Path, driver: str) -> None:
    if missing((driver,)):
        pytest.skip(missing((driver,)))
    command = [sys.executable, "-m", "evalsi", "sandbox", "serve", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, cwd=tmp_path, env=environment({"EVALSI_SANDBOX_DRIVERS": driver})
    )
    assert process.stderr is not None
    port = json.loads(process.stderr.readline())["port"]
    marker = f"4{os.getpid()}.25"
    # Programs behind a kernel of their own are no processes here; what is one is that kernel, named after the host.
    kernels = f"evalsi-{process.pid}-"

    def living() -> int:
        return named(kernels) if driver == "gvisor" else len(processes_with(marker))

    async def main() -> Execution:
        host = RemoteSandboxHost(RemoteOptions(address=f"127.0.0.1:{port}"))
        sandbox = await host.create(SandboxSpec(limits=SandboxLimits(wall_s=60.0)))
        stubborn = f"trap '' TERM HUP INT; setsid sleep {marker} & echo begun; sleep {marker}"
        running = asyncio.ensure_future(sandbox.execute(SandboxCommand(argv=("sh", "-c", stubborn))))
        hung = asyncio.ensure_future(
            host.run_python(PythonProgram(source=f"import os; os.execlp('sleep', 'sleep', '{marker}')", limits=LIMITS))
        )
        await until(lambda: living() >= 3)
        if driver == "gvisor":
            await asyncio.sleep(2)  # the kernels stand; their programs cannot be seen to begin
        process.send_signal(signal.SIGKILL)
        ended = await running
        assert await code_of(hung) == SandboxError.code
        await until(lambda: not living())
        assert await code_of(host.create(SPEC)) == SandboxError.code
        await host.close()
        return ended

    try:
        ended = asyncio.run(main())
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    assert ended.outcome is SandboxOutcome.RUNNER_FAILURE


@pytest.mark.slow
def test_the_command_line_runs_programs_on_a_host_that_stops_with_its_input(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "evalsi", "sandbox", "serve", "--listen", "127.0.0.1:0", "--until-stdin-eof"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=environment())
    assert process.stderr is not None
    assert process.stdin is not None
    port = json.loads(process.stderr.readline())["port"]
    there = {"EVALSI_SANDBOX_ADDR": f"127.0.0.1:{port}"}
    ran = evalsi("sandbox", "run", "--", "sh", "-c", "echo said; exit 9", cwd=tmp_path, env=there)
    assert (ran.status, ran.out) == (9, "said\n")
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"output": "def f(): return 1", "test_list": ["assert f() == 1"]}), encoding="utf-8")
    graded = evalsi("eval", "--data", "rows.jsonl", "--evaluators", "unit-tests", cwd=tmp_path, env=there)
    assert graded.status == 0, graded.err
    process.stdin.close()
    assert process.wait(timeout=20) == 0
    process.stderr.close()


def named(words: str) -> int:
    """How many processes have these words in their command line."""
    count = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                count += words.encode() in (entry / "cmdline").read_bytes()
            except OSError:
                continue
    return count


async def until(condition: Callable[[], object], patience_s: float = 60.0) -> None:
    ends_at = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < ends_at
        await asyncio.sleep(0.05)
