"""The agent: the first process of a sandbox's fence. It forks cells on request and never runs what is not its own.

    python -I -S -c "…main()" CONTROL KIND DISK COUNTED PRELOAD READABLE IMAGE JOIN…

CONTROL is the descriptor of a socket to the host. The agent says "ready", or why it cannot be, and then gets one
connection at a time, passed over the socket; each becomes a cell. When the host closes the socket, or dies, the agent
ends, and with it, where it is process 1, everything inside. Behind a kernel of its own nothing can be passed, so there the
agent is the one cell that there will be, and CONTROL is its connection. In a machine it says "asleep" first and waits: it
may be copied then, with the whole machine, and every copy is told the time and something random when it is woken.
"""

from __future__ import annotations

import _socket
import gc
import os
import sys
import time

from evalsi.guest import cell, fence, linux, python_program
from evalsi.guest.channel import Channel

TYPE_CHECKING = False
if TYPE_CHECKING:  # the module typing takes longer to import than all of ours
    from typing import NoReturn

PRELOADED = (
    "abc", "bisect", "collections", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools",
    "heapq", "io", "itertools", "json", "math", "operator", "random", "re", "string", "time", "types", "typing",
)  # fmt: skip
"""What programs import most. They share the agent's copies, which costs them nothing."""


_NEEDED_LATER = ("signal", "warnings")
"""What the library imports when it runs a program: in an image it is out of sight by then."""


def main() -> NoReturn:
    """Never returns."""
    control, kind, disk, counted, preload, readable, image, *join = sys.argv[1:]
    channel = Channel(_out_of_the_way(int(control)))
    try:
        for group in join:  # opened by the host, whose right to add a process counts
            os.write(int(group), b"0")
            os.close(int(group))
        linux.set_dumpable(False)
        shape = fence.Shape(
            kind=kind,
            disk=disk,
            readable=tuple(filter(None, readable.split(":"))),
            counted=counted == "1",
            has_image=image == "1",
        )
        surroundings = fence.Fence(shape)
        if not surroundings.has_own_tree:
            surroundings.enclose_agent()
        if surroundings.shape.has_image:
            _import(_NEEDED_LATER)
        if preload == "1":
            _import(PRELOADED)
    except BaseException as error:
        channel.send(["failed", f"{type(error).__name__}: {error}"])
        os._exit(1)
    _hide()
    os.environ.clear()
    os.environ.update(cell.usual_environment(disk))
    gc.disable()  # a collection would touch, and so copy, every page that is shared with a parent
    if preload == "1":
        gc.collect()
    gc.freeze()
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 2)
    if surroundings.group is not None:
        channel.send(["asleep"])
        _, now_s, random = channel.receive()
        time.clock_settime(time.CLOCK_REALTIME, now_s)
        linux.add_entropy(random)
    channel.send(["ready", surroundings.landlock_version])
    if surroundings.has_own_kernel:
        cell.serve(channel, surroundings)
    _make_cells(channel, surroundings)


def _import(names: tuple[str, ...]) -> None:
    import importlib

    for name in names:
        importlib.import_module(name)


def _out_of_the_way(descriptor: int) -> int:
    """Standard input may be the one way in; a program's streams take its number."""
    return descriptor if descriptor > 2 else os.dup(descriptor)


def _hide() -> None:
    """A program that shares this interpreter is not to find us among its modules."""
    sys.path.pop()
    for name in [name for name in sys.modules if name.partition(".")[0] == "evalsi"]:
        del sys.modules[name]
    sys.argv[:] = [python_program.FILE]
    sys.dont_write_bytecode = True


def _make_cells(channel: Channel, surroundings: fence.Fence) -> NoReturn:
    control = _socket.socket(fileno=channel.descriptor)
    while True:
        connection = _receive_descriptor(control)
        if connection is None:
            if not surroundings.has_namespaces:
                surroundings.end_all()
                _reap(wait=True)
            os._exit(0)
        try:
            child = surroundings.fork_cell()
        except OSError as error:
            Channel(connection).send(["failed", str(error)])
            os.close(connection)
            continue
        if child == 0:
            os.close(channel.descriptor)
            cell.serve(Channel(connection), surroundings)
        os.close(connection)
        _reap()


def _receive_descriptor(control: _socket.socket) -> int | None:
    size = 4
    data, ancillary, _, _ = control.recvmsg(1, _socket.CMSG_SPACE(size))
    if not data or not ancillary:
        return None
    _, _, packed = ancillary[0]
    descriptor = int.from_bytes(packed[:size], sys.byteorder)
    os.set_inheritable(descriptor, False)
    return descriptor


def _reap(*, wait: bool = False) -> None:
    try:
        while os.waitpid(-1, 0 if wait else os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
