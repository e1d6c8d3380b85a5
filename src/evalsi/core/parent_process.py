"""The tie between a process and the one that started it, for processes that must never outlive it.

Its own module because forks of the engine, watched commands and workers of a server are tied alike.
"""

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with(parent: int, *, status: int = 0) -> None:
    """Has the system kill this process when `parent` ends, however it ends. Only Linux can; elsewhere nothing happens.

    Args:
        status: Exit status where `parent` is gone already.
    """
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(status)
