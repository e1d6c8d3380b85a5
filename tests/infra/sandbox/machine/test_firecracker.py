"""The driver of Firecracker against a stand-in that holds its requests against the published API and starts our machine."""

import asyncio
import subprocess
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.errors import SandboxError
from evalsi.infra.sandbox import Ladder, LadderOptions
from evalsi.infra.sandbox.machine import FirecrackerOptions
from evalsi.infra.sandbox.machine.firecracker_api import Request, requests_for, send_all
from evalsi.infra.sandbox.machine.monitor_process import MachineFiles
from evalsi.ports.sandbox import SandboxCommand, SandboxFile, SandboxLimits, SandboxSpec
from evalsi.schema import Enforcement, IsolationLevel
from tests.infra.sandbox.machine.firecracker_stand_in import stand_in
from tests.infra.sandbox.machines import KERNEL, MACHINES, missing_for_machines

FILES = MachineFiles(
    kernel=Path("/kernel"),
    first_files=Path("/first"),
    disk=Path("/disk"),
    agent="/usr/bin/python3",
    packages=Path("/packages"),
)
GOOD = requests_for(FILES, 512, Path("/socket"))


@pytest.fixture
def program() -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="evalsi-firecracker-") as name:
        Path(name).chmod(0o711)
        yield stand_in(Path(name))


@pytest.mark.slow
@pytest.mark.xdist_group("sandbox")
@pytest.mark.xdist_group("machines")
@pytest.mark.skipif(bool(missing_for_machines()), reason=missing_for_machines() or "it is here")
def test_a_machine_is_described_started_and_spoken_to(program: Path) -> None:
    packages = program.parent / "packages"
    packages.mkdir(mode=0o755)
    (packages / "chosen.py").write_text("print('chosen')", encoding="utf-8")
    options = FirecrackerOptions(folder=MACHINES.folder, program=program, kernel=KERNEL, start_s=90.0)
    limits = SandboxLimits(wall_s=30.0, cpu_s=30)

    async def main() -> None:
        ladder = Ladder(LadderOptions(drivers=("firecracker",), firecracker=options, packages=packages))
        try:
            (status,) = await ladder.probe()
            assert status.available, status.reason
            assert status.isolation is not None
            assert (status.isolation.level, status.isolation.enforcement) == (IsolationLevel.VM, Enforcement.FULL)
            spec = SandboxSpec(limits=limits, files=(SandboxFile(path="in", content=b"given"),))
            sandbox = await ladder.create(spec)
            said = await sandbox.execute(SandboxCommand(argv=("sh", "-c", "cat in; echo x > out; exit 3")))
            assert (said.exit_code, said.stdout) == (3, b"given")
            assert (await sandbox.read_files(["out"])).files[0].content == b"x\n"
            assert (await sandbox.execute(SandboxCommand(argv=("python3", "-m", "chosen")))).stdout == b"chosen\n"
        finally:
            await ladder.close()

    asyncio.run(main())


def refusal(program: Path, requests: tuple[Request, ...]) -> str:
    """What the monitor says against requests; "" where it takes them all."""
    api = program.parent / "api"
    running = subprocess.Popen([str(program), "--api-sock", str(api), "--id", "test"], stderr=subprocess.PIPE)
    try:
        asyncio.run(send_all(api, requests))
    except SandboxError as error:
        return str(error)
    finally:
        running.kill()
        running.communicate()
    return ""


def changed(path: str, **fields: Any) -> tuple[Request, ...]:
    """Our requests up to this path, the last with other fields; None takes one away."""
    index = next(at for at, request in enumerate(GOOD) if request.path == path)
    body = {name: value for name, value in {**GOOD[index].body, **fields}.items() if value is not None}
    return (*GOOD[:index], Request(path, body))


@pytest.mark.parametrize(
    ("requests", "said"),
    [
        (changed("/machine-config", vcpu_count=33), "out of its range"),
        (changed("/machine-config", mem_size_mib="512"), "no integer"),
        (changed("/boot-source", kernel_image_path=None), "missing field"),
        (changed("/boot-source", kernel="x"), "unknown field"),
        (changed("/drives/disk", drive_id="other"), "does not match"),
        (changed("/vsock", guest_cid=2), "out of its range"),
        (changed("/actions", action_type="Start"), "unknown variant"),
        ((GOOD[-1],), "without kernel"),
        ((Request("/nothing", {}),), "Invalid request"),
    ],
)
def test_what_the_api_does_not_know_is_refused_and_the_error_says_why(
    program: Path, requests: tuple[Request, ...], said: str
) -> None:
    found = refusal(program, requests)
    assert found.startswith(f"Firecracker refuses {requests[-1].path}: ")
    assert said in found


def test_requests_that_make_a_machine_are_those_of_the_api(program: Path) -> None:
    assert refusal(program, tuple(GOOD[:-1])) == ""


def test_a_monitor_that_does_not_come_up_is_an_error_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalsi.infra.sandbox.machine.firecracker_api._PATIENCE_S", 0.1)
    began = time.monotonic()
    with pytest.raises(SandboxError, match="does not open its API"):
        asyncio.run(send_all(tmp_path / "api", GOOD))
    assert time.monotonic() - began < 20
