"""`python -m evalsi.worker watch <parent> <seconds>`: completes traces and evaluates them by policies, for a server.

It ends when its standard input does, and by itself when it had nothing to do for `seconds`, unless that is 0. The first line of standard
input is the order (`wiring.watching.WatchWorkerOrder` as JSON). What it says on standard output is what its judges used and what it
sent, as `wiring.accounts.WorkNews`, a JSON object a line.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from evalsi.core.collector import tune_collector
from evalsi.core.log_line import LogLines
from evalsi.core.parent_process import die_with
from evalsi.settings import Settings
from evalsi.wiring.accounts import WorkNews
from evalsi.wiring.watch_work import watch
from evalsi.wiring.watching import WatchWorkerOrder
from evalsi.worker.parent import heard_on, say_begun


def main(arguments: Sequence[str]) -> int:
    die_with(int(arguments[0]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    news = os.dup(sys.stdout.fileno())
    # Whatever evaluators print goes to the log.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=WatchWorkerOrder)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLines(order.runs.server.log.format))
    logging.basicConfig(level=order.runs.server.log.level.upper(), handlers=[handler])
    word = heard_on(sys.stdin.fileno())
    say_begun(news)
    tune_collector()

    def tell(told: WorkNews) -> None:
        with suppress(BrokenPipeError):  # the server is gone, and so is whoever counted
            os.write(news, msgspec.json.encode(told) + b"\n")

    asyncio.run(watch(order, Settings.from_environment(), word.stopped, tell, float(arguments[1]) or None))
    return 0
