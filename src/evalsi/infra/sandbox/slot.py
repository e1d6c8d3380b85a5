"""A started fence with its agent: cells are made in it one after the other, and everything in it dies with it."""

import asyncio
import contextlib
import functools
import itertools
import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from evalsi.core.errors import SandboxError
from evalsi.infra.sandbox.carried_agent import CarriedAgent, remove_base
from evalsi.infra.sandbox.connection import Connection
from evalsi.infra.sandbox.control_groups import ControlGroup, ControlGroups, group_name
from evalsi.infra.sandbox.rung import Rung, StartOrder

_START_S = 20.0
_FIRST_USER, _LAST_USER = 61184, 65519
"""The range that systemd gives to dynamic users, so nobody's files and processes belong to one of them."""
_numbers = itertools.count()


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What every slot of one host shares. `base` is a folder that every user may enter."""

    rung: Rung
    agent: CarriedAgent
    groups: ControlGroups | None
    base: Path


@dataclass(frozen=True, kw_only=True)
class ImageToRun:
    """The tree of an image, and the agent with an interpreter of its own."""

    tree: Path
    agent: CarriedAgent


class Slot:
    """Made by `start_slot`. One cell at a time; `cells` counts them."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        control: socket.socket,
        group: ControlGroup | None,
        disk: Path,
        rung: Rung,
        landlock_version: int,
    ) -> None:
        self._process = process
        self._control = control
        self._disk = disk
        self._has_one_cell = rung.has_one_cell
        self._ends_with_its_programs = rung.needs_groups
        self.weight = rung.weight
        self.group = group
        self.landlock_version = landlock_version
        self.cells = 0

    def connect(self) -> Connection:
        """A new cell's connection. The cell makes itself ready when the host sends "open". Raises: SandboxError."""
        if self._has_one_cell:
            self.cells += 1
            return Connection(self._control)
        ours, theirs = socket.socketpair()
        try:
            socket.send_fds(self._control, [b"c"], [theirs.fileno()])
        except OSError as error:
            ours.close()
            raise SandboxError("the sandbox has died") from error
        finally:
            theirs.close()
        self.cells += 1
        return Connection(ours)

    def memory_kills(self) -> int:
        """How many processes in it were killed so far for its memory; 0 where nothing counts."""
        return self.group.memory_kills() if self.group is not None else 0

    def process_refusals(self) -> int:
        """How many processes too many were wanted so far, where that ends the fence; else 0."""
        return self.group.process_refusals() if self.group is not None and self._ends_with_its_programs else 0

    def is_used_up(self, most_cells: int) -> bool:
        return self.cells >= (1 if self._has_one_cell else most_cells)

    async def close(self) -> None:
        """Ends every process of the slot and removes what it had."""
        self._control.close()
        await _ended(self._process)
        if self.group is not None:
            self.group.close()
        remove_base(self._disk)


async def start_slot(shared: Circumstances, *, preload: bool, image: "ImageToRun | None" = None) -> Slot:
    """Starts a fence. To be called on the event loop's own thread. Raises: SandboxError: it does not start; says why."""
    number = next(_numbers)
    user = choose_user(number) if image is None else image_user()
    agent = shared.agent if image is None else image.agent
    disk = shared.base / f"disk-{number}"
    disk.mkdir(mode=0o700)
    group: ControlGroup | None = None
    ours, theirs = socket.socketpair()
    joins: list[int] = []
    try:
        if user is not None:
            os.chown(disk, user, user)
        if shared.groups is not None:
            group = shared.groups.make(group_name(str(number)))
            joins = group.join_files()
        order = StartOrder(
            control=theirs.fileno(),
            user=user,
            disk=disk,
            joins=tuple(joins),
            counted=group is not None,
            preload=preload,
            tree=None if image is None else image.tree,
        )
        process = shared.rung.start(agent, order)
    except OSError as error:
        ours.close()
        if group is not None:
            group.close()
        remove_base(disk)
        raise SandboxError(f"{shared.rung.driver} does not start: {error}") from error
    finally:
        theirs.close()
        for join in joins:
            os.close(join)
    ours.setblocking(False)
    try:
        landlock_version = await _ready(ours, process)
    except BaseException:
        process.kill()
        await Slot(process, ours, group, disk, shared.rung, 0).close()
        raise
    ours.setblocking(True)
    return Slot(process, ours, group, disk, shared.rung, landlock_version)


def choose_user(number: int) -> int | None:
    """A user that no other sandbox here runs as, where we are root; None, for our own, where we are not.

    Limits of processes are per user, and so is the right to signal one another.
    """
    if os.geteuid() != 0 or not _has_users():
        return None
    return _FIRST_USER + (os.getpid() * 61 + number) % (_LAST_USER - _FIRST_USER)


def image_user() -> int | None:
    """Who sandboxes with an image run as: the one who owns the trees, where we are root."""
    return None if choose_user(0) is None else _LAST_USER


@functools.cache
def _has_users() -> bool:
    """Whether the range exists here: in a container without root's help, only our own user does."""
    for name in ("uid_map", "gid_map"):
        try:
            lines = Path(f"/proc/self/{name}").read_text(encoding="utf-8").splitlines()
        except OSError:
            return False
        ranges = [(int(first), int(count)) for first, _, count in map(str.split, lines)]
        if not any(first <= _FIRST_USER and first + count > _LAST_USER for first, count in ranges):
            return False
    return True


async def _ready(control: socket.socket, process: "subprocess.Popen[bytes]") -> int:
    """Waits for the agent's word; the kernel's version of Landlock."""
    connection = Connection(control)
    stderr = process.stderr
    assert stderr is not None
    try:
        async with asyncio.timeout(_START_S):
            word, value = (await connection.receive())[:2]
    except (SandboxError, TimeoutError, ValueError) as error:
        process.kill()
        said = stderr.read().decode(errors="replace").strip().splitlines()
        why = said[-1] if said else "it ended without a word" if isinstance(error, SandboxError) else "it took too long"
        raise SandboxError(f"it does not start: {why}") from error
    finally:
        stderr.close()
    if word != "ready" or not isinstance(value, int):
        raise SandboxError(f"it does not start: {value}")
    return value


async def _ended(process: "subprocess.Popen[bytes]") -> None:
    """Waits for the process, at first patiently: with the agent's socket closed it ends by itself."""
    loop = asyncio.get_running_loop()
    try:
        watched = os.pidfd_open(process.pid)
    except OSError:
        process.wait()
        return
    gone = loop.create_future()
    loop.add_reader(watched, lambda: gone.done() or gone.set_result(None))
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2.0):
                await asyncio.shield(gone)
        if not gone.done():
            process.kill()
            await gone
    finally:
        loop.remove_reader(watched)
        os.close(watched)
    process.wait()
