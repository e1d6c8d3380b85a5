"""The ladder: the strongest rung that works here and is strong enough, or none at all.

Its rungs are tried once, strongest first, and what was found is kept. It is the `SandboxHost` of one machine.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from evalsi.core.errors import ImageError, SandboxError, SandboxUnavailableError
from evalsi.guest import fence
from evalsi.infra.sandbox.bubblewrap import Bubblewrap
from evalsi.infra.sandbox.carried_agent import CarriedAgent, carry_agent, carry_python, make_base, remove_base
from evalsi.infra.sandbox.cell_messages import execution_of, open_request, took_the_sandbox
from evalsi.infra.sandbox.cell_sandbox import GRACE_S, CellSandbox, open_cell
from evalsi.infra.sandbox.control_groups import Found, find_control_groups
from evalsi.infra.sandbox.gvisor import Gvisor
from evalsi.infra.sandbox.images import ImageOptions, ImageStore, default_image_folder
from evalsi.infra.sandbox.landlock_only import LandlockOnly
from evalsi.infra.sandbox.pool import Doubt, SlotPool
from evalsi.infra.sandbox.probe_rung import probe_rung
from evalsi.infra.sandbox.rung import Rung
from evalsi.infra.sandbox.slot import Circumstances, ImageToRun, Slot, choose_user, image_user
from evalsi.ports.sandbox import (
    Execution,
    PythonProgram,
    PythonRuns,
    RungStatus,
    Sandbox,
    SandboxOutcome,
    SandboxSnapshot,
    SandboxSpec,
)
from evalsi.schema import IsolationLevel, IsolationReport

DRIVERS = (Gvisor.driver, Bubblewrap.driver, LandlockOnly.driver)
"""Every rung by name, strongest first."""
_ATTEMPTS = 2
_IMAGES = ImageOptions(folder=default_image_folder())


@dataclass(frozen=True, kw_only=True)
class LadderOptions:
    """An operator's words.

    Args:
        drivers: The rungs that may be used, by name; empty for all.
        places: Short programs that run at once; by default one more than there are processors.
        gvisor: The program `runsc`; None to look for it.
        bubblewrap: The program of that rung; None to look for it.
        python: The interpreter that runs inside; None to look for one.
        control_group: A version 2 control group that was delegated to us; None to look for what there is.
        images: Where images are kept, and which are trusted.
        use_control_groups: False leaves them alone, and limits are per process.
    """

    drivers: tuple[str, ...] = ()
    places: int = 0
    gvisor: Path | None = None
    bubblewrap: Path | None = None
    python: str | None = None
    control_group: Path | None = None
    images: ImageOptions = _IMAGES
    use_control_groups: bool = True


class Ladder:
    """See `ports.sandbox.SandboxHost`."""

    def __init__(self, options: LadderOptions, rungs: Sequence[Rung] | None = None) -> None:
        every: Sequence[Rung] = (
            (Gvisor(options.gvisor), Bubblewrap(options.bubblewrap), LandlockOnly()) if rungs is None else rungs
        )
        allowed = [rung for rung in every if not options.drivers or rung.driver in options.drivers]
        self._rungs = sorted(allowed, key=lambda rung: -rung.level.number)
        self._options = options
        self._base: Path | None = None
        self._agent: CarriedAgent | None = None
        self._agent_for_images: CarriedAgent | None = None
        self._groups = Found(None, "not looked for")
        self._found: dict[str, RungStatus] = {}
        self._pools: dict[str, SlotPool] = {}
        self._sandboxes: set[CellSandbox] = set()
        self._probing = asyncio.Lock()

    async def probe(self) -> Sequence[RungStatus]:
        return [await self._status(rung) for rung in self._rungs]

    async def create(self, spec: SandboxSpec) -> Sandbox:
        return await self._create(spec, SandboxSnapshot(spec=spec))

    async def restore(self, snapshot: SandboxSnapshot) -> Sandbox:
        return await self._create(snapshot.spec, snapshot)

    async def run_python(self, program: PythonProgram) -> PythonRuns:
        pool, isolation = await self._choose(program.min_isolation)
        open_request(program.limits, {}, program.files, b"")  # a path that is wrong is the caller's, not a sandbox's
        executions: list[Execution] = []
        attempts = 0
        while len(executions) < len(program.stdins):
            attempts += 1
            before = len(executions)
            try:
                async with pool.lend() as slot:
                    failure = await _run_python(slot, program, executions)
                    if failure:
                        raise Doubt
            except SandboxError as error:
                failure = str(error)
            if failure and len(executions) == before and attempts >= _ATTEMPTS:
                broken = Execution(outcome=SandboxOutcome.RUNNER_FAILURE, reason=failure)
                executions += [broken] * (len(program.stdins) - len(executions))
        return PythonRuns(executions=tuple(executions), isolation=isolation)

    async def close(self) -> None:
        await asyncio.gather(*(sandbox.destroy() for sandbox in list(self._sandboxes)))
        for pool in self._pools.values():
            await pool.close()
        self._pools = {}
        if self._base is not None:
            remove_base(self._base)
            self._base = None
            self._agent = self._agent_for_images = None

    async def _create(self, spec: SandboxSpec, snapshot: SandboxSnapshot) -> Sandbox:
        open_request(spec.limits, spec.environment, spec.files, b"")
        pool, isolation = await self._choose(spec.min_isolation, with_image=bool(spec.image))
        opened, digest = spec, ""
        if spec.image:
            image = await ImageStore(self._options.images, image_user(), fence.MOUNT_POINTS).fetch(spec.image)
            digest = image.digest
            if snapshot.image_digest not in ("", digest):
                raise ImageError(
                    f"the snapshot was made over {snapshot.image_digest}, and {spec.image} is {digest} now"
                )
            slot = await pool.start(ImageToRun(tree=image.tree, agent=self._agent_with_python()))
            opened = msgspec.structs.replace(spec, environment={**image.environment, **spec.environment})
        else:
            slot = await pool.take()
        try:
            connection = await open_cell(slot, opened, archive=snapshot.archive)
        except BaseException:
            await slot.close()
            raise
        sandbox = CellSandbox(slot, connection, spec, isolation, self._sandboxes.discard, digest)
        self._sandboxes.add(sandbox)
        return sandbox

    def _agent_with_python(self) -> CarriedAgent:
        assert self._agent is not None
        assert self._base is not None
        if self._agent_for_images is None:
            self._agent_for_images = carry_python(self._agent, self._base)
        return self._agent_for_images

    async def _choose(self, least: IsolationLevel, *, with_image: bool = False) -> tuple[SlotPool, IsolationReport]:
        reasons: list[str] = []
        for rung in self._rungs:
            status = await self._status(rung)
            if not status.available or status.isolation is None:
                reasons.append(f"{rung.driver} does not work here ({status.reason})")
            elif rung.level.number < least.number:
                reasons.append(f"{rung.driver} reaches {rung.level}")
            elif with_image and not rung.takes_images:
                reasons.append(f"{rung.driver} takes no images")
            else:
                return self._pool(rung), status.isolation
        raise SandboxUnavailableError(
            f"no sandbox here reaches level {least}: {'; '.join(reasons) or 'no rung is allowed'}",
            hint="ask for less, or see: evalsi sandbox probe",
        )

    async def _status(self, rung: Rung) -> RungStatus:
        async with self._probing:
            if rung.driver not in self._found:
                try:
                    shared = self._circumstances(rung)
                except (SandboxError, OSError) as error:
                    self._found[rung.driver] = RungStatus(
                        driver=rung.driver, level=rung.level, available=False, reason=str(error), remedy=rung.remedy
                    )
                else:
                    self._found[rung.driver] = await probe_rung(shared, self._groups.reason)
            return self._found[rung.driver]

    def _pool(self, rung: Rung) -> SlotPool:
        if rung.driver not in self._pools:
            places = self._options.places or (os.cpu_count() or 1) + 1
            self._pools[rung.driver] = SlotPool(self._circumstances(rung), places)
        return self._pools[rung.driver]

    def _circumstances(self, rung: Rung) -> Circumstances:
        if self._base is None or self._agent is None:
            self._base = make_base()
            if self._options.use_control_groups:
                self._groups = find_control_groups(self._options.control_group)
            else:
                self._groups = Found(None, "switched off")
            self._agent = carry_agent(self._base, choose_user(0), self._options.python)
        return Circumstances(rung=rung, agent=self._agent, groups=self._groups.groups, base=self._base)


async def _run_python(slot: Slot, program: PythonProgram, executions: list[Execution]) -> str:
    """Runs the inputs that have no execution yet and adds theirs; why the slot is not to be used again, or ""."""
    limits = program.limits
    stdins: list[bytes] = list(program.stdins[len(executions) :])
    spec = SandboxSpec(limits=limits, files=program.files)
    kills, refusals = slot.memory_kills(), slot.process_refusals()
    connection = await open_cell(slot, spec, then=[["python", program.source, [*stdins]]])
    doubt = ""
    try:
        for _ in stdins:
            try:
                async with asyncio.timeout(limits.wall_s + GRACE_S):
                    reply = await connection.receive()
            except (SandboxError, TimeoutError) as error:
                taken = took_the_sandbox(
                    limits,
                    memory_kills=slot.memory_kills() - kills,
                    process_refusals=slot.process_refusals() - refusals,
                )
                if taken is not None:
                    executions.append(taken)
                return str(error) or "the sandbox did not answer in time"
            now = slot.memory_kills()
            executions.append(execution_of(reply, limits, ran_out_of_memory=now > kills))
            if now > kills:
                kills = now
                doubt = "its memory is given back late"
        return doubt
    finally:
        connection.close()
