"""A started fence with its agent: cells are made in it one after the other, and everything in it dies with it."""

import asyncio
import contextlib
import functools
import itertools
import os
import socket
import subprocess
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalsi.core.errors import SandboxError
from evalsi.infra.sandbox.carried_agent import CarriedAgent
from evalsi.infra.sandbox.connection import Connection
from evalsi.infra.sandbox.control_groups import ControlGroup, ControlGroups, group_name
from evalsi.infra.sandbox.held_place import remove_tree
from evalsi.infra.sandbox.rung import MachineRung, Rung, StartOrder
from evalsi.infra.sandbox.start_process import end_process, kill_process, last_words

_START_S = 20.0
_PATIENCE_S = 2.0
"""Seconds in which a fence ends by itself once its agent's connection is closed."""
_LAST_WORDS_S = 1.0
"""Seconds in which what a process said before it ended has come."""
_FIRST_USER, _LAST_USER = 61184, 65519
"""The range that systemd gives to dynamic users, so nobody's files and processes belong to one of them."""
_REFUSALS_BORNE = 4
"""Who is refused more processes than this goes on asking, and each time costs the kernel a copy of a process to find out."""
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
        self._refusals_borne = 0 if rung.needs_groups else _REFUSALS_BORNE
        self.weight = rung.weight
        self.group = group
        self.landlock_version = landlock_version
        self.cells = 0
        self._is_closed = False

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
        """How many processes too many were wanted so far; 0 where nothing counts."""
        return self.group.process_refusals() if self.group is not None else 0

    def wants_processes_without_end(self, refusals_before: int) -> bool:
        """Whether so many were refused since then that it is to end, or, behind some fences, has ended by that."""
        return self.process_refusals() - refusals_before > self._refusals_borne

    def kill(self) -> None:
        """Kills all that is in it, where a group can: asked to end, an agent has to wait its turn behind its programs."""
        if self.group is not None:
            self.group.kill()

    def processor_s(self) -> float | None:
        """Seconds of processor time used so far by all that is in it; None where nothing counts."""
        return self.group.processor_s() if self.group is not None else None

    def is_used_up(self, most_cells: int) -> bool:
        return self.cells >= (1 if self._has_one_cell else most_cells)

    async def close(self) -> None:
        """Ends every process of the slot and removes what it had; who calls it meanwhile waits too.

        Whoever is cancelled does not wait: then the process is killed, and what is left is the work of moments.
        """
        self._control.close()
        try:
            with contextlib.suppress(OSError):  # no descriptor is left to wait by, so nobody is patient
                await _ended(self._process)
        finally:
            end_process(self._process)
            if not self._is_closed:
                self._is_closed = True
                if self.group is not None:
                    self.group.close()
                remove_tree(self._disk)


async def start_slot(shared: Circumstances, *, preload: bool, image: "ImageToRun | None" = None) -> Slot:
    """Starts a fence. To be called on the event loop's own thread. Raises: SandboxError: it does not start; says why."""
    rung = shared.rung
    if isinstance(rung, MachineRung):
        await rung.prepare(shared.agent, None if image is None else image.tree)
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
        process = rung.start(agent, order)
    except BaseException as error:
        ours.close()
        if group is not None:
            group.close()
        remove_tree(disk)
        if isinstance(error, OSError):
            raise SandboxError(f"{rung.driver} does not start: {error}") from error
        raise
    finally:
        theirs.close()
        for join in joins:
            os.close(join)
    ours.setblocking(False)
    try:
        if isinstance(rung, MachineRung):
            ours = await _met(rung.meet(agent, order, ours), process)
        landlock_version = await _ready(ours)
    except BaseException as error:
        kill_process(process)
        await Slot(process, ours, group, disk, rung, 0).close()
        if isinstance(error, SandboxError):
            raise SandboxError(f"it does not start: {_why(error, last_words(process))}") from error
        raise
    finally:
        if process.stderr is not None:
            process.stderr.close()
    ours.setblocking(True)
    return Slot(process, ours, group, disk, rung, landlock_version)


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


class _SilenceError(SandboxError):
    """The agent said nothing; the text is used where nobody else did."""


def _why(error: SandboxError, said: list[str]) -> str:
    """Why a fence does not start, given what its process said last."""
    if not said:
        return str(error)
    return said[-1] if isinstance(error, _SilenceError) else f"{error} ({said[-1]})"


async def _met(meeting: Coroutine[Any, Any, socket.socket], process: "subprocess.Popen[bytes]") -> socket.socket:
    """What the meeting gives. One with a monitor that has ended could go on for long, and is left."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(None) as patience:
            with _when_ended(process, lambda: patience.reschedule(loop.time() + _LAST_WORDS_S)):
                return await meeting
    except TimeoutError as error:
        raise _SilenceError("it ended without a word") from error


async def _ready(control: socket.socket) -> int:
    """Waits for the agent's word; the kernel's version of Landlock."""
    connection = Connection(control)
    try:
        async with asyncio.timeout(_START_S):
            word, value = (await connection.receive())[:2]
    except TimeoutError as error:
        raise _SilenceError("it took too long") from error
    except (SandboxError, ValueError) as error:
        raise _SilenceError("it ended without a word") from error
    if word != "ready" or not isinstance(value, int):
        raise SandboxError(str(value))
    return value


async def _ended(process: "subprocess.Popen[bytes]") -> None:
    """Waits for the process, at first patiently: with the agent's socket closed it ends by itself."""
    gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    with _when_ended(process, lambda: gone.set_result(None)):
        await asyncio.wait({gone}, timeout=_PATIENCE_S)
        if not gone.done():
            kill_process(process)
            await gone


@contextlib.contextmanager
def _when_ended(process: "subprocess.Popen[bytes]", tell: Callable[[], object]) -> Generator[None]:
    """Inside, `tell` is called once the process has ended."""
    if process.poll() is not None:
        tell()
        yield
        return
    loop = asyncio.get_running_loop()
    watched = os.pidfd_open(process.pid)

    def end() -> None:
        loop.remove_reader(watched)
        tell()

    loop.add_reader(watched, end)
    try:
        yield
    finally:
        loop.remove_reader(watched)
        os.close(watched)
