"""Runs tests of a program that is not here: each use of it becomes a call, whose answer was brought in or is asked for.

The untrusted program never shares a process with its tests. A test that needs an answer which is not here yet goes on
with a placeholder, to find what else it will ask; it is run again once the answers are there, and only a run without
placeholders decides. What answers bring are plain values and handles.
"""

import json
import os
import sys
import unittest
from collections.abc import Callable
from typing import Any

from evalsi.evaluators.programs.inside.forms_of_tests import Tests
from evalsi.evaluators.programs.inside.pytest_stand_in import provide_pytest
from evalsi.evaluators.programs.inside.stand_ins import Case, Gone, Unsupported, turn


def _verdict(known: list[Any], name: str, run: Callable[[], None]) -> dict[str, Any]:
    turn.case = case = Case(known)
    state, reason = "passed", ""
    try:
        run()
    except Unsupported as error:
        state, reason = "unsupported", str(error)
    except Gone as error:
        state, reason = "failed", f"the program {error}"
    except unittest.SkipTest as error:
        state, reason = "skipped", str(error)
    except BaseException as error:
        state, reason = "failed", f"{type(error).__name__}: {error}"[:300]
    if case.pending and state != "unsupported":
        state = "pending"
    elif not case.calls and state in ("passed", "failed"):  # nothing of the program was in play
        why = f": {reason}" if reason else ""
        state, reason = "unsupported", f"the test never uses the program{why}"
    return {"name": name, "state": state, "reason": reason, "calls": case.calls}


_order = json.loads(sys.stdin.buffer.read())
_verdicts = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(os.open(os.devnull, os.O_RDWR), 1)
provide_pytest()
try:
    _cases = Tests(_order).cases()
    _reply: dict[str, Any] = {"cases": [_verdict(_order["answers"].get(name, []), name, run) for name, run in _cases]}
except SyntaxError as _error:
    _reply = {"unreadable": f"{_error.msg}, line {_error.lineno}"}
_verdicts.write(json.dumps(_reply))
_verdicts.flush()
os._exit(0)
