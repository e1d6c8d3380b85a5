"""`python -m evalsi.worker grading <seconds for a record> <socket> <parent>`: grades records for a server, a call at a time.

Single-threaded, so the engine may fork from here. What always holds: whatever a call does to this process, the server
notices by the socket and starts another one; nothing of a call is left over for the next.
"""

import asyncio
import ctypes
import os
import signal
import socket
import struct
import sys
from collections.abc import Sequence

from evalsi.score.grading_call import answer_call
from evalsi.settings import Settings
from evalsi.wiring.serving import grading_tools

_HEADER = struct.Struct("<I")
_PR_SET_PDEATHSIG = 1


def main(arguments: Sequence[str]) -> int:
    record_deadline_s, descriptor, parent = float(arguments[0]), int(arguments[1]), int(arguments[2])
    _die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tools = grading_tools(Settings.from_environment(), record_deadline_s=record_deadline_s)
    with socket.socket(fileno=descriptor) as channel, asyncio.Runner() as runner:
        stream = channel.makefile("rb")
        while header := stream.read(_HEADER.size):
            body = stream.read(_HEADER.unpack(header)[0])
            answer = runner.run(answer_call(body, tools))
            channel.sendall(_HEADER.pack(len(answer)) + answer)
    return 0


def _die_with(parent: int) -> None:
    """Has the system kill this process when its parent ends, however it ends."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
