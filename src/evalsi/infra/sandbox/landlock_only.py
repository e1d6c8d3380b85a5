"""The rung `confined`: Landlock and seccomp alone, for machines that refuse namespaces. Needs no program and no privilege.

Programs see the host's own file tree, of which they may read the system and write one folder. They share the host's
processes, which they cannot signal or trace, and have no sockets at all, because neither fence covers all of them.
"""

import subprocess

from evalsi.guest import fence, landlock
from evalsi.infra.sandbox.carried_agent import CarriedAgent
from evalsi.infra.sandbox.plain_agent import start_plainly
from evalsi.infra.sandbox.rung import StartOrder, Weight
from evalsi.schema import IsolationLevel


class LandlockOnly:
    """Starts the agent as a plain process, which puts itself behind Landlock before anything else."""

    driver = "landlock"
    level = IsolationLevel.CONFINED
    remedy = "use Linux 5.13 or later with Landlock switched on (lsm=landlock,… on the kernel's command line)"
    weight = Weight()
    has_one_cell = False
    takes_images = False
    has_own_network = False
    needs_groups = False

    def obstacle(self) -> str:
        return "" if landlock.version() else "the kernel has no Landlock"

    def start(self, agent: CarriedAgent, order: StartOrder) -> "subprocess.Popen[bytes]":
        readable = f"{agent.folder}:" + ("" if agent.prefix.startswith("/usr") else agent.prefix)
        readable += f":{agent.packages}" if agent.packages is not None else ""
        return start_plainly(agent, order, fence.LANDLOCK, readable)

    def walls(self, landlock_version: int) -> str:
        return f"system calls: seccomp; files: Landlock {landlock_version}"

    def notes(self, landlock_version: int) -> list[str]:
        found = ["the limit of disk is per file, and there is none of files: the workspace is a folder of the host"]
        if not landlock.scopes_signals(landlock_version):
            found.append(f"Landlock {landlock_version} of this kernel does not keep signals inside (6 does)")
        return found
