"""Runs one program and watches it: what it says, within bounds, and how it ends, from the kernel alone.

The parent is the only one that learns the exit status, and the program holds no descriptor but its three streams.
"""

from __future__ import annotations

import _socket
import os
import select
import stat
import time

from evalsi.guest.child_end import ChildEnd

TYPE_CHECKING = False
if TYPE_CHECKING:  # what types come from takes longer to import than all of ours
    from collections.abc import Callable
    from typing import Protocol

    class Beside(Protocol):
        """Something else to do while a program runs: `turn` when the descriptor is readable, `hear_host` when the host is."""

        descriptor: int

        def turn(self) -> None: ...

        def hear_host(self) -> None: ...

    Become = Callable[[], object]
    """Turns a forked child into the program; does not return."""
    Hear = Callable[[int, bytes], object]
    """Gets (1 for standard output or 2 for standard error, bytes)."""


_READ_AT_ONCE = 1 << 16
_DROPPED_BEFORE_CLOSING = 16
"""Times the kept output that a program may say on top before its stream is closed: a build that talks a lot goes on, one
that never stops is told."""
_NOTHING = 2
"""Where the agent and its cells have /dev/null: the input of programs that are given none."""
_POLL_HANG_UP = select.POLLHUP | select.POLLRDHUP | select.POLLERR


class Ending:
    """How a program ended. `status` is that of `os.waitpid`."""

    def __init__(
        self, status: int, timed_out: bool, truncated: bool, duration_s: float, cpu_s: float, peak_memory_bytes: int
    ) -> None:
        self.status = status
        self.timed_out = timed_out
        self.truncated = truncated
        self.duration_s = duration_s
        self.cpu_s = cpu_s
        self.peak_memory_bytes = peak_memory_bytes


class Bounds:
    """Until when, by `time.monotonic`, and how many bytes are kept of each stream."""

    def __init__(self, ends_at: float, output_bytes: int) -> None:
        self.ends_at = ends_at
        self.output_bytes = output_bytes


class HostGoneError(Exception):
    """The host closed its end while a program ran."""


def run_child(
    become: Become,
    stdin: bytes,
    bounds: Bounds,
    *,
    hear: Hear,
    end_all: Callable[[], None],
    host: int,
    beside: Beside | None = None,
) -> Ending:
    """Forks, runs `become` in the child, which must not return, and stays until it and all its descendants are gone.

    Args:
        hear: Gets (1 or 2, bytes) as the program says them, never more than is kept.
        end_all: Kills whatever the program left behind.
        host: The connection to the host, watched for its end.
        beside: What else is to be done; without it, what the host says meanwhile has to wait.
    """
    started = time.monotonic()
    # All that can be made ready is, before the fork: from then on every page that this process touches is copied for it.
    watch = _Watch(stdin, hear, bounds, host, beside)
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            watch.become_streams()
            become()
        except BaseException as error:
            os.write(2, f"evalsi: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(126)
    try:
        timed_out = watch.until_end(child)
    finally:
        end_all()
        watch.close()
    status, cpu_s, peak_memory_bytes = _reap(child)
    return Ending(
        status=status,
        timed_out=timed_out,
        truncated=watch.truncated,
        duration_s=time.monotonic() - started,
        cpu_s=cpu_s,
        peak_memory_bytes=peak_memory_bytes,
    )


def _has_ended(connection: int) -> bool:
    """Whether a readable connection is at its end; gVisor reports the end of one to the host as data that is none."""
    if not stat.S_ISSOCK(os.fstat(connection).st_mode):
        return False  # a machine's serial port, which hangs up where it ends
    peeking = _socket.socket(fileno=os.dup(connection))
    try:
        return not peeking.recv(1, _socket.MSG_PEEK)
    except OSError:
        return False
    finally:
        peeking.close()


def _reap(child: int) -> tuple[int, float, int]:
    """Status of the program; processor seconds and largest memory of it and what it left. All of them are dead by now."""
    _, status, usage = os.wait4(child, 0)
    cpu_s, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss
    while True:
        try:
            _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return status, cpu_s, peak << 10
        cpu_s += usage.ru_utime + usage.ru_stime
        peak = max(peak, usage.ru_maxrss)


class _Watch:
    """The streams of a program: made before it is forked, used by its parent from then on."""

    def __init__(self, data: bytes, hear: Hear, bounds: Bounds, host: int, beside: Beside | None) -> None:
        self.truncated = False
        self._data = memoryview(data)
        self._hear = hear
        self._bounds = bounds
        self._host = host
        self._beside = beside
        stdout, its_stdout = os.pipe2(os.O_CLOEXEC)
        stderr, its_stderr = os.pipe2(os.O_CLOEXEC)
        its_stdin, self._stdin = os.pipe2(os.O_CLOEXEC) if data else (_NOTHING, -1)
        self._streams = {stdout: 1, stderr: 2}
        self._of_program = (its_stdin, its_stdout, its_stderr)
        self._said = [0, 0, 0]
        self._end: ChildEnd | None = None
        self._poll = select.poll()
        self._poll.register(host, select.POLLIN | select.POLLRDHUP)
        self._poll.register(stdout, select.POLLIN)
        self._poll.register(stderr, select.POLLIN)
        if beside is not None:
            self._poll.register(beside.descriptor, select.POLLIN)
        if data:
            os.set_blocking(self._stdin, False)
            self._poll.register(self._stdin, select.POLLOUT)

    def become_streams(self) -> None:
        """Called in the child."""
        for number, descriptor in enumerate(self._of_program):
            os.dup2(descriptor, number)

    def until_end(self, child: int) -> bool:
        """Until the program itself has ended and its streams are drained; whether time ran out before."""
        self._end = ChildEnd(child)
        self._poll.register(self._end.descriptor, select.POLLIN)
        has_ended = False
        while not has_ended or self._streams:
            left_s = self._bounds.ends_at - time.monotonic()
            if left_s <= 0 and not has_ended:
                return True
            # A descendant may hold the streams open for ever: once the program has ended, only what is there is read.
            events = self._poll.poll(0 if has_ended else left_s * 1000 + 1)
            self._close_streams_of_program()  # which may be read to their end from then on
            if has_ended and not any(descriptor in self._streams for descriptor, _ in events):
                return False
            for descriptor, event in events:
                if descriptor == self._end.descriptor:
                    if self._end.has_come():
                        has_ended = True
                        self._poll.unregister(self._end.descriptor)
                elif self._beside is not None and descriptor == self._beside.descriptor:
                    self._beside.turn()
                elif descriptor == self._host:
                    if self._beside is not None and event & select.POLLIN:
                        self._beside.hear_host()
                        continue
                    if event & _POLL_HANG_UP or _has_ended(self._host):
                        raise HostGoneError
                    self._poll.modify(self._host, select.POLLRDHUP)  # the next request is here already, and has to wait
                elif descriptor == self._stdin:
                    self._feed()
                elif descriptor in self._streams:
                    self._take(descriptor)
            if has_ended and left_s < -1:
                return False
        return False

    def close(self) -> None:
        self._close_streams_of_program()
        self._close_stdin()
        for stream in self._streams:
            os.close(stream)
        self._streams = {}
        if self._end is not None:
            self._end.close()

    def _close_streams_of_program(self) -> None:
        for descriptor in self._of_program:
            if descriptor != _NOTHING:
                os.close(descriptor)
        self._of_program = ()

    def _feed(self) -> None:
        try:
            self._data = self._data[os.write(self._stdin, self._data[:_READ_AT_ONCE]) :]
        except BlockingIOError:
            return
        except OSError:
            self._data = self._data[:0]
        if not self._data:
            self._poll.unregister(self._stdin)
            self._close_stdin()

    def _close_stdin(self) -> None:
        if self._stdin >= 0:
            os.close(self._stdin)
            self._stdin = -1

    def _take(self, descriptor: int) -> None:
        data = os.read(descriptor, _READ_AT_ONCE)
        number = self._streams[descriptor]
        room = self._bounds.output_bytes - self._said[number]
        self._said[number] += len(data)
        if room > 0 and data:
            self._hear(number, data[:room])
        if len(data) > room and data:
            self.truncated = True
        if not data or self._said[number] > self._bounds.output_bytes * _DROPPED_BEFORE_CLOSING:
            self._poll.unregister(descriptor)
            os.close(descriptor)
            del self._streams[descriptor]
