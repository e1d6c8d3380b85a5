"""Starts a program of ours as a sandbox's user, and ends it: no environment, no terminal, no descriptor but the ones that are named.

What always holds: whoever starts one waits for it, so none is left for Python's collector to find.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence

_JOIN = (
    "import os, sys\nat = sys.argv.index('--')\nfor group in sys.argv[1:at]: os.write(int(group), b'0')\n"
    "os.execv(sys.argv[at + 1], sys.argv[at + 1:])\n"
)
_MOST_WORDS_BYTES = 1 << 20


def joining(python: str, groups: Sequence[int], command: Sequence[str]) -> list[str]:
    """A command that joins the control groups of these descriptors and then becomes `command`, whose program is a path."""
    return [python, "-I", "-S", "-c", _JOIN, *map(str, groups), "--", *command]


def start_process(
    command: Sequence[str],
    *,
    user: int | None,
    descriptors: Sequence[int],
    stdin: int = subprocess.DEVNULL,
    groups: Sequence[int] = (),
) -> "subprocess.Popen[bytes]":
    """A process with a pipe at its standard error and, but for `stdin`, nothing at the other two streams.

    Args:
        user: Whom it runs as, with no group but its own and `groups`; None for ourselves.
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
        extra_groups=None if user is None else list(groups),
    )


def kill_process(process: "subprocess.Popen[bytes]") -> None:
    """Kills the process and what it started, as far as that has not begun a session of its own.

    Bubblewrap's child waits, in bubblewrap's session, for its parent to write who it is: were the parent killed alone, the child
    would wait for ever.
    """
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()


def end_process(process: "subprocess.Popen[bytes]") -> None:
    """As `kill_process`, and waits for it, which takes no longer than the kernel does."""
    kill_process(process)
    process.wait()


def last_words(process: "subprocess.Popen[bytes]") -> list[str]:
    """The lines at the standard error of a process that has ended. Who inherited the stream from it is not waited for."""
    stream = process.stderr
    if stream is None or stream.closed:
        return []
    os.set_blocking(stream.fileno(), False)
    data = b""
    while len(data) < _MOST_WORDS_BYTES:
        try:
            more = os.read(stream.fileno(), _MOST_WORDS_BYTES)
        except BlockingIOError:
            break
        if not more:
            break
        data += more
    return [line for line in map(str.strip, data.decode(errors="replace").splitlines()) if line]
