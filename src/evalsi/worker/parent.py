"""What a worker hears from the server that started it: there is work, or the end has come."""

import os
import threading
from contextlib import suppress
from dataclasses import dataclass, field

GRACE_S = 5.0
"""How long a worker has to put its work back when it is told to stop."""


@dataclass(frozen=True)
class ServersWord:
    """What the server has said since the order."""

    stopped: threading.Event = field(default_factory=threading.Event)
    """The server lets go of the worker, or is gone."""
    woken: threading.Event = field(default_factory=threading.Event)
    """There may be work, or the end has come."""


def say_begun(news: int) -> None:
    """Says on the file descriptor `news` that the worker has its order and begins: until then it may be ended at once."""
    with suppress(BrokenPipeError):
        os.write(news, b"\n")


def heard_on(stream: int) -> ServersWord:
    """What is said on the file descriptor `stream`: a byte wakes, its end stops.

    The process ends by itself when it has not ended within `GRACE_S` after that.
    """
    word = ServersWord()

    def watch() -> None:
        while os.read(stream, 4096):
            word.woken.set()
        word.stopped.set()
        word.woken.set()
        # What cannot stop in time is stopped: everything acknowledged is stored, and the rest is somebody else's work.
        timer = threading.Timer(GRACE_S, os._exit, (1,))
        timer.daemon = True
        timer.start()

    threading.Thread(target=watch, name="parent", daemon=True).start()
    return word
