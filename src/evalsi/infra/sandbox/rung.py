"""A rung of the ladder: one way of starting the agent behind a fence, and what that fence is worth."""

import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from evalsi.infra.sandbox.carried_agent import CarriedAgent
from evalsi.schema import IsolationLevel


@dataclass(frozen=True, kw_only=True)
class StartOrder:
    """What a fence is to be started with. The descriptors are inherited; the caller closes its copies.

    Args:
        user: Whom the agent runs as; None for ourselves. A user of its own for every sandbox, where we may choose.
        disk: A folder of the host that the user owns, for fences without mounts.
        joins: Descriptors of control groups to join.
        preload: Whether the agent is to import what programs import most.
        tree: The file tree of an image, which the user owns; None for what the machine itself has.
    """

    control: int
    user: int | None
    disk: Path
    joins: tuple[int, ...]
    counted: bool
    preload: bool
    tree: Path | None

    def words(self, control: int, kind: str, disk: str, readable: str) -> list[str]:
        """The agent's arguments, but for the groups that it joins."""
        switches = (str(int(each)) for each in (self.counted, self.preload, self.tree is not None))
        counted, preload, image = switches
        return [str(control), kind, disk, counted, preload, readable, image]


@dataclass(frozen=True, kw_only=True)
class Weight:
    """What a fence itself uses of a control group's memory and processes, on top of what programs may."""

    memory_mib: int = 24
    processes: int = 4


class Rung(Protocol):
    """One way of starting the agent."""

    @property
    def driver(self) -> str: ...

    @property
    def level(self) -> IsolationLevel: ...

    @property
    def remedy(self) -> str:
        """How to make it work where it does not, as a sentence without its full stop."""
        ...

    @property
    def weight(self) -> Weight: ...

    @property
    def has_one_cell(self) -> bool:
        """Whether a started fence is for one cell only, which then speaks over `StartOrder.control` itself."""
        ...

    @property
    def takes_images(self) -> bool: ...

    @property
    def has_own_network(self) -> bool:
        """Whether programs can be given a way out that is not the host's own network."""
        ...

    @property
    def needs_groups(self) -> bool:
        """Whether nothing but a control group bounds what programs make of processes and memory behind it."""
        ...

    def obstacle(self) -> str:
        """Why it cannot even be tried here; "" where it can."""
        ...

    def start(self, agent: CarriedAgent, order: StartOrder) -> "subprocess.Popen[bytes]":
        """Starts it, with a pipe at its standard error for the time until the agent says that it is ready.

        To be called from a thread that lives as long as the sandbox. Raises: OSError.
        """
        ...

    def walls(self, landlock_version: int) -> str:
        """What stands between a program and the host, as a short sentence."""
        ...

    def notes(self, landlock_version: int) -> list[str]:
        """What of the level's promises is not in force, given the kernel's version of Landlock."""
        ...


@runtime_checkable
class MachineRung(Rung, Protocol):
    """A rung whose fence is a machine: it takes seconds to make ready once, and its kernel counts what programs use."""

    @property
    def most_memory_mib(self) -> int:
        """What a machine has for its programs."""
        ...

    async def prepare(self, agent: CarriedAgent, tree: Path | None) -> None:
        """Makes ready what machines with this tree are started from; done once. Raises: SandboxError: none can be."""
        ...

    async def meet(self, agent: CarriedAgent, order: StartOrder, ours: socket.socket) -> socket.socket:
        """The connection to the agent of a machine that was just started, `ours` or another in its place, once the agent was
        told the time and something random; it says that it is ready as the first thing on it. Raises: SandboxError.
        """
        ...

    def close(self) -> None:
        """Gives back what was made ready. Machines that run go on."""
        ...
