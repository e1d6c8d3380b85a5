"""The way out of a sandbox that was granted one: programs connect to an address of their own network, and what they say goes
to the host over the cell's connection, where a proxy decides.

Its own module because it is the one thing in a cell that programs talk to. It decides nothing and reads nothing: it
numbers connections and carries bytes, of each connection only so many at a time as the other side has taken, so that one
that stands still stops no other. It runs in the cell's own process, between two looks at the program that it watches: there
is nothing to kill, and no connection outlives its command. Messages, in both directions:

    egress  number, "open", b""      a program has connected
    egress  number, "data", bytes    what it said, or what it is told
    egress  number, "end", b""       this side has said all
    egress  number, "took", count    so many bytes were passed on, and so many more may come
    egress  number, "gone", b""      this side gives the connection up
"""

from __future__ import annotations

import _socket
import select

TYPE_CHECKING = False
if TYPE_CHECKING:  # the module typing takes longer to import than all of ours
    from typing import Any

    from evalsi.guest.channel import Channel

ADDRESS, PORT = "127.0.0.1", 3128
MOST_CONNECTIONS = 32
WINDOW_BYTES = 1 << 18
"""How much of one connection may be under way in one direction."""
_PIECE_BYTES = 1 << 15
_WAITING = 64
_IN, _OUT, _LOST = select.EPOLLIN, select.EPOLLOUT, select.EPOLLHUP | select.EPOLLERR


class _Connection:
    def __init__(self, number: int, end: _socket.socket) -> None:
        self.number = number
        self.end = end
        self.waiting = bytearray()
        """What the host has sent and the program has not yet taken."""
        self.under_way = 0
        """Bytes that the program has said and the host has not yet passed on."""
        self.program_has_ended = False
        self.host_has_ended = False
        self.is_shut = False
        """Whether the program was told so."""


class Forwarder:
    """Made before the cell gives up what it needs for it. `descriptor` is readable when there is something to do."""

    def __init__(self) -> None:
        self._listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        self._listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
        self._listener.bind((ADDRESS, PORT))
        self._listener.listen(_WAITING)
        self._listener.setblocking(False)
        self._poll = select.epoll()
        self._poll.register(self._listener.fileno(), _IN)
        self._by_descriptor: dict[int, _Connection] = {}
        self._by_number: dict[int, _Connection] = {}
        self._made = 0

    @property
    def descriptor(self) -> int:
        return self._poll.fileno()

    def turn(self, channel: Channel) -> None:
        """Does what there is to do, without waiting for a program."""
        for descriptor, event in self._poll.poll(0):
            if descriptor == self._listener.fileno():
                self._accept(channel)
            elif descriptor in self._by_descriptor:
                self._serve(channel, self._by_descriptor[descriptor], event)

    def hear(self, channel: Channel, message: list[Any]) -> None:
        """Takes a message of the host's. One about a connection that is gone is late, and left alone."""
        _, number, word, value = message
        connection = self._by_number.get(number)
        if connection is None:
            return
        if word == "data":
            connection.waiting += value
        elif word == "end":
            connection.host_has_ended = True
        elif word == "took":
            connection.under_way -= value
        else:
            self._drop(connection)
            return
        self._pass_on(channel, connection)

    def drop_all(self) -> None:
        """Called when a command has ended: nothing of it goes on."""
        for connection in list(self._by_number.values()):
            self._drop(connection)

    def _accept(self, channel: Channel) -> None:
        listener: Any = self._listener  # the small half of the library has it, and no name for it
        try:
            descriptor, _ = listener._accept()
        except OSError:
            return
        end = _socket.socket(fileno=descriptor)
        if len(self._by_number) >= MOST_CONNECTIONS:
            end.close()
            return
        end.setblocking(False)
        self._made += 1
        connection = _Connection(self._made, end)
        self._by_descriptor[descriptor] = self._by_number[connection.number] = connection
        self._poll.register(descriptor, _IN)
        channel.send(["egress", connection.number, "open", b""])

    def _serve(self, channel: Channel, connection: _Connection, event: int) -> None:
        if event & (_IN | _LOST) and not connection.program_has_ended and connection.under_way < WINDOW_BYTES:
            try:
                data = connection.end.recv(min(_PIECE_BYTES, WINDOW_BYTES - connection.under_way))
            except BlockingIOError:
                data = None
            except OSError:
                self._give_up(channel, connection)
                return
            if data:
                connection.under_way += len(data)
                channel.send(["egress", connection.number, "data", data])
            elif data is not None:
                connection.program_has_ended = True
                channel.send(["egress", connection.number, "end", b""])
        elif event & _LOST:
            self._give_up(channel, connection)
            return
        self._pass_on(channel, connection)

    def _pass_on(self, channel: Channel, connection: _Connection) -> None:
        if connection.waiting:
            try:
                count = connection.end.send(connection.waiting)
            except BlockingIOError:
                count = 0
            except OSError:
                self._give_up(channel, connection)
                return
            if count:
                del connection.waiting[:count]
                channel.send(["egress", connection.number, "took", count])
        if connection.host_has_ended and not connection.waiting:
            if connection.program_has_ended:
                self._drop(connection)
                return
            if not connection.is_shut:
                connection.is_shut = True
                try:
                    connection.end.shutdown(_socket.SHUT_WR)
                except OSError:
                    self._give_up(channel, connection)
                    return
        wanted = _OUT if connection.waiting else 0
        if not connection.program_has_ended and connection.under_way < WINDOW_BYTES:
            wanted |= _IN
        self._poll.modify(connection.end.fileno(), wanted)

    def _give_up(self, channel: Channel, connection: _Connection) -> None:
        self._drop(connection)
        channel.send(["egress", connection.number, "gone", b""])

    def _drop(self, connection: _Connection) -> None:
        descriptor = connection.end.fileno()
        self._poll.unregister(descriptor)
        del self._by_descriptor[descriptor], self._by_number[connection.number]
        connection.end.close()


def address() -> str:
    """What programs are told, as an address of a proxy."""
    return f"http://{ADDRESS}:{PORT}"
