"""Starts a program of ours as a sandbox's user: no environment, no terminal, no descriptor but the ones that are named."""

import subprocess
from collections.abc import Sequence


def start_process(command: Sequence[str], *, user: int | None, descriptors: Sequence[int]) -> "subprocess.Popen[bytes]":
    """A process with a pipe at its standard error and nothing at the other two streams.

    Args:
        user: Whom it runs as, with no group but its own; None for ourselves.
        descriptors: What it inherits.

    Raises: OSError: it cannot be started.
    """
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={},
        cwd="/",
        pass_fds=descriptors,
        start_new_session=True,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )
