"""The sandbox's end of its connection: whole messages in, whole messages out, over one file descriptor."""

from __future__ import annotations

import os

from evalsi.guest import wire

TYPE_CHECKING = False
if TYPE_CHECKING:  # the module typing takes longer to import than all of ours
    from typing import Any


class Channel:
    """Blocking. `receive` raises EOFError when the host has gone."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def receive(self) -> list[Any]:
        """A request. The host is trusted: its form is not checked again."""
        (length,) = wire.HEADER.unpack(self._take(wire.HEADER.size))
        request = wire.parse(self._take(length))
        assert isinstance(request, list)
        return request

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
