"""The sandbox's end of its connection: whole messages in, whole messages out, over one file descriptor."""

import os

from evalsi.guest import wire


class Channel:
    """Blocking. `receive` raises EOFError when the host has gone."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def receive(self) -> wire.Value:
        (length,) = wire.HEADER.unpack(self._take(wire.HEADER.size))
        return wire.parse(self._take(length))

    def send(self, value: wire.Value) -> None:
        data = memoryview(wire.frame(value))
        while data:
            data = data[os.write(self.descriptor, data) :]

    def _take(self, count: int) -> bytes:
        parts: list[bytes] = []
        while count:
            part = os.read(self.descriptor, min(count, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)
