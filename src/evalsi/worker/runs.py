"""`python -m evalsi.worker runs <parent> <seconds>`: carries out runs for a server, one at a time.

It ends when its standard input does, and by itself when it had nothing to do for `seconds`, unless that is 0. The first line
of standard input is the order (`wiring.run_order.RunWorkerOrder` as JSON): it may hold the address of a database with its
password, which must not be seen in a list of processes. What it says on standard output is news of its runs, a JSON object a
line; whatever else in the process writes there, as evaluators do, goes to the log.
"""

import logging
import os
import signal
import sys
from collections.abc import Sequence

import msgspec

from evalsi.core.log_line import LogLines
from evalsi.core.parent_process import die_with
from evalsi.settings import Settings
from evalsi.wiring.accounts import WorkNews
from evalsi.wiring.run_order import RunWorkerOrder
from evalsi.wiring.run_work import RunWork, serve_runs
from evalsi.worker.parent import heard_on, say_begun


def main(arguments: Sequence[str]) -> int:
    parent, ends_after_s = int(arguments[0]), float(arguments[1])
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    news = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=RunWorkerOrder)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLines(order.server.log.format))
    logging.basicConfig(level=order.server.log.level.upper(), handlers=[handler])
    word = heard_on(sys.stdin.fileno())
    say_begun(news)

    def tell(told: WorkNews) -> None:
        try:
            os.write(news, msgspec.json.encode(told) + b"\n")
        except BrokenPipeError:
            """The server is gone, and so is whoever counted."""

    work = RunWork(order=order, stopped=word.stopped, woken=word.woken, ends_after_s=ends_after_s or None, tell=tell)
    serve_runs(work, Settings.from_environment())
    return 0
