"""A fork of this process that runs foreign code, and the socket to it.

Its own module because the workers of records and those of whole datasets differ in what they say, not in how they live: a
fork needs no importable code, may use bounded memory, answers to nobody's Ctrl-C, prints to standard error only, and dies
with its parent or when it is killed.
"""

import contextlib
import faulthandler
import os
import resource
import signal
import socket
import struct
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import BinaryIO

from evalsi.core.parent_process import die_with

_HEADER = struct.Struct("<I")
_LEFT_BEHIND = weakref.WeakSet["ForkedProcess"]()
"""Those whose sockets a new fork would inherit: a copy held there would hide the parent's death from them."""


def framed(message: bytes) -> bytes:
    """The message as it goes over the socket."""
    return _HEADER.pack(len(message)) + message


def frames(stream: BinaryIO) -> Iterator[bytes]:
    """The messages that come over a blocking socket, until the other side closes it."""
    while header := stream.read(_HEADER.size):
        yield stream.read(_HEADER.unpack(header)[0])


class FrameBuffer:
    """Bytes as they arrive, taken out as whole messages."""

    def __init__(self) -> None:
        self._held = bytearray()

    def add(self, data: bytes) -> None:
        self._held += data

    def take(self) -> bytes | None:
        """The next whole message; None while it is not all there."""
        if len(self._held) < _HEADER.size:
            return None
        end = _HEADER.size + _HEADER.unpack_from(self._held)[0]
        if len(self._held) < end:
            return None
        message = bytes(self._held[_HEADER.size : end])
        del self._held[:end]
        return message


class ForkedProcess:
    """One fork, at work on `serve` from the start.

    Args:
        serve: What it does with its end of the socket, which is blocking; the process ends when it returns.
        memory_mib: How much it may allocate before an allocation fails.

    `socket` is our end, which does not block.
    """

    def __init__(self, serve: Callable[[socket.socket], None], memory_mib: int) -> None:
        self.socket, theirs = socket.socketpair()
        parent = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:  # pragma: no cover - runs in the child
            status = 1
            try:
                self.socket.close()
                for other in _LEFT_BEHIND:
                    other.socket.close()
                _become_worker(parent, memory_mib)
                serve(theirs)
                status = 0
            finally:
                with contextlib.suppress(Exception):
                    sys.stdout.flush()
                os._exit(status)
        theirs.close()
        self.socket.setblocking(False)
        _LEFT_BEHIND.add(self)
        self._end = weakref.finalize(self, _end, parent, self.pid, self.socket)

    def kill(self) -> str:
        """Kills and reaps the process; how it had ended, in words. Only the first call says so."""
        return self._end() or "it was killed before"


def _end(parent: int, pid: int, ours: socket.socket) -> str:
    if os.getpid() != parent:  # a fork of ours forgets the object that it inherited
        return "it belongs to another process"
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    ours.close()
    try:
        _, status = os.waitpid(pid, 0)
    except ChildProcessError:
        return "it was reaped elsewhere"
    code = os.waitstatus_to_exitcode(status)
    return f"exit status {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


def _become_worker(parent: int, memory_mib: int) -> None:  # pragma: no cover - runs in the child
    faulthandler.disable()  # a crash here is an outcome, not a bug of ours to print
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    die_with(parent)
    limit = memory_mib << 20
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # What an evaluator prints is for a person to see, and must not mix with our results.
    # Whatever the parent's other threads were doing is not happening here.
    threading.excepthook = lambda _: None
