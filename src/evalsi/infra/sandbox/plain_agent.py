"""Starts the agent as an ordinary process, where nothing of ours stands around it: what fences it in, it puts up itself."""

import subprocess

from evalsi.infra.sandbox.carried_agent import CarriedAgent
from evalsi.infra.sandbox.rung import StartOrder
from evalsi.infra.sandbox.start_process import start_process


def start_plainly(agent: CarriedAgent, order: StartOrder, kind: str, readable: str) -> "subprocess.Popen[bytes]":
    """Args:
        kind: The fence, by its name in `guest.fence`.
        readable: What of the host it may read beside the system, as paths with colons between them.

    Raises: OSError.
    """
    words = order.words(order.control, kind, str(order.disk), readable)
    return start_process(
        [*agent.command(str(agent.folder)), *words, *map(str, order.joins)],
        user=order.user,
        descriptors=(order.control, *order.joins),
    )
