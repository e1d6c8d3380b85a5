"""The ladder: a rung that works here and is strong enough, or none at all. It is the `SandboxHost` of one machine.

Its rungs are tried once, when they are first thought of, and what was found is kept. Commands get the strongest one. Small
Python programs, of which graders run thousands, get the strongest of those that start in milliseconds, and never one below
namespaces while there is another (decision 0022). A rung without any fence is taken only for who asks for `none`.
"""

import asyncio
import enum
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from evalsi.core.errors import ForbiddenError, ImageError, SandboxError, SandboxUnavailableError
from evalsi.guest import fence
from evalsi.infra.sandbox.bubblewrap import Bubblewrap
from evalsi.infra.sandbox.carried_agent import CarriedAgent, carry_agent, carry_python, make_base
from evalsi.infra.sandbox.cell_messages import check_path, execution_of, open_request, took_the_sandbox
from evalsi.infra.sandbox.cell_sandbox import GRACE_S, CellSandbox, open_cell
from evalsi.infra.sandbox.control_groups import Found, find_control_groups
from evalsi.infra.sandbox.egress import Allowlist, EgressOptions, EgressProxy
from evalsi.infra.sandbox.gvisor import Gvisor
from evalsi.infra.sandbox.held_place import Hold, remove_tree
from evalsi.infra.sandbox.images import Image, ImageOptions, ImageStore, default_image_folder
from evalsi.infra.sandbox.landlock_only import LandlockOnly
from evalsi.infra.sandbox.machine import Firecracker, FirecrackerOptions, Qemu, QemuOptions
from evalsi.infra.sandbox.pool import Doubt, Lent, SlotPool
from evalsi.infra.sandbox.probe_rung import probe_rung
from evalsi.infra.sandbox.rung import MachineRung, Rung
from evalsi.infra.sandbox.slot import Circumstances, ImageToRun, Slot, choose_user, image_user
from evalsi.infra.sandbox.unfenced import Unfenced
from evalsi.infra.sandbox.watched_program import watched
from evalsi.ports.sandbox import (
    Execution,
    PythonProgram,
    PythonRuns,
    RungStatus,
    Sandbox,
    SandboxLimits,
    SandboxOutcome,
    SandboxSnapshot,
    SandboxSpec,
)
from evalsi.schema import IsolationLevel, IsolationReport

DRIVERS = (Firecracker.driver, Qemu.driver, Gvisor.driver, Bubblewrap.driver, LandlockOnly.driver)
"""Every rung by name, strongest first."""
UNFENCED = Unfenced.driver
"""The rung that is no fence."""
_ATTEMPTS = 2
_IMAGES = ImageOptions(folder=default_image_folder())
_FIRECRACKER = FirecrackerOptions(folder=default_image_folder().parent / "machines")
_EGRESS = EgressOptions()
_MACHINES = QemuOptions(folder=default_image_folder().parent / "machines")


class Preference(enum.StrEnum):
    """Which of the rungs that are strong enough is taken."""

    STRONGEST = "strongest"
    QUICKEST = "quickest"
    """The strongest of those that start in milliseconds and have namespaces at least; without one, the strongest."""


@dataclass(frozen=True, kw_only=True)
class LadderOptions:
    """An operator's words.

    Args:
        drivers: The rungs that may be used, by name; empty for all.
        places: Short programs that run at once; by default one more than there are processors.
        machines: What virtual machines of QEMU are started from.
        firecracker: The same for Firecracker.
        gvisor: The program `runsc`; None to look for it.
        bubblewrap: The program of that rung; None to look for it.
        python: The interpreter that runs inside; None to look for one.
        control_group: A version 2 control group that was delegated to us; None to look for what there is.
        images: Where images are kept, and which are trusted.
        egress: Which addresses are never reached, whatever a sandbox may name.
        use_control_groups: False leaves them alone, and limits are per process.
        prefer: Which of the rungs that are strong enough is taken; None for the usual one of what is asked for.
        allows_none: Whether a spec that asks for `none` may get it.
        allows_network: Whether a spec that names hosts to reach may get them.
        packages: A folder of Python packages that programs without an image may import; every user must be able to read it.
    """

    drivers: tuple[str, ...] = ()
    places: int = 0
    machines: QemuOptions = _MACHINES
    firecracker: FirecrackerOptions = _FIRECRACKER
    gvisor: Path | None = None
    bubblewrap: Path | None = None
    python: str | None = None
    control_group: Path | None = None
    images: ImageOptions = _IMAGES
    egress: EgressOptions = _EGRESS
    use_control_groups: bool = True
    prefer: Preference | None = None
    allows_none: bool = True
    allows_network: bool = True
    packages: Path | None = None


@dataclass(frozen=True)
class _Need:
    """What a sandbox is to be, as far as it decides which rung makes it."""

    least: IsolationLevel
    prefer: Preference
    limits: SandboxLimits
    with_image: bool = False
    with_way_out: bool = False


class Ladder:
    """See `ports.sandbox.SandboxHost`."""

    def __init__(self, options: LadderOptions, rungs: Sequence[Rung] | None = None) -> None:
        every: Sequence[Rung] = (
            (
                Firecracker(options.firecracker),
                Qemu(options.machines),
                Gvisor(options.gvisor),
                Bubblewrap(options.bubblewrap),
                LandlockOnly(),
                Unfenced(),
            )
            if rungs is None
            else rungs
        )
        allowed = [
            rung
            for rung in every
            if (not options.drivers or rung.driver in options.drivers)
            and (options.allows_none or rung.level is not IsolationLevel.NONE)
        ]
        self._rungs = sorted(allowed, key=lambda rung: -rung.level.number)
        self._quickest_first = sorted(self._rungs, key=_is_quick, reverse=True)
        self._most_memory_mib = {rung.driver: rung.most_memory_mib for rung in allowed if isinstance(rung, MachineRung)}
        self._options = options
        self._base: Path | None = None
        self._base_hold: Hold | None = None
        self._agent: CarriedAgent | None = None
        self._agent_for_images: CarriedAgent | None = None
        self._groups = Found(None, "not looked for")
        self._found: dict[str, RungStatus] = {}
        self._pools: dict[str, SlotPool] = {}
        self._sandboxes: set[CellSandbox] = set()
        self._probing = asyncio.Lock()

    async def probe(self) -> Sequence[RungStatus]:
        return [await self._status(rung) for rung in self._rungs if rung.level is not IsolationLevel.NONE]

    async def create(self, spec: SandboxSpec) -> Sandbox:
        return await self._create(spec, SandboxSnapshot(spec=spec))

    async def restore(self, snapshot: SandboxSnapshot) -> Sandbox:
        return await self._create(snapshot.spec, snapshot)

    async def run_python(self, program: PythonProgram) -> PythonRuns:
        prefer = self._options.prefer or Preference.QUICKEST
        pool, isolation = await self._choose(_Need(program.min_isolation, prefer, program.limits))
        for file in program.files:
            check_path(file.path)  # one that is wrong is the caller's, not a sandbox's
        executions: list[Execution] = []
        attempts = 0
        while len(executions) < len(program.stdins):
            attempts += 1
            before = len(executions)
            try:
                async with pool.lend() as lent:
                    failure = await _run_python(lent, program, self._with_packages({}, isolation.level), executions)
                    if failure:
                        raise Doubt
            except SandboxError as error:
                failure = str(error)
            if failure and len(executions) == before and attempts >= _ATTEMPTS:
                broken = Execution(outcome=SandboxOutcome.RUNNER_FAILURE, reason=failure)
                executions += [broken] * (len(program.stdins) - len(executions))
        return PythonRuns(executions=tuple(executions), isolation=isolation)

    async def close(self) -> None:
        try:
            await asyncio.gather(*(sandbox.destroy() for sandbox in list(self._sandboxes)))
        finally:
            pools, self._pools = list(self._pools.values()), {}
            try:
                await asyncio.gather(*(pool.close() for pool in pools))
            finally:
                self._give_back()

    def _give_back(self) -> None:
        for rung in self._rungs:
            if isinstance(rung, MachineRung):
                rung.close()
        if self._base is not None and self._base_hold is not None:
            self._base_hold.release()
            remove_tree(self._base)
            self._base = self._base_hold = None
            self._agent = self._agent_for_images = None

    async def _create(self, spec: SandboxSpec, snapshot: SandboxSnapshot) -> Sandbox:
        open_request(spec, b"")
        if spec.allow_hosts and not self._options.allows_network:
            raise ForbiddenError(
                "sandboxes may reach nothing of the network here, and the spec names hosts",
                hint="the operator allows it with sandbox.allow_network",
            )
        Allowlist.of(spec.allow_hosts)  # what is wrong with it is said before anything starts
        prefer = self._options.prefer or Preference.STRONGEST
        need = _Need(
            spec.min_isolation,
            prefer,
            spec.limits,
            with_image=bool(spec.image),
            with_way_out=bool(spec.allow_hosts),
        )
        pool, isolation = await self._choose(need)
        if not spec.image:
            slot = await pool.take()
            inside = msgspec.structs.replace(spec, environment=self._with_packages(spec.environment, isolation.level))
            return await self._opened(slot, inside, spec, snapshot, isolation)
        image = await ImageStore(self._options.images, image_user(), fence.MOUNT_POINTS).fetch(spec.image)
        try:
            if snapshot.image_digest not in ("", image.digest):
                raise ImageError(
                    f"the snapshot was made over {snapshot.image_digest}, and {spec.image} is {image.digest} now"
                )
            slot = await pool.start(ImageToRun(tree=image.tree, agent=self._agent_with_python()))
            environment = {**image.environment, **spec.environment}
            if self._agent is not None and image.has_python(self._agent.version):
                environment = self._with_packages(environment, isolation.level)
            inside = msgspec.structs.replace(spec, environment=environment)
            return await self._opened(slot, inside, spec, snapshot, isolation, image)
        except BaseException:
            image.use.release()
            raise

    async def _opened(
        self,
        slot: Slot,
        inside: SandboxSpec,
        spec: SandboxSpec,
        snapshot: SandboxSnapshot,
        isolation: IsolationReport,
        image: Image | None = None,
    ) -> Sandbox:
        """A sandbox in a slot of its own; `inside` is the spec with what the image adds."""
        try:
            connection = await open_cell(slot, inside, archive=snapshot.archive)
        except BaseException:
            await slot.close()
            raise

        def released(sandbox: CellSandbox) -> None:
            self._sandboxes.discard(sandbox)
            if image is not None:
                image.use.release()

        digest = "" if image is None else image.digest
        proxy = EgressProxy(Allowlist.of(spec.allow_hosts), self._options.egress) if spec.allow_hosts else None
        sandbox = CellSandbox(slot, connection, spec, isolation, released, digest, proxy)
        self._sandboxes.add(sandbox)
        return sandbox

    def _with_packages(self, environment: Mapping[str, str], level: IsolationLevel) -> Mapping[str, str]:
        """The environment in which Python finds the operator's packages, after what the spec itself names."""
        packages = self._agent.packages if self._agent is not None else None
        if packages is None:
            return environment
        has_own_tree = level.number >= IsolationLevel.NAMESPACED.number
        place = fence.PACKAGES if has_own_tree else str(packages)
        path = [each for each in (environment.get("PYTHONPATH", ""), place) if each]
        return {**environment, "PYTHONPATH": ":".join(path)}

    def _agent_with_python(self) -> CarriedAgent:
        assert self._agent is not None
        assert self._base is not None
        if self._agent_for_images is None:
            self._agent_for_images = carry_python(self._agent, self._base)
        return self._agent_for_images

    async def _choose(self, need: _Need) -> tuple[SlotPool, IsolationReport]:
        reasons: list[str] = []
        for rung in self._quickest_first if need.prefer is Preference.QUICKEST else self._rungs:
            if rung.level is IsolationLevel.NONE and need.least is not IsolationLevel.NONE:
                continue
            status = await self._status(rung)
            if not status.available or status.isolation is None:
                reasons.append(f"{rung.driver} does not work here ({status.reason})")
            elif rung.level.number < need.least.number:
                reasons.append(f"{rung.driver} reaches {rung.level}")
            elif need.with_image and not rung.takes_images:
                reasons.append(f"{rung.driver} takes no images")
            elif need.with_way_out and not rung.has_own_network:
                reasons.append(f"{rung.driver} has no network of its own, so programs reach all or nothing")
            elif need.limits.memory_mib > (most_mib := self._most_memory_mib.get(rung.driver, need.limits.memory_mib)):
                reasons.append(f"{rung.driver} gives at most {most_mib} MiB of memory")
            else:
                return self._pool(rung), status.isolation
        if need.least is IsolationLevel.NONE and not self._options.allows_none:
            reasons.append("running without a fence is not allowed here")
        raise SandboxUnavailableError(
            f"no sandbox here reaches level {need.least}: {'; '.join(reasons) or 'no rung is allowed'}",
            hint="ask for less, or see: evalsi sandbox probe",
        )

    async def _status(self, rung: Rung) -> RungStatus:
        if rung.driver in self._found:
            return self._found[rung.driver]
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
        if self._base is None:
            self._base, self._base_hold = make_base()
            if self._options.use_control_groups:
                self._groups = find_control_groups(self._options.control_group)
            else:
                self._groups = Found(None, "switched off")
        if self._agent is None:
            packages = self._options.packages
            if packages is not None and not packages.is_dir():
                raise SandboxError(f"{packages}, which is to hold packages for programs, is no folder")
            agent = carry_agent(self._base, choose_user(0), self._options.python)
            self._agent = replace(agent, packages=None if packages is None else packages.resolve())
        return Circumstances(rung=rung, agent=self._agent, groups=self._groups.groups, base=self._base)


def _is_quick(rung: Rung) -> bool:
    """Whether it starts in milliseconds, which takes a fence that serves many, and has namespaces at least."""
    return not rung.has_one_cell and rung.level.number >= IsolationLevel.NAMESPACED.number


async def _run_python(
    lent: Lent, program: PythonProgram, environment: Mapping[str, str], executions: list[Execution]
) -> str:
    """Runs the inputs that have no execution yet and adds theirs; why the slot is not to be used again, or ""."""
    slot, limits = lent.slot, program.limits
    stdins: list[bytes] = list(program.stdins[len(executions) :])
    spec = SandboxSpec(limits=limits, files=program.files, environment=environment)
    kills, refusals = slot.memory_kills(), slot.process_refusals()
    connection = await open_cell(slot, spec, then=[["python", program.source, [*stdins]]])
    doubt = ""
    try:
        for _ in stdins:
            try:
                async with asyncio.timeout(limits.wall_s + GRACE_S) as patience:
                    with watched(lent, patience, refusals):
                        reply = await connection.receive()
            except (SandboxError, TimeoutError) as error:
                taken = took_the_sandbox(
                    limits,
                    memory_kills=slot.memory_kills() - kills,
                    wants_processes=slot.wants_processes_without_end(refusals),
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
