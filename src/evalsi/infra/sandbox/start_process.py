"""Starts a program of ours as a sandbox's user: no environment, no terminal, no descriptor but the ones that are named."""

import subprocess
from collections.abc import Sequence

_JOIN = (
    "import os, sys\nat = sys.argv.index('--')\nfor group in sys.argv[1:at]: os.write(int(group), b'0')\n"
    "os.execv(sys.argv[at + 1], sys.argv[at + 1:])\n"
)


def joining(python: str, groups: Sequence[int], command: Sequence[str]) -> list[str]:
    """A command that joins the control groups of these descriptors and then becomes `command`, whose program is a path."""
    return [python, "-I", "-S", "-c", _JOIN, *map(str, groups), "--", *command]


def start_process(
    command: Sequence[str], *, user: int | None, descriptors: Sequence[int], stdin: int = subprocess.DEVNULL
) -> "subprocess.Popen[bytes]":
    """A process with a pipe at its standard error and, but for `stdin`, nothing at the other two streams.

    Args:
        user: Whom it runs as, with no group but its own; None for ourselves.
        descriptors: What it inherits.

    Raises: OSError: it cannot be started.
    """
    return subprocess.Popen(
        command,
        stdin=stdin,
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
