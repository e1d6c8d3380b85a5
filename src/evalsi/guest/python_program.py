"""Runs Python source as `__main__` in a process forked from a running interpreter: no start-up, no shared state.

What an interpreter does at its end (threads waited for, exit functions, streams flushed, the traceback of what was not
caught) is done here too. It never returns.
"""

from __future__ import annotations

import atexit
import builtins
import gc
import os
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:  # the module typing takes longer to import than all of ours
    from typing import NoReturn

FILE = "main.py"


def run_as_main(source: str) -> NoReturn:
    """Runs `source` and ends this process with its exit status.

    The streams of the interpreter are those of the program: nothing has used them, and descriptors 0 to 2 are new.
    """
    os._exit(_status_of(source) & 0xFF)


def _status_of(source: str) -> int:
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __file__=FILE)
    sys.modules["__main__"] = main
    gc.enable()
    status = _status_of_run(source, main)
    for finish in (_end_threads, atexit._run_exitfuncs, _flush):  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType, reportAttributeAccessIssue]
        try:
            finish()
        except BaseException:
            status = status or 120
    return status


def _status_of_run(source: str, main: types.ModuleType) -> int:
    try:
        exec(compile(source, FILE, "exec", dont_inherit=True), main.__dict__)  # noqa: S102 - what the fence is for
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:
        trace = error.__traceback__
        error.__traceback__ = trace.tb_next if trace is not None else None  # without our own frame
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def _end_threads() -> None:
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        threading._shutdown()


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
