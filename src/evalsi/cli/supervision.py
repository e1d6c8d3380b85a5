"""A command that runs the code of others is watched by the process that was started, and does its work in a fork of it.

Code under evaluation may end its process in ways that no `except` sees: a crash of a native library, `os._exit(0)`, the
system running out of memory. Whatever it does, the process that was started is still there, says so in one sentence and
never ends with a 0 that the command did not give. Signals that reach it alone are passed on; those that a terminal sends to
the whole group are not sent twice. The work dies with its watcher.

`os._exit`, called from Python, does not even get that far: while a command works it raises `SystemExit`, which costs the
record at hand. See decision 0013. This module is imported before the commands are, and forks while the process is small.
"""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from evalsi.cli.terminal import open_standard_streams
from evalsi.core.parent_process import die_with

_PASSED_ON = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}
_SENT_BY_KERNEL = 0x80

_LOADS_CODE_OF_OTHERS = frozenset({"eval", "run", "rescore", "runs", "catalog", "judge", "doctor"})


def is_watched(arguments: Sequence[str]) -> bool:
    """Whether the command may run evaluators, targets or plugins of others. Help runs none."""
    return bool(arguments) and arguments[0] in _LOADS_CODE_OF_OTHERS and not {"-h", "--help"} & set(arguments)


def run_watched(work: Callable[[], int]) -> int:
    """Does `work` in a fork and returns its exit status; 1 and a sentence where the fork ended without giving one.

    Where this system has no way to watch, the work is done right here.
    """
    if sys.platform != "linux":  # no sigwaitinfo, no death with the parent
        return work()
    open_standard_streams()  # before the pipe, which would take the numbers of closed ones
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON | {signal.SIGCHLD})
    ended, ending = os.pipe()
    watcher, process = os.getpid(), os.fork()
    if process == 0:
        os.close(ended)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return _work(work, watcher, ending)
    os.close(ending)
    code = _watch(process)
    said = os.read(ended, 1)
    if said:
        return said[0]
    if code < 0 and -code in _PASSED_ON:
        _die_of(-code)
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
    os.write(2, f"error: code that this command loaded ended it: {how}; what was graded before is kept\n".encode())
    return 1


def _work(work: Callable[[], int], watcher: int, ending: int) -> int:
    die_with(watcher, status=1)
    _keep_alive()
    status = 1
    try:
        status = work()
    finally:
        os.write(ending, bytes([status & 0xFF]))
    return status


def _watch(process: int) -> int:
    """Waits for the process and passes signals on; its exit status, or a signal's number below zero."""
    while True:
        received = signal.sigwaitinfo(_PASSED_ON | {signal.SIGCHLD})
        if received.si_signo != signal.SIGCHLD:
            if received.si_code != _SENT_BY_KERNEL:
                os.kill(process, received.si_signo)
            continue
        pid, status = os.waitpid(process, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)


def _die_of(number: int) -> None:
    """Ends this process as the work was ended, so that whoever started it sees which signal it was."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})


def _keep_alive() -> None:
    """Makes `os._exit` raise in this process; its own forks, which end so, are not touched."""
    worker, end_process = os.getpid(), os._exit

    def refuse(status: int) -> NoReturn:
        if os.getpid() != worker:
            end_process(status)
        raise SystemExit(f"it called os._exit({status})")

    os._exit = refuse
