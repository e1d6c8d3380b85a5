"""Notices the end of a child among other things to wait for: a descriptor to poll.

Its own module because gVisor's kernel has no descriptors of processes; there, the signal that every end of a child sends
is turned into a byte in a pipe.
"""

import os


class ChildEnd:
    """`descriptor` becomes readable when the child may have ended; `has_come` says whether it has, and may be asked once
    per time that it is readable.
    """

    def __init__(self, child: int) -> None:
        self._child = child
        self._wake = -1
        try:
            self.descriptor = os.pidfd_open(child)
        except OSError:
            import signal  # it takes an enumeration or two, which nobody needs elsewhere

            self.descriptor, self._wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
            signal.set_wakeup_fd(self._wake)
            signal.signal(signal.SIGCHLD, _do_nothing)
            os.write(self._wake, b"\0")  # it may have ended before

    def has_come(self) -> bool:
        if self._wake < 0:
            return True
        os.read(self.descriptor, 4096)
        return os.waitid(os.P_PID, self._child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def close(self) -> None:
        if self._wake >= 0:
            import signal

            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.close(self._wake)
        os.close(self.descriptor)


def _do_nothing(_number: int, _frame: object) -> None:
    """A signal that nobody handles wakes nobody."""
