"""`python -m evalsi.worker runs <parent>`: carries out runs for a server, one at a time, until its standard input ends.

The first line of standard input is the order (`wiring.run_work.RunWorkerOrder` as JSON): it may hold the address of a
database with its password, which must not be seen in a list of processes.
"""

import logging
import signal
import sys
from collections.abc import Sequence

import msgspec

from evalsi.settings import Settings
from evalsi.wiring.run_work import RunWorkerOrder, serve_runs
from evalsi.worker.parent import die_with, stop_at_end_of


def main(arguments: Sequence[str]) -> int:
    (parent,) = map(int, arguments)
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=RunWorkerOrder)
    stopped = stop_at_end_of(sys.stdin.fileno())
    serve_runs(order, Settings.from_environment(), stopped)
    return 0
