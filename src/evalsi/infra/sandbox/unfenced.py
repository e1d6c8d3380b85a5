"""The rung `none`: programs as ordinary processes, with limits and nothing else. For specs that ask for exactly this.

Its own module because it is the one rung that is never chosen by strength: the ladder takes it only for a spec that says
`none`, where its operator allows it and nothing stronger works. What always holds: its report says that nothing fenced the
programs in. Where evalsi is root, they still run as a user of their own.
"""

import subprocess

from evalsi.guest import fence
from evalsi.infra.sandbox.carried_agent import CarriedAgent
from evalsi.infra.sandbox.plain_agent import start_plainly
from evalsi.infra.sandbox.rung import StartOrder, Weight
from evalsi.schema import IsolationLevel


class Unfenced:
    """Starts the agent as a plain process that fences itself in with nothing."""

    driver = "none"
    level = IsolationLevel.NONE
    remedy = "it is used only where a spec says `none`"
    weight = Weight()
    has_one_cell = False
    takes_images = False
    has_own_network = False
    needs_groups = False

    def obstacle(self) -> str:
        return ""

    def start(self, agent: CarriedAgent, order: StartOrder) -> "subprocess.Popen[bytes]":
        return start_plainly(agent, order, fence.NOTHING, "")

    def walls(self, landlock_version: int) -> str:  # noqa: ARG002 - of the port
        return "system calls, files, network: nothing"

    def notes(self, landlock_version: int) -> list[str]:  # noqa: ARG002 - of the port
        return ["NOTHING is between programs and this machine: they read, write and connect as their user may"]
